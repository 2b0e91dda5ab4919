"""Spark as a cluster: a master and two workers, each a process of its own, mean what NumPy means."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.rows.sql.conformance import agree, questions_of, table_of
from tests.rows.sql.spark.spark_sessions import cluster_session
from tests.rows.sql.spark.test_spark_conformance import frame_of
from unworn import Holdout, col, mean, share
from unworn.errors import Mismatch
from unworn.mechanisms import Gaussian, Subsampled
from unworn.rows import Sample

pytestmark = pytest.mark.spark

ROWS, FILES = 5_000, 4
OLD = share((col("age") > 65) & (col("plan") == "basic"))
INCOME = mean(col("income").fill(0), range=(0, 100_000))


@pytest.fixture(scope="module")
def spark():
    with cluster_session() as session:
        yield session


@pytest.fixture(scope="module")
def people() -> pa.Table:
    rng = np.random.default_rng(5)
    return pa.table(
        {
            "age": rng.integers(18, 90, ROWS),
            "income": pa.array(np.where(rng.random(ROWS) < 0.1, np.nan, rng.random(ROWS) * 1e5)),
            "plan": pa.array(np.array(["basic", "pro", None], dtype=object)[rng.integers(0, 3, ROWS)], pa.string()),
            "since": pa.array(rng.integers(0, 2**50, ROWS), pa.timestamp("us")),
            "big": rng.integers(2**60, 2**62, ROWS),
        }
    )


def in_files(spark: Any, folder: Path, table: pa.Table) -> Any:
    """The rows in several files, so that several workers have some."""
    folder.mkdir(parents=True)
    size = -(-table.num_rows // FILES)
    for place, start in enumerate(range(0, table.num_rows, size)):
        pq.write_table(table.slice(start, size), folder / f"part-{place}.parquet")
    return spark.read.parquet(str(folder))


@pytest.fixture
def frame(spark, people, tmp_path):
    return in_files(spark, tmp_path / "people", people)


def test_rows_are_on_both_workers(frame):
    def where(batches):
        import os

        import pyarrow as pa

        for batch in batches:
            yield pa.record_batch({"worker": [os.getppid()], "rows": [batch.num_rows]})

    told = frame.mapInArrow(where, "worker long, rows long").collect()
    assert len({worker for worker, _ in told}) == 2
    assert sum(rows for _, rows in told) == ROWS


@pytest.mark.parametrize("seed", [2, 5, 9, 13])
def test_the_cluster_agrees_with_numpy(spark, seed):
    from unworn.rows.sql.spark.spark_engine import Spark

    agree(lambda table: Spark(frame_of(spark, table, "timestamp_ntz")), table_of(seed), questions_of(seed, 36))


def test_a_holdout_from_first_to_last(frame, people, tmp_path):
    ledger = tmp_path / "people.db"
    holdout = Holdout(frame, ledger=ledger)
    one = holdout.ask(OLD, guess=0.1)
    many = holdout.ask_many([INCOME, "age > 65", share(col("since") > "1990-01-01")])
    exact = Sample.read(people).means([OLD, INCOME])
    assert one.low <= exact[0] <= one.high
    assert many[0].low <= exact[1] <= many[0].high
    assert holdout.ask(OLD).index == one.index == 1
    one.certificate.save(tmp_path / "card.json")
    holdout.verify(tmp_path / "card.json")

    again = Holdout(frame, ledger=ledger)
    assert again.id == holdout.id
    assert again.meter.asked == 4
    again.verify()
    with pytest.raises(Mismatch, match="share its column"):
        Holdout(frame.selectExpr("income as money"), ledger=ledger)


def test_rows_sealed_in_memory_are_known_in_the_cluster_and_back(frame, people, tmp_path, monkeypatch):
    here = Holdout(people, ledger=tmp_path / "here.db")
    assert Holdout(frame, ledger=tmp_path / "here.db").id == here.id
    monkeypatch.setenv("UNWORN_HOME", str(tmp_path / "elsewhere"))  # of somebody who does not know the first ledger
    there = Holdout(frame.repartition(3), ledger=tmp_path / "there.db")  # in any order
    assert Holdout(people, ledger=tmp_path / "there.db").id == there.id
    other = people.set_column(0, "age", pa.array(people["age"].to_numpy() + 1))
    assert Holdout(other.select(["age", "plan"]), ledger=tmp_path / "there.db").id != there.id


@pytest.mark.parametrize("mechanism", [Subsampled, Gaussian])
def test_draws_and_coins_are_those_of_memory(frame, people, mechanism):
    holdout = Holdout(frame, asks=5, mechanism=mechanism.for_(rows=ROWS, asks=5), ledger=None)
    told = holdout.ask_many([OLD, INCOME])
    exact = Sample.read(people).means([OLD, INCOME])
    for answer, truth in zip(told, exact, strict=True):
        assert answer.low <= truth <= answer.high
