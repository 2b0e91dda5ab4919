"""Bounded noise: never further from the rows than the radius, however many asks; the most answers a row."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from unworn.events import Noised
from unworn.mechanisms.contract.mechanism import Offer, State
from unworn.mechanisms.noisy.noisy_mean import NoisyMean
from unworn.mechanisms.noisy.privacy_price import PlannedNoisePayload
from unworn.noise import Stream

if TYPE_CHECKING:
    from unworn.bounds.noisy_means import NoisyPlan


@dataclass(frozen=True)
class BoundedNoise(NoisyMean):
    """The count of rows plus raised-cosine noise of radius ``scale``: P(m) ∝ 1 + cos(πm/N), |m| < N = n·scale.

    Of all noise on a bounded interval it reveals the least about where its middle is (least Fisher information), and it
    has no tails: the worst of a million answers is no further off than the worst of one. It is priced from its exact
    probabilities: by how much more all rows reveal than a random part of them (Theorem F), or through a privacy-loss
    distribution (D2). Both are rounded pessimistically.

    Examples
    --------
    >>> from unworn.mechanisms.contract.conversation import likely_width
    >>> from unworn.queries.query import Facts
    >>> noisy = BoundedNoise.for_(rows=100_000, asks=86_000)
    >>> state = noisy.begin(100_000, 0.95, asks=86_000)
    >>> round(likely_width(noisy, noisy.offer(state, Facts("binary", 0.0, 1.0, True), None)), 2)
    0.1

    References
    ----------
    Dagan and Kur 2022, Ghazi, Kumar and Manurangsi 2021 for bounded noise; docs/theory/noisy-means.md (proved there; no
    published source is known to us) and docs/theory/transfer.md.
    """

    certificates: ClassVar[tuple[str, ...]] = ("F bounded", "D2 bounded")
    signal: ClassVar[float] = math.pi

    def noised(self, rows: int) -> Noised:
        return Noised("cosine", max(1, math.floor(rows * (self.scale or 0.0) + 1e-6)))

    def begin(self, rows: int, confidence: float, asks: int | None = None) -> State:
        if self.scale is not None and self.noised(rows).scale < 2:
            raise ValueError(
                f"noise of scale {self.scale:.3g} is none at all with {rows:,} rows: bring more rows, plan fewer asks, "
                f"or give a scale of {2 / rows:.3g} or more"
            )
        return super().begin(rows, confidence, asks)

    def rate(self, rows: int) -> float:
        return self.signal / self.noised(rows).scale

    def largest(self, rows: int, asks: int, beta: float) -> float:
        return (self.noised(rows).scale - 1) / rows

    def answer_nats(self, rows: int, kept: float) -> float:
        from unworn.bounds.covers import cosine_nats

        return cosine_nats(rows, kept, int(self.noised(rows).scale))

    def noisy_plan(self, rows: int, asks: int, beta: float) -> NoisyPlan:
        from unworn.bounds.noisy_means import cosine_plan

        return cosine_plan(rows, asks, beta, int(self.noised(rows).scale))

    def mean_limits(self, offer: Offer, payload: PlannedNoisePayload, symbol: int) -> tuple[float, float]:
        from unworn.bounds.noisy_means import count_limits

        noise, _, nats = payload.price
        reach = math.ceil(noise * offer.rows - 1e-6)  # a whole number, that was divided by the rows
        if not -reach <= symbol <= offer.rows + reach:
            return 0.0, 1.0  # no rows say this
        return count_limits(symbol - reach, symbol + reach, offer.rows, nats)

    def draw(self, rows: int, noise: Stream) -> int:
        from unworn.noise.cosine import raised_cosine

        return int(raised_cosine(noise, int(self.noised(rows).scale), 1)[0])
