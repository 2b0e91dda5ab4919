"""Methods of release, one per file, and what they are made of."""
