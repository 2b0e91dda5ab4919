"""What a ranking's scores say of the area under its ROC curve and of its spread, in one sort.

The area is the mean over all pairs (positive i, negative j) of φ_ij: 1 where the positive scores higher, 1/2 on a tie,
else 0. The mean of φ_ij over j is the *placement* of i; the variances of placements are DeLong's.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from unworn.bounds.numerics import Floats, check_between, check_whole
from unworn.bounds.questions.mean_bets import MeanMoments


@dataclass(frozen=True)
class RankMoments:
    """Mean and variances of a function of pairs, one row of each class: φ, or the difference of two of them.

    Parameters
    ----------
    positives, negatives
        How many rows there are of each class.
    value
        The mean over all pairs.
    pair_variance
        The mean over all pairs of (φ_ij - value)², or an upper bound of it.
    positive_variance, negative_variance
        The variances of placements, (1/n) times the sum of squares, over positives and over negatives.
    third, fourth
        The further central moments of the placements of the rarer class, of the positives if neither is; None where
        they are not known.

    >>> moments = rank_moments([0.9, 0.8, 0.4], [0.7, 0.3])
    >>> round(moments.value, 4), round(moments.pair_variance, 4), round(moments.positive_variance, 4)
    (0.8333, 0.1389, 0.0556)
    """

    positives: int
    negatives: int
    value: float
    pair_variance: float
    positive_variance: float
    negative_variance: float
    third: float | None = None
    fourth: float | None = None

    def __post_init__(self) -> None:
        check_whole("positives", self.positives, 0)
        check_whole("negatives", self.negatives, 0)
        check_between("value", self.value, -1, 1)
        for name in ("pair_variance", "positive_variance", "negative_variance"):
            check_between(name, getattr(self, name), 0, 1)
        if self.third is not None:
            check_between("third", self.third, -1, 1)
        if self.fourth is not None:
            check_between("fourth", self.fourth, 0, 1)

    @property
    def rarer_placements(self) -> MeanMoments | None:
        """The moments of the placements of the rarer class, where all of them are known.

        >>> rank_moments([0.9, 0.8, 0.4], [0.7, 0.3]).rarer_placements.mean.__round__(4)
        0.8333
        """
        if self.third is None or self.fourth is None:
            return None
        variance = self.positive_variance if self.positives <= self.negatives else self.negative_variance
        return MeanMoments(self.value, variance, self.third, self.fourth)

    @property
    def covariances(self) -> tuple[float, float]:
        """Of two pairs that share their positive, and of two that share their negative (unbiased, at least 0)."""
        n, m = self.positives, self.negatives
        by_positive = (m * self.positive_variance - self.pair_variance) / (m - 1) if m > 1 else 0.0
        by_negative = (n * self.negative_variance - self.pair_variance) / (n - 1) if n > 1 else 0.0
        return max(by_positive, 0.0), max(by_negative, 0.0)

    def block_variance(self, positives: int, negatives: int) -> float:
        """The variance, around the value, of the mean over a block: random rows of either class, all pairs among them.

        The average is over all blocks of that size. It is exact, and rises with ``pair_variance``.

        >>> moments = rank_moments([0.9, 0.8, 0.4], [0.7, 0.3])
        >>> moments.block_variance(3, 2), round(moments.block_variance(1, 1), 4)
        (0.0, 0.1389)
        """
        n, m = self.positives, self.negatives
        check_whole("positives", positives, 1, n)
        check_whole("negatives", negatives, 1, m)
        # Shares of the other rows that are in the block with a given one.
        same, other = (positives - 1) / max(n - 1, 1), (negatives - 1) / max(m - 1, 1)
        pair = (1.0 - same) * (1.0 - other) * self.pair_variance
        by_positive = (1.0 - same) * other * m * self.positive_variance
        by_negative = (1.0 - other) * same * n * self.negative_variance
        return max(pair + by_positive + by_negative, 0.0) / (positives * negatives)

    def delong_error(self) -> float:
        """DeLong's standard error of the value: for slack, not for limits.

        >>> round(rank_moments([0.9, 0.8, 0.4], [0.7, 0.3]).delong_error(), 4)
        0.2357
        """
        if self.positives < 2 or self.negatives < 2:
            return 0.5
        return math.sqrt(self.positive_variance / (self.positives - 1) + self.negative_variance / (self.negatives - 1))


def rank_moments(positives: ArrayLike, negatives: ArrayLike) -> RankMoments:
    """The moments of φ from the scores of positives and of negatives.

    >>> rank_moments([1.0, 2.0], [2.0]).value
    0.25
    """
    moments, _, _ = _placed(positives, negatives)
    return moments


def rank_difference_moments(first: tuple[ArrayLike, ArrayLike], second: tuple[ArrayLike, ArrayLike]) -> RankMoments:
    """The moments of the difference φ - φ' of two rankings of the same rows, each given as (positives, negatives).

    Placements subtract. The variance over single pairs would take a count in two dimensions; instead it is bounded by
    the mean of \\|φ - φ'\\| <= (1 - φ) + (1 - φ'), which is safe and matters little, because blocks hold many pairs.

    >>> rows = [3.0, 2.0], [1.0, 2.5]
    >>> rank_difference_moments(rows, rows).value
    0.0
    """
    one, positives, negatives = _placed(*first)
    two, others, rest = _placed(*second)
    if positives.shape != others.shape or negatives.shape != rest.shape:
        raise ValueError("both rankings must be of the same rows")
    if not positives.size or not negatives.size:
        return replace(one, value=0.0)
    value = one.value - two.value
    most = min(1.0, 2.0 - one.value - two.value, one.value + two.value)
    return replace(
        one,
        value=value,
        pair_variance=max(most - value * value, 0.0),
        positive_variance=float(np.var(positives - others)),
        negative_variance=float(np.var(negatives - rest)),
        third=None,
        fourth=None,
    )


def hanley_mcneil(value: float) -> tuple[float, float]:
    """The covariances of two pairs that share their positive, and their negative, if scores were exponential.

    Hanley and McNeil (1982): 2A²/(1 + A) - A² and A/(2 - A) - A². A guess of the spread where there is no ``train``.

    >>> [round(x, 4) for x in hanley_mcneil(0.9)]
    [0.0426, 0.0082]
    """
    check_between("value", value, 0, 1)
    square = value * value
    return 2.0 * square / (1.0 + value) - square, value / (2.0 - value) - square


def ranking_error(value: float, covariances: tuple[float, float], positives: int, negatives: int) -> float:
    """The standard error of an area under the curve, from the covariances of pairs that share a row.

    >>> round(ranking_error(0.9, hanley_mcneil(0.9), 500, 500), 5)
    0.01009
    """
    check_between("value", value, 0, 1)
    check_whole("positives", positives, 1)
    check_whole("negatives", negatives, 1)
    single = value * (1.0 - value)
    shared = (negatives - 1) * covariances[0] + (positives - 1) * covariances[1]
    return math.sqrt((single + shared) / (float(positives) * negatives))


def _placed(positives: ArrayLike, negatives: ArrayLike) -> tuple[RankMoments, Floats, Floats]:
    ups, downs = np.asarray(positives, dtype=float).ravel(), np.asarray(negatives, dtype=float).ravel()
    if np.isnan(ups).any() or np.isnan(downs).any():
        raise ValueError("a score that is not a number has no place in a ranking")
    n, m = ups.size, downs.size
    if not n or not m:
        return RankMoments(n, m, 0.5, 0.25, 0.25, 0.25, 0.0, 0.0625), np.empty(n), np.empty(m)
    below, through = _counts(downs, ups)
    before, beside = _counts(ups, downs)
    placements = (below + through) / (2.0 * m)
    complements = 1.0 - (before + beside) / (2.0 * n)
    wins, ties = float(below.sum()), float((through - below).sum())
    value = (wins + 0.5 * ties) / (float(n) * m)
    square = (wins + 0.25 * ties) / (float(n) * m)
    spread = max(square - value * value, 0.0)
    up, down = placements - value, complements - value
    rarer = up if n <= m else down
    squares = rarer * rarer
    variances = float(np.mean(up * up)), float(np.mean(down * down))
    higher = float(np.mean(squares * rarer)), float(np.mean(squares * squares))
    return RankMoments(n, m, value, spread, *variances, *higher), placements, complements


def _counts(among: Floats, of: Floats) -> tuple[Floats, Floats]:
    """How many values are below each of the others, and how many are at most as large."""
    ordered = np.sort(among)
    left = np.searchsorted(ordered, of, side="left").astype(float)
    return left, np.searchsorted(ordered, of, side="right").astype(float)
