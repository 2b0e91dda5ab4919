"""What one would do without any of this: the unprotected control, and splitting the rows."""
