"""Privacy profiles in closed form: how far the odds of any event can move when one row is replaced.

A profile is the function delta(eps) = sup over events E and neighbours s, s' of P(E | s) - e^eps P(E | s'), for
eps >= 0, of a *whole* interaction. It never rises, it is convex in e^eps, and what is given here is never below the
truth: results carry a relative 1e-12 for rounding, and numbers below about 1e-300 may come out as 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from unworn.bounds.numerics import Floats, check_between, check_nats, special

_ROUNDING = 1.0 + 1e-12
_SMALL_MU = 0.5  # below it, differences of Mills ratios are integrated instead of subtracted
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(8)


class Profile(Protocol):
    """What every theorem that starts from privacy needs."""

    def delta(self, epsilon: ArrayLike) -> Floats:
        """An upper bound of delta at every ``epsilon >= 0``, in [0, 1], of the shape of ``epsilon``."""
        ...


def checked_epsilon(epsilon: ArrayLike) -> Floats:
    """``epsilon`` as an array; NaN and negative values are refused, infinity is allowed."""
    values = np.asarray(epsilon, dtype=float)
    if not bool((values >= 0).all()):
        raise ValueError(f"epsilon must be at least 0 everywhere, not {float(values[~(values >= 0)].flat[0])!r}")
    return values


def round_up(delta: ArrayLike) -> Floats:
    """The same numbers, moved up by the rounding they may have suffered, within [0, 1].

    >>> float(round_up(-1e-20)), float(round_up(2.0))
    (0.0, 1.0)
    """
    return np.minimum(np.maximum(np.asarray(delta, dtype=float) * _ROUNDING, 0.0), 1.0)


@dataclass(frozen=True, slots=True)
class Pure:
    """eps0-DP: no event's odds move by more than a factor e^eps0.

    The worst such mechanism is randomised response (Kairouz, Oh and Viswanath 2015), whose profile is
    (e^eps0 - e^eps)/(1 + e^eps0).

    >>> round(float(Pure(1.0).delta(0.0)), 6) == round(math.tanh(0.5), 6)
    True
    """

    epsilon: float

    def __post_init__(self) -> None:
        check_nats("epsilon", self.epsilon)

    def delta(self, epsilon: ArrayLike) -> Floats:
        gap = np.maximum(self.epsilon - checked_epsilon(epsilon), 0.0)
        return round_up(-np.expm1(-gap) / (1.0 + math.exp(-self.epsilon)))


@dataclass(frozen=True, slots=True)
class Approximate:
    """(eps0, delta0)-DP: with weight delta0 anything may happen, otherwise as :class:`Pure`.

    >>> round(float(Approximate(1.0, 1e-6).delta(1.0)), 9)
    1e-06
    """

    epsilon: float
    floor: float

    def __post_init__(self) -> None:
        check_nats("epsilon", self.epsilon)
        check_between("the floor of delta", self.floor, 0.0, 1.0)

    def delta(self, epsilon: ArrayLike) -> Floats:
        return round_up(self.floor + (1.0 - self.floor) * Pure(self.epsilon).delta(epsilon))


@dataclass(frozen=True, slots=True)
class GDP:
    """mu-Gaussian DP: as hard to tell apart as N(0, 1) and N(mu, 1).

    Dong, Roth and Su (2022): delta(eps) = Phi(-a) - e^eps Phi(-b), a = eps/mu - mu/2, b = a + mu, exactly. With the
    density phi and the Mills ratio M = Phi(-x)/phi(x) this is phi(a) (M(a) - M(b)): neither the huge e^eps nor the
    tiny Phi appears, and for small mu the difference is the integral of -M' = 1 - x M(x), so nothing cancels either.

    >>> round(float(GDP(1.0).delta(1.0)), 6)
    0.126937
    >>> round(float(GDP(1.0).delta(30.0)) / 4.7093263e-193, 3)
    1.0
    """

    mu: float

    def __post_init__(self) -> None:
        check_nats("mu", self.mu)

    def delta(self, epsilon: ArrayLike) -> Floats:
        values, mu = checked_epsilon(epsilon), self.mu
        if mu == 0.0:
            return np.zeros(values.shape)
        library = special()
        with np.errstate(over="ignore"):
            a = np.minimum(values / mu - 0.5 * mu, 1e100)
        density = np.exp(-0.5 * np.clip(a, -50.0, 50.0) ** 2) * np.where(a > 50.0, 0.0, 1.0 / math.sqrt(math.tau))
        if mu < _SMALL_MU:
            x = a[..., np.newaxis] + 0.5 * mu * (_NODES + 1.0)
            slopes = 1.0 - x * _mills(x)
            return round_up(density * (0.5 * mu * (slopes @ _WEIGHTS)))
        with np.errstate(over="ignore", invalid="ignore"):
            right = density * (_mills(np.maximum(a, 0.0)) - _mills(a + mu))
            left = library.ndtr(-a) - np.exp(values + library.log_ndtr(-(a + mu)))
        return round_up(np.where(a >= 0.0, right, left))


def _mills(x: Floats) -> Floats:
    """Phi(-x)/phi(x)."""
    return np.asarray(math.sqrt(math.pi / 2) * special().erfcx(x / math.sqrt(2.0)))


@dataclass(frozen=True, slots=True)
class Concentrated:
    """rho-zCDP: every Renyi divergence of order a is at most a rho (Bun and Steinke 2016).

    Canonne, Kamath and Steinke (2020), Prop. 12: delta(eps) = min over a > 1 of
    exp((a-1)(a rho - eps)) (1 - 1/a)^a / (a - 1). The logarithm is convex in a and its slope is concave in a, so
    Newton's method from the left climbs to the best a; every a it might stop at gives a valid bound.

    >>> round(float(Concentrated(0.5).delta(4.0)), 7)   # 1-GDP is 0.5-zCDP; its own delta(4) is 4.7e-5
    0.0001958
    """

    rho: float

    def __post_init__(self) -> None:
        check_nats("rho", self.rho)

    def delta(self, epsilon: ArrayLike) -> Floats:
        values, rho = checked_epsilon(epsilon), self.rho
        if rho == 0.0:
            return np.zeros(values.shape)
        if rho > 1e150:
            return np.ones(values.shape)
        rho = max(rho, 1e-150)  # delta rises with rho; outside of this range its square is no normal float
        excess = np.minimum(values - rho, 60.0 * math.sqrt(rho))  # beyond it delta is below e^-900
        t = np.maximum(excess / (2.0 * rho), min(1.0, 1.0 / math.expm1(min(3.0 * rho, 690.0))))
        for _ in range(40):
            slope = 2.0 * rho * t - excess - np.log1p(1.0 / t)
            step = slope / (2.0 * rho + 1.0 / (t * (t + 1.0)))
            t = np.maximum(t - step, 1e-300)
            if not (np.abs(step) > 1e-12 * t).any():
                break
        log_delta = t * (rho * t - excess) - t * np.log1p(1.0 / t) - np.log1p(t)
        return round_up(np.exp(np.minimum(log_delta, 0.0)))


def bun_steinke(rho: float, epsilon: ArrayLike) -> Floats:
    """The first conversion of rho-zCDP, exp(-(eps - rho)^2 / (4 rho)): Bun and Steinke (2016), Prop. 1.3.

    Kept for comparison; :class:`Concentrated` is never larger.

    >>> round(float(bun_steinke(0.5, 4.0)), 6)
    0.002187
    """
    check_nats("rho", rho)
    excess = np.maximum(checked_epsilon(epsilon) - rho, 0.0)
    if rho == 0.0:
        return np.zeros(excess.shape)
    with np.errstate(over="ignore"):
        return round_up(np.exp(-np.square(np.minimum(excess, 1e150)) / (4.0 * rho)))
