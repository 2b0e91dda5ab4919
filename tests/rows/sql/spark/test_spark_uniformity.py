"""Fresh rows of a cluster are uniform and independent: the same trial as for every engine, across partitions."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.rows.sql.spark.spark_sessions import COMPILED, local_session
from tests.rows.sql.uniformity import faults, inline, pooled
from unworn.noise import Stream
from unworn.queries import col, mean, share
from unworn.rows import Sample
from unworn.rows.memory.draw_pool import GatheredRows
from unworn.rows.sql.stored_pool import gather_draws
from unworn.rows.sql.stored_rows import Stored

pytestmark = pytest.mark.spark
N = 1_000
PARTS = (0, 130, 131, 400, 650, N)  # where files begin: one of them has a single row
KEY = bytes(range(32))


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Several files, small batches: borders of partitions and of batches lie among the rows."""
    folder = tmp_path_factory.mktemp("uniform")
    table = pa.table({"place": np.arange(N), "word": [f"w{row % 17}" for row in range(N)]})
    for number, (start, stop) in enumerate(pairwise(PARTS)):
        pq.write_table(table.slice(start, stop - start), folder / f"part {number}.parquet")
    conf = {"spark.sql.execution.arrow.maxRecordsPerBatch": "64", "spark.sql.files.openCostInBytes": str(2**30)}
    with local_session(**conf, **COMPILED[False]) as spark:
        yield Stored.read(spark.read.parquet(str(folder)))


@pytest.mark.parametrize("replace", [False, True], ids=["without", "with"])
def test_draws_made_ahead_are_uniform_and_independent(rows: Any, replace: bool) -> None:
    """300 draws of 200 rows in one pass; a false alarm in less than 1 of 1e7 tries."""
    borders = [*PARTS[1:-1], *range(64, N, 64)]
    assert faults(pooled(rows, 200, replace, 300), N, replace, borders) == []


def test_draws_made_with_their_question_are_uniform_and_independent(rows: Any) -> None:
    """Each takes a pass, so there are few: ten draws of 4,000 rows, each row several times."""
    assert faults(inline(rows, 4_000, True, 10), N, True, PARTS[1:-1]) == []


@pytest.mark.parametrize("replace", [False, True], ids=["without", "with"])
def test_what_is_gathered_says_what_is_said_inline(rows: Any, replace: bool) -> None:
    named = [("pool", number) for number in range(4)]
    question = share((col("place") > 300) & (col("word") == "w3"))
    several = gather_draws(rows, KEY, named, 100, replace, ["place", "word"])
    told = [ready.count(question, Stream(KEY, "ask")) for ready in several]
    assert told == [rows.drawn(question, 100, Stream(KEY, "pool", *draw), replace) for draw in named]
    assert len(set(told)) > 1


def test_rows_of_a_draw_are_those_of_their_places_in_every_pass(rows: Any) -> None:
    """All rows, drawn without replacement: whatever order the cluster has them in, each is there once."""
    here = Sample.read({"place": np.arange(N, dtype=np.float64)})
    value = mean(col("place").fill(0), range=(0, N))
    (ready,) = gather_draws(rows, KEY, [("pool", 1)], N, False, ["place"])
    expected = GatheredRows(here, ("pool", 1), KEY, N, False, []).count(value, Stream(KEY, "ask"))
    # Coins of a sum of values in [0, 1], in another order: seven standard deviations of both.
    assert abs(ready.count(value, Stream(KEY, "ask")) - expected) < 7 * (2 * N * 0.25) ** 0.5
    assert ready.count(share(col("place") < 400), Stream(KEY, "ask")) == 400
