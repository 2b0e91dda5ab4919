"""Bounded noise: never further from the rows than the radius, however many asks; the most answers a row."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar, Self

from unworn.events import Noised
from unworn.mechanisms.contract.mechanism import Offer, State
from unworn.mechanisms.noisy.noisy_mean import NoisyMean
from unworn.mechanisms.noisy.privacy_price import PlannedNoisePayload
from unworn.noise import Stream

if TYPE_CHECKING:
    from unworn.bounds.noisy_means import NoisyPlan

_FURTHEST = 2**23
"""Rows, at which a cosine that is cut off may reach 0 at the furthest: wider noise is not priced by Theorem F."""


@dataclass(frozen=True)
class BoundedNoise(NoisyMean):
    """The count of rows plus raised-cosine noise of radius ``scale``: P(m) ∝ 1 + cos(πm/M), |m| < N = n·scale.

    Of all noise on a bounded interval it reveals the least about where its middle is (least Fisher information), and it
    has no tails: the worst of a million answers is no further off than the worst of one. It is priced from its exact
    probabilities: by how much more all rows reveal than a random part of them (Theorem F), or through a privacy-loss
    distribution (D2). Both are rounded pessimistically. Under D2 the cosine reaches 0 at its radius, M = N. Under F it
    is cut off there, and would have reached 0 a little further out: it then costs as little as if it went so far.

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
    law: ClassVar[tuple[str, ...]] = ("cosine_zero",)

    cosine_zero: int | None = field(default=None, kw_only=True)
    """The M above, in rows, where the cosine is cut off; None where it is not."""

    def __post_init__(self) -> None:
        super().__post_init__()
        zero = self.cosine_zero
        if zero is None:
            return
        if isinstance(zero, bool) or not isinstance(zero, int) or not 2 <= zero <= _FURTHEST:
            raise ValueError(f"cosine_zero is a whole number from 2 to {_FURTHEST:,} (rows), or None, not {zero!r:.40}")
        if self.accounting != "F" or self.scale is None:
            raise ValueError("noise that is cut off is priced by Theorem F alone, at a given scale: say accounting='F'")

    def noised(self, rows: int) -> Noised:
        radius = max(1, math.floor(rows * (self.scale or 0.0) + 1e-6))
        return Noised("cosine" if self.cosine_zero is None else "cut cosine", radius)

    def choose_law(self, rows: int, asks: int, beta: float) -> Self:
        from unworn.bounds.noisy_means import best_zero

        radius = int(self.noised(rows).scale)
        if self.cosine_zero is not None or not 2 <= radius < _FURTHEST // 2:
            return self
        zero = best_zero(rows, asks, beta, radius)
        return replace(self, cosine_zero=zero) if radius < zero <= _FURTHEST else self

    def begin(self, rows: int, confidence: float, asks: int | None = None) -> State:
        if self.scale is not None and self.noised(rows).scale < 2:
            raise ValueError(
                f"noise of scale {self.scale:.3g} is no noise at all with {rows:,} rows: bring more rows, plan fewer "
                f"asks, or give a scale of {2 / rows:.3g} or more"
            )
        if self.cosine_zero is not None and self.cosine_zero < self.noised(rows).scale:
            raise ValueError(
                f"a cosine that is 0 at {self.cosine_zero:,} rows has no value beyond, and the noise would reach "
                f"{self.noised(rows).scale - 1:,}: give a smaller scale, or leave cosine_zero to the plan"
            )
        return super().begin(rows, confidence, asks)

    def rate(self, rows: int) -> float:
        return self.signal / self.noised(rows).scale

    def largest(self, rows: int, asks: int, beta: float) -> float:
        return (self.noised(rows).scale - 1) / rows

    def answer_nats(self, rows: int, kept: float) -> float:
        from unworn.bounds.covers import cosine_nats

        return cosine_nats(rows, kept, int(self.noised(rows).scale), self.cosine_zero)

    def noisy_plan(self, rows: int, asks: int, beta: float) -> NoisyPlan:
        from unworn.bounds.noisy_means import cosine_plan

        return cosine_plan(rows, asks, beta, int(self.noised(rows).scale), self.cosine_zero)

    def mean_limits(self, offer: Offer, payload: PlannedNoisePayload, symbol: int) -> tuple[float, float]:
        from unworn.bounds.noisy_means import count_limits

        noise, _, nats = payload.price
        reach = math.ceil(noise * offer.rows - 1e-6)  # a whole number, that was divided by the rows
        if not -reach <= symbol <= offer.rows + reach:
            return 0.0, 1.0  # no rows say this
        return count_limits(symbol - reach, symbol + reach, offer.rows, nats)

    def draw(self, rows: int, noise: Stream) -> int:
        from unworn.noise.cosine import cut_cosine, raised_cosine

        radius = int(self.noised(rows).scale)
        if self.cosine_zero is None:
            return int(raised_cosine(noise, radius, 1)[0])
        return int(cut_cosine(noise, radius, self.cosine_zero, 1)[0])
