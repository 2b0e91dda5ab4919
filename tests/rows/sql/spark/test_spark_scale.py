"""What Spark is asked and what comes back: statements of few aggregates, sums, drawn rows, and nothing else."""

from __future__ import annotations

import logging
import math
import pickle
import re
import sqlite3
import traceback
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.rows.sql.spark.spark_sessions import COMPILED, local_session
from unworn import Holdout, col, mean, share
from unworn.errors import Mismatch
from unworn.mechanisms import Gaussian, GuessAndCheck, Subsampled
from unworn.rows import Sample

pytestmark = pytest.mark.spark

ROWS, PARTITIONS, AGGREGATES = 5_000, 3, 30
SECRET, CODE = "hunter2-{:04d}", 7_000_000_000_000_003
AGGREGATE = re.compile(r"\b(?:sum|count|approx_count_distinct|collect_list|avg|min|max)\(")
BRINGS = ("collect", "toArrow")
OTHERS = (
    *("toLocalIterator", "toPandas", "take", "head", "first", "tail", "show", "count", "isEmpty", "foreach"),
    *("foreachPartition", "rdd", "toJSON", "cache", "persist", "checkpoint", "localCheckpoint", "write", "writeTo"),
    *("createTempView", "createOrReplaceTempView", "createGlobalTempView", "summary", "describe", "inputFiles"),
)


@pytest.fixture(scope="module")
def spark():
    with local_session(**{"spark.sql.debug.maxToStringFields": "10000"}, **COMPILED[False]) as session:
        yield session


@pytest.fixture(scope="module")
def people() -> pa.Table:
    """Rows whose values are their own: no two have the same name, code or income."""
    rng = np.random.default_rng(6)
    return pa.table(
        {
            "age": rng.integers(18, 90, ROWS),
            "income": rng.permutation(np.linspace(0, 1e5, ROWS)) + 1 / 3,
            "name": [SECRET.format(place) for place in rng.permutation(ROWS)],
            "code": CODE + 17 * rng.permutation(ROWS),
        }
    )


@pytest.fixture
def frame(spark, people, tmp_path):
    """The rows as files, so that Spark's own statements are over files too."""
    (tmp_path / "people").mkdir()
    for place, part in enumerate(parts(people)):
        pq.write_table(part, tmp_path / "people" / f"part-{place}.parquet")
    return spark.read.parquet(str(tmp_path / "people"))


def parts(people: pa.Table) -> list[pa.Table]:
    size = -(-ROWS // PARTITIONS)
    return [people.slice(start, size) for start in range(0, ROWS, size)]


class Spy:
    """Everything that was brought to the driver, in Arrow, statement by statement."""

    def __init__(self) -> None:
        self.brought: list[pa.Table] = []
        self.aggregates: list[int] = []

    def take(self) -> list[pa.Table]:
        seen, self.brought, self.aggregates = self.brought, [], []
        return seen

    def plan(self, frame: Any) -> None:
        """How many aggregates Spark has to work out for a statement, however few columns they make."""
        plan = frame._jdf.queryExecution().optimizedPlan().toString()
        nodes = [line for line in plan.splitlines() if re.match(r"\W*Aggregate \[", line)]
        self.aggregates.append(max((len(aggregates(node)) for node in nodes), default=0))


def aggregates(node: str) -> set[str]:
    """The aggregates of a node of a plan: not those in the names of columns, where no attribute has its number."""
    found = set()
    for begun in AGGREGATE.finditer(node):
        stop, depth = begun.end(), 1
        while depth:
            depth += {"(": 1, ")": -1}.get(node[stop], 0)
            stop += 1
        found.add(node[begun.start() : stop])
    return {text for text in found if "#" in text or text == "count(1)"}


@pytest.fixture
def spy(spark, monkeypatch) -> Spy:
    kind, spying = type(spark.range(1)), Spy()

    def noted(found: Any, names: list[str]) -> Any:
        if isinstance(found, pa.Table):
            spying.brought.append(found)
        else:
            rows = [tuple(row) for row in found]
            cells = [[None if row[place] is None else str(row[place]) for row in rows] for place in range(len(names))]
            spying.brought.append(pa.table(cells, names=[f"c{place}" for place in range(len(names))]))
        return found

    def wrapped(real: Any) -> Any:
        def brings(self: Any, *given: Any, **named: Any) -> Any:
            spying.plan(self)
            return noted(real(self, *given, **named), self.columns)

        return brings

    def refused(name: str) -> Any:
        def stop(self: Any, *given: Any, **named: Any) -> Any:
            raise AssertionError(f"{name} is no way in which rows should leave Spark")

        return stop

    for name in BRINGS:
        monkeypatch.setattr(kind, name, wrapped(getattr(kind, name)))
    for name in OTHERS:
        stop = refused(name)
        monkeypatch.setattr(kind, name, property(stop) if name in ("rdd", "write") else stop)
    return spying


def cells(tables: list[pa.Table]) -> Iterator[bytes]:
    """Every value that came, as the bytes it came in."""
    for table in tables:
        for column in table.columns:
            for cell in column.to_pylist():
                yield cell if isinstance(cell, bytes) else str(cell).encode()


def secrets(people: pa.Table) -> set[bytes]:
    """What would give a row away: its name, its code or its income, as text and as the bytes of a number."""
    names = {name.encode() for name in people["name"].to_pylist()}
    codes = {form for code in people["code"].to_pylist() for form in (str(code).encode(), code.to_bytes(8, "little"))}
    incomes = people["income"].to_numpy()
    return names | codes | {repr(float(income)).encode() for income in incomes} | {x.tobytes() for x in incomes}


def given_away(told: bytes, known: set[bytes]) -> set[bytes]:
    """The secrets in a text: looked up by their lengths, since there are thousands."""
    lengths = {len(secret) for secret in known}
    pieces = {told[start : start + length] for length in lengths for start in range(len(told) - length + 1)}
    return pieces & known


QUESTIONS = [
    *(share(col("age") < age) for age in range(18, 90, 8)),
    *(mean(col("income").fill(0), range=(0, top)) for top in (1e3, 1e4, 1e5)),
    share((col("name") == SECRET.format(7)) | (col("code") == CODE + 17)),
]


def test_sums_come_as_one_row_a_statement(frame, people, spy):
    holdout = Holdout(frame, mechanism=GuessAndCheck(unguessed="cells"), ledger=None)
    spy.take()
    asked = holdout.ask_many(QUESTIONS)
    assert len(spy.aggregates) == 1
    assert len(QUESTIONS) < spy.aggregates[0] <= AGGREGATES
    brought, known = spy.take(), secrets(people)
    assert len(asked) == len(QUESTIONS)
    assert [table.num_rows for table in brought] == [1]
    assert not any(given_away(cell, known) for cell in cells(brought))


def test_fingerprints_are_sums(frame, people, spy):
    Holdout(frame, ledger=None)
    brought = spy.take()
    assert brought
    # A count and a sum for each partition, or a fixed number of numbers for each batch of rows that a worker had.
    assert all(table.num_rows <= PARTITIONS for table in brought)
    assert sum(len(cell) for cell in cells(brought)) < 10_000 < 16 * ROWS
    known = secrets(people) | {np.float64(code).tobytes() for code in people["code"].to_numpy()}
    assert not any(given_away(cell, known) for cell in cells(brought))


def test_random_rounding_brings_counts(frame, people, spy):
    holdout = Holdout(frame, asks=9, mechanism=Gaussian.for_(rows=ROWS, asks=9), ledger=None)
    spy.take()
    holdout.ask(mean(col("income").fill(0), range=(0, 1e5)))
    brought, known = spy.take(), secrets(people)
    assert sum(len(cell) for cell in cells(brought)) < 2_000
    assert not any(given_away(cell, known) for cell in cells(brought))


def test_draws_bring_the_drawn_rows_of_the_asked_columns(frame, people, spy):
    mechanism, drawn = Subsampled.for_(rows=ROWS, asks=5), 25
    holdout = Holdout(frame, asks=5, mechanism=mechanism, ledger=None)
    engine = holdout._sample.engine
    spy.take()
    chosen = np.sort(np.random.default_rng(3).choice(ROWS, drawn, replace=False))
    batch = engine.draw(chosen, ["name", "age"])
    brought, known = spy.take(), secrets(people)
    told = {secret for cell in cells(brought) for secret in given_away(cell, known)}
    words = batch.columns["name"].vocabulary
    assert {str(words[code]).encode() for code in batch.columns["name"].values} == told
    assert len(told) == drawn
    assert sum(table.num_rows for table in brought) <= drawn + 3 * PARTITIONS
    assert max(table.num_columns for table in brought) <= 3
    ages = dict(zip(people["name"].to_pylist(), people["age"].to_pylist(), strict=True))
    for code, age in zip(batch.columns["name"].values, batch.columns["age"].values, strict=True):
        assert ages[str(words[code])] == age

    holdout.ask(share((col("code") > CODE + 17 * 2_000) & (col("age") > 0)))
    told = {secret for cell in cells(spy.take()) for secret in given_away(cell, known)}
    assert len(told) == mechanism.drawn < ROWS
    assert all(secret.isdigit() for secret in told)


def test_a_thousand_questions_are_asked_thirty_at_a_time(frame, people, spy):
    ages, incomes = people["age"].to_numpy(), people["income"].to_numpy()
    shares = [(age, top) for age in range(18, 88) for top in np.linspace(1e3, 1e5, 10)]
    means = [float(top) for top in np.linspace(1e4, 1e5, 300)]
    asked = [share((col("age") > age) & (col("income") < float(top))) for age, top in shares]
    asked += [mean(col("income").fill(0), range=(0, top)) for top in means]
    engine = Holdout(frame, ledger=None)._sample.engine
    spy.take()
    totals = engine.sums(asked)
    assert len(asked) == len(totals) == 1_000
    assert AGGREGATES - 2 < max(spy.aggregates) <= AGGREGATES
    brought = spy.take()
    assert {table.num_rows for table in brought} == {1}
    assert len(brought) <= math.ceil(len(shares) / (AGGREGATES - 3)) + math.ceil(2 * len(means) / (AGGREGATES - 4))
    for (age, top), total in zip(shares, totals, strict=False):
        assert total == np.count_nonzero((ages > age) & (incomes < top))
    for top, total in zip(means, totals[700:], strict=True):
        assert float(total) == pytest.approx(math.fsum(np.minimum(incomes, top)), rel=1e-12)


def test_a_failure_that_quotes_a_row_is_told_without_it(spark, tmp_path, caplog, capfd):
    """Read as numbers, names make Spark fail, and say on which name."""
    caplog.set_level(logging.INFO)
    path, ledger, secret = tmp_path / "codes.parquet", tmp_path / "codes.db", SECRET.format(1234)
    pq.write_table(pa.table({"code": [str(code) for code in range(1_000)]}), path)
    frame = spark.read.parquet(str(path)).selectExpr("cast(code as bigint) as code")
    holdout = Holdout(frame, ledger=ledger)
    holdout.ask(share(col("code") > 500))
    pq.write_table(pa.table({"code": [secret] * 1_000}), path)
    with pytest.raises(Exception, match=secret):  # so says Spark itself
        frame.collect()
    caplog.clear()
    capfd.readouterr()
    with pytest.raises(Mismatch, match="Nothing was charged") as failed:
        holdout.ask(share(col("code") > 600))
    assert holdout.meter.asked == 1
    error = failed.value
    told = [*traceback.format_exception(error), repr(error), str(error.numbers), repr(holdout), caplog.text]
    told += [*capfd.readouterr(), repr(holdout._sample), repr(holdout._sample.engine), repr(pickle.dumps(error))]
    with sqlite3.connect(ledger) as kept:
        told += list(kept.iterdump())
    assert not [text for text in told if secret in text or "hunter2" in text]


def test_no_row_shows_in_what_is_kept_or_shown(frame, people, tmp_path, caplog):
    caplog.set_level(logging.INFO)
    ledger = tmp_path / "people.db"
    holdout = Holdout(frame, ledger=ledger)
    holdout.ask_many(QUESTIONS[:-1])
    with sqlite3.connect(ledger) as kept:
        told = "\n".join(kept.iterdump())
    told += "".join(map(repr, (holdout, holdout._sample, holdout._sample.engine, holdout.answers))) + caplog.text
    assert not given_away(told.encode(), secrets(people))


def test_rows_sealed_in_memory_are_known_in_spark(frame, people, tmp_path):
    ledger = tmp_path / "one.db"
    here = Holdout(people, ledger=ledger)
    first = here.ask(QUESTIONS[3])
    there = Holdout(frame, ledger=ledger)
    assert there.id == here.id
    assert there.ask(QUESTIONS[3]).index == first.index
    exact = Sample.read(people).means(QUESTIONS[:1])[0]
    told = there.ask(QUESTIONS[0])
    assert told.low <= exact <= told.high
