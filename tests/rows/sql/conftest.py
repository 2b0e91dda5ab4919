"""Fixtures that several files of tests share, and the order of those that share a Spark session."""

from __future__ import annotations

import pytest

from tests.rows.sql.duckdb.duckdb_faults import midway, people
from tests.rows.sql.spark.spark_sessions import end_common

__all__ = ["midway", "people"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A process has one Spark session at a time, and starts it for many seconds: those who share one come together."""
    items.sort(key=_session_of)


def _session_of(item: pytest.Item) -> int:
    if item.get_closest_marker("spark") is None or item.path.parent.name != "spark":
        return 0
    if item.path.stem in ("test_spark_cluster", "test_spark_faults"):
        return 2
    return int("connect" in item.name or item.path.stem == "test_spark_driver_faults")


def pytest_sessionfinish() -> None:
    end_common()
