"""What the tests of noise share: a stream of given words, and a test of fit whose false-alarm rate is exact."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from unworn.noise import Stream

Integers = NDArray[np.int64]
KEY = bytes(range(32))
ALARM = 1e-7
"""The false-alarm rate of one test of fit: a fifth for the distribution function, the rest for the cells."""


class Given(Stream):
    """A stream whose words are given, and whose further digits are given too where ``further`` is."""

    def __init__(self, words: list[int], further: list[int] | None = None) -> None:
        super().__init__(KEY, "given")
        self._given, self._after = words, further

    def _bytes(self, count: int) -> bytes:
        taken = self._given[self._read : self._read + count]
        assert len(taken) == count, "more words were read than given"
        self._read += count
        return np.array(taken, dtype="<u8").tobytes()

    def beyond(self, place: int) -> Stream:
        return super().beyond(place) if self._after is None else Given(self._after)


def fits(drawn: Integers, log_pmf: Callable[[Integers], NDArray[np.float64]], cells: int = 60) -> bool:
    """Whether a sample fits a symmetric distribution, at the false-alarm rate ALARM.

    The distribution function by the Dvoretzky-Kiefer-Wolfowitz inequality with Massart's constant, and the count of
    each of some intervals of about equal probability by the exact binomial distribution: both rates are exact.
    """
    n, reach = drawn.size, int(np.abs(drawn).max()) + 1
    support = np.arange(-reach, reach + 1)
    mass = np.exp(log_pmf(support))
    beyond = max(0.5 * (1.0 - mass.sum()), 0.0)
    mass[[0, -1]] += beyond  # so that the cells do not depend on how far the sample reaches
    cdf = np.cumsum(mass)
    counts = np.bincount(drawn + reach, minlength=support.size)
    if beyond > 100 / n or mass.sum() > 1 + 1e-9:
        return False
    if np.abs(np.cumsum(counts) / n - cdf).max() > math.sqrt(math.log(2 / (ALARM / 5)) / (2 * n)) + 1e-9:
        return False
    # Single integers where they are likely, intervals of about 1/cells where they are not.
    which = np.unique(np.floor(cdf * cells).clip(max=cells - 1), return_inverse=True)[1]
    expected, found = np.bincount(which, mass), np.bincount(which, counts)
    level = 0.8 * ALARM / (2 * expected.size)
    low, high = stats.binom.cdf(found, n, expected), stats.binom.sf(found - 1, n, expected)
    return bool((low >= level).all() and (high >= level).all())


def agree(one: Integers, other: Integers, alarm: float) -> bool:
    """Whether two samples may come from one distribution, by the same inequality for each."""
    values = np.union1d(one, other)
    apart = [np.searchsorted(np.sort(sample), values, side="right") / sample.size for sample in (one, other)]
    allowed = math.sqrt(math.log(4 / alarm) / 2) * (one.size**-0.5 + other.size**-0.5)
    return bool(np.abs(apart[0] - apart[1]).max() <= allowed)
