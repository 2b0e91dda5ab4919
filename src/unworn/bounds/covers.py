"""What one noisy count costs, in nats: how much of it a random part of the rows could not have said as well.

Keep every row with chance ``kept``, each on its own. The kept rows alone can talk like all of them: stretch their count
to what all rows would have (a row that counts pulls by +1/2, one that does not by -1/2, and 1/kept of what is kept
stands for all), round it to a whole number, and add noise of another law f#. A noise f is *covered* at a cost of kappa
nats if, for every outcome z of it and every count c of the rows,

    E ln f#(z - Y) >= ln f(z) - kappa,     Y = the stretched count less c.

Rows kept one by one, not a fixed number of them: then neither the variance of Y nor any other even cumulant depends on
c, and what is left to check over all counts is a little skewness. Proofs: ``docs/theory/noisy-means.md``.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import pairwise

import numpy as np

from unworn.bounds.numerics import Floats, check_between, check_probability, whole

_SMOOTH = 7
"""The order of the spline by which a stretched count is rounded: its sixth derivative is that of the noise itself."""
_REACH = 12.0
"""Standard deviations of Y that are followed; what lies beyond them is below 1e-28, and a logarithm below 150."""
_INNER = 9.0
"""Standard deviations within which f# is smooth; beyond them it runs into the pinch."""
_PINCH = 1e-30
"""Of f# this much is spread evenly over everything that can be released, so that its logarithm is finite."""
_ROUNDING = 1e-11
"""Nats: more than what floats lose in a transform of logarithms below 100, and what lies beyond the reach."""
_FINE = 1e-4
"""How far counts between those that are looked at may lie above them, as a share of the cost."""


def stretched_variance(n: float, kept: float) -> float:
    """The variance of Y, whatever the count: of the rows kept, and of rounding.

    >>> round(stretched_variance(100_000, 0.925), 1)
    2027.6
    """
    check_probability("kept", kept)
    return n * (1.0 - kept) / (4.0 * kept) + _SMOOTH / 12.0


def gaussian_nats(n: float, kept: float, sigma: float) -> float:
    """The cost of discrete Gaussian noise of standard deviation ``sigma`` (in rows): exactly Var Y / (2 sigma^2).

    Covered by itself: the term of first order vanishes with the mean of Y, and there is none beyond the second.

    >>> round(gaussian_nats(100_000, 0.9, 1000.0), 6)
    0.001389
    """
    check_between("sigma", sigma, 1e-3, 1e300)
    return stretched_variance(n, kept) / (2.0 * sigma * sigma) * (1.0 + 1e-12)


@lru_cache(maxsize=512)
def cosine_nats(n: int, kept: float, radius: int) -> float:
    """The cost of raised-cosine noise that stays below ``radius``; for all counts, rounded against us.

    The noise is covered by f# = f * Y at half the rows. To first order the cost is pi^2 Var Y / (2 radius^2), at every
    z: the cosine is the eigenfunction. Here it is computed, at so many counts that by the second differences the
    counts between them add at most a ten-thousandth, which is added.

    >>> round(cosine_nats(100_000, 0.925, 4790), 8)
    0.00043609
    >>> round(math.pi**2 * stretched_variance(100_000, 0.925) / (2 * 4790**2), 8)
    0.0004361
    """
    n, radius = whole("the number of rows", n, 1), whole("radius", radius, 2)
    check_probability("kept", kept)
    reach = math.ceil(_REACH * math.sqrt(stretched_variance(n, kept))) + _SMOOTH
    z = np.arange(1 - radius, radius)
    noise = (1.0 + np.cos(np.pi * z / radius)) / (2.0 * radius)
    middle = _stretched_law(n, kept, n // 2, reach)
    cover = _spread_cosine(radius, 0.5 * (middle + middle[::-1]))
    logs = np.log(np.pad(cover, reach) * (1.0 - _PINCH) + _PINCH / (2 * (n + radius) + 1))
    bend = _second_difference(n, kept, logs, reach)
    first_order = math.pi**2 * stretched_variance(n, kept) / (2.0 * radius**2)
    step = n if bend == 0.0 else math.floor(math.sqrt(8.0 * _FINE * first_order / bend))
    counts = sorted({*range(n // 2, n, max(step, 1)), n})
    log_noise, ahead = np.log(noise), _Ahead(logs)
    worst = max(float((log_noise - ahead.mean(_stretched_law(n, kept, c, reach))).max()) for c in counts)
    gap = max((b - a for a, b in pairwise(counts)), default=0)
    return max(worst, 0.0) + (gap * gap / 8.0 * bend if gap > 1 else 0.0) + _ROUNDING


def _spread_cosine(radius: int, law: Floats) -> Floats:
    """The law of raised-cosine noise plus a number of this symmetric law, right to the last digits.

    Far from the ends the cosine is only made flatter, by E cos(pi Y / radius); near them, sums, not transforms, which
    would lose the small ones.
    """
    reach = len(law) // 2
    x = np.arange(radius - 1 + reach + 1)
    flatter = float(law @ np.cos(np.pi * np.arange(-reach, reach + 1) / radius))
    half = (1.0 + flatter * np.cos(np.pi * x / radius)) / (2.0 * radius)
    first = max(0, radius - 1 - reach)  # from here on an end is near
    z = np.arange(max(first - reach, 1 - radius), radius)
    near = np.convolve((1.0 + np.cos(np.pi * z / radius)) / (2.0 * radius), law)
    half[first:] = near[first - (z[0] - reach) :]
    return np.concatenate([half[:0:-1], half])


def _second_difference(n: int, kept: float, logs: Floats, reach: int) -> float:
    """At most by how much the mean of the logarithms bends from one count of the rows to the next.

    A row that counts, instead of one that does not, changes a mean by (|E X^3|/3) times third derivatives, X being what
    keeping one row or not adds to Y; two such rows, by its square times sixth derivatives: sixth differences of logs.
    """
    pull = (1.0 / kept - 1.0) / 2.0
    skew = abs(kept * pull**3 - (1.0 - kept) / 8.0) / 3.0
    sixth = np.abs(np.diff(logs, 6))
    spread = math.sqrt(n * (1.0 - kept) / (4.0 * kept))
    border = reach + max(0, reach - math.ceil(_INNER * spread))  # places from either end that only a far Y can lead to
    inner, outer = float(sixth[border : len(sixth) - border].max(initial=0.0)), float(sixth.max())
    far = _INNER * spread - 2 * _SMOOTH
    # Bernstein's inequality for a sum of independent numbers, none larger than the larger pull.
    chance = 1.0 if far <= 0 else 2.0 * math.exp(-far * far / (2.0 * (spread**2 + max(pull, 0.5) * far / 3.0)))
    return skew * skew * (inner + min(chance, 1.0) * outer)


class _Ahead:
    """Means of shifted logarithms: their transform is made once, for all laws of the shift."""

    def __init__(self, logs: Floats) -> None:
        self._length = len(logs)
        self._size = _good_size(len(logs))
        self._middle = float(logs.mean())  # taken off first: small numbers lose less in a transform
        self._transform = np.fft.rfft(logs - self._middle, self._size)

    def mean(self, law: Floats) -> Floats:
        """E logs(z - Y) at each z of the noise, for Y of this law on -reach .. reach."""
        reach = len(law) // 2
        product: Floats = np.fft.irfft(self._transform * np.fft.rfft(law, self._size), self._size)
        # Logs run over radius - 1 + 2 reach to either side: the noise's own places begin where two reaches end.
        inside = product[3 * reach : self._length - reach]
        return inside / float(law.sum()) + self._middle


def _good_size(length: int) -> int:
    """A length at least this that a transform is quick at."""
    from scipy.fft import next_fast_len

    return int(next_fast_len(length, real=True))


def _stretched_law(n: int, kept: float, count: int, reach: int) -> Floats:
    """The law of Y on -reach .. reach, where ``count`` of n rows count."""
    ones_low, ones = _binomial(count, kept)
    rest_low, rest = _binomial(n - count, kept)
    law = np.convolve(ones, rest[::-1])
    low = ones_low - (rest_low + len(rest) - 1)
    places = (low + np.arange(len(law))) / (2.0 * kept) + (n / 2.0 - count)
    whole_part = np.floor(places).astype(np.int64)
    rounded = np.zeros(2 * reach + 1)
    for near in range(-(_SMOOTH // 2), _SMOOTH // 2 + 2):
        at = whole_part + near
        inside = np.abs(at) <= reach
        np.add.at(rounded, at[inside] + reach, law[inside] * _spline(places[inside] - at[inside]))
    return rounded


def _binomial(n: int, chance: float) -> tuple[int, Floats]:
    """Where the law of a binomial count begins to matter, and the law from there on."""
    from scipy.special import gammaln, xlog1py, xlogy

    spread = (_REACH + 4.0) * math.sqrt(n * chance * (1.0 - chance)) + 10.0
    low, high = max(0, math.floor(n * chance - spread)), min(n, math.ceil(n * chance + spread))
    k = np.arange(low, high + 1, dtype=np.float64)
    logs = xlogy(k, chance) + xlog1py(n - k, -chance) - gammaln(k + 1.0) - gammaln(n - k + 1.0)
    law: Floats = np.exp(logs - logs.max())
    return low, law / law.sum()


def _spline(x: Floats) -> Floats:
    """The density of a sum of seven uniform numbers, less their mean: its shifts by whole numbers add up to 1."""
    total = np.zeros_like(x)
    for k in range(_SMOOTH + 1):
        ahead = np.maximum(x + _SMOOTH / 2.0 - k, 0.0)
        total += (-1) ** k * math.comb(_SMOOTH, k) * ahead ** (_SMOOTH - 1)
    found: Floats = np.maximum(total / math.factorial(_SMOOTH - 1), 0.0)
    return found
