"""Sample splitting: every round of questions gets rows of its own, looked at once."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from unworn.errors import Exhausted, Unaskable
from unworn.events import Event, Looked
from unworn.mechanisms.contract.mechanism import Guess, Mechanism, Offer, Published, Reply, State, Symbol
from unworn.mechanisms.symbols.cell_limits import interval
from unworn.mechanisms.symbols.exact_value import exact_value, spread_of
from unworn.mechanisms.symbols.hypothesis_symbols import judged, nominal_level
from unworn.noise import Stream
from unworn.queries.query import Facts, Query
from unworn.queries.row_protocol import Rows


@dataclass(frozen=True)
class SampleSplitting(Mechanism):
    """Cut the rows into as many random parts as there are rounds, and answer each round exactly on its part.

    Questions of one round (one ``ask_many``) are chosen before any of its answers is seen, so they may share a
    part; with ``rounds=None`` every ask is a round. The union bound over the planned asks does the rest. This is the
    oldest cure, and the baseline for all the others. It needs the number of asks in advance.

    Examples
    --------
    >>> split = SampleSplitting(rounds=4)
    >>> state = split.begin(rows=10_000, confidence=0.95, asks=1_000)
    >>> offer = split.offer(state, Facts("binary", 0.0, 1.0, zero_one=True), None)
    >>> offer.rows, round(split.widest(offer), 4)
    (2500, 0.0407)

    References
    ----------
    Folklore; Clopper and Pearson 1934 for the limits of one part.
    """

    theorem: ClassVar[str] = "sample splitting"
    currency: ClassVar[str] = "parts"
    tests: ClassVar[bool] = True

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

    def check(self, facts: Facts) -> None:
        super().check(facts)
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
        kind = (facts.kind, facts.low, facts.high, facts.zero_one, facts.runs_code)
        level = state.log_beta - math.log(asks)
        return Offer(index, state.rows // parts, *kind, level, part=(part, parts))

    def offer_test(self, state: State, facts: Facts, position: int = 0) -> Offer:
        offer, asks = self.offer(state, facts, None, position), state.planned or 1
        return replace(offer, log_level=nominal_level(facts) - math.log(asks), null=facts.null)

    def answer(self, state: State, offer: Offer, query: Query, rows: Rows, noise: Stream | None = None) -> Reply:
        symbol = exact_value(offer, query, rows) if offer.null is None else judged(offer, query, rows, offer.log_level)
        return Reply(symbol, self.event(offer, symbol))

    def event(self, offer: Offer, symbol: Symbol) -> Event:
        part = offer.part[0] if offer.part else 0
        return Looked(part, part)

    def reveal(self, offer: Offer, symbol: Symbol) -> Published:
        value, spread = spread_of(offer, symbol)
        low, high = interval(offer, (value, value), spread)
        return Published(value, min(low, value), max(high, value), "exact")

    def likely(self, offer: Offer) -> Symbol:
        return (offer.low + offer.high) / 2

    @classmethod
    def for_(cls, *, rows: int, asks: int, width: float | None = None, confidence: float = 0.95) -> Self:
        """One part per ask: how few rounds will do is for the asker to say.

        >>> SampleSplitting.for_(rows=10_000, asks=28)
        SampleSplitting(rounds=None)
        """
        return cls()
