"""A chain played again: every hash, signature and price, in memory that does not grow."""
