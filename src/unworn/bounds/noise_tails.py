"""How large integer noise gets: one draw exactly, a weighted sum of draws by exponential moments.

A weighted sum of independent draws has weights a and scales b; all that is asked of it is ``squares``, the sum of
(a b)^2, and ``most``, the largest |a b|. A released number is such a sum wherever it is made of several noisy counts.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from unworn.bounds.numerics import Floats, check_probability, special

Noise = Literal["gaussian", "laplace"]
"""Rounded Gaussian noise, whose scale is its standard deviation before rounding, or discrete Laplace noise."""

_ROUNDING_PART = 0.01
"""Which part of the miss probability goes to the rounding where Gaussian and rounding are bounded apart."""


def largest_draw(noise: Noise, scale: float, chance: float) -> float:
    """The smallest whole number that one draw passes, in absolute value, with probability at most ``chance``.

    Exact: P(abs(X) > m) = 2 q^(m+1) / (1 + q) with q = exp(-1/scale) for discrete Laplace noise, and twice the normal
    tail from (m + 1/2) / scale for rounded Gaussian noise.

    >>> largest_draw("laplace", 10.0, 0.05), largest_draw("gaussian", 10.0, 0.05)
    (30.0, 20.0)
    """
    _check(scale, chance)
    if noise == "laplace":
        beyond = -scale * (math.log(chance / 2.0) + math.log1p(math.exp(-1.0 / scale)))
        return max(0.0, math.ceil(beyond * (1.0 + 1e-12)) - 1.0)
    beyond = -float(special().ndtri(chance / 2.0)) * scale
    return max(0.0, float(math.ceil(beyond * (1.0 + 1e-12) - 0.5)))


def largest_sum(noise: Noise, squares: ArrayLike, most: ArrayLike, narrowest: float, chance: float) -> Floats:
    """What a weighted sum of draws passes, in absolute value, with probability at most ``chance``.

    ``narrowest`` is the smallest scale among the draws, which says how much the rounding of Gaussian noise can matter.

    >>> largest_sum("laplace", 100 * 10.0**2, 10.0, 10.0, 1e-6).round(1).tolist()  # one hundred draws of scale 10
    787.9
    >>> largest_sum("gaussian", 100 * 10.0**2, 10.0, 10.0, 1e-6).round(1).tolist()
    520.3
    """
    _check(narrowest, chance)
    total, top = np.broadcast_arrays(np.asarray(squares, dtype=float), np.asarray(most, dtype=float))
    if not (np.isfinite(total).all() and (total >= 0).all() and (top >= 0).all()):
        raise ValueError("squares and most are sums and sizes of weighted scales: finite, and 0 or more")
    return _laplace(total, top, chance) if noise == "laplace" else _gaussian(total, narrowest, chance)


def _laplace(squares: Floats, most: Floats, chance: float) -> Floats:
    """Chernoff's bound.

    The moment E exp(tX) of discrete Laplace noise is 1/(1 - sinh(t/2)^2/sinh(1/2b)^2), at most the 1/(1 - t^2 b^2) of
    the continuous one as sinh is convex. Its logarithm is convex in b^2, so a sum is at most as heavy as
    N = squares/most^2 draws of scale ``most``: P(abs(X) > x) <= 2 (1 - s^2)^-N exp(-s x/most). The best s has
    u = s^2/(1 - s^2) with N (2u - ln(1 + u)) = ln(2/chance) and x = 2 N most sqrt(u (1 + u)).
    """
    count = np.divide(squares, np.square(most), out=np.ones(squares.shape), where=(squares > 0) & (most > 0))
    goal = math.log(2.0 / chance) / count
    u = goal.copy()
    for _ in range(60):  # convex, and started above the root: Newton's steps come down to it and never pass it
        before, u = u, u - (2.0 * u - np.log1p(u) - goal) / (2.0 - 1.0 / (1.0 + u))
        if np.array_equal(u, before):  # and so would all further steps
            break
    return np.where(squares > 0, 2.0 * count * most * np.sqrt(u * (1.0 + u)) * (1.0 + 1e-12), 0.0)


def _gaussian(squares: Floats, narrowest: float, chance: float) -> Floats:
    """The smaller of two bounds, both valid for sums of rounded normal numbers.

    Exponential moments of the whole: rounded noise of standard deviation b before rounding has
    E exp(tX) <= exp(t^2 (b^2 + rounding(b)) / 2). Or the exact normal quantile, and beside it Hoeffding's inequality
    for the rounding errors, which are independent, symmetric and at most 1/2.
    """
    log_chance = math.log(2.0 / chance)
    together = np.sqrt(2.0 * log_chance * squares * (1.0 + rounding(narrowest) / narrowest**2))
    normal = -float(special().ndtri((1.0 - _ROUNDING_PART) * chance / 2.0))
    rounded = math.sqrt(2.0 * (log_chance - math.log(_ROUNDING_PART))) / (2.0 * narrowest)
    return np.asarray(np.minimum(together, np.sqrt(squares) * (normal + rounded)) * (1.0 + 1e-12))


def rounding(scale: float) -> float:
    """By how much rounding to whole numbers raises the variance that bounds a Gaussian's exponential moments.

    By Poisson's summation E exp(tX) is the sum over whole k of M(t + 2 pi i k), M(s) = exp(b^2 s^2/2) sinh(s/2)/(s/2).
    The term k = 0 is at most exp(t^2 (b^2 + 1/12)/2), and k and -k together are at most t^2 times as much times
    e_k = exp(-2 pi^2 k^2 b^2) (1/(2 pi^2 k^2) + 2 b^2). So the variance rises by 1/12 + 2 (e_1 + e_2 + ...) at most.

    >>> round(rounding(5.0), 6), round(rounding(0.5), 4)
    (0.083333, 0.0913)
    """
    if scale < 0.05:  # the sums of 1/(2 pi^2 k^2) and of the rest, the latter by its integral
        return 0.25 + 2.0 * scale / math.sqrt(math.tau)
    k = np.arange(1.0, 2.0 + 6.0 / scale)  # from there on a term is below e^-700
    terms = np.exp(-2.0 * np.square(math.pi * k * scale)) * (0.5 / np.square(math.pi * k) + 2.0 * scale**2)
    return 1.0 / 12.0 + 2.0 * float(terms.sum())


def middle_of_largest(noise: Noise, squares: ArrayLike, most: ArrayLike, sizes: ArrayLike) -> float:
    """About the median of the largest of many weighted sums, so many (``sizes``) of each kind: for a forecast only.

    Where the chances of passing a number add up to ln 2, the largest passes it as often as not if the sums are
    independent. Normal tails for Gaussian noise, exact ones for a single draw of Laplace noise, else Chernoff's.

    >>> round(middle_of_largest("gaussian", 1.0, 1.0, 1000), 2), round(middle_of_largest("laplace", 1.0, 1.0, 1000), 2)
    (3.39, 7.27)
    """
    total, top, many = np.broadcast_arrays(*(np.asarray(v, dtype=float) for v in (squares, most, sizes)))
    if not np.isfinite(total).all():
        return math.inf
    low, high = 0.0, 800.0 * float(np.sqrt(total.max()))
    for _ in range(60):
        x = (low + high) / 2.0
        passing = float(np.sum(many * _tail(noise, total, top, x)))
        low, high = (x, high) if passing > math.log(2.0) else (low, x)
    return high


def _tail(noise: Noise, squares: Floats, most: Floats, x: float) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore", under="ignore"):
        if noise == "gaussian":
            return np.asarray(np.nan_to_num(2.0 * special().ndtr(-x / np.sqrt(squares))))
        count = np.maximum(squares / np.square(most), 1.0)
        u = 0.5 * (np.sqrt(1.0 + np.square(x / (count * most))) - 1.0)
        chernoff = np.minimum(1.0, 2.0 * np.exp(-count * (2.0 * u - np.log1p(u))))
        return np.nan_to_num(np.where(count <= 1.0, np.exp(-x / most), chernoff))


def _check(scale: float, chance: float) -> None:
    if not 0.0 < scale < math.inf:
        raise ValueError(f"a scale of noise is finite and above 0, not {scale!r}")
    check_probability("chance", chance)
