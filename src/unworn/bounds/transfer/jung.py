"""The transfer theorem of Jung, Ligett, Neel, Roth, Sharifi-Malvajerdi and Shenfeld (ITCS 2020), "JLNRSS20".

If the answers lie within a of the rows except with probability b, and the transcript is (eps, delta)-private, then for
every c, d > 0 they lie within a + (e^eps - 1) + c + 2d of the population except with probability b/c + delta/d.
Answers must be clipped to [0, 1]. For a given beta the best c + 2d is (sqrt(b) + sqrt(2 delta))^2 / beta (Lagrange).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from unworn.bounds.numerics import Floats, check_between, check_nats, check_probability, special
from unworn.bounds.privacy.profiles import GDP, Concentrated, Profile
from unworn.bounds.transfer.parameter_search import closer, lowest
from unworn.bounds.transfer.published_theorems import Chosen, best_pair, check_plan, zcdp_epsilon


def jlnrss20(accuracy: float, chance: float, epsilon: float, delta: float, beta: float) -> float:
    """The theorem for shares: a + (e^eps - 1) + (sqrt(b) + sqrt(2 delta))^2 / beta.

    >>> round(jlnrss20(0.02, 1e-5, 0.03, 1e-5, 0.05), 4)
    0.0516
    """
    check_between("the accuracy", accuracy, 0.0, math.inf)
    check_between("the chance of inaccuracy", chance, 0.0, 1.0)
    check_nats("epsilon", epsilon)
    check_between("delta", delta, 0.0, 1.0)
    check_probability("beta", beta)
    root = math.sqrt(chance) + math.sqrt(2.0 * delta)
    return accuracy + math.expm1(min(epsilon, 700.0)) + root * root / beta


@lru_cache(maxsize=1024)
def jlnrss20_gaussian(n: int, k: int, beta: float) -> Chosen:
    """Their Theorem 13: b = delta, c = d, and zCDP converted as Bun and Steinke do.

    erfc^-1(delta/k)/(n sqrt(rho)) + e^eps - 1 + 6 delta/beta, at the best rho and delta.

    >>> round(jlnrss20_gaussian(10**6, 10**4, 0.05).width, 3)
    0.096
    """
    check_plan(n, k, beta)
    erfcinv = special().erfcinv

    def width(rho: float, delta: float) -> float:
        eps = min(zcdp_epsilon(k * rho, delta), 700.0)
        return float(erfcinv(delta / k)) / (n * math.sqrt(rho)) + math.expm1(eps) + 6.0 * delta / beta

    return best_pair(width, n, k, beta)


@lru_cache(maxsize=1024)
def jlnrss20_profile(n: int, k: int, beta: float, exact: bool = True) -> Chosen:
    """The theorem with everything free, and delta(eps) from the exact Gaussian profile or (CKS20) from zCDP.

    The second is what Marchant and Rubinstein (2025) call the tightest known; the first is a little tighter.

    >>> round(jlnrss20_profile(10**6, 10**4, 0.05).width, 4)
    0.0785
    """
    check_plan(n, k, beta)

    def profile(sigma: float) -> Profile:
        mu = math.sqrt(k) / (n * sigma)
        return GDP(mu) if exact else Concentrated(mu * mu / 2.0)

    quantile = _largest_of(k)

    def width(sigma: float) -> float:
        return _best(profile(sigma), lambda chance: sigma * quantile(chance), beta)

    sigma = lowest(width, math.sqrt(math.sqrt(k) / n), close=3e-3)
    return Chosen(width(sigma), sigma)


def _largest_of(k: int) -> Callable[[Floats], Floats]:
    """The quantile of the largest of k absolute standard normal values, from the probability of passing it."""
    ndtri = special().ndtri
    return lambda chance: -ndtri(-0.5 * np.expm1(np.log1p(-chance) / k))


def _best(profile: Profile, accuracy: Callable[[Floats], Floats], beta: float) -> float:
    """The least width over eps and b, on a grid of both that closes in."""
    epsilons = np.geomspace(1e-7, 5.0, 60)
    logs = np.linspace(math.log(beta) - 40.0, math.log(beta) - 0.01, 60)
    found = math.inf
    for _ in range(4):
        chances = np.exp(logs)
        deltas = profile.delta(epsilons)
        slack = (np.sqrt(chances) + np.sqrt(2.0 * deltas)[:, np.newaxis]) ** 2 / beta
        widths = accuracy(chances) + np.expm1(epsilons)[:, np.newaxis] + slack
        row, column = np.unravel_index(int(np.argmin(widths)), widths.shape)
        found = min(found, float(widths[row, column]))
        epsilons, logs = closer(epsilons, int(row), 16), closer(logs, int(column), 16)
    return found
