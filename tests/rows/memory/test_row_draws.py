"""Fresh rows are drawn uniformly, values are rounded without bias, and nothing else about the rows gets through."""

from __future__ import annotations

import datetime as dt
import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from unworn.errors import Unaskable
from unworn.noise import Stream
from unworn.queries import (
    FromModel,
    Query,
    accuracy,
    balanced_accuracy,
    brier,
    col,
    compare,
    function,
    log_loss,
    mae,
    mean,
    mse,
    share,
    statistic,
    top_k,
)
from unworn.rows import Sample
from unworn.rows.memory import row_draws, row_passes
from unworn.rows.memory.row_runs import Chunk, PickedRows

KEY = bytes(range(32))


def stream(*context: int | str) -> Stream:
    return Stream(KEY, *context)


def far(terms: float, alarm: float = 1e-8) -> float:
    """How far a sum of so many independent values in [0, 1] strays from its mean: more with this chance (Hoeffding)."""
    return math.sqrt(terms * math.log(2 / alarm) / 2)


def likely(count: int, trials: int, chance: float, alarm: float) -> bool:
    """Whether a binomial count is no rarer than this on either side."""
    return bool(min(binom.cdf(count, trials, chance), binom.sf(count - 1, trials, chance)) > alarm / 2)


# ---------------------------------------------------------------- which rows are drawn

ROWS = 8
NUMBERED = Sample.read({"row": np.arange(ROWS)})
ROW = [share(col("row") == place) for place in range(ROWS)]


def which(units: int, turn: int, replace: bool) -> list[int]:
    """How often each row is drawn: the same stream draws the same rows for every question."""
    return [NUMBERED.drawn(query, units, stream("which", turn), replace) for query in ROW]


@pytest.mark.parametrize("replace", [False, True])
def test_all_pairs_of_rows_are_equally_likely(replace: bool) -> None:
    turns = 1_200
    seen: dict[tuple[int, ...], int] = {}
    for turn in range(turns):
        times = which(2, turn, replace)
        assert sum(times) == 2
        pair = tuple(place for place, often in enumerate(times) for _ in range(often))
        seen[pair] = seen.get(pair, 0) + 1
    # 36 or 28 outcomes, each outside its binomial limits with probability 1e-8: a false alarm in 2e6.
    for pair in itertools.combinations_with_replacement(range(ROWS), 2):
        same = pair[0] == pair[1]
        chance = (1 if same else 2) / ROWS**2 if replace else 0.0 if same else 2 / (ROWS * (ROWS - 1))
        if chance == 0:
            assert pair not in seen
        else:
            assert likely(seen.get(pair, 0), turns, chance, 1e-8), (pair, seen.get(pair, 0), turns * chance)


@pytest.mark.parametrize("replace", [False, True])
def test_each_row_is_drawn_equally_often(replace: bool) -> None:
    turns, units = 400, 5
    times = np.sum([np.minimum(which(units, turn, replace), 1) for turn in range(turns)], axis=0)
    chance = 1 - (1 - 1 / ROWS) ** units if replace else units / ROWS
    # 8 rows, each outside with probability 1e-8: a false alarm in 1e7.
    assert all(likely(int(count), turns, chance, 1e-8) for count in times), times


def test_draws_of_two_streams_are_independent() -> None:
    turns = 1_000
    first = [which(1, turn, False).index(1) for turn in range(turns)]
    pairs = np.zeros((ROWS, ROWS), dtype=int)
    np.add.at(pairs, (first[:-1:2], first[1::2]), 1)
    # 64 pairs, each outside with probability 1e-9.
    assert all(likely(int(count), turns // 2, 1 / ROWS**2, 1e-9) for count in pairs.ravel())


@settings(derandomize=True, deadline=None, max_examples=60)
@given(st.lists(st.booleans(), min_size=1, max_size=40), st.integers(0, 1_000))
def test_all_rows_without_replacement_are_counted_exactly(flags: list[bool], turn: int) -> None:
    sample = Sample.read({"flag": np.array(flags)})
    assert sample.drawn(share(col("flag")), len(flags), stream(turn)) == sum(flags)
    assert sample.drawn(share(~col("flag")), len(flags), stream(turn)) == len(flags) - sum(flags)


def test_the_stream_decides_and_nothing_else_does() -> None:
    data = {"x": np.random.default_rng(0).random(1_000)}
    query = mean(col("x").fill(0), range=(0, 1))
    for replace in (False, True):
        told = [Sample.read(data).drawn(query, 300, stream(turn), replace) for turn in (1, 1, 2, 3, 4)]
        assert told[0] == told[1]
        assert len(set(told)) > 1
    told = [Sample.read(data).rounded([query], [stream(turn)])[0] for turn in (1, 1, 2, 3, 4)]
    assert told[0] == told[1]
    assert len(set(told)) > 1


# ---------------------------------------------------------------- rounding

N = 30_000
WORLD = np.random.default_rng(5)
UNIFORM = WORLD.random(N)
LABELS = WORLD.integers(0, 3, N)
MANY = Sample.read({"u": UNIFORM, "income": 900 * UNIFORM**3 - 100}, LABELS, schema={"u": "number", "income": "number"})
GUESSES = [np.where(WORLD.random(N) < right, LABELS, 2) for right in (0.5, 0.8)]
UNIT: dict[str, Query] = {
    "mean": mean(col("u"), range=(0, 1)),
    "own units": mean(col("income"), range=(-100, 800)),
    "cut": mean(col("income"), range=(0, 50)),
    "weighted": balanced_accuracy(GUESSES[0], weights={0: 3, 1: 2, 2: 0.5}),
    "loss": mse(GUESSES[1] / 3, range=(0, 5)),
    "paired": compare(accuracy(GUESSES[0]), accuracy(GUESSES[1])),
}


@pytest.mark.parametrize("name", UNIT)
def test_rounding_and_drawing_have_no_bias(name: str) -> None:
    query = UNIT[name]
    facts = query.facts(MANY.schema, N)
    values = np.asarray(query.values(Chunk(MANY, 0, N, {})), dtype=np.float64)
    scaled = float(np.mean((values - facts.low) / (facts.high - facts.low)))
    assert 0.01 < scaled < 0.99
    # Each is a sum of independent values in [0, 1], or of fewer dependent ones (Hoeffding 1963, 6): 1e-8 each.
    assert abs(MANY.rounded([query], [stream(name)])[0] - N * scaled) < far(N)
    for replace in (False, True):
        told = sum(MANY.drawn(query, 2_000, stream(name, turn), replace) for turn in range(10))
        assert abs(told - 20_000 * scaled) < far(20_000)


def test_rounding_is_exact_at_the_ends() -> None:
    data = {"x": np.array([-5.0, 0, 0, 10, 11, 1e300])}
    sample = Sample.read(data, schema={"x": "number"})
    query = mean(col("x"), range=(0, 10))
    assert {sample.rounded([query], [stream(turn)])[0] for turn in range(50)} == {3}
    assert {sample.drawn(query, 6, stream(turn)) for turn in range(50)} == {3}


def test_questions_are_rounded_independently() -> None:
    n, turns = 400, 600
    sample = Sample.read({"x": np.full(n, 0.5)}, schema={"x": "number"})
    one, other = mean(col("x"), range=(0, 1)), mean(1 - col("x"), range=(0, 1))
    told = np.array([sample.rounded([one, other], [stream("a", turn), stream("b", turn)]) for turn in range(turns)])
    # The variance of sum and difference is n/2 if they are independent, and 0 for one of them if they move together.
    # Its estimate from 600 turns strays by 0.058 (one deviation): 0.35 is six of them, 2e-8 for a chi-square.
    for signs in (1, -1):
        spread = np.mean((told[:, 0] + signs * told[:, 1] - (n if signs == 1 else 0)) ** 2) / (n / 2)
        assert abs(spread - 1) < 0.35


def test_a_count_leaves_the_stream_alone() -> None:
    noise = stream("untouched")
    assert MANY.rounded([share(col("u") > 0.5)], [noise]) == [np.count_nonzero(UNIFORM > 0.5)]
    assert MANY.rounded([accuracy(GUESSES[0])], [noise]) == [np.count_nonzero(GUESSES[0] == LABELS)]
    assert noise.words(3).tolist() == stream("untouched").words(3).tolist()


# ---------------------------------------------------------------- neither company nor runs of rows matter


def everything(sample: Sample, queries: list[Query]) -> list[Any]:
    alone = [sample.rounded([query], [stream(place)])[0] for place, query in enumerate(queries)]
    together = sample.rounded(queries, [stream(place) for place in range(len(queries))])
    assert together == alone
    later = []
    for place, query in enumerate(queries):
        for replace in (False, True):
            noise = stream("drawn", place)
            later += [sample.drawn(query, 500, noise, replace), *noise.words(1).tolist()]
    return [alone, later]


@pytest.mark.parametrize("grouped", [False, True])
def test_runs_of_rows_do_not_matter(grouped: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    n = 2_000
    labels, groups = rng.integers(0, 2, n), rng.integers(0, 700, n)
    data = {"x": rng.random(n), "t": np.array(["a", "b", "c"])[rng.integers(0, 3, n)]}
    sample = Sample.read(data, labels, groups=groups if grouped else None, schema={"x": "number"})
    guess = rng.random(n)
    queries = [
        share(col("x") > 0.3),
        mean(col("x"), range=(0, 0.9)),
        brier(guess, positive=1),
        compare(mae(guess, range=(0, 1)), mae(1 - guess, range=(0, 1))),
        share(col("t") == "b"),
        accuracy((guess > 0.5).astype(int)),
    ]
    expected = everything(sample, queries)
    for run in (1_999, 64, 7):
        monkeypatch.setattr(row_passes, "CHUNK", run)
        monkeypatch.setattr(row_passes, "CELLS", 1_000)  # and groups so many that a batch takes several passes
        assert everything(sample, queries) == expected


# ---------------------------------------------------------------- groups


def grouped_sample(seed: int) -> tuple[Sample, np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    rng = np.random.default_rng(seed)
    groups = rng.permutation(np.repeat(np.arange(300) * 7, rng.integers(1, 9, 300)))  # of 1 to 8 rows, mixed
    values = rng.random(len(groups)) ** 2
    return Sample.read({"x": values}, groups=groups, schema={"x": "number"}), groups, values


def test_the_mean_of_a_group_is_rounded() -> None:
    sample, groups, values = grouped_sample(1)
    means = np.array([values[groups == group].mean() for group in np.unique(groups)])
    query = mean(col("x"), range=(0, 1))
    # 200 turns of independent values in [0, 1], or draws from them: 1e-8 each.
    told = sum(sample.rounded([query], [stream(turn)])[0] for turn in range(200))
    assert abs(told - 200 * means.sum()) < far(200 * 300)
    for replace in (False, True):
        told = sum(sample.drawn(query, 50, stream(turn), replace) for turn in range(200))
        assert abs(told - 200 * 50 * means.mean()) < far(200 * 50)


@pytest.mark.parametrize("run", [1, 10, 131_072])
def test_drawn_groups_have_the_means_of_all(run: int, monkeypatch: pytest.MonkeyPatch) -> None:
    sample, _, _ = grouped_sample(2)
    query = mean(col("x"), range=(0, 1))
    (means,) = row_draws._unit_means(sample, [query], [query.facts(sample.schema, sample.rows)])
    chosen = np.random.default_rng(0).integers(0, 300, 450)
    monkeypatch.setattr(row_passes, "CHUNK", run)
    assert row_draws._drawn_means(sample, query, chosen).tolist() == means[chosen].tolist()


def test_groups_that_agree_are_counted_exactly() -> None:
    groups = np.array([3, 1, 1, 2, 3, 3, 9, 2])
    sample = Sample.read({"x": np.isin(groups, [1, 9])}, groups=groups)
    query = share(col("x"))
    assert sample.rounded([query], [stream(1)]) == [2]
    assert sample.drawn(query, 4, stream(2)) == 2
    queries = (query, share(~col("x")))
    counts = {tuple(sample.drawn(query, 1, stream(turn)) for query in queries) for turn in range(60)}
    assert counts == {(0, 1), (1, 0)}  # 60 fair coins alike: below 1e-17


# ---------------------------------------------------------------- every question, on rows picked at random

PICKED = 400
RNG = np.random.default_rng(9)
NUMBERS = RNG.integers(0, 4, PICKED)
SCORES = RNG.dirichlet(np.ones(4), PICKED)
WORDS = np.array(["no", "yes", "maybe", "other"], dtype=object)
TABLE = {
    "i": NUMBERS.astype(np.int8),
    "f": np.where(RNG.random(PICKED) < 0.2, np.nan, RNG.normal(size=PICKED)),
    "wild": RNG.choice([np.inf, -np.inf, np.nan, 1e308, 0.0, 1.0], PICKED),
    "b": RNG.random(PICKED) < 0.5,
    "t": np.where(RNG.random(PICKED) < 0.2, None, WORDS[NUMBERS]),
    "id": np.array([f"row {place % 390}" for place in range(PICKED)], dtype=object),
    "d": np.datetime64("2024-01-01", "us") + RNG.integers(0, 400, PICKED).astype("timedelta64[D]"),
}
NUMERIC = Sample.read(TABLE, np.where(RNG.random(PICKED) < 0.1, np.nan, NUMBERS))
TEXT = Sample.read(TABLE, "t")
UNIQUE = Sample.read(TABLE, "id")
TRUE = Sample.read(TABLE, "b")
ABOUT: dict[str, tuple[Sample, Query]] = {
    "number": (NUMERIC, share((col("i") > 1) & ~col("f").between(0, 1))),
    "text": (NUMERIC, share(col("t").isin(["yes", "nowhere"]) | (col("t") == "no"))),
    "words": (NUMERIC, share((col("id") == "row 7") | col("id").isin(["row 8", "row 300", "none"]))),
    "two texts": (NUMERIC, share(col("id") != col("t"))),
    "filled": (NUMERIC, share(col("t").fill("yes") == "yes")),
    "date": (NUMERIC, share(col("d") < dt.date(2024, 7, 1))),
    "missing": (NUMERIC, share(col("f").is_null() | col("b"))),
    "mean": (NUMERIC, mean(col("f").fill(0) * col("i"), range=(-2, 3))),
    "overflow": (NUMERIC, mean((col("wild") * col("wild")).fill(0), range=(0, 1))),
    "accuracy, bytes": (NUMERIC, accuracy(RNG.integers(0, 4, PICKED))),
    "accuracy, wide": (NUMERIC, accuracy(RNG.integers(0, 4, PICKED) * 1_000)),
    "accuracy, floats": (NUMERIC, accuracy(RNG.integers(0, 4, PICKED) / 2)),
    "accuracy, text": (TEXT, accuracy(WORDS[RNG.integers(0, 4, PICKED)])),
    "accuracy, many words": (UNIQUE, accuracy(np.roll(TABLE["id"][::-1], 1))),
    "accuracy, bools": (TRUE, accuracy(RNG.random(PICKED) < 0.5)),
    "balanced": (NUMERIC, balanced_accuracy(RNG.integers(0, 4, PICKED), weights={0: 2, 1: 1, 3: 0.5})),
    "balanced, text": (TEXT, balanced_accuracy(WORDS[NUMBERS[::-1]], weights={"no": 2, "yes": 1})),
    "balanced, many words": (UNIQUE, balanced_accuracy(TABLE["id"], weights={"row 3": 2, "row 5": 1})),
    "top k": (NUMERIC, top_k(SCORES, k=2)),
    "top k, text": (TEXT, top_k(SCORES, k=2, classes=WORDS.tolist())),
    "brier": (NUMERIC, brier(SCORES[:, 1].copy(), positive=1)),
    "brier, text": (TEXT, brier(SCORES[:, 1].copy(), positive="yes")),
    "log loss": (NUMERIC, log_loss(SCORES)),
    "mae": (NUMERIC, mae(SCORES[:, 0].copy(), range=(0, 4))),
    "mse": (NUMERIC, mse(RNG.integers(0, 200, PICKED).astype(np.uint8), range=(0, 4))),
    "paired": (TEXT, compare(accuracy(WORDS[NUMBERS]), accuracy(WORDS[NUMBERS[::-1]]))),
}


@pytest.mark.parametrize("name", ABOUT)
@pytest.mark.parametrize("count", [1, 3, 50, 2_000])
def test_picked_rows_say_what_they_say_in_a_full_pass(name: str, count: int) -> None:
    sample, query = ABOUT[name]
    query.facts(sample.schema, sample.rows)
    rows = np.random.default_rng(count).integers(0, PICKED, count)
    with np.errstate(all="ignore"):
        whole = np.asarray(query.values(Chunk(sample, 0, PICKED, {})))
        picked = np.asarray(query.values(PickedRows(sample, rows)))
    assert picked.dtype == whole.dtype
    assert picked.tolist() == whole[rows].tolist()
    if count == 2_000:
        assert len(set(whole.tolist())) > 1  # else nothing is tested


@pytest.mark.parametrize("name", ABOUT)
def test_runs_of_rows_translate_alike(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sample, query = ABOUT[name]
    (expected,) = sample.statistics([query])
    monkeypatch.setattr(row_passes, "CHUNK", 90)  # the last run has fewer rows than there are words
    assert sample.statistics([query])[0] == pytest.approx(expected, abs=1e-12)


def test_drawn_rows_are_all_that_is_read() -> None:
    sample = Sample.read({"t": TABLE["id"]}, TABLE["i"])
    sample.drawn(accuracy(NUMBERS), 20, stream(1))
    assert "small_labels" not in sample.__dict__
    assert PickedRows(sample, np.array([5, 9, 5])).column("t").vocabulary.tolist() == ["row 5", "row 9"]  # type: ignore[union-attr]


# ---------------------------------------------------------------- nothing raised by rows, all that is wrong said before


@settings(derandomize=True, deadline=None, max_examples=40)
@given(
    st.lists(st.sampled_from([math.nan, math.inf, -math.inf, 1e308, -1e308, 5e-324, 0.0, 0.3]), min_size=1, max_size=9),
    st.booleans(),
)
def test_rows_raise_nothing(values: list[float], grouped: bool) -> None:
    n = len(values)
    groups = np.arange(n) // 3 if grouped else None
    numbers, schema = np.array(values), {"x": "number", "y": "number"}
    sample = Sample.read({"x": numbers}, numbers, groups=groups, schema=schema)
    x = col("x")
    for query in (
        mean(x * x - x, range=(-1, 1)),
        mean(x, range=(0, 5e-324)),
        mean(x, range=(-8e307, 8e307)),
        mse(np.zeros(n), range=(0, 1)),
        share(x / x == 1),
    ):
        assert 0 <= sample.rounded([query], [stream(1)])[0] <= sample.size
        for replace in (False, True):
            units = max(1, sample.size // 2)
            assert 0 <= sample.drawn(query, units, stream(2), replace) <= units


def test_user_code_is_refused() -> None:
    class Model:
        def predict(self, X: Any) -> Any:
            raise AssertionError("must not run")

    sample = Sample.read({"x": np.arange(4.0)}, np.arange(4))
    for query in (
        function(lambda columns: 1 / 0, range=(0, 1)),
        function(lambda columns: 1 / 0, binary=True),
        accuracy(FromModel(Model(), name="model")),
        compare(accuracy(FromModel(Model(), name="model")), accuracy([0, 1, 2, 3])),
    ):
        with pytest.raises(TypeError, match="runs code on the rows"):
            sample.rounded([query], [stream(1)])
        with pytest.raises(TypeError, match="runs code on the rows"):
            sample.drawn(query, 2, stream(1))
    whole = statistic(lambda columns: 1 / 0, sensitivity=1, range=(0, 1))
    for ask in (lambda: sample.rounded([whole], [stream(1)]), lambda: sample.drawn(whole, 2, stream(1))):
        with pytest.raises(Unaskable, match="statistic of the whole sample"):
            ask()


def test_public_mistakes_are_said() -> None:
    query = share(col("row") > 3)
    for units in (0, -1, ROWS + 1):
        with pytest.raises(ValueError, match=f"cannot draw {units} of 8 units"):
            NUMBERED.drawn(query, units, stream(1))
    assert 0 <= NUMBERED.drawn(query, ROWS + 1, stream(1), replace=True) <= ROWS + 1
    same = stream(1)
    for noises in ([], [same], [same, same]):
        with pytest.raises(ValueError, match="2 questions need as many streams"):
            NUMBERED.rounded([query, query], noises)
    with pytest.raises(TypeError, match="keyed Stream, not"):
        NUMBERED.drawn(query, 1, np.random.default_rng(0))  # type: ignore[arg-type]
    with pytest.raises(Unaskable, match="there is no column 'z'"):
        NUMBERED.drawn(share(col("z") > 1), 1, stream(1))
    with pytest.raises(TypeError, match="not grouped"):
        _ = NUMBERED.rows_by_unit
