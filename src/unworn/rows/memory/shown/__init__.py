"""Rows that may be seen, as a model is shown them."""
