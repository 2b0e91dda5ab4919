"""Finite domains: every row that could be."""
