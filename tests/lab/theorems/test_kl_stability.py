"""KL-stability of the sparse vector, by going through every outcome; and expected errors, by drawing them."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.two_sizes import in_two_sizes, reseeded
from unworn.lab.theorems.kl_stability import (
    bare_stability,
    best_expected_error,
    expected_empirical_error,
    expected_error,
    kl_gap,
    kl_stability,
)

REACH = 400
WHOLE = np.arange(-REACH, REACH + 1)


def noise(scale: float) -> np.ndarray:
    """The law of discrete Laplace noise; what lies beyond has a chance below 1e-40 here."""
    weights = np.exp(-abs(WHOLE) / scale)
    return weights / weights.sum()


def outcomes(counts: tuple[int, ...], epsilon: float, noisy_threshold: bool = True) -> np.ndarray:
    """The chances of a run's outcomes: "above" first at each of the counts, or never, for the threshold 0."""
    threshold = noise(2 / epsilon) if noisy_threshold else np.where(WHOLE == 0, 1.0, 0.0)
    below_by = np.concatenate([[0.0], np.cumsum(noise(4 / epsilon))])  # P(nu < z), z from -REACH
    survived, told = threshold.copy(), []
    for count in counts:
        below = below_by[np.clip(WHOLE - count + REACH, 0, len(below_by) - 1)]
        told.append(float((survived * (1 - below)).sum()))
        survived = survived * below
    return np.array([*told, float(survived.sum())])


def divergence(first: np.ndarray, second: np.ndarray) -> float:
    return float(np.sum(first * np.log(first / second)))


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.0])
@in_two_sizes(short=3, full=5)
def test_one_run_is_as_stable_as_claimed_for_all_counts_and_neighbours(epsilon: float, size: int) -> None:
    """All sequences of counts from -1 to 1, and all that a row can make of them: an analyst's next question follows
    from outcomes that are all "below", so a sequence is all that an adaptive analyst has."""
    worst = 0.0
    laws: dict[tuple[int, ...], np.ndarray] = {}
    for counts in product((-1, 0, 1), repeat=size):
        for moved in product((-1, 0, 1), repeat=size):
            other = tuple(a + b for a, b in zip(counts, moved, strict=True))
            for each in (counts, other):
                if each not in laws:
                    laws[each] = outcomes(each, epsilon)
            worst = max(worst, divergence(laws[counts], laws[other]))
    sharp, lecture = kl_stability(epsilon), kl_stability(epsilon, lecture=True)
    assert worst <= sharp <= lecture
    assert worst > 0.05 * sharp  # there is something to bound


def test_the_next_run_adds_up() -> None:
    """Two runs, the second about other counts for each outcome of the first: the divergence is at most twice."""
    epsilon, rng = 1.0, np.random.default_rng(reseeded(1))
    worst = 0.0
    for _ in range(60):
        first, moved = rng.integers(-1, 2, 2), rng.integers(-1, 2, 2)
        total, parts = 0.0, outcomes(tuple(first), epsilon)
        total += divergence(parts, outcomes(tuple(first + moved), epsilon))
        for chance in parts:
            later, shift = rng.integers(-1, 2, 2), rng.integers(-1, 2, 2)
            total += chance * divergence(outcomes(tuple(later), epsilon), outcomes(tuple(later + shift), epsilon))
        worst = max(worst, total)
    assert worst <= kl_stability(epsilon, 2)


def test_without_noise_on_the_threshold_nothing_is_private() -> None:
    """The lecture's exercise 1: the ratio of "never above" grows with the number of questions, past any bound."""
    ratios = [
        outcomes((0,) * k, 1.0, noisy_threshold=False)[-1] / outcomes((1,) * k, 1.0, noisy_threshold=False)[-1]
        for k in (10, 40, 80)
    ]
    assert ratios[0] > math.e  # already more than one run may have
    assert ratios[2] == pytest.approx(ratios[1] ** 2)


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.0])
@in_two_sizes(short=3, full=5)
def test_but_it_is_stable_and_more_so_than_with_noise_is_claimed(epsilon: float, size: int) -> None:
    worst = 0.0
    for counts in product((-3, 0, 1), repeat=size):
        for moved in product((-1, 0, 1), repeat=size):
            other = tuple(a + b for a, b in zip(counts, moved, strict=True))
            worst = max(worst, divergence(outcomes(counts, epsilon, False), outcomes(other, epsilon, False)))
    for far in (0, -5, -15):  # and long runs, in which every count moves the same way
        first, second = (outcomes((count,) * 60, epsilon, False) for count in (far, far + 1))
        worst = max(worst, divergence(first, second), divergence(second, first))
    assert worst <= bare_stability(epsilon) < kl_stability(epsilon)
    assert worst > 0.1 * bare_stability(epsilon)


@settings(derandomize=True, deadline=None, max_examples=50)
@given(st.floats(1e-4, 3.0), st.integers(1, 10_000), st.integers(1, 100), st.integers(100, 10**8))
def test_order(epsilon: float, asks: int, tops: int, rows: int) -> None:
    assert kl_stability(epsilon, tops) <= kl_stability(epsilon, tops, lecture=True)
    assert kl_stability(epsilon, tops) == pytest.approx(tops * kl_stability(epsilon))
    plain = expected_error(rows, asks, tops, epsilon)
    assert plain <= expected_error(rows, asks, tops, epsilon, lecture=True) + 1e-12
    assert expected_error(rows, asks, tops, epsilon, lecture=True) <= expected_error(
        rows, asks, tops, epsilon, lecture=True, values=True
    )
    best = best_expected_error(rows, asks, tops)[1]
    kl = expected_empirical_error(epsilon, asks, tops) / rows + math.sqrt(kl_stability(epsilon, tops) / 2)
    assert best <= kl * (1 + 1e-6)
    assert expected_empirical_error(epsilon, asks, tops) <= 6 * (math.log(max(asks, tops)) + 1) / epsilon


def test_errors_are_as_expected() -> None:
    """20,000 runs: the mean is within 6 of its standard errors below what is expected of |Lap|, which is not far."""
    rng, asks, tops, epsilon = np.random.default_rng(reseeded(2)), 50, 4, 0.5
    thresholds = abs(rng.laplace(scale=2 / epsilon, size=(20_000, tops))).max(axis=1)
    counts = abs(rng.laplace(scale=4 / epsilon, size=(20_000, asks))).max(axis=1)
    total = thresholds + counts
    expected = expected_empirical_error(epsilon, asks, tops)
    assert abs(total.mean() - expected) < 6 * total.std() / math.sqrt(20_000)


def test_the_rate_is_the_fourth_root() -> None:
    """m^(1/4) sqrt(ln(k)/n), in m, n and k."""
    few, many = (best_expected_error(10**8, 10_000, tops)[1] for tops in (4, 4**4))
    assert math.log(many / few, 64) == pytest.approx(0.25, abs=0.03)
    few, many = (best_expected_error(rows, 10_000, 4)[1] for rows in (10**6, 10**8))
    assert math.log(many / few, 100) == pytest.approx(-0.5, abs=0.01)
    few, many = (best_expected_error(10**8, asks, 4)[1] for asks in (10**3, 10**6))
    assert many / few == pytest.approx(math.sqrt(2), rel=0.06)


def test_nonsense_is_refused() -> None:
    assert kl_gap(10.0) == 1.0
    assert expected_empirical_error(0.0, 10) == math.inf
    with pytest.raises(ValueError, match="must"):
        kl_stability(-0.1)
    with pytest.raises(ValueError, match="must"):
        kl_stability(0.1, 0)
    with pytest.raises(ValueError, match="must"):
        kl_gap(math.nan)
    with pytest.raises(ValueError, match="must"):
        best_expected_error(0, 10, 1)
