"""Which rows stay where they are, and the engine that opens them."""

from __future__ import annotations

from typing import Any

from unworn.rows.contract import Engine
from unworn.rows.sql.duckdb.duckdb_sources import is_duckdb
from unworn.rows.sql.spark.spark_sources import is_spark


def is_stored(data: Any) -> bool:
    """Whether these rows stay in an engine: a DuckDB relation, a text like ``duckdb:people.parquet``, a Spark frame.

    >>> is_stored("duckdb:people.parquet"), is_stored("people.parquet")
    (True, False)
    """
    return is_duckdb(data) or is_spark(data)


def open_engine(data: Any) -> Engine:
    """The engine of rows that stay in one."""
    if is_spark(data):
        from unworn.rows.sql.spark.spark_engine import Spark

        return Spark(data)
    from unworn.rows.sql.duckdb.duckdb_engine import DuckDB

    return DuckDB(data)
