"""Coins and rows: chances are exact, every subset is as likely as another, and no draw depends on another."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tests.noise.support import KEY, Given
from unworn.noise import Stream
from unworn.noise.draws import one_uniform, uniform
from unworn.noise.samplers import coins, indices

LAST = 2**64 - 1


def alike(counts: Any, level: float = 1e-7) -> bool:
    """Whether counts may be those of equally likely cells: chi-square, with thousands expected in each."""
    counts = np.asarray(counts)
    assert counts.mean() > 1000
    return counts.size == 1 or bool(stats.chisquare(counts).pvalue > level)


# ---------------------------------------------------------------- coins


@given(chance=st.floats(0, 1), word=st.integers(0, LAST), more=st.lists(st.integers(0, LAST), min_size=20, max_size=20))
@settings(derandomize=True, deadline=None, max_examples=100)
def test_a_coin_falls_where_its_digits_are_below_the_chance(chance: float, word: int, more: list[int]) -> None:
    digits = Fraction(word, 2**64) + sum(Fraction(one, 2 ** (64 * (at + 2))) for at, one in enumerate(more))
    # 21 words are 1344 bits, more than the 1074 of the smallest float: nothing beyond them can matter.
    assert coins(Given([word], more), [chance]).tolist() == [digits < Fraction(chance)]


@pytest.mark.parametrize("chance", [2.0**-65, 2.0**-129 * 1.5, 5e-324, 2.0**-64 * 1.5, 0.1 * 2.0**-100])
def test_a_chance_below_one_word_is_decided_by_the_next(chance: float) -> None:
    whole = Fraction(chance)
    words = []
    for _ in range(18):
        whole *= 2**64
        words.append(math.floor(whole))
        whole -= words[-1]
    assert whole == 0
    last = max(at for at, word in enumerate(words) if word)
    below = [*words[:last], words[last] - 1, *[LAST] * 18]
    assert coins(Given(below[:1], below[1:]), [chance]).tolist() == [True]
    assert coins(Given(words[:1], words[1:]), [chance]).tolist() == [False]


def test_certain_coins() -> None:
    for word in (0, 1, LAST):
        assert coins(Given([word] * 2, [0]), [0.0, 1.0]).tolist() == [False, True]


def test_coins_fall_as_often_as_they_should() -> None:
    # Each count within its exact binomial interval: a false alarm of 1e-8 for each of 7.
    for chance in (0.5, 0.1, 1 / 3, 1e-3, 0.999, 2.0**-12, 1 - 2.0**-53):
        fell = int(coins(Stream(KEY, "coins"), np.full(10**6, chance)).sum())
        low, high = stats.binom.interval(1 - 1e-8, 10**6, chance)
        assert low <= fell <= high


def test_coins_are_independent_of_each_other() -> None:
    # Chi-square over the 16 patterns of 4 neighbours: a false alarm of 1e-7.
    fell = coins(Stream(KEY, "patterns"), np.full((50_000, 4), 0.5))
    assert alike(np.bincount(fell @ [1, 2, 4, 8], minlength=16))


def test_coins_keep_their_shape() -> None:
    assert coins(Stream(KEY), 0.5).shape == ()
    assert coins(Stream(KEY), np.zeros((2, 0, 3))).shape == (2, 0, 3)
    assert np.array_equal(
        coins(Stream(KEY), np.full((40, 1000), 0.3)).ravel(), coins(Stream(KEY), np.full(40_000, 0.3))
    )


@pytest.mark.parametrize("chance", [-1e-300, 1 + 2.0**-52, math.nan, math.inf])
def test_a_chance_out_of_range_is_refused(chance: float) -> None:
    with pytest.raises(ValueError, match=r"every chance must lie in \[0, 1\]"):
        coins(Stream(KEY), [0.5, chance])


# ---------------------------------------------------------------- indices


@pytest.mark.parametrize("n", [1, 2, 3, 7, 100, 2**32 - 1, 2**32, 2**32 + 1, 3 * 2**30, 5 * 2**40, 2**63 - 1, 2**63])
def test_indices_are_uniform(n: int) -> None:
    # 12 chi-squares over at most 50 cells of equal size: a false alarm of 1e-7 each.
    drawn = indices(Stream(KEY, "uniform"), n, 100_001, True)
    assert drawn.dtype == np.int64
    assert drawn.size == 100_001
    assert drawn.min() >= 0
    assert int(drawn.max()) < n
    cells = min(n, 50)
    size = n // cells
    counts = np.bincount(np.minimum(drawn // size, cells).astype(int), minlength=cells)[:cells]
    assert size * cells == n or counts.sum() > 99_000
    assert alike(counts)


@pytest.mark.parametrize("n", [1, 2, 3, 7, 2**31 + 1, 3 * 2**30, 2**32 - 1, 2**32, 2**32 + 1, 5 * 2**40, 2**63])
def test_one_index_is_drawn_as_an_array_of_one_is(n: int) -> None:
    one, many = Stream(KEY, "one", n), Stream(KEY, "one", n)
    drawn = [one_uniform(one, n) for _ in range(300)]
    assert drawn == [int(uniform(many, n, 1)[0]) for _ in range(300)]
    assert one.word() == many.word()


def test_the_usual_shortcut_would_not_be_uniform() -> None:
    # floor(32 bits * n / 2^32) at n = 3 * 2^30 gives every third value twice as often; chi-square, false alarm 1e-7.
    n = 3 * 2**30
    halves = Stream(KEY, "shortcut").words(30_000).view(np.uint32).astype(np.uint64)
    assert not alike(np.bincount(((halves * np.uint64(n)) >> np.uint64(32)).astype(np.int64) % 3))
    assert alike(np.bincount(indices(Stream(KEY, "shortcut"), n, 60_000, True) % 3))


def test_neighbouring_indices_are_independent() -> None:
    drawn = indices(Stream(KEY, "pairs"), 7, 200_000, True).reshape(-1, 2)
    assert alike(np.bincount(drawn @ [7, 1], minlength=49))  # false alarm 1e-7


@pytest.mark.parametrize(("n", "count"), [(6, 3), (6, 2), (6, 4), (5, 1), (5, 5), (4, 0)])
def test_every_subset_is_as_likely(n: int, count: int) -> None:
    # Chi-square over all subsets: a false alarm of 1e-7 each.
    stream = Stream(KEY, "subsets", n, count)
    subsets = dict.fromkeys(itertools.combinations(range(n), count), 0)
    for _ in range(1100 * len(subsets)):
        subsets[tuple(indices(stream, n, count, False).tolist())] += 1
    assert alike(list(subsets.values()))


@given(n=st.integers(1, 5000), share=st.floats(0, 1), key=st.integers(0, 10**6))
@settings(derandomize=True, deadline=None, max_examples=100)
def test_without_replacement_all_differ(n: int, share: float, key: int) -> None:
    count = round(share * n)
    drawn = indices(Stream(KEY, key), n, count, False)
    assert drawn.dtype == np.int64
    assert len(set(drawn.tolist())) == drawn.size == count
    assert np.array_equal(drawn, np.sort(drawn))
    assert count == 0 or (drawn.min() >= 0 and drawn.max() < n)


@pytest.mark.parametrize("n", [7, 1_000, 30_011, 10**8, 2**32 - 1, 2**32, 2**32 + 1, 2**40, 2**63])
@pytest.mark.parametrize("count", [0, 1, 3, 500])
def test_without_replacement_are_the_first_that_differ(n: int, count: int) -> None:
    """The same as by the book: draw as many as are missing, keep what is new, until there are enough."""
    if 2 * count > n:
        return
    for turn in range(5):
        plain, found = Stream(KEY, "first", turn), set[int]()
        while len(found) < count:
            found |= set(indices(plain, n, count - len(found), True).tolist())
        drawn = indices(Stream(KEY, "first", turn), n, count, False)
        assert drawn.dtype == np.int64
        assert drawn.tolist() == sorted(found)


def test_few_of_many_rows_take_little() -> None:
    # 10^4 of 10^15: what would need a petabyte were it to depend on n.
    drawn = indices(Stream(KEY, "many"), 10**15, 10_000, False)
    assert len(np.unique(drawn)) == 10_000
    # The mean is uniform's: 7 standard errors, a false alarm of 3e-12.
    assert abs(drawn.mean() / 10**15 - 0.5) < 7 / math.sqrt(12 * 10_000)


@pytest.mark.parametrize(
    ("n", "count", "replace", "match"),
    [
        (0, 0, True, "n must be a whole number from 1"),
        (2**63 + 1, 1, True, "n must be a whole number from 1"),
        (1.5, 1, True, "n must be a whole number from 1"),
        (5, -1, True, "count must be a whole number from 0"),
        (5, 0.5, False, "count must be a whole number from 0"),
        (5, 6, False, "count must be at most n = 5 without replacement"),
    ],
)
def test_indices_out_of_range_are_refused(n: Any, count: Any, replace: bool, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        indices(Stream(KEY), n, count, replace)
