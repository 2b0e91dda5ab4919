"""Exact comparison of a uniform number with a real number: digits of both are found until they differ.

A uniform number in [0, 1) is an endless row of random bits, and a finite row of them an interval. A real number is an
interval that shrinks as digits are computed. Where two intervals are apart the order of the numbers is certain, and
they are apart after finitely many digits with probability one. A draw decided in this way follows its distribution
exactly: nothing is rounded away, and no distance has to be paid for in delta.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

from unworn.noise.reals import Bounds, precision
from unworn.noise.stream import Stream

Real = Callable[[int], Bounds]
"""A real number: bounds from a number of digits, that close in on it as the digits grow."""
_DIGITS_A_BIT = 0.30103
_GUARD = 8
"""Decimal digits beyond those of the uniform number: so that its own interval, and not the bounds, is what is wide."""


class Uniform:
    """A uniform number in [0, 1) of which ever more binary digits are drawn, as they are needed.

    >>> half = Uniform(2**63, Stream(bytes(32)))
    >>> half.below(lambda digits: (Decimal("0.6"), Decimal("0.6"))), half.bits
    (True, 64)
    """

    def __init__(self, word: int, further: Stream) -> None:
        self._numerator, self._further = word, further
        self.bits = 64
        self._enclose()

    def _enclose(self) -> None:
        self._digits = int(self.bits * _DIGITS_A_BIT) + _GUARD
        whole = Decimal(2**self.bits)
        with precision(self._digits, ROUND_FLOOR):
            self._low = Decimal(self._numerator) / whole
        with precision(self._digits, ROUND_CEILING):
            self._high = Decimal(self._numerator + 1) / whole

    def below(self, real: Real) -> bool:
        """Whether the number is below a real number, which must not depend on it."""
        while True:
            low, high = real(self._digits)
            if self._high <= low:
                return True
            if self._low >= high:
                return False
            self._numerator = (self._numerator << 64) | self._further.word()[1]
            self.bits += 64
            self._enclose()


def search_exactly(number: Uniform, tail: Callable[[int, int], Bounds], guess: int) -> int:
    """The largest m >= 0 with ``number`` < tail(m), for a tail that falls strictly from tail(0) > ``number`` to 0.

    ``tail(m, digits)`` gives bounds. The search doubles its steps away from a guess and then halves them, so that a
    poor guess costs time and never the result.

    >>> number = Uniform(2**57, Stream(bytes(32)))  # 2^-7
    >>> search_exactly(number, lambda m, digits: (Decimal(2) ** -m, Decimal(2) ** -m), guess=2)
    6
    """

    def inside(m: int) -> bool:
        return m <= 0 or number.below(lambda digits: tail(m, digits))

    step = 1
    if inside(guess):
        low, high = guess, guess + 1
        while inside(high):
            low, step = high, 2 * step
            high += step
    else:
        low, high = guess - 1, guess
        while not inside(low):
            high, step = low, 2 * step
            low -= step
    low = max(low, 0)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if inside(middle) else (low, middle)
    return low
