"""The price of a plan, and the interval of an answer at that price: the odds form of D2."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from unworn.bounds.numerics import Floats, check_between, check_probability
from unworn.bounds.privacy.profiles import Profile
from unworn.bounds.transfer.parameter_search import least

_ULPS = 4e-16


@dataclass(frozen=True, slots=True)
class Stability:
    """How far the rows may seem better than the population: by the factor e^eps in the odds, and then by ``floor``.

    ``tilt`` = 2 tanh(eps/4) is twice the most that multiplying odds by e^eps can add to a share; ``floor`` =
    delta(eps)/beta. The eps was chosen from the plan, before any row was read.
    """

    tilt: float
    floor: float

    @property
    def width(self) -> float:
        return self.tilt / 2.0 + self.floor


def stability(profile: Profile, beta: float) -> Stability:
    """The least :attr:`Stability.width` over eps: tanh(eps/4) + delta(eps)/beta (D2, in :mod:`.sharpened`).

    >>> from unworn.bounds.privacy.profiles import GDP
    >>> round(stability(GDP(0.05), 0.05).width / 0.05, 3)
    0.652
    """
    check_probability("beta", beta)

    def cost(eps: Floats, delta: Floats) -> Floats:
        return np.asarray(np.tanh(eps / 4.0) + np.minimum(delta / beta, 1.0))

    epsilon, delta, _ = least(profile, cost)
    return Stability(2.0 * math.tanh(epsilon / 4.0), min(1.0, delta / beta))


@dataclass(frozen=True, slots=True)
class Price:
    """What one answer of a plan costs in width: ``noise`` = CVaR_beta of the largest noise, and a :class:`Stability`.

    Simultaneously for all answers, with probability 1 - beta,

        R <= psi(theta) + noise + floor   and   1 - R <= psi(1 - theta) + noise + floor,

    psi multiplying the odds by e^eps: take noise and floor off a released share and divide its odds by e^eps, and the
    lower end is left; the upper end mirrors it. Near 0 and 1 that is much narrower than ``width`` to each side.

    >>> price = Price(0.03, 0.08, 0.005)
    >>> [round(end, 3) for end in price.limits(0.5)], [round(end, 3) for end in price.limits(0.02)]
    ([0.425, 0.575], [0.0, 0.064])
    """

    noise: float
    tilt: float
    floor: float

    def __post_init__(self) -> None:
        for name, value in (("noise", self.noise), ("tilt", self.tilt), ("floor", self.floor)):
            check_between(name, value, 0.0, math.inf)

    @property
    def width(self) -> float:
        """The half-width that no interval passes to either side."""
        return self.noise + self.tilt / 2.0 + self.floor

    def limits(self, released: float) -> tuple[float, float]:
        """The population's share, given a released one (not clipped: it may lie outside [0, 1])."""
        if not math.isfinite(released):
            raise ValueError(f"the released share is not a number, or infinite: {released!r}")
        margin = (self.noise + self.floor) * (1.0 + _ULPS)
        low = self._odds_divided(released - margin)
        high = 1.0 - self._odds_divided(1.0 - released - margin)
        return max(0.0, low - _ULPS), min(1.0, high + _ULPS)

    def _odds_divided(self, share: float) -> float:
        """A share, its odds divided by e^eps."""
        share = min(max(share, 0.0), 1.0)
        if self.tilt >= 2.0:
            return 0.0
        factor = ((2.0 + self.tilt) / (2.0 - self.tilt)) ** 2
        return share / (factor - (factor - 1.0) * share)


def share_limits(released: Floats, noise: Floats, paid: Stability) -> tuple[Floats, Floats]:
    """The same for many shares at once, each with noise of its own: the ends of :meth:`Price.limits`.

    >>> low, high = share_limits(np.array([0.5]), np.array([0.03]), Stability(0.08, 0.005))
    >>> (float(low[0]), float(high[0])) == Price(0.03, 0.08, 0.005).limits(0.5)
    True
    """
    if not np.isfinite(released).all() or not (np.asarray(noise) >= 0.0).all():
        raise ValueError("a released share is not a number or infinite, or its noise is not a number from 0")
    if paid.tilt >= 2.0:
        return np.zeros_like(released), np.ones_like(released)
    margin = (np.asarray(noise) + paid.floor) * (1.0 + _ULPS)
    factor = ((2.0 + paid.tilt) / (2.0 - paid.tilt)) ** 2
    ends = [np.clip(share - margin, 0.0, 1.0) for share in (released, 1.0 - released)]
    low, other = (end / (factor - (factor - 1.0) * end) for end in ends)
    return np.maximum(0.0, low - _ULPS), np.minimum(1.0, 1.0 - other + _ULPS)
