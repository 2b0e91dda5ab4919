"""Guesses checked with noise, where many surprises are planned: right ones cost nothing, and wrong ones little.

Whether the rows agree with a guess is drawn with chances that change little from one count to the next, and a surprise
is followed by the count with noise, in the same entry (:mod:`unworn.bounds.noisy_agreement`, Theorem U). Which side of
the guess the rows lie on is not told by a word of its own: the noisy count says it better.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

from unworn.basics.frozen_init import assign_fields
from unworn.bounds.covers import cosine_nats
from unworn.bounds.noisy_agreement import (
    agreement_reach,
    choose_agreement,
    doubled_plan,
    needless_chance,
    planned_share,
    surprise_nats,
    threshold_below,
)
from unworn.events import Matched
from unworn.mechanisms.coded.coded_mechanism import OUTSIDE, REST_NATS, SPARE_NATS, failure_nats, price_offer
from unworn.mechanisms.coded.coded_payloads import CodedPayload
from unworn.mechanisms.contract.mechanism import MOST_ASKS, Offer, State, Symbol, has_failed
from unworn.noise import Stream
from unworn.queries.query import Facts

_USUAL_ASKS = 1_000
"""For how many asks agreement is made where nobody planned them; for twice as many once they are asked."""


@assign_fields
@dataclass(frozen=True, slots=True)
class NoisyCheckPayload(CodedPayload):
    """Agreement with the guess is told at chances that change by at most e^rate from one count to the next; what does
    not agree is answered by the count with noise below ``radius``, one of ``steps`` to the length of the range."""

    is_rounded = may_be_rounded = True

    guess: float = field()
    slack: float = 0.0
    steps: int = 0
    place: tuple[str, float, float, int, int] | None = None
    kept: float = 0.0
    radius: int = 0
    rate: float = 0.0

    def check(self, rows: int) -> None:
        CodedPayload.check(self, rows)
        if not (self.rate > 0 and self.radius):
            raise ValueError("no guess is checked with noise like this")

    def numbers(self) -> dict[str, Any]:
        return {**CodedPayload.numbers(self), "rate": self.rate}


def check_planned_surprises(surprises: int, law: str | None) -> None:
    """Refuse a number of surprises that nobody can plan, or that Theorem C has no price for."""
    if isinstance(surprises, bool) or not 1 <= surprises <= MOST_ASKS:
        raise ValueError(f"surprises is a whole number from 1 to {MOST_ASKS:,}, not {surprises!r:.40}")
    if law == "C":
        raise ValueError("Theorem C has no price for agreement that is told with noise: leave out surprises=")


def is_checked_with_noise(facts: Facts, state: State) -> bool:
    """Whether Theorem U has a price for it: means over rows, of rows sealed under C', that no code computes."""
    plain = facts.kind in ("binary", "unit") and facts.null is None and not facts.runs_code
    return plain and state.pattern is not None


def noisy_check_offer(
    state: State, facts: Facts, position: int, guess: float, surprises: int, nats: float, error: float
) -> Offer | None:
    """The offer to check a guess with noise, after so many nats in all; none where that cannot be priced.

    ``error`` is the standard error of guess and holdout together. More surprises than were planned, or more asks, are
    taken for the half of a plan that is twice as long.
    """
    state.index(position)  # refuses an ask past the plan before anything is worked out for it
    asks = state.planned or doubled_plan(_USUAL_ASKS, state.asked)
    expected = min(doubled_plan(surprises, planned_share(state.surprises)), asks)
    kept, rate, radius = choose_agreement(state.rows, nats, expected, asks, state.kept)
    # The price may take a while, and is worked out before rows are touched.
    if not math.isfinite(cosine_nats(state.rows, kept, radius)):
        return None
    kappa, spread = surprise_nats(state.rows, kept, rate), state.rows * error / facts.span
    reach = min(agreement_reach(kappa, rate, spread, needless_chance(expected, asks)), state.rows)
    slack = facts.span * reach / state.rows
    return price_offer(state, facts, position, NoisyCheckPayload(guess, slack, state.rows, OUTSIDE, kept, radius, rate))


def draw_agreement(offer: Offer, payload: NoisyCheckPayload, count: int, noise: Stream) -> bool:
    """Whether so many rows are said to agree with the guess: drawn exactly, from words of the holdout's key."""
    from unworn.noise.private_selection import exponential

    guess, reach = guessed_count(offer, payload), agreeing_reach(offer, payload)
    threshold = threshold_below(reach, surprise_nats(offer.rows, payload.kept, payload.rate), payload.rate)
    scores = [0, count - guess - threshold, guess - threshold - count]
    # Drawn also where it is sure: a surprise must not take less time for that.
    drawn = exponential(noise, scores, payload.rate) == 0
    return drawn and abs(count - guess) <= reach


def matched_cost(offer: Offer, payload: NoisyCheckPayload, symbol: Symbol) -> tuple[bool, float]:
    """Whether a symbol is a surprise, and its nats: agreement has none, but for what failures are set aside."""
    if has_failed(symbol):
        return False, failure_nats(offer, symbol, SPARE_NATS)
    if not isinstance(symbol, list):
        return False, REST_NATS
    noise = cosine_nats(offer.rows, payload.kept, payload.radius)
    return True, surprise_nats(offer.rows, payload.kept, payload.rate) + noise + REST_NATS


def matched_event(offer: Offer, payload: NoisyCheckPayload, symbol: Symbol) -> Matched:
    surprise, nats = matched_cost(offer, payload, symbol)
    return Matched(surprise, payload.kept, nats)


def after_matched(state: State, event: Matched) -> State:
    if not state.kept <= event.kept < 1.0:
        raise TypeError("what Theorem U keeps never falls")
    return replace(state.further(event.surprise, event.nats), kept=event.kept)


def guessed_count(offer: Offer, payload: NoisyCheckPayload) -> int:
    """The whole number of rows that the guess says."""
    return min(max(round(offer.rows * (payload.guess - offer.low) / offer.span), 0), offer.rows)


def agreeing_reach(offer: Offer, payload: NoisyCheckPayload) -> int:
    """How many rows from that a count can be which is said to agree."""
    return round(offer.rows * payload.slack / offer.span)
