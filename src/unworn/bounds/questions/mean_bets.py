"""Limits for a mean from four moments of its rows, by a bet whose rate was fixed before they were read.

Against a mean μ bet λ on every row: the wealth Π(1 + λ(μ - X_i)) has the expectation 1 if μ is the population's mean,
so it reaches 1/b with probability at most b. It rises with μ, so whatever lies above an excluded mean is excluded too,
each by its own bet. And it is at least what the rows' moments say: for y >= -Y, Y < 1,

    ln(1 + y) >= y - y²/2 + y³/3 - q(Y)·y⁴,      q(Y) = (-ln(1 - Y) - Y - Y²/2 - Y³/3)/Y⁴,

because the difference from the cubic is y⁴ times ∫t³/(1 + ty)dt, which falls with y. The bound by two moments alone
(:mod:`~unworn.bounds.questions.means_with_variance`) must fear that all variance comes from the far end of the range.
Both are bounds of the same wealth, so the better may be taken after the rows are read; only λ may not.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from unworn.bounds.numerics import check_between, check_rows
from unworn.bounds.questions.conditional_shares import check_log_side
from unworn.bounds.questions.means_with_variance import chernoff_distance, curvature, first_above

_INSIDE = 1.0 - 1e-9
"""How near to 1 the rate times the distance to the far end may come: at 1 a single row could cost all."""
_STEP = 1.15
_LEAST = 1e-30
_GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0


@dataclass(frozen=True)
class MeanMoments:
    """Mean and central moments of values in [0, 1], over the rows or as they are expected.

    >>> MeanMoments(0.1, 0.01, 0.002, 0.0009).mirrored.third
    -0.002
    """

    mean: float
    variance: float
    third: float
    fourth: float

    def __post_init__(self) -> None:
        check_between("mean", self.mean, 0, 1)
        check_between("variance", self.variance, 0, 1)
        check_between("third", self.third, -1, 1)
        check_between("fourth", self.fourth, 0, 1)

    @property
    def mirrored(self) -> MeanMoments:
        """Those of 1 - X: its upper limit is the lower one of X."""
        return MeanMoments(1.0 - self.mean, self.variance, -self.third, self.fourth)

    @classmethod
    def expected(cls, mean: float, variance: float) -> MeanMoments:
        """As of a loss: skewed away from the nearer end of the range, at its end as much as an exponential law.

        >>> MeanMoments.expected(0.0, 0.25)
        MeanMoments(mean=0.0, variance=0.25, third=0.25, fourth=0.25)
        """
        check_between("variance", variance, 0, 1)
        third = 2.0 * (1.0 - 2.0 * mean) * variance**1.5
        return cls(mean, variance, third, min(9.0 * variance**2, variance))


@lru_cache(maxsize=256)
def moment_rate(expected: MeanMoments, n: float, log_side: float) -> float:
    """The λ whose upper limit is nearest if all is as expected; 0 where Chernoff's limit is to be nearer.

    Everything here is public before the rows are read. A poor expectation costs width, never validity.

    >>> round(moment_rate(MeanMoments.expected(0.045, 0.0025), 1_000, -4.0), 2)
    1.03
    """
    check_rows(n)
    check_log_side(log_side)
    nats, room = -log_side / n, 1.0 - expected.mean
    if room <= 0.0:
        return 0.0
    largest = min(math.exp(min(nats, 30.0)) / room, 1e9)
    normal = min(math.sqrt(2.0 * nats / max(expected.variance, _LEAST)), largest)

    def distance(log_rate: float) -> float:
        return bet_distance(expected, n, log_side, math.exp(log_rate))

    rate = math.exp(_lowest_place(distance, math.log(normal / 8.0), math.log(min(4.0 * normal, largest))))
    return rate if bet_distance(expected, n, log_side, rate) < chernoff_distance(room, nats) else 0.0


def bet_distance(moments: MeanMoments, n: float, log_side: float, rate: float) -> float:
    """How far the upper limit lies from the rows' mean; missed with probability at most exp(``log_side``).

    ``rate`` is λ, fixed beforehand; 0 means Chernoff's limit.

    >>> seen = MeanMoments.expected(0.045, 0.0025)                   # a normal limit: 0.0033
    >>> round(bet_distance(seen, 1_000, -4.0, 1.0), 4), round(bet_distance(seen.mirrored, 1_000, -4.0, 1.9), 4)
    (0.0054, 0.0043)
    """
    check_rows(n)
    check_log_side(log_side)
    if not 0 <= rate < math.inf:
        raise ValueError(f"rate must be finite and at least 0, not {rate!r}")
    nats, room = -log_side / n, 1.0 - moments.mean
    if rate == 0.0:
        return chernoff_distance(room, nats)

    def evidence(distance: float) -> float:
        return _log_wealth(moments, distance, room, rate) - nats

    inner = max(nats / rate, room - _INSIDE / rate)  # ln(1 + y) <= y: no wealth is enough before
    outer = inner * _STEP
    while outer < room and not evidence(outer) > 0.0:
        inner, outer = outer, outer * _STEP
    return room if outer >= room else min(room, first_above(evidence, outer, inner))


def bet_limits(moments: MeanMoments, n: float, log_side: float, rates: tuple[float, float]) -> tuple[float, float]:
    """Limits for a mean, each missed with probability exp(``log_side``) at most; ``rates`` of the lower and the upper.

    >>> low, high = bet_limits(MeanMoments.expected(0.045, 0.0025), 1_000, -4.0, (1.9, 1.0))
    >>> round(low, 4), round(high, 4)
    (0.0407, 0.0504)
    """
    low = moments.mean - bet_distance(moments.mirrored, n, log_side, rates[0])
    high = moments.mean + bet_distance(moments, n, log_side, rates[1])
    return max(low, 0.0), min(high, 1.0)


def _log_wealth(moments: MeanMoments, distance: float, room: float, rate: float) -> float:
    """A lower bound of the mean over rows of ln(1 + λ(μ - X)), μ = mean + ``distance``."""
    v, t, d = moments.variance, moments.third, distance
    end = rate * (room - d)
    square, cube = v + d * d, d * (d * d + 3.0 * v) - t
    fourth = d * (d * (d * d + 6.0 * v) - 4.0 * t) + moments.fourth
    by_two = -curvature(end) * square
    by_four = -0.5 * square + rate * (cube / 3.0 - rate * _fourth_weight(end) * fourth)
    return rate * d + rate * rate * max(by_two, by_four)


def _fourth_weight(y: float) -> float:
    """q(y) = (-ln(1 - y) - y - y²/2 - y³/3)/y⁴, 1/4 at 0."""
    if y < 0.05:
        return sum(y**power / (4 + power) for power in range(12))
    return (-math.log1p(-y) - y * (1.0 + y * (0.5 + y / 3.0))) / y**4


def _lowest_place(function: Callable[[float], float], low: float, high: float) -> float:
    """About where a function with one valley is least, by the golden section."""
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left, at_right = function(left), function(right)
    for _ in range(20):
        if at_left <= at_right:
            high, right, at_right = right, left, at_left
            left = high - _GOLDEN * (high - low)
            at_left = function(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + _GOLDEN * (high - low)
            at_right = function(right)
    return left if at_left <= at_right else right
