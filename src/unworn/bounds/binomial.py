"""Clopper and Pearson's exact interval for a share, right to the last levels a float can hold.

scipy's inverse incomplete beta function is quick but not to be trusted alone: in about 2 % of extreme cases
it is NaN, above the observed share, or too narrow (at n = 452, count = 426, b/2 = 1e-286 by a factor e^11 in
the tail), and below 1e-240 the incomplete beta function itself fails here and there. So every limit is
checked by a tail known to be good, moved outward by what is missing, and otherwise found again from
Chernoff's limit.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import overload

import numpy as np
from numpy.typing import ArrayLike

from unworn.bounds.concentration import kl_above, kl_above_array
from unworn.bounds.numerics import (
    LN2,
    NUMBER,
    Floats,
    broadcast,
    check_array_between,
    check_arrays,
    check_log_level,
    check_whole,
    special,
    stirling_rest,
)

_OfThree = Callable[[float, float, float], float]
_LOG_CHERNOFF = -290 * math.log(10.0)  # sides below this are answered by Chernoff-KL
_LOG_FRACTION = -200 * math.log(10.0)  # below this betainc may underflow inside; the continued fraction cannot


@overload
def clopper_pearson(count: float, n: float, log_level: float) -> tuple[float, float]: ...
@overload
def clopper_pearson(count: ArrayLike, n: ArrayLike, log_level: ArrayLike) -> tuple[Floats, Floats]: ...
def clopper_pearson(
    count: ArrayLike, n: ArrayLike, log_level: ArrayLike
) -> tuple[float, float] | tuple[Floats, Floats]:
    """Exact limits for a population share, from a count among n rows.

    Clopper and Pearson (1934): all p under which neither P(Bin(n, p) >= count) nor P(Bin(n, p) <= count) is
    below b/2, b = exp(log_level). Where b/2 < 1e-290 the answer is that of
    :func:`~unworn.bounds.concentration.chernoff_kl`, which always contains the exact interval. Both limits
    rise with the count.

    >>> low, high = clopper_pearson(10, 100, math.log(0.05))
    >>> round(low, 4), round(high, 4)
    (0.049, 0.1762)
    >>> clopper_pearson(0, 100, math.log(0.05))[0]
    0.0
    """
    if isinstance(count, NUMBER) and isinstance(n, NUMBER) and isinstance(log_level, NUMBER):
        check_whole("the number of rows", n, 1)
        check_whole("count", count, 0, n)
        check_log_level(log_level)
        side = log_level - LN2
        return low_limit(count, n, side), high_limit(count, n, side)
    counts, rows, levels = broadcast(count, n, log_level)
    check_arrays(rows, levels)
    check_array_between("count", counts, 0, rows)
    for name, values in (("the number of rows", rows), ("count", counts)):
        for bad in values[values != np.floor(values)][:1]:
            check_whole(name, float(bad), 0)
    if counts.ndim == 0:
        return clopper_pearson(counts.item(), rows.item(), levels.item())
    sides = levels - LN2
    lows, others = _low_array(counts, rows, sides), _low_array(rows - counts, rows, sides)
    return lows, np.minimum(1.0, np.nextafter(1.0 - others, 2.0))


def _margin(n: float) -> float:
    """Nats that cover the error of either log tail: 1e-11 for small n, 1e-9 at n = 1e9."""
    return 2e-11 + 2e-18 * n


@cache
def _beta_functions() -> tuple[_OfThree, _OfThree]:
    """The inverse of the regularised incomplete beta function, and the function itself, for one number at a time.

    They are those of :func:`special` to the last bit. An array function spends more time on finding out that it was
    given no arrays than on the value, and every answer needs four of them.
    """
    from scipy.special import cython_special

    return cython_special.betaincinv["double"], cython_special.betainc["double"]


def low_limit(x: float, n: float, log_side: float) -> float:
    """The largest p with ln P(Bin(n, p) >= x) <= log_side, a hair below it; arguments are not checked.

    >>> round(low_limit(10, 100, math.log(0.025)), 4)
    0.049
    """
    if x == 0:
        return 0.0
    if x == n:
        return math.exp(log_side / n) * (1.0 - 1e-15)
    if log_side < _LOG_CHERNOFF:
        return kl_above((n - x) / n, x / n, -log_side / n)[1]
    invert, evaluate = _beta_functions()
    p = invert(x, n - x + 1.0, math.exp(log_side))
    if not (p > 0.0 and n * p < x):
        return _climb(x, n, log_side)
    if log_side > _LOG_FRACTION:
        tail = evaluate(x, n - x + 1.0, p)
        excess = math.log(tail) - log_side if tail > 0.0 else -math.inf
    else:
        excess = _log_tail(x, n, p)[0] - log_side
    if not -1e-4 < excess < 1e-4:
        return _climb(x, n, log_side)
    # The log tail rises in the log odds of p at least at the rate x - np: this step down is enough.
    down = max(excess + _margin(n), 0.0) / (x - n * p)
    return max(0.0, p * (1.0 - (1.0 - p) * down * 1.01) * (1.0 - 1e-15))


def high_limit(x: float, n: float, log_side: float) -> float:
    """The mirror image of :func:`low_limit`.

    >>> round(high_limit(10, 100, math.log(0.025)), 4)
    0.1762
    """
    return min(1.0, math.nextafter(1.0 - low_limit(n - x, n, log_side), 2.0))


def _climb(x: float, n: float, log_side: float) -> float:
    """Newton up from Chernoff's limit; the log tail is concave in the log odds: no step passes the root."""
    p, target = kl_above((n - x) / n, x / n, -log_side / n)[1], log_side - _margin(n)
    if p <= 0.0:
        return 0.0
    for _ in range(100):
        log_tail, slope = _log_tail(x, n, p)
        if target - log_tail <= 1e-9:
            break
        grow = math.expm1((target - log_tail) / slope)
        p = p * (1.0 + grow) / (1.0 + p * grow)
    return p * (1.0 - 1e-15)


def _log_tail(x: float, n: float, p: float) -> tuple[float, float]:
    """ln P(Bin(n, p) >= x) for p < x/n, and its slope in the log odds of p.

    The probability of x itself from its divergence (Loader 2000: nothing large cancels), times the continued
    fraction of the incomplete beta function (DLMF 8.17.22) by Lentz's method: few terms if the tail is small.
    """
    share, q = x / n, 1.0 - p
    gap = share - p
    divergence = share * math.log1p(gap / p) + (1.0 - share) * math.log1p(-gap / q)
    rest = stirling_rest(n) - stirling_rest(x) - stirling_rest(n - x)
    log_term = rest - n * divergence - 0.5 * math.log(math.tau * x * ((n - x) / n))
    back, ahead = 1.0 / (1.0 - (n + 1.0) * p / (x + 1.0)), 1.0
    fraction = back
    for k in range(1, 1_000_000):
        even = k * (n - x + 1.0 - k) * p / ((x + 2 * k - 1.0) * (x + 2 * k))
        back, ahead = 1.0 / (1.0 + even * back), 1.0 + even / ahead
        fraction *= back * ahead
        odd = -(x + k) * (n + 1.0 + k) * p / ((x + 2 * k) * (x + 2 * k + 1.0))
        back, ahead = 1.0 / (1.0 + odd * back), 1.0 + odd / ahead
        fraction *= back * ahead
        if abs(back * ahead - 1.0) < 1e-15:
            break
    return log_term + math.log(q * fraction), x / fraction


def _low_array(x: Floats, n: Floats, log_side: Floats) -> Floats:
    """:func:`low_limit` for arrays: its common case at once, what is left one by one."""
    low = np.zeros(x.shape)
    full = (x == n) & (x > 0)
    low[full] = np.exp(log_side[full] / n[full]) * (1.0 - 1e-15)
    inner = (x > 0) & (x < n)
    deep = inner & (log_side < _LOG_CHERNOFF)
    xs, ns = x[deep], n[deep]
    low[deep] = kl_above_array((ns - xs) / ns, xs / ns, -log_side[deep] / ns)[1]
    at = np.flatnonzero(inner & ~deep)
    xs, ns, sides = x.flat[at], n.flat[at], log_side.flat[at]
    p = np.asarray(special().betaincinv(xs, ns - xs + 1.0, np.exp(sides)))
    usable = (p > 0.0) & (ns * p < xs) & (sides > _LOG_FRACTION)
    p = np.where(usable, p, 0.5 * xs / ns)
    tail = np.asarray(special().betainc(xs, ns - xs + 1.0, p))
    usable &= tail > 0.0
    excess = np.where(usable, np.log(np.where(usable, tail, 1.0)) - sides, np.inf)
    usable &= np.abs(excess) < 1e-4
    down = np.maximum(np.where(usable, excess, 0.0) + _margin(1.0) + 2e-18 * ns, 0.0) / (xs - ns * p)
    low.flat[at] = np.maximum(0.0, p * (1.0 - (1.0 - p) * down * 1.01) * (1.0 - 1e-15))
    for i in at[~usable]:
        low.flat[i] = low_limit(float(x.flat[i]), float(n.flat[i]), float(log_side.flat[i]))
    return low
