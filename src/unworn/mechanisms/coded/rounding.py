"""Rounding: every answer is one of a few cells, so there are only so many transcripts."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from unworn.bounds.baselines import best_rounding, log_transcripts
from unworn.bounds.compression import position_nats
from unworn.events import Described, Event
from unworn.mechanisms.coded.coded_mechanism import OUTSIDE, CodedMechanism, cell_nats
from unworn.mechanisms.contract.mechanism import RAISED, FinalPlace, Guess, Offer, Published, Reply, State, Symbol
from unworn.mechanisms.symbols.cell_limits import interval
from unworn.mechanisms.symbols.exact_value import exact_value, spread_of
from unworn.mechanisms.symbols.hypothesis_symbols import judged, nominal_level
from unworn.mechanisms.symbols.symbol_cells import check_cells, edges, locate
from unworn.noise import Stream
from unworn.queries.query import Facts, Query
from unworn.queries.row_protocol import Rows


@dataclass(frozen=True)
class Rounding(CodedMechanism):
    """Name the cell of a fixed grid in which the value on the rows lies, and its middle.

    Every answer costs ln(cells) nats, whatever the analyst does, and guesses are not used. The last answer of a plan is
    not charged, because nothing follows it. A baseline: about twice as many answers as sample splitting, still linear
    in the rows.

    Examples
    --------
    >>> rounding = Rounding.for_(rows=10_000, asks=41)
    >>> state = rounding.begin(10_000, 0.95, asks=41)
    >>> first = rounding.offer(state, Facts("binary", 0.0, 1.0, True), None)
    >>> last = rounding.offer(replace(state, asked=40, nats=40 * math.log(44)), Facts("binary", 0.0, 1.0, True), None)
    >>> rounding.cells, round(rounding.widest(first), 3), round(rounding.widest(last), 3)
    (44, 0.027, 0.097)

    References
    ----------
    Dwork, Feldman, Hardt, Pitassi, Reingold and Roth, "Generalization in adaptive data analysis and holdout reuse",
    NeurIPS 2015 (description length).
    """

    theorem: ClassVar[str] = "code length (Theorem C'), uniform code"
    tests: ClassVar[bool] = True

    cells: int = 45

    def __post_init__(self) -> None:
        self.check_law()
        check_cells("cells", self.cells)

    def after(self, state: State, event: Event) -> State:
        if not isinstance(event, Described):
            raise TypeError(f"rounding does not know the event {event!r}")
        return state.further(nats=event.nats)

    def spent(self, state: State) -> float:
        return state.nats

    def offer(self, state: State, facts: Facts, guess: Guess | None, position: int = 0) -> Offer:
        index = state.index(position)
        kind = (facts.kind, facts.low, facts.high, facts.zero_one, facts.runs_code)
        if state.pattern is None:
            nats = self._position_nats(index, state.planned) + state.nats
            return Offer(index, state.rows, *kind, state.log_beta - nats, cells=self.cells)
        offer = Offer(index, state.rows, *kind, state.log_beta - state.nats, cells=self.cells, place=OUTSIDE)
        return replace(offer, place=None) if index == state.planned and not position else offer

    def offer_test(self, state: State, facts: Facts, position: int = 0) -> Offer:
        offer = self.offer(state, facts, None, position)
        level = nominal_level(facts) - state.log_beta + offer.log_level
        return replace(offer, log_level=level, cells=2, null=facts.null)  # rejected or not

    def offer_final(self, state: State, facts: Facts, place: FinalPlace) -> Offer:
        state.index(place.position)  # the last answer of a plan leaves nothing for another
        return super().offer_final(state, facts, place)

    def test_level(self, offer: Offer) -> float:
        return offer.log_level if offer.place is None else offer.log_level - cell_nats(offer, 1)

    def answer(self, state: State, offer: Offer, query: Query, rows: Rows, noise: Stream | None = None) -> Reply:
        if offer.null is not None:
            symbol = judged(offer, query, rows, self.test_level(offer))
        elif (symbol := exact_value(offer, query, rows)) != RAISED:
            symbol = locate(offer, spread_of(offer, symbol)[0])
        return Reply(symbol, self.event(offer, symbol))

    def event(self, offer: Offer, symbol: Symbol) -> Event:
        return Described(False, cell_nats(offer, symbol))

    def prices(self, offer: Offer) -> tuple[float, float]:
        return cell_nats(offer, 0), cell_nats(offer, 0)

    def reveal(self, offer: Offer, symbol: Symbol) -> Published:
        cell = edges(offer, int(spread_of(offer, symbol)[0]))
        low, high = interval(offer, cell, 1.0, self.log_side(offer, False, cell_nats(offer, symbol)))
        return Published((cell[0] + cell[1]) / 2, low, high, "grid")

    def likely(self, offer: Offer) -> Symbol:
        return locate(offer, (offer.low + offer.high) / 2)

    def widest(self, offer: Offer) -> float:
        # Not always the middle one: of few rows, a cell beside it may hold one count more.
        return max(self.publish_width(offer, symbol) for symbol in range(offer.cells))

    def _position_nats(self, index: int, planned: int | None) -> float:
        """Under Theorem C: with a plan every node gets the same weight; without, depths share as anywhere else."""
        if planned is None:
            return position_nats(index)
        return log_transcripts(self.cells, planned) - (index - 1) * math.log(self.cells)

    @classmethod
    def for_(cls, *, rows: int, asks: int, width: float | None = None, confidence: float = 0.95) -> Self:
        """The number of cells that makes the last answer narrowest."""
        return cls(best_rounding(rows, asks, 1 - confidence)[0])
