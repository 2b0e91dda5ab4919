"""Limits for the area under the ROC curve, and for the difference of two of them on the same rows.

Given how many rows there are of each class, the area is a two-sample U-statistic. Cut the rows at random into r
blocks of p positives and k negatives; each block's mean over its pairs is in [0, 1], has the right expectation, and
blocks share no row. The area is the average of the blocks' mean over all ways to cut. Since exp is convex, whatever
bound of E exp(·) holds for one way holds for the average (Hoeffding 1963, section 5). Blocks of one pair each and
Chernoff's bound give min(n₊, n₋) in place of n. Larger blocks vary less, nearly as DeLong's variance says, and the
bound for means with the rows' own variance (:mod:`~unworn.bounds.questions.means_with_variance`) makes use of that,
because the average over all ways to cut of the blocks' variance can be computed. Where one class is rare, blocks of one
of its rows have four moments that can be bounded, and are bet on (:mod:`~unworn.bounds.questions.rank_bets`). What must
not be done is to use n₊ + n₋ rows, or all n₊·n₋ pairs, as if they were independent.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from unworn.bounds.concentration import kl_above
from unworn.bounds.numerics import check_between, check_whole
from unworn.bounds.paired import discordance
from unworn.bounds.questions.conditional_shares import check_log_side
from unworn.bounds.questions.mean_bets import MeanMoments, bet_distance, moment_rate
from unworn.bounds.questions.means_with_variance import bet_rate, final_distance
from unworn.bounds.questions.rank_bets import block_moments, exponential_placements
from unworn.bounds.questions.rank_moments import RankMoments, hanley_mcneil


@dataclass(frozen=True)
class ExpectedRanking:
    """What is expected of a ranking before its rows are read: its area, and how pairs that share a row vary together.

    It decides the size of blocks and the rate λ, so a poor one costs width and never validity.

    >>> ExpectedRanking.from_guess(0.9).covariances == hanley_mcneil(0.9)
    True
    """

    value: float
    covariances: tuple[float, float]
    """Of two pairs that share their positive, and of two that share their negative."""
    pair_variance: float | None = None
    """Of single pairs; value·(1 - value) if not given."""

    @classmethod
    def from_guess(cls, value: float) -> ExpectedRanking:
        return cls(value, hanley_mcneil(value))

    @classmethod
    def from_moments(cls, moments: RankMoments) -> ExpectedRanking:
        """From ``train`` or practice rows."""
        return cls(moments.value, moments.covariances, moments.pair_variance)

    def block_variance(self, positives: int, negatives: int) -> float:
        """The variance of a block's mean: as Hanley and McNeil's for so few rows.

        >>> round(ExpectedRanking.from_guess(0.9).block_variance(1, 9), 4)
        0.0479
        """
        single = self.value * (1.0 - self.value) if self.pair_variance is None else self.pair_variance
        shared = (negatives - 1) * self.covariances[0] + (positives - 1) * self.covariances[1]
        return min(max((single + shared) / (positives * negatives), 0.0), 1.0)  # a hair below 0 by rounding


def ranking_cell_limits(low: float, high: float, least: int, log_side: float) -> tuple[float, float]:
    """Limits for the area, where it lies in a cell on the rows and the smaller class has at least ``least`` of them.

    Chernoff's bound with min(n₊, n₋) in place of n shrinks as that grows.

    >>> low, high = ranking_cell_limits(0.89, 0.91, 500, 0.0)
    Traceback (most recent call last):
    ...
    ValueError: log_side = ln(miss probability of one side) must be finite and at most -ln 2, not 0.0
    >>> low, high = ranking_cell_limits(0.89, 0.91, 500, -3.0)
    >>> round(low, 4), round(high, 4)
    (0.8527, 0.9381)
    """
    check_between("low", low, 0, 1)
    check_between("high", high, low, 1)
    check_whole("least", least, 0)
    check_log_side(log_side)
    if least == 0:
        return 0.0, 1.0
    nats = -log_side / least
    return kl_above(1.0 - low, low, nats)[1], kl_above(high, 1.0 - high, nats)[0]


def ranking_difference_cell_limits(
    low: float, high: float, spread: float, least: int, log_side: float
) -> tuple[float, float]:
    """Limits for the difference of two areas, where its value on the rows lies in a cell.

    \\|φ - φ'\\| has at most the mean ``spread`` over pairs, and the smaller class at least ``least`` rows. As
    :func:`~unworn.bounds.paired.discordance`, with min(n₊, n₋) in place of n: the mean of \\|φ - φ'\\| is a U-statistic
    too.

    >>> low, high = ranking_difference_cell_limits(-0.001, 0.001, 0.02, 5_000, -3.0)
    >>> round(high, 4)
    0.0065
    """
    check_whole("least", least, 0)
    check_log_side(log_side)
    if least == 0:
        return -1.0, 1.0
    return discordance(low, high, spread, least, log_side, zero_one=False, shared=False)


def ranking_limits(
    moments: RankMoments, log_side: float, expected: ExpectedRanking, inside: tuple[float, float] = (0.0, 1.0)
) -> tuple[float, float]:
    """Limits for the area from its exact value and variances, each missed with probability exp(``log_side``) at most.

    The size of blocks, the rate λ and whether to use Chernoff's bound instead are chosen for either limit from
    ``expected`` and the numbers of rows in the two classes: the bound holds given these. ``inside`` is where the
    value is known to lie before the rows are read, from an earlier answer.

    >>> seen = RankMoments(500, 500, 0.9, 0.09, 0.0256, 0.0256)                 # DeLong: 0.9 ± 0.0198
    >>> low, high = ranking_limits(seen, -3.689, ExpectedRanking.from_guess(0.9))
    >>> round(low, 4), round(high, 4)
    (0.8597, 0.9325)
    >>> seen = RankMoments(100, 900, 0.95, 0.0475, 0.0231, 0.0023, -0.0138, 0.0095)       # DeLong: 0.95 ± 0.0303
    >>> low, high = ranking_limits(seen, -3.689, ExpectedRanking.from_guess(0.95))
    >>> round(low, 3), round(high, 3)
    (0.888, 0.989)
    """
    check_between("value", moments.value, 0, 1)
    check_between("expected value", expected.value, 0, 1)
    check_log_side(log_side)
    if not moments.positives or not moments.negatives:
        return 0.0, 1.0
    check_between("inside", inside[0], 0, 1)
    check_between("inside", inside[1], inside[0], 1)
    below, above = (expected.value, inside[1]), (1.0 - expected.value, 1.0 - inside[0])
    low = moments.value - _distance(moments, below, log_side, expected, upper=False)
    high = moments.value + _distance(moments, above, log_side, expected, upper=True)
    return max(low, 0.0), min(high, 1.0)


def ranking_difference_limits(
    moments: RankMoments, log_side: float, expected: ExpectedRanking, inside: tuple[float, float] = (-1.0, 1.0)
) -> tuple[float, float]:
    """The same for a difference of two areas on the same rows, which is in [-1, 1]; ``expected`` is of the difference.

    >>> seen = RankMoments(500, 500, 0.0, 0.1, 0.002, 0.002)                    # DeLong: 0 ± 0.0055
    >>> low, high = ranking_difference_limits(seen, -3.689, ExpectedRanking.from_moments(seen))
    >>> round(low, 4), round(high, 4)
    (-0.0399, 0.0399)
    """
    check_between("expected value", expected.value, -1, 1)
    halved = replace(
        moments,
        value=0.5 + 0.5 * moments.value,
        pair_variance=0.25 * moments.pair_variance,
        positive_variance=0.25 * moments.positive_variance,
        negative_variance=0.25 * moments.negative_variance,
        third=None,
        fourth=None,
    )
    by_positive, by_negative = expected.covariances
    pair = 1.0 - expected.value**2 if expected.pair_variance is None else expected.pair_variance
    half = ExpectedRanking(0.5 + 0.5 * expected.value, (0.25 * by_positive, 0.25 * by_negative), 0.25 * pair)
    low, high = ranking_limits(halved, log_side, half, (0.5 + 0.5 * inside[0], 0.5 + 0.5 * inside[1]))
    return 2.0 * low - 1.0, 2.0 * high - 1.0


def _distance(
    moments: RankMoments,
    expected_rooms: tuple[float, float],
    log_side: float,
    expected: ExpectedRanking,
    *,
    upper: bool,
) -> float:
    """How far one limit lies from the area. Which bound is used follows from class counts and what is expected."""
    positives, negatives = moments.positives, moments.negatives
    (blocks, some, others, rate), nearest = _chosen_blocks(positives, negatives, expected_rooms, log_side, expected)
    placements = moments.rarer_placements
    if placements is not None:
        bet, distance = _chosen_bet(positives, negatives, expected.value, log_side, upper)
        if bet and distance < nearest:
            seen, pairs = _single_row_blocks(placements, positives, negatives)
            return bet_distance(seen if upper else seen.mirrored, pairs, log_side, bet)
    room = 1.0 - moments.value if upper else moments.value
    return final_distance(room, moments.block_variance(some, others), blocks, log_side, rate)


def _single_row_blocks(placements: MeanMoments, positives: int, negatives: int) -> tuple[MeanMoments, int]:
    """The moments of blocks of one row of the rarer class, and how many there are."""
    pairs = min(positives, negatives)
    return block_moments(placements, max(positives, negatives) // pairs), pairs


@lru_cache(maxsize=256)
def _chosen_bet(positives: int, negatives: int, value: float, log_side: float, upper: bool) -> tuple[float, float]:
    """The rate for such blocks, and how far the limit would lie if scores were exponential."""
    placements = exponential_placements(value, positives <= negatives)
    likely, pairs = _single_row_blocks(placements, positives, negatives)
    likely = likely if upper else likely.mirrored
    rate = moment_rate(likely, pairs, log_side)
    return rate, bet_distance(likely, pairs, log_side, rate)


@lru_cache(maxsize=256)
def _chosen_blocks(
    positives: int, negatives: int, expected_rooms: tuple[float, float], log_side: float, expected: ExpectedRanking
) -> tuple[tuple[int, int, int, float], float]:
    """How many blocks, the rows of either class in each, and λ: those with the nearest limit if all is as expected.

    And how far that limit would lie.

    ``expected_rooms`` are the distance from the end of the range that is expected, and the largest possible.
    """
    likely, largest = expected_rooms
    pairs, previous = min(positives, negatives), 1.0
    nearest, best = final_distance(likely, 0.0, pairs, log_side, 0.0), (pairs, 1, 1, 0.0)
    for blocks, some, others in _blocks(positives, negatives):
        variance = expected.block_variance(some, others)
        rate = bet_rate(likely, variance, blocks, log_side, largest)
        if rate == 0.0:
            continue
        distance = final_distance(likely, variance, blocks, log_side, rate)
        if distance < nearest:
            nearest, best = distance, (blocks, some, others, rate)
        elif distance > previous:  # from here on there are too few blocks
            break
        previous = distance
    return best, nearest


def _blocks(positives: int, negatives: int) -> Iterator[tuple[int, int, int]]:
    """Numbers of blocks, of positives and of negatives in each: down from one row of the smaller class per block."""
    smaller, size = min(positives, negatives), 1
    while smaller // size > 1 or size == 1:
        blocks = smaller // size
        yield blocks, positives // blocks, negatives // blocks
        size = max(size + 1, size * 3 // 2)
