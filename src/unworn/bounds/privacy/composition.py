"""Many private answers together, when each is known only by its (epsilon, delta) or its rho.

All of these hold when every question depends on the answers before it. :class:`Homogeneous` is exact; the others are
here because others quote them, and to be compared with.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from unworn.bounds.numerics import Floats, check_between, check_nats, check_probability, check_whole, special
from unworn.bounds.privacy.profiles import checked_epsilon, round_up

_TRUSTED = 1e-200  # below it the incomplete beta function fails here and there, and Chernoff's bound takes over


@dataclass(frozen=True, slots=True)
class Homogeneous:
    """``k`` adaptive answers, each (epsilon, floor)-DP: the exact profile (Kairouz, Oh and Viswanath 2015, Thm. 3.3).

    The worst answer is randomised response that tells all with weight ``floor``. Of k such responses let B agree with
    the truth; the total loss is (2B - k) epsilon, so with b the first count whose loss passes eps,

        delta(eps) = 1 - (1 - floor)^k (1 - [P(B >= b) - e^eps Q(B >= b)]),

    B binomial with odds e^epsilon under P and e^-epsilon under Q: two incomplete beta functions whatever k is. They
    nearly cancel when k epsilon^2 is small; what their rounding can amount to is added (relative 1e-15 (1 + sqrt(k)
    (1 + z)) of the tail, z its distance in standard deviations: three times the error seen against fifty-digit
    arithmetic up to k = 1e9).

    >>> round(float(Homogeneous(0.1, 0.0, 100).delta(2.0)), 6)
    0.02014
    >>> round(float(Homogeneous(1e-5, 0.0, 10**9).delta(1.0)), 6)   # sqrt(k) epsilon = 0.316: GDP(0.316) has 0.00011
    0.00011
    """

    epsilon: float
    floor: float
    k: int

    def __post_init__(self) -> None:
        check_nats("epsilon", self.epsilon)
        check_between("the floor of delta", self.floor, 0.0, 1.0)
        check_whole("the number of answers", self.k, 0)

    def delta(self, epsilon: ArrayLike) -> Floats:
        values = checked_epsilon(epsilon)
        responses = self._responses(values) if self.epsilon > 0.0 and self.k > 0 else np.zeros(values.shape)
        if self.floor == 0.0 or self.k == 0:
            return round_up(responses)
        if self.floor == 1.0:
            return np.ones(values.shape)
        missed = -math.expm1(self.k * math.log1p(-self.floor))
        return round_up(missed + (1.0 - missed) * responses)

    def _responses(self, values: Floats) -> Floats:
        library, k = special(), float(self.k)
        p, q = float(library.expit(self.epsilon)), float(library.expit(-self.epsilon))
        with np.errstate(over="ignore"):
            # In doubt the count that ties with eps is in: left out, all of its mass would be missing; left in, it
            # takes away no more than ``error`` adds.
            first = np.floor(0.5 * (k + values / self.epsilon) * (1.0 - 4e-16)) + 1.0
        inside = first <= k
        b = np.where(inside, first, k)
        eps = np.where(inside, values, 0.0)
        likely, unlikely = library.betainc(b, k - b + 1.0, p), library.betainc(b, k - b + 1.0, q)
        seen = unlikely >= _TRUSTED
        paid = np.where(seen, np.exp(np.minimum(eps + np.log(np.where(seen, unlikely, 1.0)), 0.0)), 0.0)
        spread = math.sqrt(k * p * q)
        far = 1.0 + np.maximum(np.abs(b - k * p), np.abs(b - k * q)) / max(spread, 1.0)
        error = 1e-15 * (1.0 + math.sqrt(k) * far + eps) * (likely + paid)
        exact = np.where(likely >= _TRUSTED, likely - paid + error, _chernoff(b, k, self.epsilon))
        return np.where(inside, np.clip(exact, 0.0, 1.0), 0.0)


def _chernoff(b: Floats, k: float, epsilon: float) -> Floats:
    """P(B >= b) is at most exp(-k KL(b/k, p)) for b/k >= p, the odds of p being e^epsilon."""
    library, share = special(), b / k
    log_p, log_q = -math.log1p(math.exp(-epsilon)), -epsilon - math.log1p(math.exp(-epsilon))
    divergence = -library.entr(share) - library.entr(1.0 - share) - share * log_p - (1.0 - share) * log_q
    with np.errstate(over="ignore"):
        return np.asarray(np.exp(-k * np.maximum(divergence, 0.0)))


def basic(costs: Iterable[tuple[float, float]]) -> tuple[float, float]:
    """Epsilons and deltas add up (Dwork and Roth 2014, Thm. 3.16).

    >>> basic([(0.1, 0.0), (0.2, 1e-6)])
    (0.30000000000000004, 1e-06)
    """
    epsilon = floor = 0.0
    for one, other in costs:
        check_nats("epsilon", one)
        check_between("delta", other, 0.0, 1.0)
        epsilon, floor = epsilon + one, floor + other
    return epsilon, min(1.0, floor)


def advanced(epsilon: float, floor: float, k: int, slack: float, *, book: bool = False) -> tuple[float, float]:
    """Dwork, Rothblum and Vadhan (2010): k answers cost sqrt(2k ln(1/slack)) epsilon + k drift, k floor + slack.

    The losses are bounded by epsilon and their mean, the drift, by epsilon tanh(epsilon/2), which randomised response
    attains; the ``book`` (Dwork and Roth 2014, Thm. 3.20) has epsilon (e^epsilon - 1), about twice as much.

    >>> round(advanced(0.1, 0.0, 100, 1e-6)[0], 3), round(advanced(0.1, 0.0, 100, 1e-6, book=True)[0], 3)
    (5.756, 6.308)
    """
    check_nats("epsilon", epsilon)
    check_between("delta", floor, 0.0, 1.0)
    check_whole("the number of answers", k, 0)
    check_probability("slack", slack)
    if epsilon > 700.0:
        raise ValueError(f"epsilon above 700 promises nothing, and overflows: {epsilon!r}. Use more noise")
    drift = epsilon * (math.expm1(epsilon) if book else math.tanh(epsilon / 2))
    total = math.sqrt(2.0 * k * math.log(1.0 / slack)) * epsilon + k * drift
    if not total < math.inf:
        raise ValueError(f"{k!r} answers of epsilon = {epsilon!r} promise nothing, and overflow. Use more noise")
    return total, min(1.0, k * floor + slack)


def pure_rho(epsilon: float) -> float:
    """The rho of epsilon-DP: epsilon tanh(epsilon/2), which randomised response attains (Steinke 2024).

    >>> round(pure_rho(0.1), 6)
    0.004996
    """
    check_nats("epsilon", epsilon)
    return epsilon * math.tanh(epsilon / 2)


def gaussian_rho(sd: float) -> float:
    """The rho of Gaussian noise of standard deviation ``sd``, in units of what one row can change: 1/(2 sd^2).

    >>> gaussian_rho(10.0)
    0.005
    """
    if not 1e-150 <= sd <= 1e150:
        raise ValueError(
            f"the standard deviation of the noise must be positive and finite, from 1e-150 to 1e150, not {sd!r}"
        )
    return 0.5 / sd**2
