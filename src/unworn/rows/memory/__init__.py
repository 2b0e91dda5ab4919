"""Rows in memory: a sample, and one pass over it for many questions."""
