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
from unworn.bounds.spread_cosine import log_spread_cosine

_SMOOTH = 7
"""The order of the spline by which a stretched count is rounded: its sixth derivative is that of the noise itself."""
_GONE = 70.0
"""Nats beyond which Y is not followed: e^-70 of it, by Bernstein's inequality, at a logarithm below a million."""
_ROUNDING = 2e-11
"""Nats: more than what floats lose in two transforms, of laws and of logarithms below 100."""
_FINE = 3e-4
"""How far counts between those that are looked at may lie above them, as a share of the cost."""
_WORK = 2**24
"""Places that are looked at in all, over all counts."""
_SIXTH = 75.0
"""No sixth derivative of the logarithm of a log-concave law, spread by a normal of variance v, passes 75/v^3."""
WIDEST_RADIUS = 2**22
"""Noise wider than this is not priced here: a transform of it takes seconds, and its privacy is priced all the same."""
_WIDEST_SPREAD = 2.0**18
"""Nor is a Y that spreads further: for one ask, of more than 1e11 rows."""
_MOST_PARTS = 1_000
"""The most rows of which one is taken to count: what lies on their lattice is added up place by place."""


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
def cosine_nats(n: int, kept: float, radius: int, zero: int | None = None) -> float:
    """The cost of raised-cosine noise that stays below ``radius``; for all counts, rounded against us.

    The cosine reaches 0 at ``zero``, where it is not cut off before, at the radius; None where it is not cut. The noise
    is covered by f# = itself, spread by a normal with the variance of Y. To first order the cost is
    pi^2 Var Y / (2 zero^2), at every z: the cosine is the eigenfunction. Here it is computed, at so many counts that
    by the second differences the counts between them add at most 3 ten-thousandths, which are added. Infinite where
    the noise is wider than :data:`WIDEST_RADIUS`, or so few rows kept of so many that Y is.

    >>> round(cosine_nats(100_000, 0.925, 4790), 8)
    0.00043618
    >>> round(math.pi**2 * stretched_variance(100_000, 0.925) / (2 * 4790**2), 8)
    0.0004361
    >>> round(cosine_nats(100_000, 0.925, 4790, 4846), 8)
    0.00042623
    """
    n, radius = whole("the number of rows", n, 1), whole("radius", radius, 2)
    zero = radius if zero is None else whole("zero", zero, radius)
    check_probability("kept", kept)
    variance = stretched_variance(n, kept)
    spread = math.sqrt(variance)
    if zero > 2 * WIDEST_RADIUS or radius > WIDEST_RADIUS or spread > _WIDEST_SPREAD:
        return math.inf
    reach = _reach(n, kept, n / 4.0, 2)
    if reach > 2 * WIDEST_RADIUS:
        return math.inf
    logs = _log_cover(radius, zero, spread, radius - 1 + reach)
    skew = abs(kept * _pull(kept) ** 3 - (1.0 - kept) / 8.0) / 3.0
    bend = skew * skew * _SIXTH / variance**3  # at most, from one count to the next: what e(c) turns by
    first_order = math.pi**2 * variance / (2.0 * zero**2)
    step = n if bend == 0.0 else math.floor(math.sqrt(8.0 * _FINE * first_order / bend))
    # Where these would be so many that it takes seconds, fewer: then more is added.
    step = max(step, 1, n // 2 * max(2 * (radius + reach), _WORK // 2_000) // _WORK)
    counts = sorted({*range(n // 2, n, step), n})
    log_noise, ahead = _log_noise(radius, zero), _Ahead(logs)
    worst = max(float((log_noise - ahead.mean(_stretched_law(n, kept, c, reach))).max()) for c in counts)
    gap = max((b - a for a, b in pairwise(counts)), default=0)
    return max(worst, 0.0) + (gap * gap / 8.0 * bend if gap > 1 else 0.0) + _ROUNDING


@lru_cache(maxsize=512)
def low_count_nats(n: int, kept: float, radius: int, most: int) -> float:
    """The same where it is known that at most ``most`` of the rows count, or that at most so many do not.

    Pulls are taken from 1/q instead of 1/2, q the whole number nearest to n/most: a row that counts pulls by 1 - 1/q,
    another by -1/q, and Var Y is at most (1 - kept)/kept · (most (1 - 1/q)^2 + (n - most)/q^2). Where 1/q is at most
    ``kept`` and 1 - ``kept``, Y grows with the count in the convex order, and ln f# is concave: the largest count costs
    most, and no other need be looked at. Infinite where 1/q is more than that (:func:`allows_low_counts`), or too much
    would have to be added up.

    >>> round(low_count_nats(100_000, 0.83, 700, 3_500) / cosine_nats(100_000, 0.83, 1_900), 3)
    0.996
    """
    n, radius, most = whole("the number of rows", n, 1), whole("radius", radius, 2), whole("most", most, 1, n)
    check_probability("kept", kept)
    if not allows_low_counts(n, kept, most):
        return math.inf
    parts, squares = low_count_parts(n, most), low_count_squares(n, most)
    variance = squares * (1.0 - kept) / kept + _SMOOTH / 12.0
    reach = _reach(n, kept, squares, parts)
    length = 32.0 * math.sqrt(n * kept * (1.0 - kept)) + parts * (32.0 * math.sqrt(most * kept * (1.0 - kept)) + 20.0)
    if radius > WIDEST_RADIUS or math.sqrt(variance) > _WIDEST_SPREAD or max(reach, length) > 2 * WIDEST_RADIUS:
        return math.inf
    ahead = _Ahead(_log_cover(radius, radius, math.sqrt(variance), radius - 1 + reach))
    law = _stretched_law(n, kept, most, reach, parts)
    return max(float((_log_noise(radius, radius) - ahead.mean(law)).max()), 0.0) + _ROUNDING


def allows_low_counts(n: int, kept: float, most: int) -> bool:
    """Whether 1/q is at most ``kept`` and 1 - ``kept``, which the cost of low counts rests on."""
    return low_count_parts(n, most) * min(kept, 1.0 - kept) >= 1.0


def low_count_parts(n: int, most: int) -> int:
    """Of how many rows one counts, about, where at most ``most`` of n do: the q above.

    >>> low_count_parts(1_000, 33), low_count_parts(10, 9), low_count_parts(10**6, 1)
    (30, 2, 1000)
    """
    return min(max(2, round(n / most)), _MOST_PARTS)


def low_count_squares(n: int, most: int) -> float:
    """The largest sum of squared pulls, where at most ``most`` of n rows count: n/4 or less."""
    share = 1.0 / low_count_parts(n, most)
    return most * (1.0 - share) ** 2 + (n - most) * share**2


def _pull(kept: float) -> float:
    """How far a row that is kept pulls beyond its own half."""
    return (1.0 / kept - 1.0) / 2.0


def _reach(n: int, kept: float, squares: float, parts: int) -> int:
    """How far Y goes, but for e^-70: by Bernstein's inequality, or because it can go no further."""
    most = max(1.0 / kept - 1.0, 1.0) * (1.0 - 1.0 / parts)
    slope = _GONE * most / 3.0
    tail = slope + math.sqrt(slope**2 + 2.0 * _GONE * squares * (1.0 - kept) / kept)
    return math.ceil(min(tail, n * most)) + _SMOOTH


def _log_noise(radius: int, zero: int) -> Floats:
    """ln f at each place that the raised cosine reaches."""
    z = np.arange(1 - radius, radius)
    # The sum of cos(pi z / zero) is Dirichlet's kernel.
    kernel = math.sin(0.5 * math.pi * (2 * (zero - radius) + 1) / zero) / math.sin(0.5 * math.pi / zero)
    total = 0.5 * (2 * radius - 1 + kernel)
    found: Floats = 2.0 * np.log(np.sin(0.5 * np.pi * (zero - np.abs(z)) / zero)) - math.log(total)
    return found


def _log_cover(radius: int, zero: int, spread: float, end: int) -> Floats:
    """ln f# on -end .. end: the noise, spread by a normal, at whole numbers; they add up to 1."""
    x = np.arange(end + 1, dtype=np.float64)
    half = log_spread_cosine(radius / spread, zero / spread, x / spread)
    top = float(half.max())
    half -= top + math.log(2.0 * float(np.exp(half - top).sum()) - math.exp(half[0] - top))
    return np.concatenate([half[:0:-1], half])


class _Ahead:
    """Means of shifted logarithms: their transform is made once, for all laws of the shift."""

    def __init__(self, logs: Floats) -> None:
        self._length = len(logs)
        self._size = _good_size(len(logs))
        self._middle = float(logs.mean())  # taken off first: small numbers lose less in a transform
        self._transform = np.fft.rfft(logs - self._middle, self._size)

    def mean(self, law: Floats) -> Floats:
        """E logs(z - Y) at each z of the noise, for Y of this law on -reach .. reach."""
        product: Floats = np.fft.irfft(self._transform * np.fft.rfft(law, self._size), self._size)
        # Where the logarithms hold every z - Y: what else came out is of no use.
        inside = product[len(law) - 1 : self._length]
        return inside / float(law.sum()) + self._middle


def _good_size(length: int) -> int:
    """A length at least this that a transform is quick at."""
    from scipy.fft import next_fast_len

    return int(next_fast_len(length, real=True))


def _stretched_law(n: int, kept: float, count: int, reach: int, parts: int = 2) -> Floats:
    """The law of Y on -reach .. reach, where ``count`` of n rows count, each of weight ``parts`` - 1."""
    ones_low, each = _binomial(count, kept)
    rest_low, rest = _binomial(n - count, kept)
    ones = np.zeros((len(each) - 1) * (parts - 1) + 1)
    ones[:: parts - 1] = each
    size = _good_size(len(ones) + len(rest) - 1)
    law = np.fft.irfft(np.fft.rfft(ones, size) * np.fft.rfft(rest[::-1], size), size)[: len(ones) + len(rest) - 1]
    low = ones_low * (parts - 1) - (rest_low + len(rest) - 1)
    places = (low + np.arange(len(law))) / (parts * kept) + (n / parts - count)
    held = np.abs(places) <= reach - _SMOOTH // 2 - 1
    places, law = places[held], np.maximum(law[held], 0.0)
    whole_part = np.floor(places).astype(np.int64)
    rounded = np.zeros(2 * reach + 1)
    for near in range(-(_SMOOTH // 2), _SMOOTH // 2 + 2):
        at = whole_part + near
        rounded += np.bincount(at + reach, law * _spline(places - at), 2 * reach + 1)
    return rounded


def _binomial(n: int, chance: float) -> tuple[int, Floats]:
    """Where the law of a binomial count begins to matter, and the law from there on."""
    from scipy.special import gammaln, xlog1py, xlogy

    spread = 16.0 * math.sqrt(n * chance * (1.0 - chance)) + 10.0
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
