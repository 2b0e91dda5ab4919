"""Mechanisms that guess for themselves, from a synthetic distribution or from small data sets."""
