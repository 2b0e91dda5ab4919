"""Gaussian noise: the classic, whose privacy adds up exactly."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from unworn.events import Noised
from unworn.mechanisms.noisy import Noisy
from unworn.noise import Stream

_FINE = 4096
"""The least number of steps to a standard deviation: rounding then adds nothing one could see."""


@dataclass(frozen=True)
class Gaussian(Noisy):
    """The share of rows plus N(0, ``scale``²), rounded to a fine grid.

    Rounding is done to the noisy value, never to the noise alone, so the answer is as private as with the continuous
    normal, exactly: k answers are μ-GDP with μ = √k / (n·scale), whatever the analyst does.

    Examples
    --------
    >>> from unworn.queries.query import Facts
    >>> noisy = Gaussian.for_(rows=100_000, asks=6_600)
    >>> state = noisy.begin(100_000, 0.95, asks=6_600)
    >>> round(noisy.widest(noisy.offer(state, Facts("binary", 0.0, 1.0, True), None)), 2)
    0.1

    References
    ----------
    Dong, Roth and Su, "Gaussian differential privacy", JRSS B 2022; Smith and Thakurta 2022.
    """

    certificate: ClassVar[str] = "D2 Gaussian"

    def noised(self, rows: int) -> Noised:
        return Noised("gaussian", rows * (self.scale or 0.0))

    def largest(self, rows: int, asks: int, beta: float) -> float:
        from unworn.bounds.extremes import largest_gaussian

        return (self.scale or 0.0) * largest_gaussian(asks, beta) + 0.5 / self.steps(rows)

    def best(self, rows: int, asks: int, beta: float) -> tuple[float, float]:
        scale, width = super().best(rows, asks, beta)
        return scale, width + 0.5 / Gaussian(scale).steps(rows)

    def draw(self, rows: int, noise: Stream) -> int:
        from unworn.noise.gaussian import gaussian

        fine = self.steps(rows) // rows
        return int(gaussian(noise, fine * self.noised(rows).scale, 1)[0])

    def steps(self, rows: int) -> int:
        return rows << max(0, math.ceil(math.log2(_FINE / self.noised(rows).scale)))
