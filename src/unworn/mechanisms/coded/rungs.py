"""The rungs of a ladder: equal steps over a score's range, from its worst end up."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Rungs:
    """Rung j is reached by scores at least j steps better than the worst there is; the steps are shares of the range.

    >>> accuracy = Rungs(0.0, 1.0, step=0.25, higher=True)
    >>> [accuracy.of(score) for score in (0.0, 0.24, 0.25, 0.99, 1.0)]
    [0, 0, 1, 3, 3]
    >>> loss = Rungs(0.0, 2.0, step=0.25, higher=False)
    >>> loss.of(1.5), loss.of(1.51), loss.cell(1)
    (1, 0, (1.0000000000000002, 1.5))
    >>> Rungs(0.0, 1.0, step=0.05, higher=True).of(0.85)
    17
    """

    low: float
    high: float
    step: float
    higher: bool

    @cached_property
    def count(self) -> int:
        """How many there are. The last step may be shorter."""
        return max(1, math.ceil(1 / self.step - 1e-9))

    def edge(self, rung: int) -> float:
        """The score at which a rung is reached; past the last one, the best end of the range."""
        if rung >= self.count:
            return self.high if self.higher else self.low
        # Where the steps fill the range, 17 of 20 are 0.85 to the last bit; 17 times 0.05 is a hair more.
        parts = self.count if abs(self.count * self.step - 1) < 1e-9 else 1 / self.step
        share = (max(rung, 0) if self.higher else max(parts - max(rung, 0), 0)) / parts
        return self.low + share * (self.high - self.low)

    def of(self, score: float) -> int:
        """The rung that a score has reached: decided by the edges themselves, so that it agrees with its cell."""
        share = (score - self.low) / (self.high - self.low)
        rung = min(max(int((share if self.higher else 1 - share) / self.step), 0), self.count - 1)
        while rung > 0 and not self._reaches(score, rung):
            rung -= 1
        while rung < self.count - 1 and self._reaches(score, rung + 1):
            rung += 1
        return rung

    def cell(self, first: int, last: int | None = None) -> tuple[float, float]:
        """The scores that reach rung ``first`` and not the one after ``last`` (``first`` if it is not given)."""
        top = first if last is None else last
        near, far = self.edge(first), self.edge(top + 1)
        if top < self.count - 1:
            far = math.nextafter(far, near)  # the next rung's own
        return (near, far) if self.higher else (far, near)

    def middle(self, rung: int) -> float:
        return (self.edge(rung) + self.edge(rung + 1)) / 2

    def _reaches(self, score: float, rung: int) -> bool:
        return score >= self.edge(rung) if self.higher else score <= self.edge(rung)
