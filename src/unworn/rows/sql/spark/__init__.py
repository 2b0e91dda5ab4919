"""Rows that stay in Spark."""
