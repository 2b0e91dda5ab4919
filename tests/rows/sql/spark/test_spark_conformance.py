"""Spark means what NumPy means, on random rows and random questions, classic and by Connect, whatever its settings."""

from __future__ import annotations

import math
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.rows.sql.conformance import agree, questions_of, table_of
from tests.rows.sql.spark.spark_sessions import COMPILED, connect_session, local_session
from unworn import Holdout
from unworn.errors import Mismatch
from unworn.queries import col, mean, share
from unworn.rows.sql.spark.spark_engine import Spark

pytestmark = pytest.mark.spark

seeds = st.integers(0, 2**32)
few = settings(
    max_examples=4,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
TYPES = (
    "x double, y double, z double, f float, whole bigint, small tinyint, large decimal(20, 0), price decimal(12, 3), "
    "long decimal(38, 6), yes boolean, no boolean, word string, other string, when {moment}, day date"
)


@pytest.fixture(scope="module", params=["classic", "connect"])
def session(request):
    with {"classic": local_session, "connect": connect_session}[request.param]() as started:
        yield started


@pytest.fixture(params=["true", "false"])
def spark(session, request):
    session.conf.set("spark.sql.ansi.enabled", request.param)
    session.conf.set("spark.sql.session.timeZone", "America/St_Johns" if request.param == "true" else "UTC")
    return session


@pytest.fixture
def turn(request) -> int:
    """Which of the four this is, so that each has rows and questions of its own."""
    chosen = request.node.callspec.params
    return 2 * (chosen["session"] == "connect") + (chosen["spark"] == "true")


def frame_of(spark, table: pa.Table, moment: str):
    """A frame of the session's own: unsigned numbers are decimals there, and moments have a zone or none."""
    zone = None if moment == "timestamp_ntz" else "UTC"
    large, when = table.column_names.index("large"), table.column_names.index("when")
    table = table.set_column(large, "large", table["large"].cast(pa.decimal128(20, 0)))
    table = table.set_column(when, "when", table["when"].cast(pa.timestamp("us", zone)))
    return spark.createDataFrame(table, schema=TYPES.format(moment=moment))


@few
@given(seeds, seeds)
def test_spark_agrees_with_numpy(spark, turn, rows, asked):
    """Compiled or not: what is too long for its compiler Spark works out in another way. So that both come, and moments
    with and without a zone, what one turn has for an example the next has not."""
    for name, value in COMPILED[(rows // 2 + turn) % 2 == 0].items():
        spark.conf.set(name, value)
    moment = ("timestamp", "timestamp_ntz")[(rows + turn) % 2]
    agree(lambda table: Spark(frame_of(spark, table, moment)), table_of(rows + turn), questions_of(asked + turn, 54))


@settings(few, max_examples=2)
@given(seeds, seeds)
def test_so_it_does_on_parquet_in_several_files(spark, turn, rows, asked):
    """Of these Spark knows the smallest and largest values, and cuts partitions of its own."""
    with tempfile.TemporaryDirectory() as folder:
        table = table_of(rows + turn)
        middle = table.num_rows // 3
        for name, part in (("a", table.slice(0, middle)), ("b", table.slice(middle))):
            pq.write_table(part, Path(folder) / f"{name}.parquet", row_group_size=5)
        frame = spark.read.parquet(f"{folder}/a.parquet").union(spark.read.parquet(f"{folder}/b.parquet"))
        agree(lambda _: Spark(frame), table, questions_of(asked + turn, 27))


def test_nan_that_parquet_does_not_speak_of(spark, tmp_path):
    """All finite values are 1, so that the file says: every value is 1."""
    path = tmp_path / "ones.parquet"
    pq.write_table(pa.table({"x": [1.0] * 5000 + [math.nan] * 5000}), path)
    x, rows = col("x"), Spark(spark.read.parquet(str(path)))
    half = [x == 1, x >= 1, x != 2, x < 5, x.isin([1]), x.between(0, 2), x + 1 == 2, x == x, ~x.is_null(), x / x == 1]
    totals = rows.sums([*(share(test) for test in half), mean(x.fill(0), range=(0, 9))])
    assert [float(total) for total in totals] == [5000.0] * (len(half) + 1)


def test_work_is_done_where_rows_lie_and_says_the_same_of_them(spark, tmp_path):
    """Rows sealed in memory are known by what workers send, and draws bring what was asked for."""
    table = pa.table({"x": [0.5, math.nan, math.inf, -0.0] * 500, "w": ["é", None, "it's", "\x00"] * 500})
    sealed = Holdout(table, ledger=tmp_path / "rows.db")
    there = Holdout(spark.createDataFrame(table).repartition(3), ledger=tmp_path / "rows.db")
    assert there.id == sealed.id
    rows = Spark(spark.range(5000).selectExpr("id", "id % 7 AS k"))
    told = np.concatenate(
        list(rows.map(["id"], lambda place, batch: batch.column("id").values - place - np.arange(batch.size)))
    )
    assert not told.any()
    places = np.array([0, 3, 2500, 2500, 4999])
    assert (rows.draw(places, ["k"]).column("k").values == places % 7).all()
    assert rows.distinct(["k"]) == [7]
    with pytest.raises(Mismatch, match="failed at this question on these rows") as caught:
        list(rows.map(["id"], lambda place, batch: [0][place + 1]))
    assert caught.value.__context__ is None
