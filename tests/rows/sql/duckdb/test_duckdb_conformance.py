"""DuckDB means what NumPy means, on random rows and random questions."""

from __future__ import annotations

import math
import tempfile

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rows.sql.conformance import agree, questions_of, table_of
from unworn.queries import col, mean, share
from unworn.rows.sql.duckdb.duckdb_engine import DuckDB

seeds = st.integers(0, 2**32)


def relation(table: pa.Table) -> DuckDB:
    return DuckDB(duckdb.from_arrow(table))


@settings(max_examples=40, deadline=None, derandomize=True)
@given(seeds, seeds)
def test_duckdb_agrees_with_numpy(rows, asked):
    agree(relation, table_of(rows), questions_of(asked))


@settings(max_examples=10, deadline=None, derandomize=True)
@given(seeds, seeds)
def test_so_it_does_on_a_table_and_on_parquet(rows, asked):
    """Of these DuckDB keeps the smallest and largest values, from which it decides comparisons without reading."""
    with tempfile.TemporaryDirectory() as folder, duckdb.connect(f"{folder}/base.duckdb") as connection:
        pq.write_table(table_of(rows), f"{folder}/rows.parquet")
        agree(lambda _: DuckDB(f"duckdb:{folder}/rows.parquet"), table_of(rows), questions_of(asked))
        connection.execute(f"create table kept as from '{folder}/rows.parquet'")
        agree(lambda _: DuckDB(connection.table("kept")), table_of(rows), questions_of(asked))


def test_nan_that_parquet_does_not_speak_of(tmp_path):
    """All finite values are 1, so that the file says: every value is 1."""
    path = tmp_path / "ones.parquet"
    pq.write_table(pa.table({"x": [1.0] * 5000 + [math.nan] * 5000}), path)
    x, rows = col("x"), DuckDB(f"duckdb:{path}")
    half = [x == 1, x >= 1, x != 2, x < 5, x.isin([1]), x.between(0, 2), x + 1 == 2, x == x, ~x.is_null(), x / x == 1]
    assert [int(total) for total in rows.sums([share(test) for test in half])] == [5000] * len(half)
    assert float(rows.sums([mean(x.fill(0), range=(0, 9))])[0]) == 5000
    rows.close()
