"""Large batches: one pass, the same bits as alone, and memory that neither questions nor rows fill."""

from __future__ import annotations

import math
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from unworn import Holdout, col, mean, share
from unworn.ledger.seeded_keys import SeededStore
from unworn.mechanisms import Subsampled
from unworn.queries.language.evaluation import truth
from unworn.queries.language.expressions import build
from unworn.queries.language.leaves import wrap
from unworn.rows import Sample
from unworn.rows.mapped.mapped_writing import write_mapped
from unworn.rows.memory import row_draws, row_passes
from unworn.rows.memory.exact_sum import Exact
from unworn.rows.memory.row_runs import Chunk


def sample(rows: int) -> Sample:
    rng = np.random.default_rng(5)
    data = {"x": rng.integers(-50, 50, rows, dtype=np.int8), "z": rng.normal(size=rows)}
    return Sample.read(data, schema={"x": "number", "z": "number"})


def questions(count: int) -> list[Any]:
    made: list[Any] = []
    for place in range(count):
        cut = place / count * 100 - 50
        made.append(share(col("x") > cut) if place % 2 else mean(col("z") * (1 + cut), range=(-3, 3)))
    return made


def test_a_question_comes_out_the_same_alone_and_in_a_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_passes, "CHUNK", 1_000)
    rows, asked = sample(10_001), questions(60)
    assert rows.statistics(asked) == [rows.statistics([query])[0] for query in asked]


def test_a_batch_takes_memory_for_one_run_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two hundred runs and a hundred questions: a number kept for each pair would be 640 kB."""
    monkeypatch.setattr(row_passes, "CHUNK", 100)
    rows, asked = sample(20_000), questions(100)
    rows.statistics(asked[:2])
    tracemalloc.start()
    try:
        rows.statistics(asked)
        assert tracemalloc.get_traced_memory()[1] < 300_000
    finally:
        tracemalloc.stop()


def test_a_batch_over_groups_keeps_no_more_sums_than_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    groups = np.arange(20_000) // 2
    rows = Sample.read({"x": sample(20_000).columns["x"].values}, groups=groups, schema={"x": "number"})
    asked = [share(col("x") > place) for place in range(-40, 40)]
    expected = rows.statistics(asked)
    monkeypatch.setattr(row_passes, "CELLS", 50_000)
    tracemalloc.start()
    try:
        assert rows.statistics(asked) == expected
        assert tracemalloc.get_traced_memory()[1] < 3_000_000  # all sums at once: 6.4 MB
    finally:
        tracemalloc.stop()


@given(st.lists(st.floats(-1e300, 1e300), max_size=50))
def test_sums_are_exact_however_they_are_kept(numbers: list[float]) -> None:
    exact = Exact()
    for number in numbers:
        exact.add(number)
    try:
        expected = math.fsum(numbers)
    except OverflowError:
        return
    assert exact.total == expected


INTEGERS = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64]


@settings(deadline=None)
@given(
    st.sampled_from(INTEGERS),
    st.data(),
    st.sampled_from(["lt", "le", "gt", "ge", "eq", "ne"]),
    st.one_of(
        st.integers(-300, 300).map(float), st.floats(-1e20, 1e20), st.sampled_from([0.5, -0.5, 2.0**31, -(2.0**31)])
    ),
)
def test_whole_numbers_compare_as_floats_do(dtype: Any, data: st.DataObject, op: str, constant: float) -> None:
    ends = np.iinfo(dtype)
    near = [v for v in range(int(constant) - 2, int(constant) + 3) if ends.min <= v <= ends.max]
    values = data.draw(st.lists(st.one_of(st.integers(ends.min, ends.max), st.sampled_from(near or [0])), min_size=1))
    column = np.array(values, dtype=dtype)
    rows = Sample.read({"x": column}, schema={"x": "number"})
    found = truth(build(op, wrap(col("x")), wrap(constant)), Chunk(rows, 0, len(values), {}))
    compare = {"lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal}
    meant = compare.get(op, np.equal if op == "eq" else np.not_equal)(column.astype(np.float64), constant)
    assert found.tolist() == meant.tolist()


# ---------------------------------------------------------------- draws over asks


@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize("where", ["memory", "mapped"])
def test_rows_drawn_over_asks_are_uniform_and_independent(
    where: str, replace: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over twenty cells of rows, and over pairs of cells in one ask and the next: false alarms below 1e-6."""
    rows, cells = 50_000, 20
    batch = pa.record_batch({"x": np.arange(rows) % 1_000})
    data: Any = pa.table(batch)
    if where == "mapped":
        data = tmp_path / "rows.arrow"
        write_mapped(data, batch.schema, rows, [batch])
    drawn: list[Any] = []

    def spied(*given: Any) -> Any:
        drawn.append(indices(*given))
        return drawn[-1]

    indices = row_draws.indices
    monkeypatch.setattr(row_draws, "indices", spied)
    store = SeededStore(np.random.default_rng(11))
    holdout = Holdout(data, asks=200, mechanism=Subsampled(0.05, 1_000, replace), ledger=store)
    for place in range(200):
        holdout.ask(share(col("x") > place))
    assert len(drawn) == 200
    assert all(len(np.unique(chosen)) == 1_000 for chosen in drawn) or replace
    inside = np.stack([np.bincount(chosen * cells // rows, minlength=cells) for chosen in drawn]).astype(float)
    expected = 1_000 / cells
    over = ((inside.sum(axis=0) - 200 * expected) ** 2 / (200 * expected)).sum()
    assert over < chi2.isf(1e-7, cells - 1)
    pairs = (inside[:-1] - expected).T @ (inside[1:] - expected) / (expected * np.sqrt(199))
    assert float(np.abs(pairs).max()) < 6.5  # of 400 that are close to standard normal
    assert len({chosen.tobytes() for chosen in drawn}) == 200
