"""Rows for DuckDB to lose, a way to be there in the middle of a question, and what must hold whatever happens."""

from __future__ import annotations

import os
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from unworn import Holdout, col, mean, share
from unworn.errors import Mismatch
from unworn.mechanisms import Gaussian, Subsampled
from unworn.queries.query import Query
from unworn.record.answer import Answer
from unworn.rows.sql.duckdb import duckdb_engine as engine

ROWS = 8_000
FIRST, SECOND, THIRD = share(col("age") > 65), share(col("age") > 30), mean(col("income").fill(0), range=(0, 1))
SECRET = "nobody may read this"
MECHANISMS: dict[str, dict[str, Any]] = {
    "scan": {},
    "rounded": {"mechanism": Gaussian(), "asks": 9},
    "drawn": {"mechanism": Subsampled(0.05, 500), "asks": 9},
}
CHANGES: dict[str, Callable[[Path], Any]] = {
    "cut": lambda path: os.truncate(path, 3_000),
    "emptied": lambda path: os.truncate(path, 0),
    "unlinked": lambda path: path.unlink(),
    "replaced": lambda path: other(path),
    "overwritten": lambda path: path.write_bytes(b"x" * path.stat().st_size),
    "touched": lambda path: os.utime(path, ns=(5, 5)),
}


def other(path: Path) -> None:
    pq.write_table(pa.table({"age": [1], "income": [0.5], "word": ["w"]}), path.with_suffix(".new"))
    path.with_suffix(".new").replace(path)


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(1)
    found = tmp_path_factory.mktemp("faults") / "people.parquet"
    table = pa.table(
        {
            "age": rng.integers(18, 90, ROWS),
            "income": rng.random(ROWS),
            "word": [f"{SECRET} {row}" for row in range(ROWS)],
        }
    )
    pq.write_table(table, found, row_group_size=2_048, compression="none")
    return found


@contextmanager
def refused(holdout: Holdout) -> Iterator[None]:
    """Whatever happens inside is told without a word of any row, charges nothing, and leaves the ledger whole."""
    before = holdout.meter.asked
    with pytest.raises(Mismatch, match="Nothing was charged") as caught:
        yield
    told = "".join(traceback.format_exception(caught.value))
    assert SECRET not in told
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert holdout.meter.asked == before
    holdout.verify()


def answered(holdout: Holdout, query: Query) -> Answer | None:
    """The answer, or None where it was refused, which must charge nothing."""
    before = holdout.meter.asked
    try:
        told = holdout.ask(query)
    except Mismatch as error:
        if "Nothing was charged" not in str(error) or holdout.meter.asked != before:
            raise
        return None
    assert holdout.meter.asked == before + 1
    return told


@pytest.fixture
def midway(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], Any]], list[str]]:
    """Does something in another thread when a reader hands out its second batch, and waits until it is done."""
    monkeypatch.setattr(engine, "BATCH", 2_048)

    def arrange(what: Callable[[], Any]) -> list[str]:
        real, seen, happened = engine._next, [0], list[str]()

        def run() -> None:
            try:
                what()
                happened.append("done")
            except Exception as error:
                happened.append(type(error).__name__)

        def step(reader: Any) -> Any:
            seen[0] += 1
            if seen[0] == 2:
                thread = threading.Thread(target=run, daemon=True)
                thread.start()
                thread.join(10)
            return real(reader)

        monkeypatch.setattr(engine, "_next", step)
        return happened

    return arrange
