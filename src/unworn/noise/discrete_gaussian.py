"""Discrete Gaussian noise: P(m) proportional to exp(-m^2 / (2 sd^2)) on the integers.

Drawn as Canonne, Kamath and Steinke do (The Discrete Gaussian for Differential Privacy, 2020, algorithm 3), from
discrete Laplace noise of which each draw is kept with its chance. How many are thrown away says nothing of the kept.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from unworn.noise.comparison import compare_chances
from unworn.noise.discrete_laplace import laplace
from unworn.noise.inversion import Floats, Integers
from unworn.noise.noise_checks import WIDEST, check_scale, check_whole
from unworn.noise.stream import Stream

if TYPE_CHECKING:
    from unworn.noise.reals import Bounds

_MOST_AT_ONCE = 2**15


def discrete_gaussian(stream: Stream, sd: float, size: int) -> Integers:
    """Exact draws of discrete Gaussian noise.

    A draw of discrete Laplace noise of scale t = floor(sd) + 1 is kept with chance exp(-(|m| - sd^2/t)^2 / (2 sd^2)):
    with probability 0.44 at least, and about 0.76 from an sd of 10 on.

    >>> discrete_gaussian(Stream(bytes(32), "noise"), 10.0, 6).tolist()
    [3, 13, 2, 5, -8, -10]
    """
    sd, size = check_scale("sd", sd), check_whole("size", size, 0)
    drawn, filled = np.empty(size, dtype=np.int64), 0
    while filled < size:
        kept = _kept(stream, sd, min(2 * (size - filled) + 8, _MOST_AT_ONCE))[: size - filled]
        drawn[filled : filled + kept.size] = kept
        filled += kept.size
    return drawn


def _kept(stream: Stream, sd: float, tries: int) -> Integers:
    """What is kept of so many tries."""
    t = min(math.floor(sd) + 1, WIDEST)  # any whole number is right, and this one keeps the most
    tried = laplace(stream, t, tries)

    def chance(i: int, digits: int) -> Bounds:
        from unworn.noise.tails import kept_chance

        return kept_chance(sd, t, int(tried[i]), digits)

    return tried[compare_chances(stream, chances(tried, sd, t), chance)]


def chances(tried: Integers, sd: float, t: int) -> Floats:
    """The chances of keeping as floats."""
    with np.errstate(over="ignore"):  # a tiny sd makes a distance infinite and its chance 0, as it should
        away = (np.abs(tried) - sd * sd / t) / sd
        found: Floats = np.exp(-0.5 * away * away)
    return found
