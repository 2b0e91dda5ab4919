"""What mechanisms with a secret threshold share: only whether a noisy count is above it is told.

Being below is nearly free, however often it is asked; only the answers "above" are counted, and after so many of them
the run ends. The threshold's noise is secret and outlives an ask: it is drawn again from the holdout's key each time,
and never stored. Prices come from the plan, once, as for all noisy answers.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar

from unworn.basics.frozen_init import assign_fields
from unworn.errors import Exhausted
from unworn.events import Crossed, Event
from unworn.mechanisms.contract.conversation import refuse_statistics
from unworn.mechanisms.contract.mechanism import Guess, Offer, Reply, State, Symbol
from unworn.mechanisms.noisy.noisy_mechanism import number
from unworn.mechanisms.noisy.privacy_price import PlannedNoisePayload, PricedMechanism, noise_payload, price
from unworn.noise import Stream
from unworn.queries.query import Facts, Query
from unworn.queries.row_protocol import Rows

if TYPE_CHECKING:
    from unworn.bounds.privacy import Profile
    from unworn.bounds.sparse.sparse_vector_bounds import Run
    from unworn.bounds.transfer import Price

_MOST_NOISE = 2.0**52
BELOW = "below"
"""The symbol for a count that was not above: the only one that can be told without end."""


@assign_fields
@dataclass(frozen=True, slots=True)
class ThresholdPayload(PlannedNoisePayload):
    """Besides the price: by which share (``slack``) the rows themselves can be on the wrong side of the threshold."""

    slack: float = 0.0


@dataclass(frozen=True)
class Threshold(PricedMechanism):
    """A noisy count is held against a noisy threshold; what was above ends the threshold."""

    currency: ClassVar[str] = "tops"

    # ------------------------------------------------------------------ what each mechanism says of itself

    @property
    @abstractmethod
    def limit(self) -> int:
        """How often "above" may be told."""

    @abstractmethod
    def run(self, rows: int) -> Run:
        """The noise, in rows."""

    @abstractmethod
    def compared(self, offer: Offer, count: int) -> tuple[int, int]:
        """What is held against what: a whole number that one row changes by one at most, and the public threshold."""

    @abstractmethod
    def released_count(self, offer: Offer, count: int, noise: Stream) -> Symbol:
        """What is released of a count that was above."""

    # ------------------------------------------------------------------ the plan

    def profile(self, rows: int, asks: int) -> Profile:
        from unworn.bounds.sparse.crossing import within
        from unworn.bounds.sparse.sparse_vector_bounds import run_profile

        return run_profile(within(self.run(rows), asks))

    def largest(self, rows: int, asks: int, beta: float) -> float:
        from unworn.bounds.sparse.crossing import largest_error

        return largest_error(self.run(rows), asks, beta) / rows

    def begin(self, rows: int, confidence: float, asks: int | None = None) -> State:
        state = super().begin(rows, confidence, asks)
        if max(self.run(rows).threshold, self.run(rows).question) > _MOST_NOISE:
            raise ValueError(
                f"{type(self).__name__} would draw noise of more than 2**52 rows: "
                "take a larger epsilon, or a smaller scale"
            )
        price(replace(self, price=None), rows, asks or 1, state.log_beta)
        return state

    # ------------------------------------------------------------------ one ask

    def check(self, facts: Facts) -> None:
        super().check(facts)
        if facts.kind == "statistic":
            refuse_statistics(self, facts)

    def after(self, state: State, event: Event) -> State:
        if not isinstance(event, Crossed):
            raise TypeError(f"{type(self).__name__} does not know the event {event!r}")
        return self.passed(state, event.above)

    def passed(self, state: State, above: bool) -> State:
        """One more ask; what was above is counted, and a threshold that ends is named by the next one's first ask."""
        asked = state.asked + 1
        if not above:
            return replace(state, asked=asked)
        fresh = asked if self.run(state.rows).fresh else state.round
        return replace(state, asked=asked, surprises=state.surprises + 1, round=fresh)

    def spent(self, state: State) -> float:
        return float(state.surprises)

    def prices(self, offer: Offer) -> tuple[float, float]:
        return 0.0, 1.0

    def offer(self, state: State, facts: Facts, guess: Guess | None, position: int = 0) -> Offer:
        index = state.index(position)
        left = self.limit - state.surprises
        if left <= position:
            # Decided before any answer of the batch: which of them come out above is for the rows to say.
            fix = (
                "Seal fresh rows, or allow for more next time."
                if left <= 0
                else f"All of a batch may come out above: ask at most {left:,} together."
            )
            raise Exhausted(
                f"{state.surprises:,} of {self.limit:,} answers above the threshold have been given.\n  {fix}",
                tops=state.surprises,
                planned=self.limit,
                asked=state.asked,
            )
        error = _empirical(self, state.rows, state.planned or 1, state.log_beta)
        offer = self.priced(state, index, facts, state.rows)
        planned = noise_payload(offer)
        return offer.with_payload(ThresholdPayload(planned.steps, planned.price, planned.sensitivity, error))

    def answer(self, state: State, offer: Offer, query: Query, rows: Rows, noise: Stream | None = None) -> Reply:
        if noise is None:
            raise TypeError(f"{type(self).__name__} draws noise from the holdout's key, and was given none")
        from unworn.noise.discrete_laplace import laplace

        run = self.run(offer.rows)
        count = rows.rounded([query], [noise])[0]
        held, level = self.compared(offer, count)
        secret = int(laplace(noise.beside("threshold", state.round), run.threshold, 1)[0])
        above = held + int(laplace(noise, run.question, 1)[0]) >= level + secret
        symbol = self.released_count(offer, count, noise) if above else BELOW
        return Reply(symbol, self.event(offer, symbol))

    def event(self, offer: Offer, symbol: Symbol) -> Event:
        return Crossed(symbol != BELOW)

    def numbers(self, offer: Offer) -> dict[str, float]:
        return {
            **super().numbers(offer),
            "epsilon": self.run(offer.rows).epsilon,
            "tops": self.limit,
            "empirical_error": threshold_payload(offer).slack,
        }

    def likely(self, offer: Offer) -> Symbol:
        return BELOW


@lru_cache(maxsize=256)
def _empirical(mechanism: Threshold, rows: int, asks: int, log_beta: float) -> float:
    """By which share the rows themselves can be on the wrong side, with the plan's confidence."""
    from unworn.bounds.sparse.sparse_vector_bounds import empirical_error

    return empirical_error(mechanism.run(rows), asks, math.exp(log_beta)) / rows


def threshold_payload(offer: Offer) -> ThresholdPayload:
    """That of an answer about a threshold."""
    if not isinstance(offer.payload, ThresholdPayload):
        raise TypeError("an answer about a threshold has a price, and says how far the rows may be on its wrong side")
    return offer.payload


def paid_for(payload: PlannedNoisePayload) -> Price:
    """The price an offer was made at."""
    from unworn.bounds.transfer import Price

    return Price(*payload.price)


def released_count(symbol: Symbol) -> int:
    """The count that was released, if it is one: a symbol of a ledger may be anything."""
    if isinstance(symbol, bool) or not isinstance(symbol, int):
        raise TypeError(f"what is above the threshold is released as a whole number of rows, not as {symbol!r:.40}")
    return symbol


def check_share(name: str, value: float | None, low: float = 0.0, high: float = 1.0) -> None:
    if value is not None and not low <= number(name, value) <= high:
        raise ValueError(f"{name} is a share of the range, in [{low:g}, {high:g}], not {value!r}")


def check_positive(name: str, value: float | None, most: float = math.inf) -> None:
    if value is not None and not (0 < number(name, value) <= most and value < math.inf):
        upper = "finite" if most == math.inf else f"at most {most:g}"
        raise ValueError(f"{name} must be above 0 and {upper}, not {value!r}")


def check_yes_no(name: str, value: bool) -> None:
    if not isinstance(value, bool):
        raise ValueError(f"{name} is True or False, not {value!r}")


def check_limit(name: str, value: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError(f"{name} must be a whole number from 1, not {value!r}")
