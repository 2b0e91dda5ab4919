"""Symmetric integer noise by inversion: floats find the integer, and exact comparison settles what they cannot.

Of every 64-bit word the highest bit is the sign, and the others begin a number v that is uniform in (0, 1/2). The
magnitude is the number of m >= 1 with v < P(X >= m). By symmetry X then has its distribution exactly.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unworn.noise.stream import Stream

if TYPE_CHECKING:
    from unworn.noise.reals import Bounds

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
MARGIN = 2.0**-37
"""How near to an edge, in scales, a float is not trusted.

For v >= 2^-20 the float magnitudes are wrong by less than 2^-48 scales (the tests measure it; 2^-48.3 is the
worst seen of the logarithm and 2^-49.3 of the normal quantile), and the bits of v still open move them by less than
2^-44 scales. The margin is more than 1000 times the one and 100 times the other.
"""
TAIL = 2**44
"""Words below are settled: so few of their bits are significant that the next ones matter. One in 2^19 is."""


Magnitude = Callable[[Any], Any]
"""From v, a float or an array of them, a float whose whole part is the magnitude."""
Tail = Callable[[int, int], "Bounds"]
"""P(X >= m) to a number of digits."""


def invert_tail(stream: Stream, size: int, scale: float, magnitude: Magnitude, tail: Tail) -> Integers:
    """Draws X with P(X >= m) = tail(m, digits) for m >= 1, and X distributed as -X, one word each.

    ``magnitude`` must be wrong by less than MARGIN / 1000 scales where v >= 2^-20.
    """
    if size == 1:
        return np.array([_one(stream, scale, magnitude, tail)])
    drawn = np.empty(size, dtype=np.int64)
    doubtful = 0.5 - MARGIN * scale
    for at, place, words in stream.runs(size):
        signed = words.view(np.int64)
        negative = signed >> 63  # 0 or -1
        folded = signed ^ negative  # the other 63 bits, turned over where negative
        real = magnitude((folded | 1) * 2.0**-64)  # | 1: never 0
        whole = np.floor(real)
        found = whole.astype(np.int64)
        real -= whole
        real -= 0.5
        doubt = np.abs(real, out=real) > doubtful
        doubt |= folded < TAIL
        for i in doubt.nonzero()[0].tolist():
            found[i] = _invert_one(int(folded[i]), stream.beyond(place + i), tail, int(found[i]))
        found ^= negative
        np.subtract(found, negative, out=drawn[at])
    return drawn


def _one(stream: Stream, scale: float, magnitude: Magnitude, tail: Tail) -> int:
    """One draw, as above: an answer takes one, and Python's own arithmetic is quicker for it than arrays are."""
    place, word = stream.word()
    folded = word ^ (2**64 - 1) if word >> 63 else word
    real = magnitude((folded | 1) * 2.0**-64)
    found: int = math.floor(real)
    if abs(real - found - 0.5) > 0.5 - MARGIN * scale or folded < TAIL:
        found = _invert_one(folded, stream.beyond(place), tail, found)
    return -found if word >> 63 else found


def _invert_one(word: int, further: Stream, tail: Tail, guess: int) -> int:
    from unworn.noise import exact_comparison  # seldom needed, and slow to import

    return exact_comparison.search_exactly(exact_comparison.Uniform(word, further), tail, guess)
