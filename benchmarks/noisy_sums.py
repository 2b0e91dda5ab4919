"""Theorem F by another way, for benchmarks/certificates.py: SciPy's hypergeometric and binomial laws, and plain sums.

A fixed number m of rows is kept, drawn without replacement, and their count is stretched by n/m and rounded up or down
at random; the noise is covered by itself plus what that does to a count of n/2. (The package keeps rows one by one
and covers by a normal.) The cost is summed directly at a few counts and at a few hundred outcomes of the noise.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import logsumexp
from scipy.stats import binom, hypergeom

BETA = 0.05


def stretched(n: int, m: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """What the stretched count of m rows is off by, and with which chances."""
    spread = 12 * math.sqrt(m * (count / n) * (1 - count / n) * (1 - m / n)) + 12
    low, high = max(0, math.floor(m * count / n - spread)), min(m, math.ceil(m * count / n + spread))
    kept = np.arange(low, high + 1)
    chance, place = hypergeom.pmf(kept, n, count, m), kept * (n / m) - count
    below = np.floor(place)
    over = place - below
    return np.concatenate([below, below + 1]).astype(int), np.concatenate([chance * (1 - over), chance * over])


@lru_cache(maxsize=64)
def cost(n: int, m: int, radius: int, zero: int) -> float:
    """Nats for one answer with noise of a cosine cut off at a radius, the largest over a few counts and outcomes."""
    places, chances = stretched(n, m, n // 2)
    far = int(abs(places).max())
    z = np.arange(1 - radius, radius)
    noise = 1 + np.cos(np.pi * z / zero)
    noise /= noise.sum()
    law = np.zeros(2 * far + 1)
    np.add.at(law, places + far, chances)
    cover = np.convolve(noise, law)  # from 1 - radius - far on
    worst = 0.0
    for count in {n // 2, n // 2 + n // 8, n // 4, n // 16}:
        places, chances = stretched(n, m, count)
        inside = abs(places) <= 0.75 * far  # beyond it there is nothing but rounding
        looked = np.unique(np.linspace(1 - radius, radius - 1, 401).astype(int))
        at = looked[:, np.newaxis] - places[inside] - (1 - radius - far)
        means = np.log(cover[at]) @ chances[inside] / chances[inside].sum()
        worst = max(worst, float((np.log(noise[looked - (1 - radius)]) - means).max()))
    return worst


def half_width(n: int, k: int, m: int, radius: int, zero: int) -> float:
    """The half-width for an answer of one half: where the binomial tail is e^-nats."""
    nats = (k * cost(n, m, radius, zero) - math.log(BETA)) * n / (n - m)
    counts = np.arange(n // 2 - (radius - 1), n + 1)[:20_000]  # beyond these nothing is left of the tail
    least = counts[0] / n
    low = brentq(lambda p: logsumexp(binom.logpmf(counts, n, p)) + nats, least / 4, least - 1e-9)
    return 0.5 - low


def most_asks(n: int, width: float, m: int, radius: int, zero: int) -> int:
    """The most asks within a half-width, at a given m, radius and zero of the cosine."""
    low, high = 1, 2
    while half_width(n, high, m, radius, zero) <= width:
        low, high = high, 2 * high
    while high - low > max(1, low // 2000):
        middle = (low + high) // 2
        low, high = (middle, high) if half_width(n, middle, m, radius, zero) <= width else (low, middle)
    return low
