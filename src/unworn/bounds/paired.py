"""Limits for the mean of paired differences: two models that agree on most rows are told apart far sooner.

A difference d in [-1, 1] that is 0 on most rows varies little. Its mean absolute value, the *discordance*,
bounds that variation, so an upper limit for it makes the limits for the difference shrink with it.
"""

from __future__ import annotations

import math
from typing import overload

import numpy as np
from numpy.typing import ArrayLike

from unworn.bounds.binomial import high_limit
from unworn.bounds.concentration import kl_above
from unworn.bounds.numerics import (
    NUMBER,
    Floats,
    broadcast,
    check_between,
    check_log_level,
    check_rows,
    check_whole,
)

_LOG_SPREAD_SHARE = math.log(1.0 / 4.0)
_LOG_SIDE_SHARE = math.log(3.0 / 8.0)


@overload
def discordance(
    difference_low: float,
    difference_high: float,
    spread: float,
    n: float,
    log_level: float,
    zero_one: bool,
    shared: bool = True,
) -> tuple[float, float]: ...
@overload
def discordance(
    difference_low: ArrayLike,
    difference_high: ArrayLike,
    spread: ArrayLike,
    n: ArrayLike,
    log_level: ArrayLike,
    zero_one: bool,
    shared: bool = True,
) -> tuple[Floats, Floats]: ...
def discordance(
    difference_low: ArrayLike,
    difference_high: ArrayLike,
    spread: ArrayLike,
    n: ArrayLike,
    log_level: ArrayLike,
    zero_one: bool,
    shared: bool = True,
) -> tuple[float, float] | tuple[Floats, Floats]:
    """Limits for E d, where the mean difference lies in a cell and the mean of \\|d\\| is at most ``spread``.

    With E\\|d\\| <= s and E d = D, convexity of the exponential on each side of 0 gives
    E exp(-l d) <= 1 + s (cosh l - 1) - D sinh l. Chernoff's bound then excludes every D for which
    min over l > 0 of n [l dbar + ln(1 + s (cosh l - 1) - D sinh l)] is below ln(3b/8). The bracket rises with
    s, so an upper limit s_hi for E\\|d\\| at b/4 may stand for s: b/4 + 2 * 3b/8 = b. No D lies beyond s_hi.

    The upper limit rises with the difference and with the spread, and the lower one mirrors it, so the limits
    hold for every mean difference in [``difference_low``, ``difference_high``] and every mean \\|d\\| up to
    ``spread``.

    Parameters
    ----------
    difference_low, difference_high
        The ends of the cell in which the mean difference lies, scaled to [-1, 1]. What no mean
        \\|d\\| <= ``spread`` allows is cut off.
    spread
        An upper bound of the observed mean \\|d\\|.
    zero_one
        Whether \\|d\\| is 0 or 1 on every row; then s_hi is Clopper and Pearson's limit, else Chernoff's.
    shared
        Whether the three limits share the level. Where cell and spread are one symbol of a conversation that pays for
        itself (Theorem C′) they need not: whichever of them misses, the symbol comes up with probability at most b.

    >>> low, high = discordance(0.0, 0.0, 0.03, 10_000, math.log(0.05), zero_one=True)
    >>> round(low, 4), round(high, 4)
    (-0.0052, 0.0052)
    """
    plain = isinstance(difference_low, NUMBER) and isinstance(difference_high, NUMBER)
    if plain and isinstance(spread, NUMBER) and isinstance(n, NUMBER) and isinstance(log_level, NUMBER):
        return _limits(difference_low, difference_high, spread, n, log_level, zero_one=zero_one, shared=shared)
    arrays = broadcast(difference_low, difference_high, spread, n, log_level)
    shape = arrays[0].shape
    columns = (array.ravel().tolist() for array in arrays)
    rows = [_limits(*row, zero_one=zero_one, shared=shared) for row in zip(*columns, strict=True)]
    if shape == ():
        return rows[0]
    table = np.array(rows, dtype=float).reshape(*shape, 2)
    return table[..., 0], table[..., 1]


def _limits(
    low: float, high: float, spread: float, n: float, log_level: float, *, zero_one: bool, shared: bool
) -> tuple[float, float]:
    check_between("difference_low", low, -1, 1)
    check_between("difference_high", high, -1, 1)
    check_between("difference_low", low, -1, high)
    check_between("spread", spread, 0, 1)
    if zero_one:
        check_whole("the number of rows", n, 1)
    check_rows(n)
    check_log_level(log_level)
    # A spread between two attainable ones may lie above the limit at the lower of them, when b is near 1.
    most = max(_spread_high(spread, n, log_level + _LOG_SPREAD_SHARE * shared, zero_one), spread)
    nats = -(log_level + _LOG_SIDE_SHARE * shared) / n
    low, high = min(max(low, -spread), spread), min(max(high, -spread), spread)
    return -_largest(-low, most, nats), _largest(high, most, nats)


def _spread_high(spread: float, n: float, log_side: float, zero_one: bool) -> float:
    """Upper limit of E|d|, missed with probability at most exp(``log_side``)."""
    if zero_one:
        count = min(n, math.floor(spread * n * (1.0 + 4e-16) + 1e-6))  # a count that rounding hid is not lost
        return high_limit(count, n, log_side)
    return kl_above(spread, 1.0 - spread, -log_side / n)[0]


def _largest(mean: float, s: float, nats: float) -> float:
    """The largest D <= s with min over l of l mean + ln(1 + s (cosh l - 1) - D sinh l) >= -nats.

    That minimum is concave and decreasing in D > mean, so Newton from the right stays on the right, where
    stopping is safe; Hoeffding's bound is such a start. In u = e^l the minimiser solves a quadratic equation.
    """
    if mean >= s - 1e-12:  # what is left between them is not worth telling, and could not be told in floats
        return s
    if mean <= -1.0:  # every d is -1, and the minimum is ln((1 - D) / 2)
        return min(s, 1.0 - 2.0 * math.exp(-nats) * (1.0 - 1e-12))
    mean = max(mean, -1.0 + 1e-9)  # nearer to -1 the quadratic degenerates; the limit rises with the mean
    top = mean + math.sqrt(2.0 * nats)
    if top >= s:
        if _at_end(mean, s) >= -nats:
            return s
        # The slope is infinite at s: come in from there until the start is right of the root and short of s.
        short = 1e-3 * (s - mean)
        while _value(mean, s, s - short)[0] >= -nats:
            short *= 1e-3
            if s - short >= s * (1.0 - 1e-15):
                return s
        top = s - short
    for _ in range(60):
        value, slope = _value(mean, s, top)
        step = (-nats - value) / slope
        if not step > 0.0:
            break
        top -= step
        if step <= 1e-14 * (top - mean):
            break
    return min(s, top + 1e-14 * (top - mean) + 1e-15)


def _at_end(mean: float, s: float) -> float:
    """The minimum at D = s, where d is 0 or 1: minus the divergence of mean from s, or -infinity."""
    if mean < 0.0:
        return -math.inf
    if s >= 1.0:
        return -math.inf if mean < 1.0 else 0.0
    value = (1.0 - mean) * math.log((1.0 - s) / (1.0 - mean))
    return value + (mean * math.log(s / mean) if mean > 0.0 else 0.0)


def _value(mean: float, s: float, top: float) -> tuple[float, float]:
    """The minimum over l at D = top in (mean, s), and minus its derivative in D."""
    up, down, gap = 0.5 * (s + top), 0.5 * (s - top), top - mean
    a = (1.0 + mean) * down
    half = a + 0.5 * mean * (1.0 - s)
    root = math.sqrt(half * half + a * gap)
    v = gap / (half + root) if half > 0.0 else (root - half) / a  # u - 1 > 0
    excess = v * (down - up / (1.0 + v))
    value = math.log1p(v) * mean + math.log1p(excess)
    return value, 0.5 * v * (2.0 + v) / (1.0 + v) / (1.0 + excess)
