"""Spark dies in the middle of a question: an answer or a clear refusal, at most that question charged, a sound ledger.

The middle is made, not hoped for. Rows pass a gate in the workers; while it is shut a question stands still with two
parts of the rows in hand, one on each worker, and two not yet read. Then something is killed, deleted or stopped, and
the gate is opened.
"""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.rows.sql.spark.spark_sessions import CLUSTER, Cluster, cluster_session
from unworn import Answer, Holdout, col, share
from unworn.errors import Mismatch

pytestmark = pytest.mark.spark

ROWS, PARTS = 6_000, 4
FIRST, SECOND, THIRD = (share(col("age") > age) for age in (30, 40, 50))
HANGS = 600.0
"""So many seconds are for ever."""


@pytest.fixture
def cluster() -> Cluster:
    return CLUSTER.lent()


@pytest.fixture
def spark():
    with cluster_session(**{"spark.sql.files.minPartitionNum": str(PARTS)}) as session:
        yield session


def people(seed: int = 1) -> pa.Table:
    rng = np.random.default_rng(seed)
    return pa.table({"age": rng.integers(18, 90, ROWS), "income": rng.random(ROWS)})


def write(folder: Path, table: pa.Table) -> None:
    """One file a part, each under the name it had before."""
    folder.mkdir(exist_ok=True)
    size = ROWS // PARTS
    for part in range(PARTS):
        pq.write_table(table.slice(part * size, size), folder / f"part-{part}.parquet")


class Gate:
    """What rows pass in the workers: shut, it holds them."""

    def __init__(self, folder: Path) -> None:
        self._shut, self._held = folder / "shut", folder / "held"
        self._held.mkdir(parents=True)

    def before(self, frame: Any) -> Any:
        shut, held = str(self._shut), str(self._held)

        def passing(batches: Any) -> Any:  # inside a function, so that workers need not have this module
            import os
            import time
            import uuid

            for batch in batches:
                if os.path.exists(shut):
                    open(os.path.join(held, uuid.uuid4().hex), "w").close()
                while os.path.exists(shut):
                    time.sleep(0.05)
                yield batch

        return frame.mapInArrow(passing, frame.schema)

    def shut(self) -> None:
        self._shut.mkdir()

    def wait(self, tasks: int) -> None:
        until = time.monotonic() + HANGS
        while len(list(self._held.iterdir())) < tasks:
            assert time.monotonic() < until, "the question never came to the rows"
            time.sleep(0.05)

    def open(self) -> None:
        self._shut.rmdir()


@pytest.fixture
def gate(tmp_path):
    made = Gate(tmp_path / "gate")
    yield made
    shutil.rmtree(tmp_path / "gate")  # whoever still waits goes on


def asked_while(holdout: Holdout, gate: Gate, happens: Callable[[], object], tasks: int = 2) -> Answer | Exception:
    """Ask, let something happen while the rows are being read, and see what comes of it."""
    told: list[Answer | Exception] = []

    def ask() -> None:
        try:
            told.append(holdout.ask(SECOND))
        except Exception as error:
            told.append(error)

    gate.shut()
    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    gate.wait(tasks)
    assert not told
    happens()
    gate.open()
    asking.join(HANGS)
    assert not asking.is_alive(), "nothing was told: a hang"
    return told[0]


def check_refused(told: Answer | Exception, holdout: Holdout) -> None:
    """A clear error, without a word of Spark's, and nothing charged."""
    assert isinstance(told, Mismatch)
    assert "Nothing was charged" in str(told)
    assert len(str(told)) < 500
    assert told.__cause__ is None
    assert told.__context__ is None
    assert holdout.meter.asked == 1
    holdout.verify()


def check_goes_on(frame: Any, ledger: Path, before: Holdout) -> None:
    """Opened again, it is the same holdout, with the same budget, and has answers."""
    again, asked = Holdout(frame, ledger=ledger), before.meter.asked
    assert again.id == before.id
    assert again.meter.asked == asked
    told = again.ask(THIRD)
    exact = np.mean(people()["age"].to_numpy() > 50)
    assert told.low <= exact <= told.high
    assert told.index == asked + 1
    again.verify()


@pytest.fixture
def opened(spark, tmp_path, gate):
    """Rows in files behind a gate, and a holdout over them that has answered once."""
    write(tmp_path / "people", people())
    frame = gate.before(spark.read.parquet(str(tmp_path / "people")))
    holdout = Holdout(frame, ledger=tmp_path / "people.db")
    holdout.ask(FIRST)
    return frame, holdout


def test_a_worker_that_dies_is_replaced_by_the_other(cluster, opened, gate, tmp_path):
    frame, holdout = opened
    told = asked_while(holdout, gate, lambda: cluster.kill(cluster.alive[0]))
    assert isinstance(told, Answer)
    exact = np.mean(people()["age"].to_numpy() > 40)
    assert told.low <= exact <= told.high
    assert holdout.meter.asked == 2
    holdout.verify()
    check_goes_on(frame, tmp_path / "people.db", holdout)


def test_when_every_worker_dies_the_question_is_called_off(cluster, spark, opened, gate, tmp_path):
    frame, holdout = opened
    start = time.monotonic()
    frame.count()
    patience = max(10.0, 5 * (time.monotonic() - start))  # enough for a busy machine to come to the rows
    spark.conf.set("spark.unworn.patience", str(patience))
    told = asked_while(holdout, gate, lambda: [cluster.kill(place) for place in cluster.alive])
    check_refused(told, holdout)
    assert "spark.unworn.patience" in str(told)
    cluster.start_workers(2)
    spark.conf.unset("spark.unworn.patience")
    check_goes_on(frame, tmp_path / "people.db", holdout)
    assert holdout.ask(SECOND).index == 3  # and the one that was refused is still good


@pytest.mark.parametrize("happens", ["deleted", "replaced"])
def test_files_that_go_or_change_under_a_question(opened, gate, tmp_path, happens):
    frame, holdout = opened
    folder, aside = tmp_path / "people", tmp_path / "aside"

    def change() -> None:
        folder.rename(aside)
        if happens == "replaced":
            write(folder, people(seed=2))

    check_refused(asked_while(holdout, gate, change), holdout)
    with pytest.raises(Mismatch, match="Nothing was charged"):
        holdout.ask(SECOND)
    shutil.rmtree(folder, ignore_errors=True)
    aside.rename(folder)
    check_goes_on(frame, tmp_path / "people.db", holdout)


def test_a_table_that_is_dropped_under_a_question(spark, gate, tmp_path):
    write(tmp_path / "people", people())
    spark.read.parquet(str(tmp_path / "people")).write.saveAsTable("people")
    frame = gate.before(spark.table("people"))
    holdout = Holdout(frame, ledger=tmp_path / "people.db")
    holdout.ask(FIRST)
    check_refused(asked_while(holdout, gate, lambda: spark.sql("drop table people")), holdout)
    spark.read.parquet(str(tmp_path / "people")).write.saveAsTable("people")
    check_goes_on(spark.table("people"), tmp_path / "people.db", holdout)


def test_a_session_that_is_stopped_under_a_question(spark, opened, gate, tmp_path):
    _, holdout = opened
    check_refused(asked_while(holdout, gate, spark.stop), holdout)
    with cluster_session() as another:
        frame = another.read.parquet(str(tmp_path / "people"))
        check_goes_on(frame, tmp_path / "people.db", holdout)
