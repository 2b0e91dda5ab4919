"""What questions cost in Spark: one by one and by the thousand, against Spark SQL written by hand, and draws ahead.

One session on two threads, over Parquet files written for the run. Asks are whole asks of a holdout, each of another
question, since a repeat would be free.
"""

from __future__ import annotations

import os
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

from table import Row, compared, microseconds, run
from unworn import Holdout, col, mean, share
from unworn.mechanisms import Subsampled
from unworn.queries.query import Query
from unworn.rows.sql.spark import spark_engine as engine

FEW, MANY = 18, 1_000  # nine shares and nine means make 27 sums: one statement
TIMES = 10  # one statement is over in no time: so many of them are set against a thousand questions
DRAWN, AHEAD = 2_000, 16
_PLACES = count(1)


@contextmanager
def session(quick: bool) -> Iterator[Any]:
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "2g",
        "spark.log.level": "ERROR",
    }
    if quick:  # then Java is over before it has made itself fast
        settings["spark.driver.extraJavaOptions"] = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    builder = SparkSession.builder.master("local[2]")
    for key, value in settings.items():
        builder = builder.config(key, value)
    started = builder.getOrCreate()
    try:
        yield started
    finally:
        started.stop()


def people(spark: Any, folder: str, rows: int) -> Any:
    """Made by Spark itself, and read back: ages, incomes and a yes or no."""
    made = spark.range(rows).selectExpr(
        "cast(18 + pmod(xxhash64(id, 1), 72) as int) as age",
        "pmod(xxhash64(id, 2), 1000000) / 10.0D as income",
        "pmod(xxhash64(id, 3), 3) = 0 as pro",
    )
    made.write.parquet(f"{folder}/people")
    return spark.read.parquet(f"{folder}/people")


def another() -> tuple[Query, str]:
    """A question that nobody has asked, and the same by hand: in turn a share and a mean."""
    place = next(_PLACES)
    top = 50_000 + place * 1e-3
    if place % 2:
        return (
            share((col("age") > 40) & (col("income") < top)),
            f"count_if(age > 40 and income < {top}D)",
        )
    return mean(col("income").fill(0), range=(0, top)), f"avg(least(greatest(coalesce(income, 0), 0), {top}D))"


def questions(number: int) -> list[Query]:
    return [another()[0] for _ in range(number)]


def batches(frame: Any, many: int, times: int) -> Iterator[Row]:
    """Whether a question costs more in the company of a thousand."""
    holdout = Holdout(frame, ledger=None)

    def asked(number: int, times: int = 1) -> None:
        for _ in range(times):
            holdout.ask_many(questions(number))

    asked(FEW, times)  # Java is slow at first
    spent = microseconds(
        {"one": lambda: asked(1, times), "few": lambda: asked(FEW, times), "many": lambda: asked(many)},
        min(times, 2),
        warm=0,
    )
    one, few, each = spent["one"] / times / 1e3, spent["few"] / times / FEW / 1e3, spent["many"] / many / 1e3
    what = f"ms for each of {many:,} questions of one ask_many, against each of {FEW} (one statement)"
    yield compared(what, each, few, 1.5 if many >= MANY else None)
    yield compared(f"ms for each of {FEW} questions of one ask_many, against one alone", few, one)


def statements(frame: Any, number: int, rounds: int) -> Iterator[Row]:
    """Why statements are short, and what they cost beside Spark SQL written by hand."""
    rows, most = engine.Spark(frame), engine.AGGREGATES

    def at_once(aggregates: int, number: int) -> None:
        engine.AGGREGATES = aggregates
        rows.sums(questions(number))
        engine.AGGREGATES = most

    def by_hand() -> None:
        frame.selectExpr(*(another()[1] for _ in range(FEW))).collect()

    times = microseconds(
        {
            "short": lambda: at_once(most, number),
            "long": lambda: at_once(2 * number + 3, number),
            "ours": lambda: at_once(most, FEW),
            "by hand": by_hand,
        },
        rounds,
        warm=min(1, rounds - 1),
    )
    what = f"ms for {number} questions, {FEW} a statement, against all in one"
    yield compared(what, times["short"] / 1e3, times["long"] / 1e3)
    what = f"ms for {FEW} questions (rows counted, checked, added exactly), against the same by hand in Spark SQL"
    yield compared(what, times["ours"] / 1e3, times["by hand"] / 1e3)


def ahead(frame: Any, rounds: int) -> Iterator[Row]:
    """Rows for many asks in one pass."""
    holdout = Holdout(frame, asks=150, mechanism=Subsampled(0.05, DRAWN), ledger=None)

    def fresh() -> None:
        holdout.ask(questions(1)[0])

    def gathered() -> None:
        holdout.gather(AHEAD, ["age", "income"])
        for _ in range(AHEAD):
            fresh()

    times = microseconds({"fresh": fresh, "gathered": gathered}, rounds, warm=min(1, rounds - 1))
    what = f"ms for {AHEAD} asks of {DRAWN:,} rows drawn ahead in one pass, against one that draws its own"
    yield compared(what, times["gathered"] / 1e3, times["fresh"] / 1e3, 4.0)


def rows(quick: bool) -> Iterator[Row]:
    warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas")
    with session(quick) as spark, tempfile.TemporaryDirectory(prefix="unworn-spark-") as folder:
        frame = people(spark, folder, 20_000 if quick else 200_000)
        yield from batches(frame, 40 if quick else MANY, 1 if quick else TIMES)
        yield from statements(frame, 40 if quick else 100, 1 if quick else 3)
        yield from ahead(frame, 1 if quick else 3)


if __name__ == "__main__":
    run(__doc__, "What questions cost in Spark", rows)
