"""Rows of an engine drawn ahead: one pass for many samples, each used once, and never anything but the sealed rows."""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from unworn import Holdout, col, mean, share
from unworn.errors import Mismatch, Unaskable
from unworn.mechanisms import OneSample, Subsampled
from unworn.noise import Stream
from unworn.queries.query import Query
from unworn.rows import Sample
from unworn.rows.memory.draw_pool import GatheredRows, Pool
from unworn.rows.sql import stored_pool
from unworn.rows.sql.duckdb.duckdb_engine import DuckDB
from unworn.rows.sql.stored_pool import StoredDraw
from unworn.rows.sql.stored_rows import Stored

ROWS = 20_000
DRAWN = 600
KEY = bytes(range(32))
QUESTIONS: dict[str, Query] = {
    "number": share(col("age") > 65),
    "text": share((col("plan") == "basic") | col("plan").is_null()),
    "words": share(col("id") == "person 7"),
    "date": share(col("since") < "1990-01-01"),
    "mean": mean(col("income").fill(0), range=(0, 1e5)),
    "several": mean((col("age") * 2 + col("income")).fill(5), range=(0, 1e5)),
    "large": share(col("big") > 2.0**61),
    "true": share(col("churned") & ~(col("age") < 30)),
}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(5)
    found = tmp_path_factory.mktemp("pool") / "people.parquet"
    plans = np.array(["basic", "pro", None], dtype=object)[rng.integers(0, 3, ROWS)]
    table = pa.table(
        {
            "age": rng.integers(18, 90, ROWS),
            "income": pa.array(np.where(rng.random(ROWS) < 0.1, np.nan, rng.random(ROWS) * 1e5)),
            "plan": pa.array(plans, pa.string()),
            "id": [f"person {place}" for place in range(ROWS)],
            "churned": rng.random(ROWS) < 0.3,
            "since": pa.array(rng.integers(0, 2**50, ROWS), pa.timestamp("us")),
            "big": rng.integers(2**60, 2**62, ROWS),
        }
    )
    pq.write_table(table, found, row_group_size=3_000)
    return found


class Counted(DuckDB):
    """Says how often all the rows went by."""

    passes = 0

    def _arrow(self, columns: Any) -> Iterator[Any]:
        self.passes += 1
        return super()._arrow(columns)


def stored(path: Path) -> Stored:
    engine = Counted(f"duckdb:{path}")
    return Stored(engine, Stored.read(f"duckdb:{path}").schema)


def opened(rows: Any, ledger: Path | None = None, replace: bool = False, asks: int = 20) -> Holdout:
    where = None if ledger is None else str(ledger)
    return Holdout(rows, asks=asks, mechanism=Subsampled(0.05, DRAWN, replace), ledger=where)


def taken(pool: Pool) -> list[StoredDraw]:
    found = []
    while (ready := pool.take(lambda draw: False)) is not None:
        assert isinstance(ready, StoredDraw)
        found.append(ready)
    return found


@pytest.mark.parametrize("replace", [False, True])
def test_one_pass_fills_many_samples(path: Path, replace: bool) -> None:
    rows = stored(path)
    pool = Pool(rows, KEY)
    pool.gather(40, DRAWN, replace)
    assert rows.engine.passes == 1  # type: ignore[attr-defined]
    told = [ready.count(query, Stream(KEY, "ask")) for ready in taken(pool) for query in QUESTIONS.values()]
    assert rows.engine.passes == 1  # type: ignore[attr-defined]
    assert len(told) == 40 * len(QUESTIONS)


def test_more_than_memory_holds_takes_several_passes(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, parted = stored(path), stored(path)
    pools = [Pool(rows, KEY) for rows in (whole, parted)]
    for pool, cells in zip(pools, (2**24, 4 * DRAWN * 2), strict=True):
        monkeypatch.setattr(stored_pool, "CELLS", cells)
        pool._name = "the same"
        pool.gather(10, DRAWN, True, ["age", "plan"])
    assert (whole.engine.passes, parted.engine.passes) == (1, 3)  # type: ignore[attr-defined]
    told = [[ready.count(QUESTIONS["number"], Stream(KEY)) for ready in taken(pool)] for pool in pools]
    assert told[0] == told[1]
    assert len(set(told[0])) > 1
    monkeypatch.setattr(stored_pool, "CELLS", 1)  # not even one sample: then one at a time
    parted.engine.passes = 0  # type: ignore[attr-defined]
    pools[1].gather(2, DRAWN, True)
    assert parted.engine.passes == 2  # type: ignore[attr-defined]


@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize("name", QUESTIONS)
def test_a_gathered_draw_says_what_it_says_in_memory(path: Path, replace: bool, name: str) -> None:
    """The same draw of the same rows with the same coins, whether columns were copied ahead, some of them, or none."""
    here, there, query = Sample.read(path), stored(path), QUESTIONS[name]
    named = [("pool", number) for number in (3, 4, 5)]
    expected = [
        GatheredRows(here, draw, KEY, DRAWN, replace, ["age"]).count(query, Stream(KEY, "ask")) for draw in named
    ]
    for names in (list(there.columns), ["age"], []):
        several = stored_pool.gather_draws(there, KEY, named, DRAWN, replace, names)
        assert [ready.count(query, Stream(KEY, "ask")) for ready in several] == expected
    if name not in ("mean", "several"):  # of which the coins inline come from the stream that drew the rows
        inline = [there.drawn(query, DRAWN, Stream(KEY, "pool", *draw), replace) for draw in named]
        assert inline == expected


def test_a_column_that_was_not_named_takes_a_pass(path: Path) -> None:
    rows = stored(path)
    pool = Pool(rows, KEY)
    pool.gather(2, DRAWN, False, ["age"])
    first, second = taken(pool)
    first.count(QUESTIONS["number"], Stream(KEY))
    assert rows.engine.passes == 1  # type: ignore[attr-defined]
    second.count(QUESTIONS["several"], Stream(KEY))
    assert rows.engine.passes == 2  # type: ignore[attr-defined]


@pytest.mark.parametrize("kind", ["file", "relation", "table"])
def test_a_holdout_answers_from_what_was_gathered(path: Path, kind: str, tmp_path: Path) -> None:
    rows: Any = f"duckdb:{path}"
    if kind == "relation":
        rows = duckdb.sql(f"from '{path}'")
    elif kind == "table":
        with duckdb.connect(str(tmp_path / "base.duckdb")) as connection:
            connection.execute(f"create table people as from '{path}'")
        rows = f"duckdb:{tmp_path}/base.duckdb#people"
    holdout = opened(rows, tmp_path / "ledger.db")
    assert holdout.gather(3) == 3
    answers = [holdout.ask(question) for question in list(QUESTIONS.values())[:5]]
    draws = [answer.certificate.record.draw for answer in answers]
    assert [None if draw is None else draw[1] for draw in draws] == [1, 2, 3, None, None]
    assert holdout.ask(QUESTIONS["number"]).index == 1  # a repeat takes no rows
    holdout.verify()
    for answer in answers:
        answer.certificate.verify()
    truth = Sample.read(path).means(list(QUESTIONS.values())[:5])
    assert all(answer.low <= value <= answer.high for answer, value in zip(answers, truth, strict=True))
    holdout.close()


def test_a_batch_takes_a_sample_each(path: Path) -> None:
    holdout = opened(f"duckdb:{path}")
    holdout.gather(5)
    told = holdout.ask_many(list(QUESTIONS.values())[:4])
    assert [answer.certificate.record.draw[1] for answer in told if answer.certificate.record.draw] == [1, 2, 3, 4]
    assert holdout.gather(1) == 2


def test_one_row_at_a_time_is_gathered_too(tmp_path: Path) -> None:
    duckdb.sql("select random() as x from range(200_000)").write_parquet(str(tmp_path / "x.parquet"))
    holdout = Holdout(f"duckdb:{tmp_path}/x.parquet", asks=20, mechanism=OneSample(), ledger=None)
    holdout.gather(2)
    told = [holdout.ask(share(col("x") > cut)) for cut in (0.1, 0.2, 0.3)]
    assert [answer.certificate.record.draw is not None for answer in told] == [True, True, False]


def test_who_cannot_gather_is_told_and_nothing_is_read(path: Path) -> None:
    rows = stored(path)
    pool = Pool(rows, KEY)
    with pytest.raises(Unaskable, match="nowhere"):
        pool.gather(1, DRAWN, False, ["nowhere"])
    with pytest.raises(ValueError, match="at most n"):
        pool.gather(1, ROWS + 1, False)
    assert rows.engine.passes == 0  # type: ignore[attr-defined]
    assert len(pool) == 0


# ------------------------------------------------------------------ never twice, whoever asks


def test_two_holdouts_of_the_same_rows_draw_others(path: Path, tmp_path: Path) -> None:
    """600 of 20,000 rows share 18 with another draw, and 60 or more with a chance below 1e-9 (Chernoff)."""
    holdouts = [opened(f"duckdb:{path}", tmp_path / "ledger.db") for _ in range(2)]
    places = []
    for holdout in holdouts:
        holdout.gather(2)
        pool = holdout._desk.pool
        assert pool is not None
        places += [set(ready._places.tolist()) for ready in pool._ready if isinstance(ready, StoredDraw)]
    assert len(places) == 4
    assert all(len(one & other) < 60 for place, one in enumerate(places) for other in places[:place])
    told = [holdout.ask(query) for holdout in holdouts for query in (QUESTIONS["number"], QUESTIONS["text"])]
    draws = [answer.certificate.record.draw for answer in told]
    # The second holdout asked what was told already: it took nothing.
    assert draws[:2] == draws[2:]
    later = [holdout.ask(QUESTIONS[name]) for holdout, name in zip(holdouts, ("date", "large"), strict=True)]
    named = [answer.certificate.record.draw for answer in (*told[:2], *later)]
    assert len({draw for draw in named if draw is not None}) == len([draw for draw in named if draw is not None])
    for holdout in holdouts:
        holdout.verify()
        holdout.close()


def test_a_copy_of_the_process_cannot_use_the_same_rows_again(path: Path, tmp_path: Path) -> None:
    one, other = (opened(f"duckdb:{path}", tmp_path / "ledger.db") for _ in range(2))
    one.gather(3)
    pool = one._desk.pool
    assert pool is not None
    twin = Pool(other._sample, other._desk.noise_key)
    twin._name, twin._ready = pool._name, pool._ready.copy()
    other._desk.pool = twin
    told = [one.ask(QUESTIONS["number"]), other.ask(QUESTIONS["text"]), one.ask(QUESTIONS["date"])]
    draws = [answer.certificate.record.draw for answer in told]
    named = [draw for draw in draws if draw is not None]
    assert len(set(named)) == len(named) >= 2
    other.verify()
    for holdout in (one, other):
        holdout.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_fork_has_nothing_and_is_told_to_open_the_rows_itself(path: Path) -> None:
    pool = Pool(stored(path), KEY)
    pool.gather(2, 10, False)
    name, (reading, writing) = pool._name, os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(30)  # a statement in a forked process would wait for ever
        told = f"{len(pool)} {pool._name != name} "
        try:
            pool.gather(1, 10, False)
        except Mismatch as error:
            told += "forked" if "forked" in str(error) else "other"
        os.write(writing, told.encode())
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reading, 100).decode() == "0 True forked"
    assert (len(pool), pool._name) == (2, name)


GATHER_AND_ASK = f"""
import json, sys
from unworn import Holdout, col, share
from unworn.mechanisms import Subsampled
path, ledger, age = sys.argv[1:]
holdout = Holdout("duckdb:" + path, asks=20, mechanism=Subsampled(0.05, {DRAWN}), ledger=ledger)
holdout.gather(2)
print(json.dumps(holdout.ask(share(col("age") > int(age))).certificate.record.draw))
holdout.close()
"""


def test_what_was_gathered_is_lost_with_its_process(path: Path, tmp_path: Path) -> None:
    """Each process gathers two and uses one: no pool, and so no draw, comes again."""
    draws = []
    for age in ("65", "50"):
        command = [sys.executable, "-c", GATHER_AND_ASK, str(path), str(tmp_path / "l.db"), age]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
        draws.append(json.loads(done.stdout))
    assert [place for _, place in draws] == [1, 1]
    assert len({name for name, _ in draws}) == 2


# ------------------------------------------------------------------ rows that change


def test_a_file_that_changes_after_gathering_is_not_asked(path: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.parquet"
    copy.write_bytes(path.read_bytes())
    stamp = copy.stat()
    holdout = opened(f"duckdb:{copy}", tmp_path / "ledger.db")
    holdout.gather(3)
    holdout.ask(QUESTIONS["number"])
    os.utime(copy, ns=(1, 1))
    with pytest.raises(Mismatch, match="Nothing was charged"):
        holdout.ask(QUESTIONS["text"])
    assert holdout.meter.asked == 1
    os.utime(copy, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    again = holdout.ask(QUESTIONS["text"])
    assert again.index == 2
    assert again.certificate.record.draw is not None
    assert again.certificate.record.draw[1] == 3  # the refused ask took the second with it: rows serve once, or never
    holdout.verify()
    holdout.close()


def test_what_was_gathered_of_a_table_outlives_a_change_and_nothing_else_does(path: Path, tmp_path: Path) -> None:
    """Gathered rows are the sealed ones; the rest of the table is no longer, and whatever reads it is refused."""
    with duckdb.connect() as connection:
        connection.execute(f"create table people as from '{path}'")
        holdout = opened(connection.table("people"), tmp_path / "ledger.db")
        holdout.gather(2, ["age"])
        kept = holdout._desk.pool
        assert kept is not None
        expected = kept._ready[0].count(QUESTIONS["number"], Stream(KEY))
        connection.execute("update people set age = 0")
        assert kept._ready[0].count(QUESTIONS["number"], Stream(KEY)) == expected > 0
        assert holdout.ask(QUESTIONS["number"]).certificate.record.draw is not None
        for query in (QUESTIONS["several"], share(col("age") > 40)):  # not copied ahead; and past what was gathered
            with pytest.raises(Mismatch, match="Nothing was charged"):
                holdout.ask(query)
        with pytest.raises(Mismatch, match="Nothing was charged"):
            holdout.gather(1)
        assert holdout.meter.asked == 1
        holdout.verify()
        holdout.close()


def test_rows_that_change_while_they_are_gathered_are_not_used(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with duckdb.connect() as connection:
        connection.execute(f"create table people as from '{path}'")
        holdout = opened(connection.table("people"))
        project = DuckDB._hash

        def meanwhile(self: DuckDB, name: str) -> str:
            connection.cursor().execute("update people set age = age + 1 where id = 'person 19999'")
            return project(self, name)

        monkeypatch.setattr(DuckDB, "_hash", meanwhile)
        with pytest.raises(Mismatch, match="Nothing was charged"):
            holdout.gather(3)
        assert holdout._desk.pool is not None
        assert len(holdout._desk.pool) == 0


# ------------------------------------------------------------------ nothing shows


def test_gathered_rows_show_nowhere(tmp_path: Path) -> None:
    secret = "a secret nobody may see"
    connection = duckdb.connect()
    connection.execute("create table t as select $1 || range as word, range + 918273 as x from range(3000)", [secret])
    holdout = Holdout(connection.table("t"), asks=5, mechanism=Subsampled(0.05, 100), ledger=str(tmp_path / "l.db"))
    holdout.gather(3)
    pool = holdout._desk.pool
    assert pool is not None
    (ready, *_) = pool._ready
    shown = [repr(holdout), repr(pool), repr(ready), str(ready), repr(pool._ready), repr(holdout._sample)]
    for thing in (ready, pool):
        with pytest.raises(TypeError, match=r"do not travel|cannot pickle"):
            pickle.dumps(thing)
    connection.execute("drop table t")
    for ask in (lambda: holdout.gather(1), lambda: ready._rows.ones_at(share(col("x") > 1), np.arange(3), Stream(KEY))):
        with pytest.raises(Mismatch) as caught:
            ask()
        shown.append("".join(traceback.format_exception(caught.value)))
        assert caught.value.__cause__ is None
        assert caught.value.__context__ is None
    shown.append((tmp_path / "l.db").read_bytes().decode("latin-1"))
    assert not any(secret in text or "91827" in text for text in shown)
    holdout.close()
    connection.close()


def test_what_holds_rows_prints_none(path: Path) -> None:
    """Not even where a traceback prints what a function had at hand."""
    batch = stored(path).engine.draw(np.arange(5), ["age", "id", "since"])
    told = " ".join(map(repr, (batch, *batch.columns.values(), list(batch.columns.values()))))
    assert "person" not in told
    assert not any(str(age) in told for age in batch.columns["age"].values.tolist())
    assert "array" not in told
