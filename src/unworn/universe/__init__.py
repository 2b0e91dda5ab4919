"""Finite universes: domains, workloads of many questions, and distributions over every row that could be."""
