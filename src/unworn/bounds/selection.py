"""Private selection: how far below the best the chosen candidate can be, and what choosing costs.

Two mechanisms choose among m candidates whose scores one row changes by at most D, both epsilon-private at the rate
r = epsilon/(2D): the *exponential mechanism* (McSherry and Talwar 2007) takes each with probability proportional to
exp(r s), *permute and flip* (McKenna and Sheldon 2020) the first in a random order whose coin, of chance
exp(-r (max - s)), falls. The second is never worse at the same epsilon; the first is four times cheaper in zCDP. The
proofs are in ``docs/theory/release.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from unworn.bounds.budget import check_budget, concentrated_rho, pure_share
from unworn.bounds.numerics import Floats, check_nats, check_probability, check_whole, special
from unworn.bounds.privacy.composition import Homogeneous
from unworn.bounds.privacy.profiles import Concentrated, Pure

EXPONENTIAL, PERMUTE_AND_FLIP = "exponential", "permute-and-flip"
_OUTWARD = 1.0 + 1e-12


def selection_gap(
    candidates: float, epsilon: float, beta: float, sensitivity: float = 1.0, *, book: bool = False
) -> float:
    """How far below the best score either mechanism's choice can be, but for a probability of ``beta``.

    Candidates more than g below have together at most (m - 1) e^(-rg) times the weight of the best, so their chance is
    at most beta for g = ln((m - 1)(1 - beta)/beta)/r: what m - 1 candidates exactly g below attain. The ``book`` (Dwork
    and Roth 2014, Cor. 3.12) has ln(m/beta)/r. Permute and flip puts no more chance below any score than that.

    >>> round(selection_gap(1000, 1.0, 0.05), 3), round(selection_gap(1000, 1.0, 0.05, book=True), 3)
    (19.702, 19.807)
    >>> selection_gap(1, 1.0, 0.05)
    0.0
    """
    rate = _rate(candidates, epsilon, sensitivity)
    check_probability("beta", beta)
    if book:
        return (math.log(candidates) - math.log(beta)) / rate
    if candidates == 1:
        return 0.0
    return max(0.0, math.log(candidates - 1) + math.log1p(-beta) - math.log(beta)) / rate * _OUTWARD


def selection_mean(candidates: float, epsilon: float, sensitivity: float = 1.0) -> float:
    """How far below the best score the choice is on average, at most, whatever the scores are.

    W((m - 1)/e)/r with Lambert's W, which the exponential mechanism attains when all others are (1 + W)/r below, and
    which is less than the ln(m)/r that is usually quoted. Permute and flip is never worse on average.

    >>> round(selection_mean(1000, 1.0), 3), round(2 * math.log(1000), 3)
    (8.841, 13.816)
    """
    rate = _rate(candidates, epsilon, sensitivity)
    return float(special().lambertw((candidates - 1) / math.e).real) / rate * _OUTWARD


def range_rho(epsilon: float) -> float:
    """The rho of the exponential mechanism: epsilon^2/8 (Cesar and Rogers 2021; Rogers and Steinke 2021).

    The logarithms of its odds move within an interval of length epsilon, its *bounded range* (Durfee and Rogers 2019).
    Of an epsilon-private choice of which no more is known, permute and flip's among them, rho is epsilon
    tanh(epsilon/2) (:func:`~unworn.bounds.privacy.pure_rho`), four times as much where epsilon is small.

    >>> range_rho(0.5)
    0.03125
    """
    check_nats("epsilon", epsilon)
    return 0.125 * epsilon**2


@dataclass(frozen=True, slots=True)
class Selections:
    """So many adaptive choices by the exponential mechanism, each ``epsilon``-private: what all of them reveal.

    The least of what pure privacy (basic and exact composition) and what bounded range (rho adds) promise.

    >>> round(float(Selections(0.1, 100).delta(2.0)), 9)   # Homogeneous(0.1, 0.0, 100) has 0.02014
    3.9485e-05
    >>> float(Selections(0.1, 10).delta(1.0 + 1e-12))
    0.0
    """

    epsilon: float
    rounds: int

    def __post_init__(self) -> None:
        check_nats("epsilon", self.epsilon)
        check_whole("the number of rounds", self.rounds, 0)

    @property
    def rho(self) -> float:
        return self.rounds * range_rho(self.epsilon)

    def delta(self, epsilon: ArrayLike) -> Floats:
        ranged = Concentrated(self.rho * _OUTWARD).delta(epsilon)
        exact = Homogeneous(self.epsilon, 0.0, self.rounds).delta(epsilon)
        # Where epsilon is that of all rounds together, exact composition keeps some rounding, and this is 0.
        pure = Pure(self.rounds * self.epsilon).delta(epsilon)
        return np.asarray(np.minimum(np.minimum(ranged, exact), pure))


def selection_epsilon(epsilon: float, delta: float, rounds: int) -> float:
    """The epsilon that each of so many choices by the exponential mechanism may have within (epsilon, delta).

    The larger of an equal part and what bounded range allows, sqrt(8 rho/T): the first for few rounds, the second for
    many. (The exact composition of answers that are only known to be private allows little more than half of the second
    for many rounds, and hardly more than the first for few.)

    >>> selection_epsilon(1.0, 1e-9, 4), round(selection_epsilon(1.0, 1e-9, 100), 5)   # exact composition: 0.01866
    (0.25, 0.03461)
    """
    check_whole("the number of rounds", rounds, 1)
    check_budget(epsilon, delta)
    equal = pure_share(epsilon, 0.0, rounds)
    return equal if delta == 0.0 else max(equal, ranged_epsilon(concentrated_rho(epsilon, delta), rounds))


def ranged_epsilon(rho: float, rounds: float) -> float:
    """The epsilon that each of so many choices by the exponential mechanism may have to cost rho together.

    >>> round(ranged_epsilon(0.00125, 1), 12)
    0.1
    """
    check_nats("rho", rho)
    return math.sqrt(8.0 * rho / rounds) * (1.0 - 1e-12)


def best_selection(epsilon: float, delta: float, rounds: int = 1) -> tuple[str, float]:
    """Which mechanism to choose with, so many times within (epsilon, delta), and at which epsilon each time.

    At equal epsilon permute and flip is never worse; but it needs pure privacy, so where bounded range buys the
    exponential mechanism a larger epsilon (from a dozen rounds on, for usual deltas) that one has the better bound.

    >>> best_selection(1.0, 0.0, 64)
    ('permute-and-flip', 0.015625)
    >>> best_selection(1.0, 1e-9)[0], best_selection(1.0, 1e-9, 64)[0]
    ('permute-and-flip', 'exponential')
    """
    ranged, pure = selection_epsilon(epsilon, delta, rounds), pure_share(epsilon, delta, rounds)
    return (EXPONENTIAL, ranged) if ranged > pure else (PERMUTE_AND_FLIP, pure)


def _rate(candidates: float, epsilon: float, sensitivity: float) -> float:
    check_whole("the number of candidates", candidates, 1)
    for name, value in (("epsilon", epsilon), ("the sensitivity", sensitivity)):
        if isinstance(value, bool) or not 0 < value < math.inf:
            raise ValueError(f"{name} must be positive and finite, not {value!r}")
    return epsilon / (2.0 * sensitivity)
