"""Naive: the exact value on the rows, every time. The unprotected control."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

from unworn.events import Event, Shown
from unworn.mechanisms.contract.capabilities import AnswersSubsets
from unworn.mechanisms.contract.mechanism import Guess, Mechanism, Offer, Published, Reply, State, Symbol
from unworn.mechanisms.contract.offer import NoPayload
from unworn.mechanisms.symbols.exact_limits import exact_limits
from unworn.mechanisms.symbols.exact_value import exact_value, likely_exact, spread_of
from unworn.noise import Stream
from unworn.queries.query import Facts, Query
from unworn.queries.row_protocol import Rows


@dataclass(frozen=True)
class Naive(Mechanism, AnswersSubsets):
    """What everybody does: show q(S) with the interval of a single, non-adaptive question.

    The interval is right for one question chosen before the rows were seen, and for nothing else. It is here to
    be compared with; a ledger that used it is marked as spoiled and its certificates promise nothing.

    Examples
    --------
    >>> naive = Naive()
    >>> offer = naive.offer(naive.begin(10_000, 0.95), Facts("binary", 0.0, 1.0, zero_one=True), None)
    >>> shown = naive.reveal(offer, 0.5)
    >>> round(shown.low, 4), round(shown.high, 4)
    (0.4902, 0.5098)
    """

    theorem: ClassVar[str] = "none"
    currency: ClassVar[str] = "none"
    promises: ClassVar[bool] = False
    prices_failure: ClassVar[bool] = True  # it pays for nothing
    no_tests: ClassVar[str] = (
        "Naive shows exact values, and nothing can be promised any more about hypotheses that were chosen by them: "
        "seal fresh rows with GuessAndCheck"
    )

    def after(self, state: State, event: Event) -> State:
        return state.further()

    def offer(self, state: State, facts: Facts, guess: Guess | None, position: int = 0) -> Offer:
        return Offer.about(facts, state.index(position), state.rows, state.log_beta, NoPayload())

    def answer(self, state: State, offer: Offer, query: Query, rows: Rows, noise: Stream | None = None) -> Reply:
        symbol = exact_value(offer, query, rows)
        return Reply(symbol, self.event(offer, symbol))

    def event(self, offer: Offer, symbol: Symbol) -> Event:
        return Shown()

    def reveal(self, offer: Offer, symbol: Symbol) -> Published:
        value, (low, high) = spread_of(offer, symbol)[0], exact_limits(offer, symbol)
        return Published(value, min(low, value), max(high, value), "exact")

    def likely(self, offer: Offer) -> Symbol:
        return likely_exact(offer)

    @classmethod
    def for_(cls, *, rows: int, asks: int, width: float | None = None, confidence: float = 0.95) -> Self:
        """There is nothing to choose, and nothing is promised."""
        return cls()
