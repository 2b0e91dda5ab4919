"""A holdout over rows in Spark: the same verbs, the same answers, the same rows in the eyes of a ledger."""

from __future__ import annotations

import math
from datetime import datetime, timedelta

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.rows.sql.spark.spark_sessions import COMPILED, local_session
from unworn import Holdout, col, mean, share
from unworn.errors import Mismatch, Unaskable
from unworn.mechanisms import Gaussian, GuessAndCheck, Subsampled
from unworn.rows import Sample

pytestmark = pytest.mark.spark

ROWS = 4_000


@pytest.fixture(scope="module")
def spark():
    with local_session(**{"spark.sql.session.timeZone": "Asia/Tokyo"}, **COMPILED[False]) as started:
        yield started


def people(seed: int = 1) -> pa.Table:
    """Every kind of column, missing values and NaN among them."""
    rng = np.random.default_rng(seed)
    start = datetime(1999, 12, 31, 23)
    income = rng.lognormal(10, 1, ROWS)
    income[::97] = np.nan
    return pa.table(
        {
            "age": rng.integers(18, 90, ROWS),
            "income": income,
            "size": rng.random(ROWS).astype(np.float32),
            "pro": pa.array(rng.random(ROWS) < 0.3, mask=rng.random(ROWS) < 0.1),
            "plan": pa.array(rng.choice(["basic", "é", "it's"], ROWS), mask=rng.random(ROWS) < 0.1),
            "since": [start + timedelta(microseconds=int(us)) for us in rng.integers(0, 10**15, ROWS)],
            "born": pa.array(rng.integers(-9000, 9000, ROWS).astype(np.int32), pa.int32()).cast(pa.date32()),
            "seen": pa.array(rng.integers(0, 10**15, ROWS)).cast(pa.timestamp("us", "UTC")),
        }
    )


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    folder = tmp_path_factory.mktemp("people")
    for part in range(2):
        pq.write_table(people().slice(part * ROWS // 2, ROWS // 2), folder / f"{part}.parquet")
    return str(folder)


QUESTIONS = [
    share((col("age") > 65) & (col("plan") == "it's")),
    share(col("pro") | (col("since") > "2015-06-01T12:00:00")),
    mean(col("income").fill(0), range=(0, 200_000)),
    mean(col("size").fill(0) * 2, range=(0, 2)),
    share(col("seen").between("1975-01-01", "1999-01-01") & ~col("born").is_null()),
]


def told(answers):
    return [(answer.value, answer.low, answer.high, answer.index) for answer in answers]


def test_answers_are_those_of_the_same_rows_in_memory(spark, path):
    cells = {"mechanism": GuessAndCheck(unguessed="cells"), "ledger": None}  # noise has a stream of its own
    here, there = Holdout(people(), **cells), Holdout(spark.read.parquet(path), **cells)
    assert told(there.ask_many(QUESTIONS)) == told(here.ask_many(QUESTIONS))
    single = share(col("age") < 40)
    assert told([there.ask(single, guess=0.3)]) == told([here.ask(single, guess=0.3)])
    assert there.meter.asked == here.meter.asked == 6


@pytest.mark.parametrize(("mechanism", "tail"), [(Gaussian, 6.5), (Subsampled, 18.0)])
def test_noisy_answers_are_near_the_rows(spark, path, mechanism, tail):
    """Each is off by more than its noise, its coins and its draws allow with a chance below 2e-8 (Hoeffding)."""
    exact = Sample.read(people()).means(QUESTIONS)
    noisy = mechanism.for_(rows=ROWS, asks=9)
    there = Holdout(spark.read.parquet(path), asks=9, mechanism=noisy, ledger=None)
    answers = [*there.ask_many(QUESTIONS[:2]), *(there.ask(question) for question in QUESTIONS[2:])]
    room = tail * noisy.scale + math.sqrt(math.log(2e9) / (2 * getattr(noisy, "drawn", ROWS)))
    for answer, question, value in zip(answers, QUESTIONS, exact, strict=True):
        assert abs(answer.value - value) <= room * (question.high - question.low if hasattr(question, "high") else 1)
    assert there.ask(QUESTIONS[2]).index == answers[2].index
    there.verify()


@pytest.mark.parametrize("first", ["memory", "spark"])
def test_a_ledger_knows_the_same_rows_in_both(spark, path, tmp_path, first):
    ledger = tmp_path / "people.db"
    frame = spark.read.parquet(path)
    ways = [people(), frame.orderBy("age").repartition(3)]
    one, other = ways if first == "memory" else reversed(ways)
    sealed = Holdout(one, ledger=ledger)
    answer = sealed.ask(QUESTIONS[0])
    again = Holdout(other, ledger=ledger)
    assert again.id == sealed.id
    assert told([again.ask(QUESTIONS[0])]) == told([answer])
    assert again.meter.asked == 1
    assert Holdout(frame, ledger=ledger).id == sealed.id


def test_other_terms_and_borrowed_columns_are_refused(spark, path, tmp_path):
    ledger, frame = tmp_path / "people.db", spark.read.parquet(path)
    Holdout(frame, ledger=ledger).ask(QUESTIONS[0])
    with pytest.raises(Mismatch):
        Holdout(frame, ledger=ledger, mechanism=GuessAndCheck(), confidence=0.9)
    with pytest.raises(Mismatch):
        Holdout(frame.selectExpr("*", "age > 50 as predicted"), ledger=ledger)


def test_what_needs_rows_here_is_refused_for_nothing(spark, path):
    frame = spark.read.parquet(path)
    holdout = Holdout(frame, "pro", ledger=None)
    with pytest.raises(Unaskable, match="stay in their engine"):
        holdout.score(np.zeros(ROWS, dtype=bool))
    with pytest.raises(Unaskable, match="groups"):
        Holdout(frame, groups="plan", ledger=None)
    with pytest.raises(Unaskable, match="no rows"):
        Holdout(frame.where("age > 1000"), ledger=None)
    with pytest.raises(Unaskable, match="no column"):
        Holdout(frame, "nothing", ledger=None)
    assert holdout.meter.asked == 0
