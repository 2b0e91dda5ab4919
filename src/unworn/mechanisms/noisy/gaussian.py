"""Gaussian noise: the classic, whose privacy adds up exactly."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from unworn.events import Noised
from unworn.mechanisms.contract.mechanism import Offer
from unworn.mechanisms.noisy.noisy_mean import Accounting, NoisyMean
from unworn.mechanisms.noisy.noisy_verdicts import further_nats
from unworn.mechanisms.noisy.privacy_price import PlannedNoisePayload
from unworn.noise import Stream

if TYPE_CHECKING:
    from unworn.bounds.noisy_means import NoisyPlan

_FINE = 4096
"""The least number of steps to a standard deviation: rounding then adds nothing one could see."""


@dataclass(frozen=True)
class Gaussian(NoisyMean):
    """The share of rows plus N(0, ``scale``²), rounded to a fine grid.

    The noisy value is rounded, never the noise alone, so the answer is exactly as private as with the continuous normal
    distribution: k answers are μ-GDP with μ = √k / (n·scale), whatever the analyst does. As noisy means they cost
    (1 - π)/(8πn·scale²) nats each, where π is the share of rows kept in the proof (Theorem F).

    Examples
    --------
    >>> from unworn.mechanisms.contract.conversation import likely_width
    >>> from unworn.queries.query import Facts
    >>> noisy = Gaussian.for_(rows=100_000, asks=34_000)
    >>> state = noisy.begin(100_000, 0.95, asks=34_000)
    >>> round(likely_width(noisy, noisy.offer(state, Facts("binary", 0.0, 1.0, True), None)), 2)
    0.1

    References
    ----------
    Dong, Roth and Su, "Gaussian differential privacy", JRSS B 2022; Smith and Thakurta 2022.
    """

    certificates: ClassVar[tuple[str, ...]] = ("F Gaussian", "D2 Gaussian")

    def noised(self, rows: int) -> Noised:
        return Noised("gaussian", rows * (self.scale or 0.0))

    def largest(self, rows: int, asks: int, beta: float) -> float:
        from unworn.bounds.extremes import largest_gaussian

        return (self.scale or 0.0) * largest_gaussian(asks, beta) + 0.5 / self.steps(rows)

    def best_by(self, accounting: Accounting, rows: int, asks: int, beta: float) -> tuple[float, float]:
        scale, width = super().best_by(accounting, rows, asks, beta)
        return scale, width + 0.5 / Gaussian(scale).steps(rows)

    def answer_nats(self, rows: int, kept: float) -> float:
        from unworn.bounds.covers import gaussian_nats

        return gaussian_nats(rows, kept, self.noised(rows).scale)

    def noisy_plan(self, rows: int, asks: int, beta: float) -> NoisyPlan:
        from unworn.bounds.noisy_means import gaussian_plan

        found = gaussian_plan(rows, asks, beta, self.noised(rows).scale)
        return replace(found, width=found.width + 0.5 / self.steps(rows))

    def mean_limits(self, offer: Offer, payload: PlannedNoisePayload, symbol: int) -> tuple[float, float]:
        from unworn.bounds.noisy_means import mean_limits

        noise, kept, nats = payload.price
        planned = nats - further_nats(offer) / (1.0 - kept)
        return mean_limits(symbol / payload.steps, noise, offer.rows, nats, planned=planned)

    def draw(self, rows: int, noise: Stream) -> int:
        from unworn.noise.rounded_gaussian import gaussian

        fine = self.steps(rows) // rows
        return int(gaussian(noise, fine * self.noised(rows).scale, 1)[0])

    def steps(self, rows: int) -> int:
        return rows << max(0, math.ceil(math.log2(_FINE / self.noised(rows).scale)))
