"""Intervals for one fixed question: how far a mean over n rows may lie from the population's.

Each takes ``log_level`` = ln b, where b is the probability that the population's value lies outside (half of
it on each side), because the compression theorem asks for levels far below the smallest float. Rounding goes
outward: a limit may be a few parts in 1e15 too wide, never too narrow. Plain numbers take a fast path that
avoids NumPy; arrays broadcast.
"""

from __future__ import annotations

import math
from typing import overload

import numpy as np
from numpy.typing import ArrayLike

from unworn.bounds.numerics import (
    LN2,
    NUMBER,
    Floats,
    broadcast,
    check_array_between,
    check_arrays,
    check_between,
    check_log_level,
    check_rows,
)

_OUTWARD = 4e-15  # relative rounding of the Newton steps, several times over
_SMALL = 1e-290  # means below it are taken for it
_FAR = 690.0  # a limit this many nats away from its end of [0, 1] is that end


@overload
def hoeffding_width(n: float, log_level: float) -> float: ...
@overload
def hoeffding_width(n: ArrayLike, log_level: ArrayLike) -> Floats: ...
def hoeffding_width(n: ArrayLike, log_level: ArrayLike) -> float | Floats:
    """Half-width of Hoeffding's interval for the mean of n independent values in [0, 1].

    sqrt(ln(2/b) / 2n), whatever the mean. Hoeffding (1963), theorem 2.

    >>> round(hoeffding_width(10_000, math.log(0.05)), 5)
    0.01358
    """
    if isinstance(n, NUMBER) and isinstance(log_level, NUMBER):
        check_rows(n)
        check_log_level(log_level)
        return math.sqrt((LN2 - log_level) / (2.0 * n))
    rows, levels = broadcast(n, log_level)
    check_arrays(rows, levels)
    width: Floats = np.sqrt((LN2 - levels) / (2.0 * rows))
    return float(width) if width.ndim == 0 else width


@overload
def chernoff_kl(mean: float, n: float, log_level: float) -> tuple[float, float]: ...
@overload
def chernoff_kl(mean: ArrayLike, n: ArrayLike, log_level: ArrayLike) -> tuple[Floats, Floats]: ...
def chernoff_kl(mean: ArrayLike, n: ArrayLike, log_level: ArrayLike) -> tuple[float, float] | tuple[Floats, Floats]:
    """Limits for the population mean of values in [0, 1], from their mean over n rows.

    All p with n KL(mean || p) <= ln(2/b): Hoeffding (1963), theorem 1, which is Chernoff's bound for values
    in [0, 1], at b/2 a side. Both limits rise with the mean, so those at the ends of a cell cover the cell.

    >>> low, high = chernoff_kl(0.5, 10_000, math.log(0.05))
    >>> round(low, 4), round(high, 4)
    (0.4864, 0.5136)
    >>> round(chernoff_kl(0.0, 100, math.log(0.05))[1], 4)     # 1 - (b/2)^(1/n)
    0.0362
    """
    if isinstance(mean, NUMBER) and isinstance(n, NUMBER) and isinstance(log_level, NUMBER):
        check_between("mean", mean, 0, 1)
        check_rows(n)
        check_log_level(log_level)
        nats = (LN2 - log_level) / n
        return kl_above(1.0 - mean, mean, nats)[1], kl_above(mean, 1.0 - mean, nats)[0]
    means, rows, levels = broadcast(mean, n, log_level)
    check_array_between("mean", means, 0, 1)
    check_arrays(rows, levels)
    if means.ndim == 0:
        return chernoff_kl(means.item(), rows.item(), levels.item())
    each = (LN2 - levels) / rows
    return kl_above_array(1.0 - means, means, each)[1], kl_above_array(means, 1.0 - means, each)[0]


def kl_above(m: float, c: float, nats: float) -> tuple[float, float]:
    """The largest p with KL(m || p) <= nats, and 1 - p; c = 1 - m.

    Newton in the log odds of p, where KL is convex with slope p - m: from the right every step stays on the
    right, so stopping at any time is safe.
    """
    if c <= 0.0 or nats > _FAR * c:  # ln(1 - p) <= -nats / c
        return 1.0, 0.0
    if m <= 0.0:
        return min(1.0, -math.expm1(-nats) * (1.0 + _OUTWARD)), math.exp(-nats) * (1.0 - _OUTWARD)
    m = max(m, _SMALL)  # outward, and gap / m below stays finite
    # Lower bounds of KL, three from p(1-p) <= p, 1-m and 1/4 and one from ln p <= 0, give where to start.
    step = min(nats + math.sqrt(nats * (nats + 2.0 * m)), math.sqrt(2.0 * nats * c), math.sqrt(0.5 * nats))
    p, q = m + step, c - step
    log_farthest = (m * math.log(m) + c * math.log(c) - nats) / c
    farthest = math.exp(log_farthest)
    if q < farthest:
        p, q = -math.expm1(log_farthest), farthest
    for _ in range(60):
        gap = c - q if c < m else p - m
        if not gap > 0.0:  # nats below the resolution of floats
            break
        far_side = c * math.log(c / q) if q < 0.5 * c else -c * math.log1p(-gap / c)
        step = (far_side - m * math.log1p(gap / m) - nats) / gap
        if step <= 0.0:
            break
        shrink = math.expm1(-step)
        done = step * p * q <= 1e-7 * gap
        scale = 1.0 + p * shrink
        p, q = p * (1.0 + shrink) / scale, q / scale
        if done:
            break
    return min(1.0, p * (1.0 + _OUTWARD)), q * (1.0 - _OUTWARD)


def kl_above_array(m: Floats, c: Floats, nats: Floats) -> tuple[Floats, Floats]:
    """:func:`kl_above` for arrays."""
    certain = (c <= 0.0) | (nats > _FAR * c)
    zero = (m <= 0.0) & ~certain
    plain = ~(certain | zero)
    m, c, t = (np.where(plain, a, b) for a, b in ((np.maximum(m, _SMALL), 0.5), (c, 0.5), (nats, 0.1)))
    step = np.minimum(t + np.sqrt(t * (t + 2.0 * m)), np.minimum(np.sqrt(2.0 * t * c), np.sqrt(0.5 * t)))
    log_farthest = (m * np.log(m) + c * np.log(c) - t) / c
    q = np.maximum(c - step, np.exp(log_farthest))
    p = np.where(q > c - step, -np.expm1(log_farthest), m + step)
    active = np.ones(p.shape, dtype=bool)
    for _ in range(60):
        gap = np.where(c < m, c - q, p - m)
        active &= gap > 0.0
        safe = np.where(gap > 0.0, gap, 1.0)
        beyond = q < 0.5 * c
        near_side = -c * np.log1p(-np.where(beyond, 0.0, safe / c))
        far_side = np.where(beyond, c * np.log(c / np.where(beyond, q, c)), near_side)
        step = np.where(active, (far_side - m * np.log1p(safe / m) - t) / safe, 0.0)
        active &= step > 0.0
        shrink = np.expm1(-np.where(active, step, 0.0))
        done = step * p * q <= 1e-7 * gap
        scale = 1.0 + p * shrink
        p, q = p * (1.0 + shrink) / scale, q / scale
        active &= ~done
        if not active.any():
            break
    high = np.where(certain, 1.0, np.where(zero, -np.expm1(-nats), p))
    rest = np.where(certain, 0.0, np.where(zero, np.exp(-nats), q))
    return np.minimum(1.0, high * (1.0 + _OUTWARD)), rest * (1.0 - _OUTWARD)
