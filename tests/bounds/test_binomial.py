from __future__ import annotations

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unworn.bounds.binomial import _log_tail, clopper_pearson, high_limit, low_limit
from unworn.bounds.concentration import chernoff_kl

quiet = settings(derandomize=True, deadline=None, max_examples=100)
LN10 = math.log(10)


def log_factorial(n: int) -> Decimal:
    if n < 200:
        return Decimal(math.factorial(n)).ln()
    x, pi = Decimal(n), Decimal("3.14159265358979323846264338327950288419716939937510")
    series = [(1, 12), (-1, 360), (1, 1260), (-1, 1680), (1, 1188), (-691, 360360), (1, 156)]
    rest = sum(Decimal(a) / b / x ** (2 * k + 1) for k, (a, b) in enumerate(series))
    return x * x.ln() - x + (2 * pi * x).ln() / 2 + rest


def log_tail(x: int, n: int, p: float) -> float:
    """ln P(Bin(n, p) >= x) for p < x/n, term by term in forty digits; p is taken as the float it is."""
    with localcontext() as context:
        context.prec = 40
        share = Decimal(p)
        odds = share / (1 - share)
        term = log_factorial(n) - log_factorial(x) - log_factorial(n - x)
        term += x * share.ln() + (n - x) * (1 - share).ln()
        total = ratio = Decimal(1)
        for j in range(x, n):
            ratio *= Decimal(n - j) / (j + 1) * odds
            total += ratio
            if ratio < total * Decimal("1e-25"):
                break
        return float(term + total.ln())


def excess(x: int, n: int, log_side: float) -> float:
    """Nats by which the tail at the returned lower limit passes the side's level: never above 0 in truth."""
    return log_tail(x, n, low_limit(x, n, log_side)) - log_side


@quiet
@given(st.integers(2, 400), st.data(), st.floats(-289, -0.35))
def test_the_lower_limit_is_exact_and_never_too_narrow(n: int, data: st.DataObject, log10: float) -> None:
    x = data.draw(st.integers(1, n))
    assert -1e-6 < excess(x, n, log10 * LN10) <= 1e-13


@quiet
@given(st.integers(2, 400), st.data(), st.floats(0.02, 0.98))
def test_the_continued_fraction_is_the_tail_at_every_level(n: int, data: st.DataObject, part: float) -> None:
    """Not only far out, where its first terms are enough: whatever scipy cannot invert is found by it."""
    x = data.draw(st.integers(1, n - 1))
    p = part * x / n
    found, slope = _log_tail(x, n, p)
    exact = log_tail(x, n, p)
    assert found == pytest.approx(exact, abs=1e-11)
    term = math.lgamma(n + 1) - math.lgamma(x + 1) - math.lgamma(n - x + 1) + x * math.log(p) + (n - x) * math.log1p(-p)
    assert slope == pytest.approx(x * (1 - p) * math.exp(term - exact), rel=1e-9)  # d ln P(X >= x) / d ln(p/(1-p))


# Where scipy's inverse is NaN, above the share, or up to e^11 too narrow, and where betainc itself fails.
HARD = [
    (452, 426, -286.1227882118013),
    (358, 329, -285.2567731046268),
    (881, 857, -278.823),
    (1145, 1112, -267.5302129103551),
    (8751, 8714, -262.0),
    (100, 62, -289.0),
    (164, 144, -289.0747701632686),  # betainc itself is wrong here by 1e-8, close enough to be believed
    (10, 2, -250.0),
    (33, 16, -257.863),
    (12, 6, -97.3),
    (63_560_042, 1000, -110.2),
    (10**9, 1000, -289.0),
    (10**9, 184_206_996, -198.0),
    (10**9, 5, -289.0),
    (10**6, 2023, -240.0),
    (10**9, 999_999_999, -20.0),
    (10**9, 500_000_000, -20.0),
]


@pytest.mark.parametrize(("n", "x", "log10"), HARD)
def test_hard_cases_are_exact(n: int, x: int, log10: float) -> None:
    p = low_limit(x, n, log10 * LN10)
    nats = excess(x, n, log10 * LN10)
    # In p itself: the log tail rises at least at the rate (x - np) / (p (1 - p)).
    assert nats * p * (1 - p) / (x - n * p) <= 1e-15
    assert nats > -1e-5


@quiet
@given(st.integers(1, 10**9), st.data(), st.floats(-2000, -1e-3))
def test_counts_levels_and_rows_order_the_limits(n: int, data: st.DataObject, level: float) -> None:
    x = data.draw(st.integers(0, n))
    low, high = clopper_pearson(x, n, level)
    assert 0 <= low <= x / n <= high <= 1
    if x < n:
        more = clopper_pearson(x + 1, n, level)
        assert low <= more[0] * (1 + 1e-12)
        assert high <= more[1] * (1 + 1e-12)
    smaller = clopper_pearson(x, n, level * 1.5 - 0.01)
    assert smaller[0] <= low
    assert smaller[1] >= high
    double = clopper_pearson(2 * x, 2 * n, level)
    assert double[0] >= low * (1 - 1e-12)
    assert double[1] <= high * (1 + 1e-12)


@quiet
@given(st.integers(1, 10**7), st.data(), st.floats(-2000, -1e-3))
def test_chernoff_contains_it(n: int, data: st.DataObject, level: float) -> None:
    x = data.draw(st.integers(0, n))
    (low, high), (outer_low, outer_high) = clopper_pearson(x, n, level), chernoff_kl(x / n, n, level)
    assert outer_low <= low * (1 + 1e-13) + 1e-300
    assert outer_high >= high - 1e-14


def test_far_levels_are_chernoff() -> None:
    for level in (-669.0, -800.0, -1e4, -1e5):
        assert clopper_pearson(300, 1000, level) == pytest.approx(chernoff_kl(0.3, 1000, level), rel=1e-13, abs=0)
    assert clopper_pearson(300, 1000, -1e6) == (0.0, 1.0)


@quiet
@given(st.integers(1, 10**8), st.floats(-1e5, -1e-3))
def test_the_ends_are_closed(n: int, level: float) -> None:
    low, high = clopper_pearson(0, n, level)
    assert low == 0
    assert high == pytest.approx(-math.expm1((level - math.log(2)) / n), abs=1e-14)
    low, high = clopper_pearson(n, n, level)
    assert low == pytest.approx(math.exp((level - math.log(2)) / n), rel=1e-13, abs=1e-290)
    assert high == 1
    lows, highs = clopper_pearson(np.array([0, n]), n, level)
    assert lows[0] == 0
    assert highs[1] == 1


@pytest.mark.parametrize("n", [1, 2, 7, 40])
@pytest.mark.parametrize("b", [0.5, 0.05, 1e-4])
def test_it_covers_every_truth(n: int, b: float) -> None:
    """All outcomes, exactly: each side misses with probability at most b/2. No chance involved."""
    k = np.arange(n + 1)
    low, high = clopper_pearson(k, n, math.log(b))
    ways = np.array([math.comb(n, int(j)) for j in k], dtype=float)
    truths = np.concatenate([np.linspace(0.001, 0.999, 333), low[1:], high[:-1]])
    for truth in truths:
        chance = ways * truth**k * (1 - truth) ** (n - k)
        assert chance[truth < low].sum() <= b / 2 * (1 + 1e-9)
        assert chance[truth > high].sum() <= b / 2 * (1 + 1e-9)


def test_arrays_agree_with_scalars() -> None:
    n = np.array([452, 1000, 10**6])[:, None, None]
    x = (n * np.array([0.0, 0.001, 0.3, 0.9425, 1.0])[:, None]).astype(int)
    level = np.array([-1e5, -800.0, -658.0, -250.0, -30.0, -0.1])
    low, high = clopper_pearson(x, n, level)
    for i, j, k in np.ndindex(low.shape):
        one = clopper_pearson(int(x[i, j, 0]), int(n[i, 0, 0]), float(level[k]))
        assert low[i, j, k] == pytest.approx(one[0], rel=1e-12, abs=0)
        assert high[i, j, k] == pytest.approx(one[1], rel=1e-12, abs=0)
    assert isinstance(clopper_pearson(np.int64(3), np.int64(10), np.float64(-3.0))[0], float)


def test_the_two_sides_mirror_each_other() -> None:
    assert high_limit(3, 10, -5.0) == pytest.approx(1 - low_limit(7, 10, -5.0), abs=1e-15)


@pytest.mark.parametrize(
    ("count", "n", "level"),
    [
        (-1, 10, -1),
        (11, 10, -1),
        (2.5, 10, -1),
        (2, 10.5, -1),
        (0, 0, -1),
        (1, 10, 0),
        (math.nan, 10, -1),
        (1, math.inf, -1),
        (1, 10, math.nan),
        (1, 10, -math.inf),
    ],
)
def test_bad_numbers_are_refused(count: float, n: float, level: float) -> None:
    with pytest.raises(ValueError, match="must"):
        clopper_pearson(count, n, level)
    with pytest.raises(ValueError, match="must"):
        clopper_pearson([count, count], n, level)
