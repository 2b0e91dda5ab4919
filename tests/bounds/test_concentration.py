from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from unworn.bounds.concentration import chernoff_kl, hoeffding_width

quiet = settings(derandomize=True, deadline=None, max_examples=100)
means = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 1.0, 1e-9, 1 - 1e-9, 0.5]))
rows = st.one_of(st.integers(1, 1000), st.integers(1, 10**9))
levels = st.floats(-1e5, -1e-3)


def divergence(m: float, p: float) -> float:
    """KL(m || p), summed in a way that loses little when the two are close."""
    total = 0.0
    for a, b, gap in ((m, p, m - p), (1 - m, 1 - p, p - m)):
        if a > 0:
            total += a * (math.log1p(gap / b) if abs(gap) < b / 2 else math.log(a / b))
    return total


def test_hoeffding_is_its_formula_and_broadcasts() -> None:
    width = hoeffding_width([100, 400], [[-3.0], [-1e5]])
    assert width.shape == (2, 2)
    assert width[1, 0] == pytest.approx(math.sqrt((math.log(2) + 1e5) / 200))
    assert hoeffding_width(400, -3.0) == width[0, 1]


@quiet
@given(rows, levels)
def test_hoeffding_is_wider_for_fewer_rows_and_smaller_levels(n: int, level: float) -> None:
    assert hoeffding_width(n, level) > hoeffding_width(n + 1, level)
    assert hoeffding_width(n, level - 1) > hoeffding_width(n, level)


@quiet
@given(means, rows, levels)
def test_kl_limits_solve_their_equation_from_outside(mean: float, n: int, level: float) -> None:
    low, high = chernoff_kl(mean, n, level)
    nats = (math.log(2) - level) / n
    assert 0 <= low <= mean <= high <= 1
    for limit in (low, high):
        if 1e-290 < limit < 1 - 1e-9:
            # One part in 1e13 outward is allowed; inward nothing is.
            assert divergence(mean, limit) >= nats * (1 - 1e-12) - 1e-16 * abs(limit - mean)
            inward = limit + 1e-11 * (mean - limit)
            tolerance = 1e-9 + 1e-14 / max(abs(limit - mean), 1e-300)
            assert divergence(mean, inward) <= nats * (1 + tolerance)


@quiet
@given(means, means, rows, levels)
def test_kl_limits_rise_with_the_mean(a: float, b: float, n: int, level: float) -> None:
    a, b = min(a, b), max(a, b)
    (low_a, high_a), (low_b, high_b) = chernoff_kl(a, n, level), chernoff_kl(b, n, level)
    assert low_a <= low_b * (1 + 1e-13)
    assert high_a <= high_b * (1 + 1e-13)


@quiet
@given(means, rows, levels, st.floats(1e-3, 1e3))
def test_kl_is_wider_for_fewer_rows_and_smaller_levels(mean: float, n: int, level: float, less: float) -> None:
    low, high = chernoff_kl(mean, n, level)
    for other in (chernoff_kl(mean, n, level - less), chernoff_kl(mean, max(1, n // 2), level)):
        assert other[0] <= low * (1 + 1e-13)
        assert other[1] >= high * (1 - 1e-13)


@quiet
@given(means, rows, levels)
def test_kl_lies_inside_hoeffding(mean: float, n: int, level: float) -> None:
    low, high = chernoff_kl(mean, n, level)
    width = hoeffding_width(n, level)
    assert low >= mean - width - 1e-13
    assert high <= mean + width + 1e-13


@quiet
@given(st.integers(1, 10**6), levels)
def test_kl_at_the_ends_is_closed(n: int, level: float) -> None:
    low, high = chernoff_kl(0, n, level)
    assert low == 0
    assert high == pytest.approx(-math.expm1((level - math.log(2)) / n), rel=1e-13)
    low, high = chernoff_kl(1, n, level)
    assert high == 1
    assert low == pytest.approx(math.exp((level - math.log(2)) / n), rel=1e-13, abs=1e-290)


def test_kl_covers_a_truth_as_often_as_it_says() -> None:
    """All outcomes of a binomial, exactly: the limits miss with probability at most b. No chance involved."""
    n, b = 60, 0.2
    k = np.arange(n + 1)
    low, high = chernoff_kl(k / n, n, math.log(b))
    ways = np.array([math.comb(n, int(j)) for j in k], dtype=float)
    for truth in np.linspace(0.01, 0.99, 99):
        chance = ways * truth**k * (1 - truth) ** (n - k)
        assert chance[(truth < low) | (truth > high)].sum() <= b


def test_arrays_agree_with_scalars() -> None:
    mean = np.array([0.0, 1e-12, 1e-4, 0.3, 0.5, 0.9, 1 - 1e-9, 1.0])[:, None, None]
    n = np.array([1, 30, 10_000, 10**9])[:, None]
    level = np.array([-1e5, -700.0, -30.0, -0.1])
    low, high = chernoff_kl(mean, n, level)
    assert low.shape == (8, 4, 4)
    for i, j, k in np.ndindex(low.shape):
        one = chernoff_kl(float(mean[i, 0, 0]), int(n[j, 0]), float(level[k]))
        assert low[i, j, k] == pytest.approx(one[0], rel=1e-12, abs=0)
        assert high[i, j, k] == pytest.approx(one[1], rel=1e-12, abs=0)
    assert isinstance(chernoff_kl(np.float64(0.5), np.int64(10), -3.0)[0], float)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_what_is_not_a_number_is_refused(bad: float) -> None:
    for call in (
        lambda: hoeffding_width(bad, -3.0),
        lambda: hoeffding_width(10, bad),
        lambda: chernoff_kl(bad, 10, -3.0),
        lambda: chernoff_kl(0.5, bad, -3.0),
        lambda: chernoff_kl(0.5, 10, bad),
        lambda: chernoff_kl([0.5, bad], 10, -3.0),
        lambda: chernoff_kl([0.5, 0.5], 10, [-3.0, bad]),
        lambda: hoeffding_width([10.0, bad], -3.0),
    ):
        with pytest.raises(ValueError, match=r"must (lie|be)"):
            call()


@pytest.mark.parametrize(
    ("mean", "n", "level"), [(-0.1, 9, -1), (1.1, 9, -1), (0.5, 0, -1), (0.5, 9, 0), (0.5, 9, 0.5)]
)
def test_the_valid_range_is_named(mean: float, n: int, level: float) -> None:
    with pytest.raises(ValueError, match=r"\[0, 1\]|at least 1|negative and finite"):
        chernoff_kl(mean, n, level)
    with pytest.raises(ValueError, match=r"\[0, 1\]|at least 1|negative and finite"):
        chernoff_kl([mean, 0.5], n, level)


@quiet
@given(st.floats(0.001, 0.999), st.integers(1, 10**6), st.floats(-300, -0.1))
def test_swapping_zero_and_one_swaps_the_limits(mean: float, n: int, level: float) -> None:
    assume(1 - (1 - mean) == mean)
    low, high = chernoff_kl(mean, n, level)
    mirrored = chernoff_kl(1 - mean, n, level)
    assert 1 - low == pytest.approx(mirrored[1], rel=1e-12)
    assert 1 - high == pytest.approx(mirrored[0], rel=1e-12, abs=1e-14)
