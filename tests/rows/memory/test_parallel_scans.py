"""A scan comes out the same to the last bit whatever the threads, the runs and the company, and as it is defined."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unworn.queries import Query, col, function, mean, share
from unworn.queries.language.evaluation import truth
from unworn.rows import Sample
from unworn.rows.memory import condition_bits, parallel_scans, row_passes, threshold_ranks
from unworn.rows.memory.exact_sum import Exact
from unworn.rows.memory.parallel_scans import Scan
from unworn.rows.memory.row_runs import Chunk
from unworn.rows.memory.scan_threads import run_in_threads, thread_limit

ROWS = 1_003
PIECE = 64
RNG = np.random.default_rng(17)


def spoiled(values: Any, *marks: float) -> Any:
    for mark in marks:
        values[RNG.integers(0, ROWS, 20)] = mark
    return values


def table() -> dict[str, Any]:
    # Values of very different sizes: in any other order their sums differ, unless they are kept exactly.
    return {
        "wide": RNG.normal(size=ROWS) * 10.0 ** RNG.integers(-12, 13, ROWS),
        "single": RNG.normal(size=ROWS).astype(np.float32),
        "small": RNG.integers(-9, 9, ROWS, dtype=np.int8),
        "long": RNG.integers(-(2**60), 2**60, ROWS),
        "holes": spoiled(RNG.normal(size=ROWS), np.nan),
        "wild": spoiled(RNG.normal(size=ROWS), np.inf, -np.inf, np.nan),
        "flag": RNG.random(ROWS) < 0.3,
        "word": np.array(["a", "b", "c"])[RNG.integers(0, 3, ROWS)],
        "day": np.datetime64("2024-01-01") + RNG.integers(0, 99, ROWS),
    }


SAMPLE = Sample.read(table(), schema=dict.fromkeys(("wide", "single", "holes", "wild"), "number"))
NUMBERS = ["wide", "single", "small", "long", "holes", "wild"]

constants = st.one_of(st.integers(-9, 9), st.floats(-3, 3), st.sampled_from([0.1, 1e300, -1e300, 2.0**60, 0.0]))
thresholds = st.builds(
    lambda name, op, constant: getattr(col(name), f"__{op}__")(constant),
    st.sampled_from(NUMBERS),
    st.sampled_from(["lt", "le", "gt", "ge", "eq", "ne"]),
    constants,
)
atoms = st.one_of(
    thresholds,
    thresholds,
    st.builds(
        lambda name, one, two: col(name).between(min(one, two), max(one, two)),
        st.sampled_from(NUMBERS),
        constants,
        constants,
    ),
    st.builds(
        lambda name, items: col(name).isin(items),
        st.sampled_from(NUMBERS),
        st.lists(constants, min_size=1, max_size=20),
    ),
    st.builds(lambda name: col(name).is_null(), st.sampled_from(NUMBERS)),
    st.builds(lambda name, constant: col(name) * 3 + col("small") > constant, st.sampled_from(NUMBERS), constants),
    st.sampled_from([col("flag"), col("word") == "b", col("word").isin(["a", "z"]), col("day") > "2024-02-01"]),
)
predicates = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.builds(lambda one, two: one & two, inner, inner),
        st.builds(lambda one, two: one | two, inner, inner),
        st.builds(lambda one: ~one, inner),
    ),
    max_leaves=5,
)
questions = st.one_of(
    st.builds(share, predicates),
    st.builds(share, thresholds),
    st.builds(
        lambda name, end: mean(col(name), range=(-end, end)), st.sampled_from(NUMBERS), st.sampled_from([1.0, 1e12])
    ),
    st.builds(
        lambda name, by: mean(col(name) * by - col("wide"), range=(-1e9, 1e9)), st.sampled_from(NUMBERS), constants
    ),
)


def meant(sample: Sample, query: Query, members: Any = None) -> float:
    """By definition: values on all rows at once; those of each piece added up by NumPy, and pieces exactly."""
    values = query.values(Chunk(sample, 0, sample.rows, {}))
    inside = np.ones(sample.rows, dtype=bool) if members is None else members
    if values.dtype == np.bool_:
        return float(np.count_nonzero(values & inside))
    cuts = [slice(start, start + PIECE) for start in range(0, sample.rows, PIECE)]
    return math.fsum(float(np.sum(values[cut][inside[cut]])) for cut in cuts)


@pytest.fixture
def together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Questions are put together even where rows are as few as here."""
    monkeypatch.setattr(parallel_scans, "WORTH", 0)


@settings(deadline=None, max_examples=80)
@given(
    st.lists(questions, min_size=1, max_size=12),
    st.integers(1, 4),
    st.sampled_from([1, 2, 5, 100]),
    st.booleans(),
    st.sampled_from([1, 2, 1_000]),
    st.sampled_from([0.0, 2.0]),
    st.sampled_from([0, 0, 2_000]),
)
def test_neither_threads_nor_runs_nor_company_matter(
    asked: list[Query], threads: int, pieces: int, parted: bool, enough: int, often: float, worth: int
) -> None:
    members = np.arange(ROWS) % 3 == 0 if parted else None
    expected = [meant(SAMPLE, query, members) for query in asked]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("UNWORN_THREADS", str(threads))
        patch.setattr(parallel_scans, "ALONE", 0)
        patch.setattr(parallel_scans, "WORTH", worth)
        patch.setattr(parallel_scans, "ENOUGH", enough)  # from how many on thresholds are looked up
        patch.setattr(condition_bits, "OFTEN", often)  # from when on tests are kept as bits
        assert Scan(SAMPLE, asked, members, PIECE, pieces).totals() == expected
        for query, told in zip(asked, expected, strict=True):
            assert parallel_scans.scan(SAMPLE, [query], members, PIECE) == [told]


def test_the_rows_are_such_that_order_would_show() -> None:
    """Else the test above could not fail: added up as they come, pieces taken in another order differ."""
    values = mean(col("wide"), range=(-1e12, 1e12)).values(Chunk(SAMPLE, 0, ROWS, {}))
    sums = [float(np.sum(values[start : start + PIECE])) for start in range(0, ROWS, PIECE)]
    assert sum(sums) != sum(reversed(sums)) or sum(sums[::2]) + sum(sums[1::2]) != sum(sums)


def test_many_rows_over_several_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """At full size, through the sample's own door, and by the quick way for one question too."""
    rng = np.random.default_rng(2)
    rows = 1_500_000
    data = {"x": rng.integers(-50, 50, rows, dtype=np.int8), "z": rng.normal(size=rows)}
    sample = Sample.read(data, schema={"z": "number"})
    asked = [share(col("x") > 7.5), share((col("x") >= -3) & (col("z") < 0.1)), mean(col("z") * 3, range=(-1, 4))]
    told = []
    for threads in (1, 2, 3):
        monkeypatch.setenv("UNWORN_THREADS", str(threads))
        told.append([sample.statistics(asked), *(sample.statistics([query]) for query in asked)])
    assert told[0] == told[1] == told[2]
    assert told[0][0] == [value for (value,) in told[0][1:]]
    assert told[0][0][:2] == [
        int((data["x"] > 7).sum()),
        int(((data["x"] >= -3) & (data["z"] < 0.1)).sum()),
    ]


@pytest.mark.usefixtures("together")
def test_many_thresholds_are_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a batch of thresholds none is evaluated on rows one by one."""
    asked = [share((col("single") > place / 50) & (col("word") == "b")) for place in range(-60, 60)]
    asked += [share(col("wild") <= place / 50) for place in range(-60, 60)]
    expected = [meant(SAMPLE, query) for query in asked]
    groups = Scan(SAMPLE, asked, None, PIECE)._ranks
    assert sorted(len(group.places) for group in groups) == [120, 120]
    monkeypatch.setattr(threshold_ranks.Share, "values", lambda *_: pytest.fail("looked at one by one"))
    assert parallel_scans.scan(SAMPLE, asked, None, PIECE) == expected


@pytest.mark.usefixtures("together")
def test_what_questions_have_in_common_is_found_once(monkeypatch: pytest.MonkeyPatch) -> None:
    rest = (col("wide") * 2 > 1) | col("flag")
    asked = [share(~(rest & (col("word") == word))) for word in ("a", "b", "c")]
    asked.append(share(~((col("word") == "c") & rest)))
    asked += [share(col("small") > 0.2), share(col("small") > 0.7)]  # of whole numbers the same
    scan = Scan(SAMPLE, asked, None, PIECE)
    assert len(scan._shares) == 4
    assert len(scan._found) == 6
    assert scan._shared
    assert scan.totals() == [meant(SAMPLE, query) for query in asked]


def test_user_code_runs_on_the_thread_of_the_asker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNWORN_THREADS", "4")
    monkeypatch.setattr(parallel_scans, "ALONE", 0)
    monkeypatch.setattr(row_passes, "CHUNK", PIECE)
    seen: set[int] = set()

    def watched(columns: Any) -> Any:
        seen.add(threading.get_ident())
        return columns["flag"]

    class Own(type(share(col("flag")))):  # type: ignore[misc]  # a question of the asker's own making
        def values(self, frame: Any) -> Any:
            seen.add(threading.get_ident())
            return super().values(frame)

    asked = [function(watched, binary=True, name="watched"), Own(col("flag")), share(col("flag"))]
    assert len(set(SAMPLE.statistics(asked))) == 1
    assert seen == {threading.get_ident()}


# ---------------------------------------------------------------- threads themselves


def test_every_run_goes_to_one_thread_and_no_thread_is_left() -> None:
    before = threading.active_count()
    parts = run_in_threads(list, range(1_000), 4)
    assert len(parts) == 4
    assert sorted(value for part in parts for value in part) == list(range(1_000))
    assert threading.active_count() == before


@pytest.mark.parametrize("where", ["here", "elsewhere"])
def test_an_error_of_any_thread_ends_the_pass(where: str) -> None:
    before, here = threading.active_count(), threading.get_ident()
    started = threading.Barrier(3)

    def work(runs: Iterator[int]) -> int:
        started.wait(10)
        for _ in runs:
            if (threading.get_ident() == here) == (where == "here"):
                raise KeyboardInterrupt
        return 0

    with pytest.raises(KeyboardInterrupt):
        run_in_threads(work, iter(int, 1), 3)  # without end: it ends only because all are told to
    assert threading.active_count() == before


def test_threads_have_the_settings_of_their_caller() -> None:
    """NumPy begins each thread with its own, which print what overflows: a fact about the rows."""
    both = threading.Barrier(2)

    def work(runs: Iterator[int]) -> str:
        next(runs)
        both.wait(10)  # one run for each of them
        return np.geterr()["over"]

    with np.errstate(all="ignore"):
        assert run_in_threads(work, range(2), 2) == ["ignore", "ignore"]


def test_without_threads_to_be_had_the_work_is_done_here(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert run_in_threads(sum, range(100), 4) == [4950]


def test_how_many_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("UNWORN_THREADS", "OMP_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    cores = thread_limit()
    assert 1 <= cores <= 8
    for told, expected in (("3", 3), ("2,1", 2), ("0", cores), ("many", cores), ("", cores), ("-1", cores)):
        monkeypatch.setenv("OMP_NUM_THREADS", told)
        assert thread_limit() == expected
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    monkeypatch.setenv("UNWORN_THREADS", "5")
    assert thread_limit() == 5


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_fork_scans_on_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNWORN_THREADS", "3")
    monkeypatch.setattr(parallel_scans, "ALONE", 0)
    asked = [share(col("small") > 0), mean(col("wide"), range=(-1, 1))]
    expected = parallel_scans.scan(SAMPLE, asked, None, PIECE)
    child = os.fork()
    if child == 0:
        same = parallel_scans.scan(SAMPLE, asked, None, PIECE) == expected
        os._exit(0 if same else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@settings(deadline=None)
@given(st.lists(st.lists(st.floats(-1e300, 1e300), max_size=9), max_size=4))
def test_sums_of_sums_are_exact(parts: list[list[float]]) -> None:
    several = []
    for part in parts:
        several.append(Exact())
        for number in part:
            several[-1].add(number)
    try:
        expected = math.fsum(number for part in parts for number in part)
    except OverflowError:
        return
    assert Exact.of(several).total == expected


def test_a_column_is_known_to_be_finite_by_its_values() -> None:
    known = {name: column.finite for name, column in SAMPLE.columns.items()}
    assert known == {
        "wide": True,
        "single": True,
        "small": True,
        "long": True,
        "holes": True,
        "wild": False,
        "flag": True,
        "word": False,
        "day": True,
    }
    assert SAMPLE.columns["wild"][:5].finite is False
    SAMPLE.seal(bytes(32))
    part = SAMPLE.restricted(bytes(32), slice(0, 100))
    assert part.columns["wide"].finite
    assert not part.columns["wild"].finite


@pytest.mark.usefixtures("together")
def test_tests_met_again_are_kept_as_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    tests = [col("wild") > 0.5, col("holes") < 0, col("flag"), col("word") == "b", col("small").isin([1, 2])]
    asked = [share(one & ~other) for one in tests for other in tests] + [share(one | tests[0]) for one in tests]
    scan = Scan(SAMPLE, asked, None, PIECE, 3)
    assert scan._bits is not None
    assert len(scan._bits.tests) == len(tests)
    seen = []
    monkeypatch.setattr(condition_bits, "truth", lambda *given: seen.append(given) or truth(*given))
    assert scan.totals() == [meant(SAMPLE, query) for query in asked]
    assert len(seen) == len(tests) * len(range(0, ROWS, 3 * PIECE))
