"""Raised-cosine noise: P(m) = (1 + cos(pi m / N)) / (2N) for integers |m| < N. It is bounded, and log-concave.

So it is where it is cut off: P(m) proportional to 1 + cos(pi m / zero) for |m| < N, where N is less than ``zero``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from unworn.noise.comparison import compare_chances, falls
from unworn.noise.draws import one_uniform, uniform
from unworn.noise.inversion import Integers
from unworn.noise.noise_checks import WIDEST, check_whole
from unworn.noise.stream import Stream

if TYPE_CHECKING:
    from unworn.noise.reals import Bounds

_AT_ONCE = 2**15


def raised_cosine(stream: Stream, N: int, size: int) -> Integers:
    """Exact draws of raised-cosine noise, in memory that does not depend on N.

    Draw m uniform in 0 .. N-1 and keep it with chance p(m) = (1 + cos(pi m / N)) / 2, otherwise take m - N instead. As
    1 - p(m) = p(m - N), either has probability p / N: exact, with nothing thrown away, and as quick for any N.

    >>> raised_cosine(Stream(bytes(32), "noise"), 10, 6).tolist()
    [1, 3, -4, 1, -2, 0]
    >>> raised_cosine(Stream(bytes(32), "noise"), 1, 3).tolist()
    [0, 0, 0]
    """
    N = check_whole("N", N, 1, WIDEST, " (2**52, so that floats tell whole numbers apart)")
    size = check_whole("size", size, 0)
    if size == 1:
        return np.array([_one(stream, N)])
    drawn = np.empty(size, dtype=np.int64)
    for start in range(0, size, _AT_ONCE):
        block = drawn[start : start + _AT_ONCE]
        block[:] = uniform(stream, N, block.size)
        block[~compare_chances(stream, chances(block, N), _exactly(block, N))] -= N
    return drawn


def cut_cosine(stream: Stream, N: int, zero: int, size: int) -> Integers:
    """Exact draws of raised-cosine noise that is cut off at N, and would have reached 0 at ``zero``.

    What falls beyond the cut is drawn again. How often that happens says nothing of what is drawn in the end.

    >>> cut_cosine(Stream(bytes(32), "noise"), 4, 10, 6).tolist()
    [1, 3, 0, 1, -2, 0]
    """
    zero = check_whole("zero", zero, 1, WIDEST)
    N = check_whole("N", N, 1, zero, ", the zero of its cosine")
    drawn = raised_cosine(stream, zero, size)
    while (beyond := np.flatnonzero(np.abs(drawn) >= N)).size:
        drawn[beyond] = raised_cosine(stream, zero, beyond.size)
    return drawn


def chances(m: Any, N: int) -> Any:
    """The chances p(m) as floats, of an integer or of an array."""
    angle = m * (math.pi / N)
    return 0.5 * (1.0 + (math.cos(angle) if isinstance(angle, float) else np.cos(angle)))


def _one(stream: Stream, N: int) -> int:
    m = one_uniform(stream, N)
    return m if falls(stream, chances(m, N), partial(_exactly([m], N), 0)) else m - N


def _exactly(m: Integers | list[int], N: int) -> Callable[[int, int], Bounds]:
    """The chances p(m) to any number of digits."""

    def chance(i: int, digits: int) -> Bounds:
        from unworn.noise.tails import cosine_chance

        return cosine_chance(N, int(m[i]), digits)

    return chance
