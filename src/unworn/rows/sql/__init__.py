"""Rows that stay in an SQL engine: questions become statements."""
