"""A guess held against a secret threshold: what agrees is answered by the guess, what does not by a noisy count."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Self

from unworn.basics.frozen_init import assign_fields
from unworn.errors import Unaskable
from unworn.mechanisms.contract.capabilities import BoundsWidth
from unworn.mechanisms.contract.conversation import published_width
from unworn.mechanisms.contract.mechanism import Guess, Offer, Published, State, Symbol
from unworn.mechanisms.noisy.noisy_mechanism import check_goal
from unworn.mechanisms.noisy.privacy_price import PlannedNoisePayload, price
from unworn.mechanisms.threshold.secret_threshold import (
    BELOW,
    Threshold,
    ThresholdPayload,
    paid_for,
    released_count,
    threshold_payload,
)
from unworn.noise import Stream
from unworn.queries.query import Facts

if TYPE_CHECKING:
    from unworn.bounds.sparse.sparse_vector_bounds import Run


@assign_fields
@dataclass(frozen=True, slots=True)
class CheckedGuessPayload(ThresholdPayload):
    """Besides: the guess that the rows are compared with."""

    guess: float = 0.0


@dataclass(frozen=True)
class CheckedGuess(Threshold, BoundsWidth):
    """The distance of the count from a guess against a threshold; noise in multiples of one unit of rows: 2, 4, …"""

    value_noise: ClassVar[float]
    """The scale of a released count's noise, in units."""
    agreed: ClassVar[str] = "guess"
    """The source of an answer that is the guess."""

    threshold: float | None = None

    @property
    @abstractmethod
    def unit(self) -> float | None:
        """Half the scale of the threshold's noise, in rows or as a share of them; None where the plan is to choose."""

    @abstractmethod
    def in_rows(self, rows: int) -> float:
        """That unit, in rows."""

    @abstractmethod
    def of_unit(self, unit: float, rows: int) -> Self:
        """The same configuration with that unit, in rows."""

    @property
    def tolerated(self) -> float | None:
        """How far, as a share, right guesses may be from the rows; None for what sampling explains."""
        return None

    def run(self, rows: int) -> Run:
        from unworn.bounds.sparse.sparse_vector_bounds import Run

        unit = self.in_rows(rows)
        return Run(2.0 * unit, 4.0 * unit, self.value_noise * unit, self.limit)

    def level(self, rows: int) -> int:
        return round((self.threshold or 0.0) * rows)

    def offer(self, state: State, facts: Facts, guess: Guess | None, position: int = 0) -> Offer:
        if guess is None:
            raise Unaskable(
                f"{type(self).__name__} checks a guess against the rows, and this question came with none: "
                "give guess=, or Holdout(train=...) to guess from"
            )
        offer = super().offer(state, facts, guess, position)
        told = threshold_payload(offer)
        payload = CheckedGuessPayload(told.steps, told.price, told.sensitivity, told.slack, guess.value)
        return offer.with_payload(payload)

    def compared(self, offer: Offer, count: int) -> tuple[int, int]:
        return abs(count - guessed_rows(offer)), self.level(offer.rows)

    def released_count(self, offer: Offer, count: int, noise: Stream) -> Symbol:
        from unworn.noise import discrete_laplace

        return count + int(discrete_laplace.laplace(noise, self.value_noise * self.in_rows(offer.rows), 1)[0])

    def reveal_noisy(self, offer: Offer, payload: PlannedNoisePayload, symbol: Symbol) -> Published:
        paid, rows, reach = paid_for(payload), offer.rows, offer.high - offer.low
        if symbol == BELOW:
            value = checked_payload(offer).guess
            low, high = replace(paid, noise=paid.noise + self.level(rows) / rows).limits(guessed_rows(offer) / rows)
        else:
            value = offer.low + reach * released_count(symbol) / rows
            low, high = paid.limits(released_count(symbol) / rows)
        low, high = offer.low + reach * low, min(offer.low + reach * high, offer.high)
        value = min(max(value, offer.low), offer.high)
        # A guess is compared in whole rows, and may lie half of one beside its interval.
        return Published(value, min(low, value), max(high, value), self.agreed if symbol == BELOW else "noise")

    def widest(self, offer: Offer) -> float:
        return max(published_width(self, offer, BELOW), published_width(self, offer, offer.rows // 2))

    def chosen(self, rows: int, asks: int, beta: float) -> Self:
        """Noise for the narrowest answers, and a threshold that no right guess passes, but with probability ``beta``.

        A guess is right that is as far from the rows as ``tolerated``.
        """
        from unworn.bounds.sparse.crossing import best_factor, false_alarm

        found = self
        if self.unit is None:
            one = self.of_unit(1.0, rows).run(rows)
            found = self.of_unit(best_factor(one, rows, asks, beta, cleared=self.threshold is None), rows)
        if found.threshold is not None:
            return found
        honest = 4.0 * math.sqrt(0.5 / rows) if self.tolerated is None else self.tolerated
        level = honest + (false_alarm(found.run(rows), asks, beta) + 1.0) / rows
        return replace(found, threshold=min(1.0, level))

    @classmethod
    def for_(cls, *, rows: int, asks: int, width: float | None = None, confidence: float = 0.95) -> Self:
        """Noise and threshold that make the intervals around right guesses narrowest."""
        best = cls().settled(rows, confidence, asks)
        check_goal(cls.__name__, best.reach(rows, asks, confidence), width, rows, asks)
        return best

    def reach(self, rows: int, asks: int, confidence: float = 0.95) -> float:
        """The half-width, as a share, that no answer of a plan passes."""
        return self.level(rows) / rows + price(self, rows, asks, math.log1p(-confidence)).width


@dataclass(frozen=True)
class PrivatelyCheckedGuess(CheckedGuess):
    """The same, with noise that follows from what one threshold may reveal of one row."""

    value_noise: ClassVar[float] = 4.0

    epsilon: float | None = None

    @property
    def unit(self) -> float | None:
        return None if self.epsilon is None else 1.0 / self.epsilon

    def in_rows(self, rows: int) -> float:
        return self.unit or 1.0

    def of_unit(self, unit: float, rows: int) -> Self:
        return replace(self, epsilon=1.0 / unit)


def checked_payload(offer: Offer) -> CheckedGuessPayload:
    """That of an answer about a guess."""
    if not isinstance(offer.payload, CheckedGuessPayload):
        raise TypeError("a guess is held against the threshold, and this offer has none")
    return offer.payload


def guessed_rows(offer: Offer) -> int:
    """The guess in whole rows: public, so rounding it costs nothing."""
    share = (checked_payload(offer).guess - offer.low) / (offer.high - offer.low)
    return round(share * offer.rows)
