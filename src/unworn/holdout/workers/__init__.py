"""Holdouts in other processes: tickets instead of rows, and asking the process that has them."""
