from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.mechanisms.synthetic.nodes import paired_laws
from unworn.bounds.concentration import hoeffding_width, kl_above
from unworn.bounds.numerics import log_choose
from unworn.bounds.paired import discordance

quiet = settings(derandomize=True, deadline=None, max_examples=100)
rows = st.integers(1, 10**7)
levels = st.floats(-2000, -1e-3)
unit = st.floats(0, 1)


def ladder_level(k: int, m: int, beta: float = 0.05) -> float:
    """The level of submission k of k planned ones, after m improvements of two steps each."""
    return math.log(beta) - (math.log(k) + math.log((m + 1) * (m + 2)) + log_choose(k - 1, m) + m * math.log(2 * 3))


@pytest.mark.parametrize(
    ("k", "m", "known"),
    [
        (10**3, 5, (0.0149, 0.0225, 0.0372)),
        (10**3, 20, (0.0298, 0.0425, 0.0668)),
        (10**5, 5, (0.0197, 0.0291, 0.0471)),
        (10**5, 20, (0.0425, 0.0588, 0.0898)),
    ],
)
def test_known_half_widths(k: int, m: int, known: tuple[float, ...]) -> None:
    for spread, width in zip((0.01, 0.03, 0.1), known, strict=True):
        low, high = discordance(0.0, 0.0, spread, 10_000, ladder_level(k, m), zero_one=True)
        assert high == pytest.approx(width, abs=6e-5)
        assert low == -high


def minimum(mean: float, s: float, top: float) -> float:
    """min over l > 0 of l mean + ln(1 + s (cosh l - 1) - D sinh l), by search alone."""

    def value(lam: float) -> float:
        # 1 + s (cosh l - 1) - D sinh l, written so that small l keeps its digits.
        excess = 2 * s * math.sinh(lam / 2) ** 2 - top * math.sinh(lam)
        return lam * mean + math.log1p(excess)

    grid = [10 ** (k / 20) for k in range(-140, 36)]
    at = min(range(1, len(grid) - 1), key=lambda k: value(grid[k]))
    low, high = grid[at - 1], grid[at + 1]
    for _ in range(100):
        third = (high - low) / 3
        low, high = (low, high - third) if value(low + third) < value(high - third) else (low + third, high)
    return value((low + high) / 2)


@quiet
@given(st.floats(1e-3, 0.999), st.floats(-0.999, 0.999), st.integers(10, 10**6), st.floats(-100, -0.5))
def test_it_is_the_largest_difference_not_excluded(spread: float, part: float, n: int, level: float) -> None:
    mean = part * spread
    high = discordance(mean, mean, spread, n, level, zero_one=False)[1]
    most = kl_above(spread, 1 - spread, -(level + math.log(1 / 4)) / n)[0]
    nats = -(level + math.log(3 / 8)) / n
    if high < most * (1 - 1e-9):
        assert minimum(mean, most, high) <= -nats * (1 - 1e-9)  # never narrower than the theorem allows
        assert minimum(mean, most, high - 1e-6 * (high - mean)) >= -nats  # and no wider


@pytest.mark.parametrize("mean", [-0.5, 0.0, 0.45, 0.5, 0.7, 0.95])
@pytest.mark.parametrize("level", [-1.0, -3.0, -20.0])
def test_rows_that_all_differ_are_told_as_sharply(mean: float, level: float) -> None:
    """Where E|d| may be 1, d is a coin of -1 and 1 at worst: the limit is Chernoff's for its share of 1."""
    n = 10
    high = discordance(mean, mean, 1.0, n, level, zero_one=True)[1]
    share = (1 + mean) / 2
    assert high == pytest.approx(2 * kl_above(share, 1 - share, -(level + math.log(3 / 8)) / n)[0] - 1, abs=1e-9)
    assert mean < high <= 1


def feasible(a: float, b: float, spread: float) -> tuple[float, float]:
    return tuple(sorted(((2 * a - 1) * spread, (2 * b - 1) * spread)))  # type: ignore[return-value]


@quiet
@example(0.0, 0.0, 0.0, 0.9999999999999999, 1, -1.0, False)
@example(0.0, 1e-12, 0.5, 0.999999999, 10, -30.0, True)
@given(unit, unit, unit, unit, rows, levels, st.booleans())
def test_it_covers_the_cell_and_every_smaller_spread(
    a: float, b: float, inside: float, spread: float, n: int, level: float, zero_one: bool
) -> None:
    """What is published for a cell holds for each difference in it and for each smaller spread."""
    low, high = feasible(a, b, spread)
    limits = discordance(low, high, spread, n, level, zero_one)
    assert -1 <= limits[0] <= low <= high <= limits[1] <= 1
    middle = min(max(low + inside * (high - low), low), high)
    smaller = min(spread, max(abs(middle), inside * spread))
    narrow = discordance(middle, middle, smaller, n, level, zero_one)
    assert limits[0] <= narrow[0] + 1e-13
    assert limits[1] >= narrow[1] - 1e-13


@quiet
@given(unit, unit, unit, st.integers(1, 10**6), levels, st.booleans())
def test_wider_for_fewer_rows_and_smaller_levels(
    a: float, b: float, spread: float, n: int, level: float, zero_one: bool
) -> None:
    low, high = feasible(a, b, spread)
    if zero_one:
        spread = math.floor(spread * n) / n  # a count that doubles with n
        low, high = min(max(low, -spread), spread), min(max(high, -spread), spread)
    limits = discordance(low, high, spread, n, level, zero_one)
    lower = discordance(low, high, spread, n, level - 1.0, zero_one)
    double = discordance(low, high, spread, 2 * n, level, zero_one)
    assert lower[0] <= limits[0] + 1e-13
    assert limits[0] <= double[0] + 1e-12
    assert lower[1] >= limits[1] - 1e-13
    assert limits[1] >= double[1] - 1e-12


@quiet
@given(unit, unit, rows, levels, st.booleans())
def test_the_limits_mirror_each_other(a: float, spread: float, n: int, level: float, zero_one: bool) -> None:
    mean = (2 * a - 1) * spread
    low, high = discordance(mean, mean, spread, n, level, zero_one)
    assert discordance(-mean, -mean, spread, n, level, zero_one) == (-high, -low)


@pytest.mark.parametrize("n", [6, 25])
@pytest.mark.parametrize("b", [0.5, 0.1, 1e-3])
def test_it_covers_every_truth_exactly(n: int, b: float) -> None:
    """All outcomes (losses, wins) of n rows, d in {-1, 0, 1}: missed with probability at most b."""
    outcomes = [(x, y) for x in range(n + 1) for y in range(n + 1 - x)]
    limits = {(x, y): discordance((y - x) / n, (y - x) / n, (x + y) / n, n, math.log(b), True) for x, y in outcomes}
    shares = (0.0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.45, 0.7, 0.9, 1.0)
    for less, more in product(shares, shares):
        if less + more > 1:
            continue
        missed = 0.0
        for x, y in outcomes:
            low, high = limits[x, y]
            if not low <= more - less <= high:
                ways = math.comb(n, x) * math.comb(n - x, y)
                missed += ways * less**x * more**y * max(0.0, 1 - less - more) ** (n - x - y)
        assert missed <= b


def test_it_beats_two_separate_intervals_by_far() -> None:
    level = ladder_level(10**3, 5)
    paired = discordance(0.0, 0.0, 0.03, 10_000, level, zero_one=True)[1]
    assert 4 * paired < 2 * hoeffding_width(10_000, level)


def test_an_impossible_part_of_a_cell_is_cut_off() -> None:
    assert discordance(0.02, 0.5, 0.1, 1000, -5.0, False) == discordance(0.02, 0.1, 0.1, 1000, -5.0, False)
    low, high = discordance(0.3, 0.5, 0.1, 1000, -5.0, False)
    assert -0.1 < low < 0.1 < high


@pytest.mark.parametrize("n", [1, 2, 6])
def test_the_cell_is_contained_though_its_spread_is_no_count(n: int) -> None:
    for spread, level in product((0.3, 0.81, 0.99), (-1e-3, -0.05, -1.0)):
        low, high = discordance(-0.95 * spread, 0.95 * spread, spread, n, level, zero_one=True)
        assert low <= -0.95 * spread
        assert high >= 0.95 * spread


def test_arrays_agree_with_scalars() -> None:
    low, high = discordance([0.0, 0.01], 0.02, [[0.03], [0.1]], 10_000, -20.0, zero_one=True)
    assert low.shape == (2, 2)
    assert (low[1, 1], high[1, 1]) == discordance(0.01, 0.02, 0.1, 10_000, -20.0, True)
    assert isinstance(discordance(np.float64(0), 0, 0.1, np.int64(100), -5.0, True)[0], float)


def test_a_count_hidden_by_rounding_is_not_lost() -> None:
    n = 10**9
    for count in (3, 333_333_333, 700_000_001):
        exact = discordance(0, 0, count / n, n, -20.0, True)
        assert exact == discordance(0, 0, math.nextafter(count / n, 0), n, -20.0, True)


@pytest.mark.parametrize(
    "arguments",
    [
        (-1.1, 0, 0.1, 10, -1.0),
        (0, 1.1, 0.1, 10, -1.0),
        (0.2, 0.1, 0.5, 10, -1.0),
        (0, 0, 1.5, 10, -1.0),
        (0, 0, -0.1, 10, -1.0),
        (0, 0, 0.1, 0, -1.0),
        (0, 0, 0.1, 10.5, -1.0),
        (0, 0, 0.1, 10, 0.0),
        (math.nan, 0, 0.1, 10, -1.0),
        (0, 0, math.nan, 10, -1.0),
        (0, 0, 0.1, math.inf, -1.0),
        (0, 0, 0.1, 10, -math.inf),
    ],
)
def test_bad_numbers_are_refused(arguments: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="must"):
        discordance(*arguments, zero_one=True)


@pytest.mark.parametrize("zero_one", [True, False])
@pytest.mark.parametrize("level", [-0.8, -3.0, -7.0, -15.0])
def test_limits_that_share_nothing_hold_for_the_event_that_both_were_observed(level: float, zero_one: bool) -> None:
    """Exactly, at 24 rows: where E d lies beyond a limit, few rows have a mean within the cell *and* so small a spread.

    Which of the three bounds fails does not matter: the event as a whole has at most the level. So each limit may have
    all of it, where the event is one word that pays for itself; of separate events each would need its share.
    """
    n, cells = 24, [(-1.0, -0.2), (-0.2, 0.1), (0.0, 0.0), (0.25, 1.0)]
    worst = 0.0
    for truth, seen, chances in paired_laws(n):
        means, spreads = (seen[:, 0] - seen[:, 1]) / n, (seen[:, 0] + seen[:, 1]) / n
        for (low, high), spread in product(cells, (1 / n, 4 / n, 0.5, 1.0)):
            below, above = discordance(low, high, spread, n, level, zero_one, shared=False)
            told = (spreads <= spread + 1e-12) & (means >= low - 1e-12) & (means <= high + 1e-12)
            if not below - 1e-12 <= truth <= above + 1e-12:
                worst = max(worst, float(chances @ told))
            wider = discordance(low, high, spread, n, level, zero_one)
            assert wider[0] <= below <= above <= wider[1]
    assert 0 < worst <= math.exp(level)
