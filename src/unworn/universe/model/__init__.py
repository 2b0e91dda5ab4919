"""Distributions over a finite domain, kept cell by cell or in factors."""
