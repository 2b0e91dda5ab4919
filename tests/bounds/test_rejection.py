"""One-sided tests of one fixed hypothesis: their size exactly, by enumeration, and their power."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, multinomial

from unworn.bounds.paired import discordance
from unworn.bounds.rejection import balance_rejects, difference_rejects, mean_rejects, share_rejects

exactly = settings(derandomize=True, deadline=None, max_examples=100)
LEVELS = [0.9, 0.5, 0.05, 1e-3, 1e-9]


@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("n", [1, 2, 7, 40])
def test_a_true_share_is_rejected_no_more_often_than_the_level(n: int, level: float, side: int) -> None:
    counts = np.arange(n + 1)
    for null in (0.0, 0.01, 0.3, 0.5, 0.77, 1.0):
        rejected = [share_rejects(side, null, int(count), n, math.log(level)) for count in counts]
        for truth in (null, null - side * 0.01, null - side * 0.3):
            truth = min(max(truth, 0.0), 1.0)
            assert np.sum(binom.pmf(counts, n, truth) * rejected) <= level


@exactly
@given(st.integers(1, 3000), st.floats(0.001, 0.999), st.floats(0, 1), st.floats(-40, -1), st.sampled_from([1, -1]))
def test_the_share_test_is_the_exact_binomial_test(n: int, null: float, at: float, log: float, side: int) -> None:
    count = round(at * n)
    p_value = binom.sf(count - 1, n, null) if side > 0 else binom.cdf(count, n, null)
    apart = math.log(p_value) - log if p_value > 0 else -math.inf
    if abs(apart) > 1e-6:  # nearer than that, scipy's own tail may differ
        assert share_rejects(side, null, count, n, log) == (apart < 0)


@exactly
@given(st.integers(1, 500), st.floats(0, 1), st.floats(0, 1), st.floats(-300, -0.1), st.sampled_from([1, -1]))
def test_more_extreme_rows_and_higher_levels_reject_more(n: int, null: float, at: float, log: float, side: int) -> None:
    count = round(at * n)
    further = min(max(count + side, 0), n)
    if share_rejects(side, null, count, n, log):
        assert share_rejects(side, null, further, n, log)
        assert share_rejects(side, null, count, n, log / 2)
    if mean_rejects(side, null, count / n, n, log):
        assert mean_rejects(side, null, further / n, n, log)
        assert mean_rejects(side, null, count / n, n, log / 2)
        assert share_rejects(side, null, count, n, min(log, -math.log(2)))  # the exact test is the stronger one


@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize("level", LEVELS)
def test_a_true_mean_is_rejected_no_more_often_than_the_level(level: float, side: int) -> None:
    n = 14
    outcomes = [(a, b, n - a - b) for a, b in product(range(n + 1), repeat=2) if a + b <= n]
    for law in ([0.5, 0.0, 0.5], [0.25, 0.5, 0.25], [0.7, 0.2, 0.1], [0.1, 0.1, 0.8], [0.98, 0.02, 0.0]):
        null = 0.5 * law[1] + law[2]
        weights = multinomial.pmf(outcomes, n, law)
        rejected = [mean_rejects(side, null, (0.5 * b + c) / n, n, math.log(level)) for _, b, c in outcomes]
        assert np.sum(weights * rejected) <= level


@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("n", [5, 30])
def test_a_true_difference_is_rejected_no_more_often_than_the_level(n: int, level: float, side: int) -> None:
    outcomes = [(a, b, n - a - b) for a, b in product(range(n + 1), repeat=2) if a + b <= n]  # behind, equal, ahead
    for law in (
        [0.5, 0.0, 0.5],
        [0.1, 0.8, 0.1],
        [0.02, 0.96, 0.02],
        [0.3, 0.5, 0.2],
        [0.2, 0.1, 0.7],
        [0.0, 0.5, 0.5],
    ):
        weights = multinomial.pmf(outcomes, n, law)
        truth = law[2] - law[0]
        log = math.log(level)
        for zero_one in (True, False):
            rejected = [
                difference_rejects(side, truth, (c - a) / n, (a + c) / n, n, log, zero_one) for a, _, c in outcomes
            ]
            assert np.sum(weights * rejected) <= level
        if side * truth <= 0:
            rejected = [balance_rejects(side, c, a, log) for a, _, c in outcomes]
            assert np.sum(weights * rejected) <= level


def test_the_balance_is_mcnemars_and_sharper_than_the_limits() -> None:
    assert binom.sf(14, 20, 0.5) < 0.025 < binom.sf(13, 20, 0.5)
    assert balance_rejects(1, 15, 5, math.log(0.025))
    assert not balance_rejects(1, 14, 6, math.log(0.025))
    assert balance_rejects(-1, 5, 15, math.log(0.025))
    assert not balance_rejects(-1, 15, 5, math.log(0.025))
    assert not balance_rejects(1, 0, 0, math.log(0.5))
    assert balance_rejects(1, 7, 0, math.log(0.01))
    assert not balance_rejects(1, 6, 0, math.log(0.01))
    n, log = 10_000, math.log(1e-6)
    sharper = [(a, b) for a, b in product(range(0, 400, 20), repeat=2) if balance_rejects(1, a, b, log)]
    limits = [
        (a, b)
        for a, b in product(range(0, 400, 20), repeat=2)
        if difference_rejects(1, 0.0, (a - b) / n, (a + b) / n, n, log, True)
    ]
    assert set(limits) < set(sharper)


def test_real_effects_are_found() -> None:
    log = math.log(1e-6)
    assert share_rejects(1, 0.5, 600, 1000, log)
    assert share_rejects(-1, 0.5, 400, 1000, log)
    assert mean_rejects(1, 0.5, 0.6, 1000, log)
    assert mean_rejects(-1, 0.5, 0.4, 1000, log)
    assert difference_rejects(1, 0.0, 0.02, 0.04, 10_000, log, True)
    assert difference_rejects(-1, 0.0, -0.02, 0.04, 10_000, log, True)
    assert share_rejects(1, 0.5, 10_000, 10_000, -5000.0)  # far below the smallest float


NAN, LOG = math.nan, math.log(0.05)


@pytest.mark.parametrize(
    "call",
    [
        lambda: share_rejects(0, 0.5, 1, 10, LOG),
        lambda: share_rejects(1, 1.5, 1, 10, LOG),
        lambda: share_rejects(1, NAN, 1, 10, LOG),
        lambda: share_rejects(1, 0.5, 11, 10, LOG),
        lambda: share_rejects(1, 0.5, 1.5, 10, LOG),
        lambda: share_rejects(1, 0.5, 1, 10, 0.0),
        lambda: mean_rejects(1, 0.5, -0.1, 10, LOG),
        lambda: mean_rejects(1, 0.5, 0.5, 0, LOG),
        lambda: mean_rejects(1, 0.5, 0.5, 10, -math.inf),
        lambda: difference_rejects(1, -1.5, 0.0, 0.1, 10, LOG, True),
        lambda: difference_rejects(1, 0.0, 0.0, 1.1, 10, LOG, True),
        lambda: balance_rejects(2, 1, 1, LOG),
        lambda: balance_rejects(1, -1, 1, LOG),
        lambda: balance_rejects(1, 1, 1, NAN),
    ],
)
def test_what_is_out_of_range_is_refused(call: object) -> None:
    with pytest.raises(ValueError):
        call()  # type: ignore[operator]


@pytest.mark.parametrize("level", [0.05, 1e-6])
def test_a_difference_is_tested_at_two_fifths_for_the_spread_and_three_for_the_side(level: float) -> None:
    """The spread's limit at B/4 and each side at 3B/8 of ``discordance``: of one side alone B/4 + 3B/8 = b."""
    low, _ = discordance(0.05, 0.05, 0.2, 1_000, math.log(level / (1 / 4 + 3 / 8)), zero_one=False)
    assert difference_rejects(1, low - 1e-9, 0.05, 0.2, 1_000, math.log(level), zero_one=False)
    assert not difference_rejects(1, low + 1e-9, 0.05, 0.2, 1_000, math.log(level), zero_one=False)
