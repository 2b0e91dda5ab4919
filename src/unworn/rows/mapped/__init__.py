"""Rows in a file that is mapped into memory instead of read."""
