"""How far off the worst of k noisy answers is, in the only sense a transfer theorem needs: its conditional mean.

CVaR_beta(W) = (1/beta) int_0^beta VaR_u(W) du is the mean of W over the worst beta of all cases, and so the most that
any event of probability beta can collect of it: E[1_E W] <= P(E) CVaR_P(E)(W). It is t + (1/beta) int_t^inf P(W > x) dx
with t = VaR_beta(W). The noise of different answers is fresh, so P(max > x) = 1 - (1 - p(x))^k, whatever is asked.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from unworn.bounds.numerics import Floats, check_probability, check_whole, special

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(24)
_GONE = -45.0  # a tail of e^-45 of what it was at the start adds nothing to sixteen digits
NARROWEST, WIDEST = 1e-6, 2.0**52
_SUMMED = 2000.0  # above this scale a sum over whole numbers is an integral to five digits, and would be slow


def cvar(log_tail: Callable[[Floats], Floats], beta: float) -> float:
    """CVaR_beta of a W >= 0 with ``log_tail(x)`` = ln P(W > x), continuous, falling at least exponentially in the end.

    >>> round(cvar(lambda x: -x, 0.05), 6) == round(1 - math.log(0.05), 6)   # exponential: VaR + 1
    True
    """
    check_probability("beta", beta)
    log_beta = math.log(beta)

    def at(x: float) -> float:
        return float(log_tail(np.array([x]))[0])

    start = _first_below(at, log_beta, 1.0)
    end = start + _first_below(lambda x: at(start + x), log_beta + _GONE, max(start, 1e-300) * 2.0**-10)
    # The tail falls fastest at its end or at its start: equal panels see both.
    edges = np.linspace(start, end, 33)
    half = 0.5 * (edges[1] - edges[0])
    x = (edges[:-1, np.newaxis] + half * (_NODES + 1.0)).ravel()
    excess = np.exp(np.minimum(log_tail(x) - log_beta, 0.0)) @ np.tile(_WEIGHTS, 32) * half
    return float(start + excess)


def _first_below(log_tail: Callable[[float], float], log_level: float, guess: float) -> float:
    """Where a falling function first passes a level, by doubling and bisection: a billionth beyond it at most."""
    if log_tail(0.0) <= log_level:
        return 0.0
    low, high = 0.0, guess
    while log_tail(high) > log_level:
        low, high = high, 2.0 * high
        if not high < 1e300:
            raise ValueError("the tail does not fall: CVaR is infinite")
    while low == 0.0 and high > 1e-300 and log_tail(high / 2.0) <= log_level:
        high /= 2.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if log_tail(middle) > log_level else (low, middle)
        if high - low <= 1e-9 * high:  # a CVaR from a start that is off by this is too large by its square
            break
    return high


def _log_any(log_single: Floats, k: float) -> Floats:
    """ln(1 - (1 - p)^k) from ln p: one of k independent events of probability p happens."""
    rare: Floats = np.log(k) + log_single
    common = rare >= -30.0  # below, k p and the logarithm agree in every digit; most of a grid is there
    p = np.exp(np.minimum(log_single[common], 0.0))
    with np.errstate(divide="ignore"):
        rare[common] = np.log(-np.expm1(k * np.log1p(-np.minimum(p, 1.0))))
    return rare


def _check(k: float, beta: float) -> None:
    check_whole("the number of answers", k, 1)
    check_probability("beta", beta)


@lru_cache(maxsize=4096)
def largest_gaussian(k: int, beta: float) -> float:
    """CVaR_beta of the largest of k absolute standard normal values, in standard deviations.

    >>> round(largest_gaussian(1000, 0.05), 2), round(largest_gaussian(10**6, 0.05), 2)
    (4.28, 5.62)
    """
    _check(k, beta)
    library = special()
    return cvar(lambda x: _log_any(math.log(2.0) + library.log_ndtr(-x), k), beta)


@lru_cache(maxsize=4096)
def largest_laplace(scale: float, k: int, beta: float) -> float:
    """CVaR_beta of the largest of k absolute discrete Laplace values, P(m) proportional to exp(-|m|/scale).

    P(|m| >= j) = 2 q^j / (1 + q), q = exp(-1/scale), for j >= 1, exactly; the sum of min(1, P(max >= j)/beta) over j
    is the CVaR. For large scales the sum is bounded by the integral, which is at most one whole number more.

    >>> round(largest_laplace(100.0, 1000, 0.05), 1)
    1089.1
    >>> largest_laplace(0.001, 10, 0.05)
    0.0
    """
    _check(k, beta)
    _check_scale(scale)
    front = math.log(2.0) - math.log1p(math.exp(-1.0 / scale))
    single = math.log(-math.expm1(math.log1p(-beta) / k))  # VaR: where one value's tail is this
    certain = max(0, math.floor((front - single) * scale))

    def log_tail(j: Floats) -> Floats:
        return _log_any(front - j / scale, k)

    if scale <= _SUMMED:
        j = np.arange(certain + 1, certain + 3 + math.ceil(-_GONE * scale))
        tails = np.exp(np.minimum(log_tail(j.astype(float)) - math.log(beta), 0.0))
        return float(certain + tails.sum() + tails[-1] * scale)
    return cvar(log_tail, beta)


@lru_cache(maxsize=4096)
def largest_deviation(rows: int, drawn: int, scale: float, k: int, beta: float, replaced: bool = False) -> float:
    """CVaR_beta of the largest of k deviations of (count among ``drawn`` fresh rows + discrete Laplace)/drawn, at most.

    A single draw of l out of n rows strays from their share by more than x, to one side, with probability at most
    exp(-2 l x^2 / r): Hoeffding (1963) with r = 1 for draws with replacement; Serfling (1974) with r = 1 - (l-1)/n,
    and for l > n/2 Bardenet and Maillard (2015) with r = (1 - l/n)(1 + 1/l), without. The noise is at most a continuous
    Laplace value plus c rows, c a little above 1/2, in law (:func:`_rounded_up`). Both are independent, so their tails
    are convolved (in closed form) rather than added; two sides, then k answers.

    >>> round(largest_deviation(10**6, 10_000, 50.0, 100, 0.05), 4)   # the draw alone: 0.0216; the noise alone: 0.0429
    0.0504
    """
    _check(k, beta)
    check_whole("the number of rows", rows, 1)
    check_whole("the number of rows drawn", drawn, 1, math.inf if replaced else rows)
    _check_scale(scale)
    spread = scale / drawn
    if replaced:
        remaining = 1.0
    elif 2 * drawn <= rows:
        remaining = 1.0 - (drawn - 1) / rows
    else:
        remaining = (1.0 - drawn / rows) * (1.0 + 1.0 / drawn)
    if remaining <= 0.0:
        return largest_laplace(scale, k, beta) / drawn
    root = math.sqrt(2.0 * drawn / remaining)

    def log_tail(x: Floats) -> Floats:
        return _log_any(math.log(2.0) + _log_one_side(x, spread, root), k)

    return cvar(log_tail, beta) + _rounded_up(scale) / drawn


def _rounded_up(scale: float) -> float:
    """The least c for which discrete Laplace noise m is stochastically below Y + c, Y continuous of the same scale.

    With q = e^(-1/scale), P(m >= j) = q^j/(1+q) for j >= 1 and 1 - q^(1-j)/(1+q) for j <= 0, while P(Y >= y) is
    e^(-y/scale)/2 for y >= 0 and 1 - e^(y/scale)/2 below. For j <= 0, P(m >= j) <= P(Y >= j - c) says
    q^c/2 <= q/(1+q), that is c >= 1 - scale ln(2/(1+q)); and that is at least 1/2, as 1 + q >= 2 sqrt(q). For j >= 1
    it says q^c <= (1+q)/2, that is c >= scale ln(2/(1+q)), which is at most 1/2. (Half a row does for |m| and |Y|, but
    not for m and Y.) As m <= Y + c in law, so is H + m <= H + Y + c for every H that is independent of both.

    >>> round(_rounded_up(50.0), 6), round(_rounded_up(0.01), 4)   # about 1/2 + 1/(8 scale), and at most 1
    (0.5025, 0.9931)
    """
    return 1.0 + scale * math.log1p(0.5 * math.expm1(-1.0 / scale))


def _log_one_side(x: Floats, spread: float, root: float) -> Floats:
    """ln P(H + Y > x) for P(H > h) = exp(-(root h)^2), h >= 0, and Y Laplace of scale ``spread``, independent.

    With a = root x and g = 1/(2 spread root) the integral of the tail of H against the density of Y is
    e^(-2ag)/2 + (sqrt(pi) g/2) [e^(-a^2) erfcx(g-a) + e^(-a^2) erfcx(g+a) - e^(-2ag) erfcx(g)].
    """
    erfcx, a, g = special().erfcx, root * x, 0.5 / (spread * root)
    # e^(-a^2) erfcx(g-a) overflows inside when a is far above g: there it is e^(g^2 - 2ag) (2 - erfc(a-g)).
    far = a > g
    near_part = np.exp(-a * a) * erfcx(np.maximum(g - a, 0.0))
    beyond = np.maximum(a - g, 0.0)
    far_part = np.exp(np.minimum(g * g - 2.0 * a * g, 0.0)) * (2.0 - np.exp(-beyond * beyond) * erfcx(beyond))
    shared = np.exp(-a * a) * erfcx(g + a) - np.exp(-2.0 * a * g) * erfcx(g)
    tail = 0.5 * np.exp(-2.0 * a * g) + 0.5 * math.sqrt(math.pi) * g * (np.where(far, far_part, near_part) + shared)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.clip(tail, 0.0, 1.0)))


def _check_scale(scale: float) -> None:
    if not NARROWEST <= scale <= WIDEST:
        raise ValueError(
            f"the scale of the noise must lie in [1e-6, 2**52], in rows, not {scale!r}: narrower noise is always 0, "
            "wider noise does not fit into 64-bit integers"
        )
