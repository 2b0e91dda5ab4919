"""Sample splitting: every round of questions gets rows of its own, looked at once."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

from unworn.basics.frozen_init import assign_fields
from unworn.errors import Exhausted, Unaskable
from unworn.events import Event, Looked
from unworn.mechanisms.coded.coded_payloads import null_numbers
from unworn.mechanisms.contract.capabilities import AnswersSubsets, ChecksHypotheses, LimitsQuestions, MetersSpending
from unworn.mechanisms.contract.conversation import refuse_statistics
from unworn.mechanisms.contract.mechanism import Guess, Mechanism, Offer, Payload, Published, Reply, State, Symbol
from unworn.mechanisms.symbols.exact_limits import exact_limits
from unworn.mechanisms.symbols.exact_value import exact_value, likely_exact, spread_of
from unworn.mechanisms.symbols.hypothesis_symbols import judge_hypothesis, nominal_level, tested_null
from unworn.noise import Stream
from unworn.queries.query import Facts, Query
from unworn.queries.row_protocol import Rows


@assign_fields
@dataclass(frozen=True, slots=True)
class PartPayload(Payload):
    """Which of how many parts of the rows is looked at, and the hypothesis that is tested on it, if one is."""

    part: tuple[int, int] = field()
    null: tuple[int, float, float] | None = None

    def numbers(self) -> dict[str, Any]:
        return {} if self.null is None else null_numbers(self.null)


@dataclass(frozen=True)
class SampleSplitting(Mechanism, AnswersSubsets, LimitsQuestions, ChecksHypotheses, MetersSpending):
    """Cut the rows into as many random parts as there are rounds, and answer each round exactly on its part.

    Questions of one round (one ``ask_many``) are chosen before any of its answers is seen, so they may share a
    part; with ``rounds=None`` every ask is a round. The union bound over the planned asks does the rest. This is the
    oldest cure, and the baseline for all the others. It needs the number of asks in advance.

    Examples
    --------
    >>> from unworn.mechanisms.contract.conversation import likely_width
    >>> split = SampleSplitting(rounds=4)
    >>> state = split.begin(rows=10_000, confidence=0.95, asks=1_000)
    >>> offer = split.offer(state, Facts("binary", 0.0, 1.0, zero_one=True), None)
    >>> offer.rows, round(likely_width(split, offer), 4)
    (2500, 0.0407)

    References
    ----------
    Folklore; Clopper and Pearson 1934 for the limits of one part.
    """

    theorem: ClassVar[str] = "sample splitting"
    currency: ClassVar[str] = "parts"

    rounds: int | None = None

    def __post_init__(self) -> None:
        if self.rounds is not None and self.rounds < 1:
            raise ValueError(f"rounds must be at least 1, not {self.rounds}")

    def begin(self, rows: int, confidence: float, asks: int | None = None) -> State:
        if asks is None:
            raise ValueError("SampleSplitting divides its confidence among the asks in advance: give Holdout(asks=...)")
        if (self.rounds or asks) > rows:
            raise ValueError(f"{rows} rows cannot be cut into {self.rounds or asks} parts: plan fewer asks or rounds")
        return super().begin(rows, confidence, asks)

    def after(self, state: State, event: Event) -> State:
        if not isinstance(event, Looked):
            raise TypeError(f"sample splitting does not know the event {event!r}")
        return replace(state, asked=state.asked + 1, round=event.round + 1)

    def spent(self, state: State) -> float:
        return float(state.round)

    def prices(self, offer: Offer) -> tuple[float, float]:
        return 0.0, 0.0

    def check(self, facts: Facts) -> None:
        refuse_statistics(self, facts)
        if facts.runs_code:
            # It would see all the rows, and whether it fails is a fact about parts that are still to be looked at.
            raise Unaskable(
                "sample splitting shows exact values of one part of the rows, and does not run code on the others: "
                "ask with an array of predictions or an expression, or use GuessAndCheck"
            )

    def offer(self, state: State, facts: Facts, guess: Guess | None, position: int = 0) -> Offer:
        index, asks = state.index(position), state.planned or 1
        parts = self.rounds or asks
        part = state.round + (0 if self.rounds else position)
        if part >= parts:
            raise Exhausted(
                f"all {parts} parts of the rows have been looked at.\n"
                "  Ask in fewer, larger batches (ask_many), or seal fresh rows with more rounds.",
                rounds=state.round,
                planned=parts,
            )
        level = state.log_beta - math.log(asks)
        return Offer.about(facts, index, state.rows // parts, level, PartPayload((part, parts)))

    def offer_test(self, state: State, facts: Facts, position: int = 0) -> Offer:
        offer, asks = self.offer(state, facts, None, position), state.planned or 1
        payload = PartPayload(_part(offer), tested_null(facts))
        return offer.with_payload(payload, nominal_level(facts) - math.log(asks))

    def test_level(self, offer: Offer) -> float:
        return offer.log_level

    def answer(self, state: State, offer: Offer, query: Query, rows: Rows, noise: Stream | None = None) -> Reply:
        symbol = (
            exact_value(offer, query, rows)
            if offer.null is None
            else judge_hypothesis(offer, query, rows, offer.log_level)
        )
        return Reply(symbol, self.event(offer, symbol))

    def event(self, offer: Offer, symbol: Symbol) -> Event:
        part, _ = _part(offer)
        return Looked(part, part)

    def reveal(self, offer: Offer, symbol: Symbol) -> Published:
        value, (low, high) = spread_of(offer, symbol)[0], exact_limits(offer, symbol)
        return Published(value, min(low, value), max(high, value), "exact")

    def likely(self, offer: Offer) -> Symbol:
        return likely_exact(offer)

    @classmethod
    def for_(cls, *, rows: int, asks: int, width: float | None = None, confidence: float = 0.95) -> Self:
        """One part per ask: how few rounds will do is for the asker to say.

        >>> SampleSplitting.for_(rows=10_000, asks=28)
        SampleSplitting(rounds=None)
        """
        return cls()


def _part(offer: Offer) -> tuple[int, int]:
    """The part that an offer speaks of."""
    if offer.payload.part is None:
        raise TypeError("sample splitting answers on a part of the rows")
    return offer.payload.part
