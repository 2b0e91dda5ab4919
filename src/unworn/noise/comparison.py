"""Coins whose chances are real numbers: floats compare, and exact comparison settles what they cannot."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from unworn.noise.stream import Stream

if TYPE_CHECKING:
    from unworn.noise.reals import Bounds

MARGIN = 2.0**-40
"""How near to a chance a float comparison is not trusted.

The float chances that are given are wrong by less than 2^-52 and the uniform number by less than 2^-53 (the tests
measure it), so the margin is more than 1000 times what is needed, and yet one coin in 5e11 is settled.
"""


def compare_chances(
    stream: Stream, chances: NDArray[np.float64], chance: Callable[[int, int], Bounds]
) -> NDArray[np.bool_]:
    """Coins whose chances are known as floats, and by ``chance(i, digits)`` to any number of digits."""
    fell = np.empty(chances.size, dtype=bool)
    for at, place, words in stream.runs(chances.size):
        apart = (words >> np.uint64(11)).astype(np.float64)  # the highest 53 bits: a float exactly
        apart *= 2.0**-53
        apart -= chances[at]
        np.less(apart, 0.0, out=fell[at])
        for i in (np.abs(apart, out=apart) < MARGIN).nonzero()[0].tolist():
            fell[at.start + i] = _is_below(int(words[i]), stream.beyond(place + i), partial(chance, at.start + i))
    return fell


def falls(stream: Stream, chance: float, exactly: Callable[[int], Bounds]) -> bool:
    """One such coin: an answer takes one, and Python's own arithmetic is quicker for it than arrays are."""
    place, word = stream.word()
    apart = (word >> 11) * 2.0**-53 - chance
    return _is_below(word, stream.beyond(place), exactly) if abs(apart) < MARGIN else apart < 0.0


def _is_below(word: int, further: Stream, exactly: Callable[[int], Bounds]) -> bool:
    from unworn.noise.exact_comparison import Uniform  # seldom needed, and slow to import

    return Uniform(word, further).below(exactly)
