"""The published transfer theorems before 2020, for statistical queries answered with Gaussian noise.

Each is a function of rows, asks and beta that chooses its own best noise: k answers of standard deviation sigma (as a
share) are rho-zCDP each, rho = 1/(2 n^2 sigma^2), and k rho together. They are here to be compared with.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from unworn.bounds.numerics import check_between, check_nats, check_probability, check_whole, special
from unworn.bounds.transfer.parameter_search import lowest


class Chosen(NamedTuple):
    """The half-width that holds for all answers at once, and the standard deviation of the noise that makes it."""

    width: float
    sigma: float


def check_plan(n: float, k: float, beta: float) -> None:
    check_whole("the number of rows", n, 1)
    check_whole("the number of asks", k, 1)
    check_probability("beta", beta)


def expectation(epsilon: float, delta: float) -> float:
    """How far the mean of q(S) and of q(P) can part, as published: e^eps - 1 + delta.

    Bassily, Nissim, Smith, Steinke, Stemmer and Ullman (2016); no probability is involved.

    >>> round(expectation(0.1, 0.0), 4), round(sharp_expectation(0.1, 0.0), 4)
    (0.1052, 0.025)
    """
    _check_private(epsilon, delta)
    return math.expm1(epsilon) + delta


def tanh_expectation(epsilon: float, delta: float) -> float:
    """The same from both directions of privacy: tanh(eps/2) + 2 delta/(1 + e^eps), which is D1 at probability one.

    >>> round(tanh_expectation(0.1, 0.0), 4)
    0.05
    """
    _check_private(epsilon, delta)
    return math.tanh(epsilon / 2.0) + 2.0 * delta / (1.0 + math.exp(epsilon))


def sharp_expectation(epsilon: float, delta: float) -> float:
    """The truth: t + (1 - t) delta, t = tanh(eps/4), which is D2 at probability one and attained.

    >>> round(sharp_expectation(1.0, 0.01), 4)
    0.2525
    """
    _check_private(epsilon, delta)
    tilt = math.tanh(epsilon / 4.0)
    return tilt + (1.0 - tilt) * delta


def _check_private(epsilon: float, delta: float) -> None:
    check_nats("epsilon", epsilon)
    if epsilon > 700:
        raise ValueError(f"epsilon above 700 promises nothing, and overflows: {epsilon!r}")
    check_between("delta", delta, 0.0, 1.0)


def dfhprr15_pure(n: int, epsilon: float, beta: float) -> float:
    """One question of an eps-DP mechanism: the least tau >= 2 eps with n >= 12 ln(4/beta)/tau^2.

    Dwork, Feldman, Hardt, Pitassi, Reingold and Roth (STOC 2015), Theorem 9.

    >>> round(dfhprr15_pure(100_000, 0.01, 0.05), 4)
    0.0229
    """
    check_plan(n, 1, beta)
    check_nats("epsilon", epsilon)
    return max(2.0 * epsilon, math.sqrt(12.0 * math.log(4.0 / beta) / n))


@lru_cache(maxsize=1024)
def dfhprr15(n: int, k: int, beta: float) -> Chosen:
    """Theorem 10 of the same: eps <= tau/4, delta <= exp(-4 ln(8/b)/tau), n >= 48 ln(8/b)/tau^2, for each question.

    b = beta/2k, the noise has the other half of beta, and zCDP is converted by eps = rho + 2 sqrt(rho ln(1/delta)),
    which gives the rho that a tau allows in closed form. The constants are quoted from secondary sources.

    >>> dfhprr15(10**6, 20, 0.05).width < 0.1 < dfhprr15(10**6, 60, 0.05).width
    True
    """
    check_plan(n, k, beta)
    log_tail = math.log(8.0 * 2.0 * k / beta)
    largest = _largest(k, beta / 2.0)

    def sigma(tau: float) -> float:
        nats = 4.0 * log_tail / tau
        root_rho = (tau / 4.0) / (math.sqrt(nats + tau / 4.0) + math.sqrt(nats))
        return math.sqrt(k / 2.0) / (n * root_rho)

    least = math.sqrt(48.0 * log_tail / n)

    def width(tau: float) -> float:
        allowed = max(tau, least)  # below it nothing is gained, and the search is sent back
        return 2.0 * allowed - tau + sigma(allowed) * largest

    tau = max(least, lowest(width, least))
    return Chosen(tau + sigma(tau) * largest, sigma(tau))


def bnsssu16_tail(n: int, epsilon: float, delta: float) -> Chosen:
    """Width 18 eps and the probability delta/eps of passing it, for the questions of an (eps, delta)-DP mechanism.

    Bassily et al. (2016), Theorem 7.2, for sensitivity 1/n: eps < 1/3, delta < eps/4, n >= ln(4 eps/delta)/eps^2. (The
    second number of the pair is the probability here.)

    >>> width, chance = bnsssu16_tail(10**6, 0.005, 1e-6)
    >>> round(width, 3), round(chance, 6)
    (0.09, 0.0002)
    """
    check_plan(n, 1, 0.5)
    if not (0 < epsilon < 1 / 3 and 0 < delta < epsilon / 4):
        raise ValueError(f"needs 0 < eps < 1/3 and 0 < delta < eps/4, not eps = {epsilon!r}, delta = {delta!r}")
    needed = math.log(4.0 * epsilon / delta) / epsilon**2
    if n < needed:
        raise ValueError(f"needs at least {math.ceil(needed):,} rows, not {n:,}")
    return Chosen(18.0 * epsilon, delta / epsilon)


@lru_cache(maxsize=1024)
def bnsssu16(n: int, k: int, beta: float) -> Chosen:
    """The monitor argument of Bassily et al. (2016) with free parameters.

    T = floor(1/beta) imaginary copies; [e^eps - 1 + 2 T delta + sqrt(ln(4k/delta)/rho)/n] / (1 - (1-beta)^T), where eps
    = k rho + 2 sqrt(k rho ln(sqrt(pi k rho)/delta)) (Bun and Steinke 2016).

    >>> round(bnsssu16(10**6, 10**4, 0.05).width, 3)
    0.147
    """
    check_plan(n, k, beta)
    copies = math.floor((1.0 + 1e-9) / beta)
    seen = -math.expm1(copies * math.log1p(-beta))

    def width(rho: float, delta: float) -> float:
        noise = math.sqrt(math.log(4.0 * k / delta) / rho) / n
        return (math.expm1(min(zcdp_epsilon(k * rho, delta), 700.0)) + 2.0 * copies * delta + noise) / seen

    return best_pair(width, n, k, beta)


@lru_cache(maxsize=1024)
def rogers20(n: int, k: int, beta: float) -> Chosen:
    """Rogers, Roth, Smith, Srebro, Thakkar and Woodworth (AISTATS 2020), Theorem 2.1, by mutual information.

    sqrt(y/(2 n beta)) + sqrt(ln(4k/beta)/rho)/n, with y = min over l in (0, 1) of (2 rho k n - ln(1-l))/l, which solves
    y - ln y = 1 + 2 rho k n. The last term has 1/n: the 1/(2n) of the authors' code is no tail of noise of standard
    deviation 1/(n sqrt(2 rho)).

    >>> round(rogers20(10**6, 10**4, 0.05).width, 3)
    0.082
    """
    check_plan(n, k, beta)

    def width(rho: float) -> float:
        nats = 1.0 + 2.0 * rho * k * n
        y = nats + math.log(nats)
        for _ in range(100):
            y, before = nats + math.log(y), y
            if abs(y - before) <= 1e-13 * y:
                break
        return math.sqrt(y / (2.0 * n * beta)) + math.sqrt(math.log(4.0 * k / beta) / rho) / n

    rho = lowest(width, 1.0 / (n * math.sqrt(k)))
    return Chosen(width(rho), 1.0 / (n * math.sqrt(2.0 * rho)))


def zcdp_epsilon(rho: float, delta: float) -> float:
    """rho + 2 sqrt(rho ln(sqrt(pi rho)/delta)) (Bun and Steinke 2016), or with 1/delta where that is of no use.

    >>> round(zcdp_epsilon(0.5, 1e-6), 3)
    5.757
    """
    root = math.sqrt(math.pi * rho)
    return rho + 2.0 * math.sqrt(rho * math.log((root if delta < root < 1.0 else 1.0) / delta))


def _largest(k: int, chance: float) -> float:
    """What the largest of k absolute standard normal values passes with this probability."""
    return -float(special().ndtri(-0.5 * math.expm1(math.log1p(-chance) / k)))


def best_pair(width: Callable[[float, float], float], n: int, k: int, beta: float) -> Chosen:
    """The least of a width in rho (one answer's zCDP) and delta, one search inside the other."""
    rho = 1.0 / (n * math.sqrt(k))

    def best_rho(delta: float) -> float:
        return lowest(lambda rho: width(rho, delta), rho)

    delta = lowest(lambda delta: width(best_rho(min(delta, beta)), min(delta, beta)), beta * 1e-3, close=1e-3, step=8.0)
    found = best_rho(min(delta, beta))
    return Chosen(float(width(found, min(delta, beta))), 1.0 / (n * math.sqrt(2.0 * found)))
