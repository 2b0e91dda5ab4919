from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from tests.bounds.questions.exact_laws import LEVELS, two_score_outcomes
from tests.two_sizes import in_two_sizes, reseeded
from unworn.bounds.concentration import kl_above
from unworn.bounds.questions.rank_moments import RankMoments, rank_difference_moments, rank_moments
from unworn.bounds.questions.ranking import (
    ExpectedRanking,
    ranking_cell_limits,
    ranking_difference_cell_limits,
    ranking_difference_limits,
    ranking_limits,
)

quiet = settings(derandomize=True, deadline=None, max_examples=40)
sides = st.floats(-900, -0.7)


def two_score_moments(positives: int, negatives: int, high: int, low: int) -> RankMoments:
    """With only two scores, of which so many rows of either class have the higher."""
    up, down = high / positives, low / negatives
    value = 0.5 + 0.5 * (up - down)
    square = up * (1 - down) + 0.25 * (up * down + (1 - up) * (1 - down))
    return RankMoments(positives, negatives, value, square - value**2, 0.25 * up * (1 - up), 0.25 * down * (1 - down))


def test_two_scores_are_what_the_sort_says() -> None:
    short, full = two_score_moments(5, 4, 3, 1), rank_moments([1] * 3 + [0] * 2, [1] + [0] * 3)
    for name in ("value", "pair_variance", "positive_variance", "negative_variance"):
        assert getattr(short, name) == pytest.approx(getattr(full, name), abs=1e-14)


WORLDS = [(30, 30, 0.9, 0.1), (30, 30, 0.6, 0.5), (12, 60, 0.95, 0.2), (60, 12, 0.8, 0.3)]


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("level", LEVELS)
def test_final_coverage_is_exact_with_two_scores(world: tuple[int, int, float, float], level: float) -> None:
    positives, negatives, p, q = world
    truth, log_side = 0.5 + 0.5 * (p - q), math.log(level)
    for guess in (truth, 0.97):
        below = above = 0.0
        expected = ExpectedRanking(guess, (0.02, 0.02))
        for chance, high, low in two_score_outcomes(positives, negatives, p, q):
            if chance < 1e-12 * level:  # together they are less than 1e-8 of the level
                continue
            limits = ranking_limits(two_score_moments(positives, negatives, high, low), log_side, expected)
            below, above = below + chance * (truth < limits[0]), above + chance * (truth > limits[1])
        assert max(below, above) <= level * (1 - 1e-7)


def wealth(rate: float, blocks: int, sizes: tuple[int, int], world: tuple[int, int, float, float]) -> Iterator[float]:
    """Terms of the expectation that must be at most 1: against truths above the value."""
    positives, negatives, p, q = world
    truth = 0.5 + 0.5 * (p - q)
    room = 1 - truth
    psi = (-math.log(1 - room * rate) - room * rate) / room**2
    for chance, high, low in two_score_outcomes(*world):
        moments = two_score_moments(positives, negatives, high, low)
        short = truth - moments.value
        yield chance * math.exp(blocks * (rate * short - psi * (moments.block_variance(*sizes) + short**2)))


@pytest.mark.parametrize("rate", [0.3, 0.9])
@pytest.mark.parametrize(("blocks", "sizes"), [(30, (1, 1)), (10, (3, 3)), (5, (6, 6)), (2, (15, 15))])
def test_the_expected_wealth_of_blocks_is_at_most_one(rate: float, blocks: int, sizes: tuple[int, int]) -> None:
    for world in WORLDS[:2]:
        assert sum(wealth(rate, blocks, sizes, world)) <= 1 + 1e-9


def test_more_blocks_than_rows_of_a_class_are_caught() -> None:
    """The mistake: as many independent pairs as there are rows of both classes, n₊ + n₋ instead of the smaller."""
    positives, negatives, p, q = 5, 200, 0.7, 0.3
    truth, level = 0.5 + 0.5 * (p - q), 0.05
    right = wrong = 0.0
    for chance, high, low in two_score_outcomes(positives, negatives, p, q):
        value = two_score_moments(positives, negatives, high, low).value
        right += chance * (truth > ranking_cell_limits(value, value, positives, math.log(level))[1])
        wrong += chance * (truth > kl_above(value, 1 - value, -math.log(level) / (positives + negatives))[0])
    assert right <= level
    assert wrong > 3 * level


@pytest.mark.parametrize("level", LEVELS)
def test_a_symbol_whose_limits_miss_is_rare_enough(level: float) -> None:
    positives, negatives, closest = 25, 40, 0.0
    for low, high in ((0.45, 0.5), (0.6, 0.65), (0.8, 0.9)):
        limits = ranking_cell_limits(low, high, 25, math.log(level))
        for truth in (limits[0] - 1e-9, limits[1] + 1e-9):
            for q in (0.0, 0.2, 0.5, 0.8):
                p = 2 * truth - 1 + q
                if 0 <= p <= 1 and 0 < truth < 1:
                    outcomes = two_score_outcomes(positives, negatives, p, q)
                    inside = sum(
                        c for c, u, d in outcomes if low <= 0.5 + 0.5 * (u / positives - d / negatives) <= high
                    )
                    closest = max(closest, inside / level)
    assert 0 < closest <= 1.0


@in_two_sizes(short=800, full=50_000)
@pytest.mark.parametrize("level", [0.05, 1e-6])
def test_coverage_with_normal_scores_by_tilted_draws(size: int, level: float) -> None:
    """Scores are drawn as if the classes were closer or farther apart; draws are weighted by their likelihood ratio.

    The estimate plus five of its standard errors (false alarm 3e-7) stays below the level, and the event is reached.
    """
    rng = np.random.default_rng(reseeded(11))
    n, apart, log_side = 60, 0.6, math.log(level)
    truth = float(norm.cdf(apart / math.sqrt(2)))
    expected = ExpectedRanking.from_guess(truth)
    for sign in (-1, 1):
        shift = {-1: -0.65, 1: 0.65}[sign] if level > 1e-3 else {-1: -1.2, 1: 1.6}[sign]
        missed = np.zeros(size)
        for i in range(size):
            up, down = rng.normal(apart + shift / 2, 1, n), rng.normal(-shift / 2, 1, n)
            low, high = ranking_limits(rank_moments(up, down), log_side, expected)
            if truth < low or truth > high:
                log_ratio = shift / 2 * ((down.sum()) - (up - apart).sum()) + 2 * n * shift**2 / 8
                missed[i] = math.exp(log_ratio)
        mean, error = missed.mean(), missed.std() / math.sqrt(size)
        assert mean + 5 * error <= level
        assert mean >= 1e-8 * level


def binormal(rng: np.random.Generator, positives: int, negatives: int, area: float) -> RankMoments:
    apart = float(norm.ppf(area)) * math.sqrt(2)
    return rank_moments(rng.normal(apart, 1, positives), rng.normal(0, 1, negatives))


@pytest.mark.parametrize("area", [0.8, 0.9, 0.95])
@pytest.mark.parametrize("rows", [1_000, 10_000, 100_000])
@pytest.mark.parametrize("share", [0.5, 0.1])
def test_final_widths_are_at_most_three_of_delongs(area: float, rows: int, share: float) -> None:
    """After 300 honest asks (.31 nats), 95 % together, against DeLong's 95 % for this question alone."""
    seen = binormal(np.random.default_rng(reseeded(2)), round(rows * share), round(rows * (1 - share)), area)
    low, high = ranking_limits(seen, math.log(0.05 / 2) - 0.31, ExpectedRanking.from_guess(area))
    assert (high - low) / 2 < 3 * 1.96 * seen.delong_error()


@quiet
@given(st.integers(1, 400), st.integers(1, 400), st.floats(0, 1), st.floats(0, 1), st.floats(0, 1), sides, sides)
def test_finals_are_monotone_in_the_level_and_hold_their_point(
    positives: int, negatives: int, value: float, part: float, guess: float, l1: float, l2: float
) -> None:
    pair = part * value * (1 - value)
    seen = RankMoments(positives, negatives, value, pair, 0.3 * pair, 0.2 * pair)
    expected = ExpectedRanking.from_guess(guess)
    low, high = ranking_limits(seen, max(l1, l2), expected)
    assert 0 <= low <= value <= high <= 1
    difference = ranking_difference_limits(seen, max(l1, l2), ExpectedRanking(0.0, (0.01, 0.01), 0.1))
    assert -1 <= difference[0] <= value <= difference[1] <= 1


@quiet
@given(st.floats(0, 1), st.floats(0, 1), st.integers(1, 10**6), st.integers(1, 10**6), sides, sides)
def test_cells_are_monotone(one: float, two: float, least: int, more: int, l1: float, l2: float) -> None:
    low, high = min(one, two), max(one, two)
    limits = ranking_cell_limits(low, high, max(least, more), max(l1, l2))
    wider = ranking_cell_limits(low, high, min(least, more), min(l1, l2))
    assert wider[0] - 1e-13 <= limits[0] <= low <= high <= limits[1] <= wider[1] + 1e-13
    spread = max(abs(one - 0.5), 0.3)
    limits = ranking_difference_cell_limits(-0.1, 0.2, spread, max(least, more), max(l1, l2))
    wider = ranking_difference_cell_limits(-0.1, 0.2, spread, min(least, more), min(l1, l2))
    assert -1 <= limits[0] <= -0.1 < 0.2 <= limits[1] <= 1
    mirrored = ranking_difference_cell_limits(-0.2, 0.1, spread, max(least, more), max(l1, l2))
    assert mirrored == (-limits[1], -limits[0])
    assert wider[0] <= limits[0] + 1e-13
    assert limits[1] <= wider[1] + 1e-13


def test_differences_of_areas_cover_the_truth_in_a_known_world() -> None:
    """Two noisy copies of one score have the same area; 40 draws at 1e-9 on either side: a false alarm in 1e7 runs."""
    rng = np.random.default_rng(reseeded(6))
    widest = 0.0
    for _ in range(40):
        up, down = rng.normal(1.5, 1, 3_000), rng.normal(0, 1, 3_000)
        copies = [(up + rng.normal(0, 0.3, 3_000), down + rng.normal(0, 0.3, 3_000)) for _ in range(2)]
        moments = rank_difference_moments(copies[0], copies[1])
        low, high = ranking_difference_limits(moments, math.log(1e-9), ExpectedRanking.from_moments(moments))
        assert low <= 0.0 <= high
        widest = max(widest, high)
    assert widest < 0.08


def test_classes_without_rows_say_nothing() -> None:
    empty = rank_moments([], [1.0])
    assert ranking_limits(empty, -3.0, ExpectedRanking.from_guess(0.9)) == (0.0, 1.0)
    assert ranking_cell_limits(0.8, 0.9, 0, -3.0) == (0.0, 1.0)
    assert ranking_difference_cell_limits(-0.1, 0.1, 0.3, 0, -3.0) == (-1.0, 1.0)


def test_numbers_out_of_range_are_refused() -> None:
    seen = RankMoments(5, 5, 0.5, 0.1, 0.1, 0.1)
    with pytest.raises(ValueError, match="expected value"):
        ranking_limits(seen, -3.0, ExpectedRanking(math.nan, (0.1, 0.1)))
    with pytest.raises(ValueError, match="log_side"):
        ranking_limits(seen, 0.0, ExpectedRanking.from_guess(0.9))
    with pytest.raises(ValueError, match="inside"):
        ranking_limits(seen, -3.0, ExpectedRanking.from_guess(0.9), (0.5, 0.4))
    with pytest.raises(ValueError, match="least"):
        ranking_cell_limits(0.1, 0.2, -1, -3.0)
