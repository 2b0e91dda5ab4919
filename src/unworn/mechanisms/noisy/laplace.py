"""Laplace noise: private without any exception, at the cost of heavier tails."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from unworn.events import Noised
from unworn.mechanisms.noisy.noisy_mechanism import Noisy
from unworn.noise import Stream


@dataclass(frozen=True)
class Laplace(Noisy):
    """The count of rows plus discrete Laplace noise, P(m) ∝ exp(−|m| / (n·scale)).

    Each answer is ε-private with ε = 1/(n·scale) and no δ at all; k of them compose as k coins of randomised
    response, which is known exactly.

    Examples
    --------
    >>> from unworn.mechanisms.contract.conversation import likely_width
    >>> from unworn.queries.query import Facts
    >>> noisy = Laplace.for_(rows=100_000, asks=1_000)
    >>> state = noisy.begin(100_000, 0.95, asks=1_000)
    >>> 0.05 < likely_width(noisy, noisy.offer(state, Facts("binary", 0.0, 1.0, True), None)) < 0.1
    True

    References
    ----------
    Dwork, McSherry, Nissim and Smith 2006; Kairouz, Oh and Viswanath 2015 for the composition.
    """

    certificates: ClassVar[tuple[str, ...]] = ("D2 Laplace",)

    def noised(self, rows: int) -> Noised:
        return Noised("laplace", rows * (self.scale or 0.0))

    def largest(self, rows: int, asks: int, beta: float) -> float:
        from unworn.bounds.extremes import largest_laplace

        return largest_laplace(self.noised(rows).scale, asks, beta) / rows

    def draw(self, rows: int, noise: Stream) -> int:
        from unworn.noise.discrete_laplace import laplace

        return int(laplace(noise, self.noised(rows).scale, 1)[0])
