"""Metrics of predictions, one family per file."""
