from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.bounds.questions.exact_laws import LAWS, LEVELS, Law
from tests.two_sizes import in_two_sizes, reseeded
from unworn.bounds.questions.mean_bets import MeanMoments, _log_wealth, bet_distance, bet_limits, moment_rate

quiet = settings(derandomize=True, deadline=None, max_examples=150)
unit = st.floats(0, 1)
sides = st.floats(-300, -0.7)
N = 30


def moments_of(values: np.ndarray, weights: np.ndarray) -> MeanMoments:
    mean = float(weights @ values)
    central = [float(weights @ (values - mean) ** power) for power in (2, 3, 4)]
    return MeanMoments(min(max(mean, 0.0), 1.0), *central)


def outcomes(law: Law) -> list[tuple[float, MeanMoments]]:
    """(probability, moments) of N rows for every way in which they can fall on three values."""
    values, found = np.array(law[0]), []
    for first in range(N + 1):
        for second in range(N + 1 - first):
            counts = np.array([first, second, N - first - second])
            if any(count and not chance for count, chance in zip(counts, law[1], strict=True)):
                continue
            log_chance = math.lgamma(N + 1) + sum(
                count * math.log(chance) - math.lgamma(count + 1)
                for count, chance in zip(counts.tolist(), law[1], strict=True)
                if count
            )
            found.append((math.exp(log_chance), moments_of(values, counts / N)))
    return found


@quiet
@given(st.lists(unit, min_size=1, max_size=12), unit, st.floats(0.001, 1))
def test_moments_say_no_more_than_the_bets_on_the_rows(values: list[float], part: float, share: float) -> None:
    """The proof's only inequality, on rows that can be anything: the wealth is what it is, whatever the rate."""
    rows = np.array(values)
    moments = moments_of(rows, np.full(len(rows), 1 / len(rows)))
    truth = moments.mean + part * (1 - moments.mean)
    rate = 0.999 * share / max(1 - truth, 1e-3)
    exact = float(np.mean(np.log1p(rate * (truth - rows))))
    bound = _log_wealth(moments, truth - moments.mean, 1 - moments.mean, rate)
    assert bound <= exact + 1e-9 * max(1.0, rate**4)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.99])
def test_the_expected_wealth_is_at_most_one(law: Law, share: float) -> None:
    truth = float(np.dot(*law))
    rate, wealth = share / (1 - truth), 0.0
    for chance, moments in outcomes(law):
        if truth > moments.mean - 1e-12:  # below the mean the formula says nothing that is used
            wealth += chance * math.exp(N * _log_wealth(moments, truth - moments.mean, 1 - moments.mean, rate))
    assert wealth <= 1 + 1e-9


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("level", LEVELS)
def test_coverage_is_exact_for_good_and_poor_expectations(law: Law, level: float) -> None:
    truth, log_side = float(np.dot(*law)), math.log(level)
    spread = float(np.dot(law[1], (np.array(law[0]) - truth) ** 2))
    told = outcomes(law)
    for guess, variance in ((truth, spread), (0.2, 0.25), (0.9, 1e-4)):
        expected = MeanMoments.expected(guess, variance)
        rates = moment_rate(expected.mirrored, N, log_side), moment_rate(expected, N, log_side)
        below = above = 0.0
        for chance, moments in told:
            low, high = bet_limits(moments, N, log_side, rates)
            below, above = below + chance * (truth < low), above + chance * (truth > high)
        assert max(below, above) <= level


@pytest.mark.parametrize("law", LAWS)
def test_a_rate_chosen_after_the_moments_are_seen_would_not_do(law: Law) -> None:
    truth, wealth = float(np.dot(*law)), 0.0
    rates = [0.05 * k / (1 - truth) for k in range(20)]
    for chance, moments in outcomes(law):
        best = max(_log_wealth(moments, truth - moments.mean, 1 - moments.mean, rate) for rate in rates)
        wealth += chance * math.exp(N * best)
    assert wealth > 1.1


@in_two_sizes(short=400, full=20_000)
@pytest.mark.parametrize("level", [0.05, 1e-6])
def test_coverage_of_skewed_losses_by_tilted_draws(size: int, level: float) -> None:
    """Exponential losses cut at 10, drawn with another scale and weighted by the likelihood ratio.

    The estimate plus five of its standard errors (false alarm 3e-7) stays below the level, and the event is reached.
    """
    rng, n, log_side, reach = np.random.default_rng(reseeded(3)), 2_000, math.log(level), 10.0
    truth = (1 - math.exp(-reach)) / reach  # the mean of min(X, 10)/10, X exponential
    expected = MeanMoments.expected(truth, 0.0095)
    rates = moment_rate(expected.mirrored, n, log_side), moment_rate(expected, n, log_side)
    for upper, scale in ((True, 0.94 if level > 1e-3 else 0.87), (False, 1.06 if level > 1e-3 else 1.13)):
        missed = np.zeros(size)
        for place in range(size):
            drawn = rng.exponential(scale, n)
            low, high = bet_limits(moments_of(np.minimum(drawn, reach) / reach, np.full(n, 1 / n)), n, log_side, rates)
            if truth > high if upper else truth < low:
                missed[place] = math.exp(n * math.log(scale) - drawn.sum() * (1 - 1 / scale))
        mean, error = missed.mean(), missed.std() / math.sqrt(size)
        assert mean + 5 * error <= level
        assert mean >= 1e-3 * level


@quiet
@given(unit, unit, st.floats(0, 1), st.floats(-1, 1), st.integers(1, 10**6), sides, sides)
def test_limits_hold_their_point_and_widen_with_the_level(
    mean: float, guess: float, part: float, skew: float, n: int, l1: float, l2: float
) -> None:
    variance = part * mean * (1 - mean)
    seen = MeanMoments(mean, variance, skew * variance, variance)
    expected = MeanMoments.expected(guess, 0.25 * part)
    rates = moment_rate(expected.mirrored, n, l1), moment_rate(expected, n, l1)
    low, high = bet_limits(seen, n, max(l1, l2), rates)
    wider = bet_limits(seen, n, min(l1, l2), rates)
    assert 0 <= wider[0] <= low + 1e-9 <= mean + 2e-9
    assert mean - 2e-9 <= high - 1e-9 <= wider[1] <= 1


def test_what_four_moments_buy_beside_two() -> None:
    """A log loss of .45 in 0 … 10 with 1,000 rows: no farther than 1.6 normal widths, where two moments take 2."""
    seen, n, log_side = MeanMoments(0.045, 0.0025, 0.00025, 9 * 0.0025**2), 1_000, math.log(0.025) - 0.31
    rates = moment_rate(seen.mirrored, n, log_side), moment_rate(seen, n, log_side)
    low, high = bet_limits(seen, n, log_side, rates)
    assert (high - low) / 2 < 1.6 * 1.96 * 0.05 / math.sqrt(n)


@pytest.mark.parametrize("bad", [math.nan, -1.5, 1.5, math.inf])
def test_numbers_out_of_range_are_refused(bad: float) -> None:
    for place in range(4):
        numbers = [0.1, 0.01, 0.001, 0.0005]
        numbers[place] = bad
        with pytest.raises(ValueError, match=("mean", "variance", "third", "fourth")[place]):
            MeanMoments(*numbers)
    with pytest.raises(ValueError, match="variance"):
        MeanMoments.expected(0.1, bad)
    seen = MeanMoments(0.1, 0.01, 0.001, 0.0005)
    with pytest.raises(ValueError, match="rate"):
        bet_distance(seen, 10, -1.0, math.nan)
    with pytest.raises(ValueError, match="log_side"):
        moment_rate(seen, 10, bad if bad > 0 else 0.0)
