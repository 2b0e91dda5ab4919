"""A sum of floats that is kept exactly, so that the order in which it is added up does not matter."""

from __future__ import annotations

import math
from collections.abc import Iterable


class Exact:
    """Floats that do not overlap, and whose sum is the sum so far (Shewchuk 1997): a few, however many are added.

    >>> sum = Exact()
    >>> for number in (1e16, 1.0, -1e16):
    ...     sum.add(number)
    >>> sum.total
    1.0
    """

    __slots__ = ("parts",)

    def __init__(self) -> None:
        self.parts: list[float] = []

    def add(self, number: float) -> None:
        parts, kept = self.parts, 0
        for part in parts:
            large, small = (number, part) if abs(number) >= abs(part) else (part, number)
            number = large + small
            rest = small - (number - large)
            if rest:
                parts[kept] = rest
                kept += 1
        parts[kept:] = [number]

    @classmethod
    def of(cls, several: Iterable[Exact]) -> Exact:
        """The sum of sums."""
        made = cls()
        for exact in several:
            for part in exact.parts:
                made.add(part)
        return made

    @property
    def total(self) -> float:
        """The float nearest to the sum."""
        return math.fsum(self.parts)
