from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import binom

from tests.bounds.questions.exact_laws import LEVELS, two_score_outcomes
from tests.two_sizes import reseeded
from unworn.bounds.questions.mean_bets import MeanMoments, _log_wealth, bet_limits, moment_rate
from unworn.bounds.questions.rank_bets import block_moments, exponential_placements
from unworn.bounds.questions.rank_moments import RankMoments, hanley_mcneil, rank_moments
from unworn.bounds.questions.ranking import ExpectedRanking, _chosen_bet, _chosen_blocks, ranking_limits


def placements_of(rng: np.random.Generator, rows: int) -> np.ndarray:
    return rng.beta(0.8, 0.3, rows)


@pytest.mark.parametrize("others", [1, 2, 3, 9, 40])
def test_block_moments_are_those_of_binomial_shares(others: int) -> None:
    chances = placements_of(np.random.default_rng(reseeded(1)), 25)
    central = [float(np.mean((chances - chances.mean()) ** power)) for power in (2, 3, 4)]
    found = block_moments(MeanMoments(float(chances.mean()), *central), others)
    counts = np.arange(others + 1)
    weights = binom.pmf(counts[None, :], others, chances[:, None]).mean(axis=0)
    for power, value in ((2, found.variance), (3, found.third), (4, found.fourth)):
        assert value == pytest.approx(float(weights @ (counts / others - chances.mean()) ** power), abs=1e-12)


@pytest.mark.parametrize("others", [1, 2, 3])
@pytest.mark.parametrize("of_positives", [True, False])
def test_bets_on_all_blocks_win_at_least_what_moments_say(others: int, of_positives: bool) -> None:
    """Every block, listed: few rows of one class, seven of the other, with ties; against truths on either side."""
    rng = np.random.default_rng(reseeded(2))
    for _ in range(20):
        few, many = rng.integers(0, 5, 3) + of_positives, rng.integers(0, 5, 7) + (not of_positives)
        phi = (few[:, None] > many[None, :]) + 0.5 * (few[:, None] == many[None, :])
        phi = phi if of_positives else 1 - phi
        moments = rank_moments(few, many) if of_positives else rank_moments(many, few)
        assert moments.rarer_placements is not None
        assert moments.value == pytest.approx(phi.mean())
        seen = block_moments(moments.rarer_placements, others)
        blocks = np.array([phi[i, list(js)].mean() for i in range(3) for js in combinations(range(7), others)])
        for truth in (moments.value + 0.3 * (1 - moments.value), moments.value + 0.9 * (1 - moments.value)):
            for rate in (0.5, 0.9 / max(1 - truth, 0.02)):
                exact = float(np.mean(np.log1p(rate * (truth - blocks))))
                assert _log_wealth(seen, truth - seen.mean, 1 - seen.mean, rate) <= exact + 1e-9 * rate**4


@pytest.mark.parametrize("value", [0.55, 0.8, 0.95])
def test_exponential_placements_are_hanley_and_mcneils(value: float) -> None:
    for of_positives, place in ((True, 0), (False, 1)):
        placements = exponential_placements(value, of_positives)
        assert placements.mean == pytest.approx(value)
        assert placements.variance == pytest.approx(hanley_mcneil(value)[place], abs=1e-12)
    rng = np.random.default_rng(reseeded(4))
    sure = 1 - rng.uniform(size=400_000) ** (value / (1 - value))  # a positive's placement
    found = exponential_placements(value, of_positives=True)
    assert found.third == pytest.approx(float(np.mean((sure - sure.mean()) ** 3)), rel=0.05, abs=1e-4)
    assert found.fourth == pytest.approx(float(np.mean((sure - sure.mean()) ** 4)), rel=0.05, abs=1e-4)


def two_scores(positives: int, negatives: int, high: int, low: int) -> RankMoments:
    ups, downs = [1.0] * high + [0.0] * (positives - high), [1.0] * low + [0.0] * (negatives - low)
    return rank_moments(ups, downs)


@pytest.mark.parametrize("world", [(12, 60, 0.95, 0.2), (60, 12, 0.8, 0.3), (10, 60, 0.97, 0.02)])
@pytest.mark.parametrize("level", LEVELS)
def test_coverage_is_exact_where_one_class_is_rare(world: tuple[int, int, float, float], level: float) -> None:
    """With two scores, every outcome listed: of the limits as they are chosen, and of bets wherever one may be made.

    Ties leave much room, since they are taken for coins; that the sum could pass is shown by the mistake below.
    """
    positives, negatives, p, q = world
    truth, log_side = 0.5 + 0.5 * (p - q), math.log(level)
    pairs, others = min(positives, negatives), max(positives, negatives) // min(positives, negatives)
    for guess in (truth, 0.97):
        missed, expected = np.zeros(4), ExpectedRanking.from_guess(guess)
        likely = block_moments(exponential_placements(guess, positives <= negatives), others)
        rates = [moment_rate(each, pairs, log_side) or 0.9 for each in (likely.mirrored, likely)]
        for chance, high, low in two_score_outcomes(positives, negatives, p, q):
            if chance < 1e-12 * level:  # together they are less than 1e-8 of the level
                continue
            moments = two_scores(positives, negatives, high, low)
            assert moments.rarer_placements is not None
            seen = block_moments(moments.rarer_placements, others)
            for place, limits in enumerate(
                (ranking_limits(moments, log_side, expected), bet_limits(seen, pairs, log_side, (rates[0], rates[1])))
            ):
                missed[2 * place] += chance * (truth < limits[0])
                missed[2 * place + 1] += chance * (truth > limits[1])
        assert missed.max() <= level * (1 - 1e-7)


def test_the_bet_is_chosen_where_one_class_is_rare() -> None:
    expected = ExpectedRanking.from_guess(0.95)
    rate, distance = _chosen_bet(100, 900, 0.95, -4.0, False)
    assert rate > 0
    assert distance < 0.9 * _chosen_blocks(100, 900, (0.95, 1.0), -4.0, expected)[1]


def test_as_many_blocks_as_rows_of_both_classes_are_caught() -> None:
    """The mistake: bets on n₊ + n₋ blocks, though only as many as the rarer class has rows share no row."""
    positives, negatives, p, q = 6, 60, 0.7, 0.1
    truth, rate = 0.5 + 0.5 * (p - q), 0.9
    wealth = {6: 0.0, 66: 0.0}
    for chance, high, low in two_score_outcomes(positives, negatives, p, q):
        placements = two_scores(positives, negatives, high, low).rarer_placements
        assert placements is not None
        seen = block_moments(placements, 10)
        if seen.mean <= truth:
            for blocks in wealth:
                won = _log_wealth(seen, truth - seen.mean, 1 - seen.mean, rate)
                wealth[blocks] += chance * math.exp(blocks * won)
    assert wealth[6] <= 1.0
    assert wealth[66] > 1.5


def test_numbers_out_of_range_are_refused() -> None:
    with pytest.raises(ValueError, match="others"):
        block_moments(MeanMoments(0.5, 0.1, 0.0, 0.02), 0)
    with pytest.raises(ValueError, match="value"):
        exponential_placements(math.nan, of_positives=True)
    with pytest.raises(ValueError, match="third"):
        RankMoments(3, 3, 0.5, 0.1, 0.1, 0.1, math.nan, 0.1)
    with pytest.raises(ValueError, match="fourth"):
        RankMoments(3, 3, 0.5, 0.1, 0.1, 0.1, 0.0, -0.1)
