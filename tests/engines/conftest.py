"""Fixtures that several files of tests share."""

from tests.engines.duckdb_faults import midway, people

__all__ = ["midway", "people"]
