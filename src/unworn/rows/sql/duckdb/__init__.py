"""Rows that stay in DuckDB."""
