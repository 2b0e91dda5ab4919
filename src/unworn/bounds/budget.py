"""From a budget (epsilon, delta) to the parameter that may be spent of it: the profiles of ``privacy``, read backwards.

Each finds the largest parameter whose profile, as it is evaluated here, keeps delta at epsilon. A profile is never
below the truth, so neither rounding nor the search can overspend.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

from unworn.bounds.numerics import check_whole
from unworn.bounds.privacy.composition import Homogeneous
from unworn.bounds.privacy.profiles import GDP, Concentrated, Profile

LEAST_DELTA = 1e-300
"""A profile below it may come out as 0, which would promise too much."""
_NARROW, _WIDE = 1e-150, 1e150


def gaussian_mu(epsilon: float, delta: float) -> float:
    """The largest mu for which mu-Gaussian DP is (epsilon, delta)-DP.

    Gaussian noise of standard deviation D/mu, where one row moves the answers by D in Euclidean distance, spends
    exactly this (Balle and Wang 2018; Dong, Roth and Su 2022). At (1, 1e-5) it is the noise of 3.73 D; the book's
    sqrt(2 ln(1.25/delta))/epsilon (Dwork and Roth 2014, Thm. A.1) has 4.84 D.

    >>> round(gaussian_mu(1.0, 1e-5), 6), round(1 / gaussian_mu(1.0, 1e-5), 4)
    (0.268051, 3.7306)
    >>> round(gaussian_mu(1.0, 1e-9), 6)
    0.181975
    """
    check_budget(epsilon, delta, "Gaussian noise")
    return _largest(GDP, epsilon, delta)


def concentrated_rho(epsilon: float, delta: float) -> float:
    """The largest rho for which rho-zCDP is (epsilon, delta)-DP (Canonne, Kamath and Steinke 2020, Prop. 12).

    >>> round(concentrated_rho(1.0, 1e-9), 6)   # Bun and Steinke's rho + 2 sqrt(rho ln(1/delta)) = 1 gives 0.011778
    0.014973
    """
    check_budget(epsilon, delta, "a budget that adds up in zCDP")
    return _largest(Concentrated, epsilon, delta)


def pure_share(epsilon: float, delta: float, answers: int) -> float:
    """The largest epsilon that each of so many adaptive answers may have for all to be (epsilon, delta)-DP.

    The exact composition of answers of which nothing else is known (:class:`Homogeneous`), or equal parts, which need
    no delta. (Never more than exactly equal parts: a hundred times the float 0.01 is a little more than 1.)

    >>> round(pure_share(1.0, 1e-9, 64), 6), pure_share(1.0, 0.0, 64)
    (0.023826, 0.015625)
    """
    check_whole("the number of answers", answers, 1)
    check_budget(epsilon, delta)
    equal = epsilon / answers
    if Fraction(equal) * int(answers) > Fraction(epsilon):
        equal = math.nextafter(equal, 0.0)
    if delta == 0.0:
        return equal
    return max(equal, _largest(lambda each: Homogeneous(each, 0.0, int(answers)), epsilon, delta))


def check_budget(epsilon: float, delta: float, needed_by: str | None = None) -> None:
    """Refuse what is no budget; and delta = 0 where ``needed_by`` names something that cannot do without."""
    for name, value in (("epsilon", epsilon), ("delta", delta)):
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError(f"{name} must be a number, not {value!r}")
    if not 0 < epsilon < math.inf:
        raise ValueError(f"epsilon must be positive and finite, not {epsilon!r}")
    if not 0 <= delta < 1:
        raise ValueError(f"delta must lie in [0, 1), not {delta!r}")
    if needed_by is not None and delta == 0:
        raise ValueError(
            f"delta = 0 asks for pure differential privacy, which {needed_by} cannot give at any scale: "
            "use Laplace noise, or allow a delta above 0 and well below one over the number of rows"
        )
    if 0 < delta < LEAST_DELTA:
        raise ValueError(
            f"delta must be 0 or at least {LEAST_DELTA:g}, not {delta!r}: a smaller one is lost in rounding"
        )


@lru_cache(maxsize=64)  # a release asks for the same budget at every step
def _largest(profile: Callable[[float], Profile], epsilon: float, delta: float) -> float:
    """The largest parameter with profile(parameter).delta(epsilon) <= delta: to 15 digits, and on the safe side."""

    def kept(parameter: float) -> bool:
        return float(profile(parameter).delta(epsilon)) <= delta

    low = high = min(max(epsilon, _NARROW), _WIDE)
    while low > _NARROW and not kept(low):
        low, high = max(low / 2.0, _NARROW), low
    if not kept(low):
        raise ValueError(
            f"epsilon = {epsilon!r} with delta = {delta!r} leaves nothing that could be spent: raise either"
        )
    if low == high:
        while kept(high) and high < _WIDE:
            low, high = high, min(2.0 * high, _WIDE)
    while high - low > 1e-15 * high:
        middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        low, high = (middle, high) if kept(middle) else (low, middle)
    return low
