"""What rows are known by: keyed digests of their values, wherever they lie."""
