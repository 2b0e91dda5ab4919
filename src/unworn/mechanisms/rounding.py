"""Rounding: every answer is one of a few cells, so there are only so many transcripts."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from unworn.bounds import best_rounding, log_transcripts, position_nats
from unworn.events import Described, Event
from unworn.mechanisms.base import RAISED, STOPPED, Guess, Mechanism, Offer, Published, Reply, State, Symbol
from unworn.mechanisms.cells import check_cells, edges, locate
from unworn.mechanisms.coded import REST_NATS, SPARE_NATS, failure_nats
from unworn.mechanisms.judging import judged, nominal_level
from unworn.mechanisms.limits import interval
from unworn.mechanisms.value import exact_value, spread_of
from unworn.noise import Stream
from unworn.queries.query import Facts, Query
from unworn.queries.rows import Rows


@dataclass(frozen=True)
class Rounding(Mechanism):
    """Name the cell of a fixed grid in which the value on the rows lies, and its middle.

    The i-th question is one of at most ``cells ** (i - 1)``, whatever the analyst does; each gets the same weight.
    Guesses are not used. A baseline: about twice as many answers as splitting, still linear in the rows.

    Examples
    --------
    >>> rounding = Rounding.for_(rows=10_000, asks=41)
    >>> state = rounding.begin(10_000, 0.95, asks=41)
    >>> rounding.cells, round(rounding.widest(rounding.offer(state, Facts("binary", 0.0, 1.0, True), None)), 3)
    (44, 0.097)

    References
    ----------
    Dwork, Feldman, Hardt, Pitassi, Reingold and Roth, "Generalization in adaptive data analysis and holdout reuse",
    NeurIPS 2015 (description length).
    """

    theorem: ClassVar[str] = "code length (Theorem C), uniform code"
    tests: ClassVar[bool] = True
    prices_failure: ClassVar[bool] = True

    cells: int = 45

    def __post_init__(self) -> None:
        check_cells("cells", self.cells)

    def after(self, state: State, event: Event) -> State:
        if not isinstance(event, Described):
            raise TypeError(f"rounding does not know the event {event!r}")
        return state.further(nats=event.nats)

    def offer(self, state: State, facts: Facts, guess: Guess | None, position: int = 0) -> Offer:
        index = state.index(position)
        level = state.log_beta - self._position_nats(index, state.planned) - state.nats
        kind = (facts.kind, facts.low, facts.high, facts.zero_one, facts.runs_code)
        return Offer(index, state.rows, *kind, level, cells=self.cells)

    def offer_test(self, state: State, facts: Facts, position: int = 0) -> Offer:
        offer = self.offer(state, facts, None, position)
        level = nominal_level(facts) - self._position_nats(offer.index, state.planned) - state.nats
        return replace(offer, log_level=level, cells=2, null=facts.null)  # rejected or not

    def answer(self, state: State, offer: Offer, query: Query, rows: Rows, noise: Stream | None = None) -> Reply:
        if offer.null is not None:
            symbol = judged(offer, query, rows)
        elif (symbol := exact_value(offer, query, rows)) != RAISED:
            symbol = locate(offer, spread_of(offer, symbol)[0])
        return Reply(symbol, self.event(offer, symbol))

    def event(self, offer: Offer, symbol: Symbol) -> Event:
        # One more word than cells when user code may fail; what else may fail has a long one.
        if symbol == STOPPED or (symbol == RAISED and not offer.runs_code):
            return Described(False, failure_nats(offer, symbol, SPARE_NATS))
        return Described(False, math.log(offer.cells + offer.runs_code) + REST_NATS)

    def reveal(self, offer: Offer, symbol: Symbol) -> Published:
        cell = edges(offer, int(spread_of(offer, symbol)[0]))
        low, high = interval(offer, cell)
        return Published((cell[0] + cell[1]) / 2, low, high, "grid")

    def likely(self, offer: Offer) -> Symbol:
        return locate(offer, (offer.low + offer.high) / 2)

    def widest(self, offer: Offer) -> float:
        # Not always the middle one: of few rows, a cell beside it may hold one count more.
        return max(self.publish_width(offer, symbol) for symbol in range(offer.cells))

    def _position_nats(self, index: int, planned: int | None) -> float:
        """With a plan every node of the tree gets the same weight; without, depths share as anywhere else."""
        if planned is None:
            return position_nats(index)
        return log_transcripts(self.cells, planned) - (index - 1) * math.log(self.cells)

    @classmethod
    def for_(cls, *, rows: int, asks: int, width: float | None = None, confidence: float = 0.95) -> Self:
        """The number of cells that makes the last answer narrowest."""
        return cls(best_rounding(rows, asks, 1 - confidence)[0])
