"""Rounding: every answer is one of a few cells, so there are only so many transcripts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Self

from unworn.bounds.baselines import best_rounding, log_transcripts
from unworn.bounds.compression import position_nats
from unworn.events import Described, Event
from unworn.mechanisms.coded.coded_mechanism import OUTSIDE, Cell, CodedMechanism, cell_nats
from unworn.mechanisms.coded.coded_payloads import CellsPayload, HypothesisPayload, Place
from unworn.mechanisms.coded.octave_words import grid_words, likely_octave, tells_octave
from unworn.mechanisms.contract.capabilities import AnswersSubsets, ChecksHypotheses
from unworn.mechanisms.contract.conversation import published_width
from unworn.mechanisms.contract.mechanism import RAISED, FinalPlace, Guess, Offer, Published, Reply, State, Symbol
from unworn.mechanisms.symbols.cell_limits import interval
from unworn.mechanisms.symbols.exact_value import exact_value, spread_of
from unworn.mechanisms.symbols.gauges import pack, unpack
from unworn.mechanisms.symbols.hypothesis_symbols import judge_hypothesis, nominal_level, tested_null
from unworn.mechanisms.symbols.symbol_cells import check_cells, edges, grid_of, locate
from unworn.noise import Stream
from unworn.queries.query import Facts, Query
from unworn.queries.row_protocol import Rows


@dataclass(frozen=True)
class Rounding(CodedMechanism, AnswersSubsets, ChecksHypotheses):
    """Name the cell of a fixed grid in which the value on the rows lies, and its middle.

    Every answer costs ln(cells) nats, whatever the analyst does, and guesses are not used. Of a share of a subset, or a
    ranking, it also names the power of two by which fewer rows count than there are, one of about log2(rows), and costs
    the logarithm of their number more. The last answer of a plan is not charged, because nothing follows it. A
    baseline: about twice as many answers as sample splitting, still linear in the rows.

    Examples
    --------
    >>> from dataclasses import replace
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
        level, place = self._priced(state, position)
        return Offer.about(facts, state.index(position), state.rows, level, CellsPayload(self.cells, place))

    def offer_test(self, state: State, facts: Facts, position: int = 0) -> Offer:
        level, place = self._priced(state, position)
        level = nominal_level(facts) - state.log_beta + level
        payload = HypothesisPayload(tested_null(facts), cells=2, place=place)  # rejected or not
        return Offer.about(facts, state.index(position), state.rows, level, payload)

    def _priced(self, state: State, position: int) -> tuple[float, Place | None]:
        """ln of the level of the next answer, and what its symbol is charged."""
        index = state.index(position)
        if state.pattern is None:
            nats = self._position_nats(index, state.planned) + state.nats
            return state.log_beta - nats, None
        return state.log_beta - state.nats, None if index == state.planned and not position else OUTSIDE

    def offer_final(self, state: State, facts: Facts, place: FinalPlace) -> Offer:
        state.index(place.position)  # the last answer of a plan leaves nothing for another
        return super().offer_final(state, facts, place)

    def test_level(self, offer: Offer) -> float:
        return offer.log_level if offer.payload.place is None else offer.log_level - _nats(offer, 1)

    def answer(self, state: State, offer: Offer, query: Query, rows: Rows, noise: Stream | None = None) -> Reply:
        if offer.null is not None:
            symbol = judge_hypothesis(offer, query, rows, self.test_level(offer))
        elif (symbol := exact_value(offer, query, rows)) != RAISED:
            value, gauge = spread_of(offer, symbol)
            symbol = pack(offer, gauge, locate(offer, value)) if tells_octave(offer) else locate(offer, value)
        return Reply(symbol, self.event(offer, symbol))

    def event(self, offer: Offer, symbol: Symbol) -> Event:
        return Described(False, _nats(offer, symbol))

    def prices(self, offer: Offer) -> tuple[float, float]:
        return _nats(offer, 0), _nats(offer, 0)

    def reveal(self, offer: Offer, symbol: Symbol) -> Published:
        gauge, number = unpack(offer, symbol)
        cell = edges(offer, number)
        low, high = interval(offer, cell, gauge, self.log_side(offer, False, _nats(offer, symbol)))
        return Published((cell[0] + cell[1]) / 2, low, high, "grid")

    def cell_of(self, offer: Offer, symbol: Symbol) -> Cell:
        if not tells_octave(offer):  # the whole range, as older ledgers have it
            return super().cell_of(offer, symbol)
        gauge, number = unpack(offer, symbol)
        return edges(offer, number), gauge

    def likely(self, offer: Offer) -> Symbol:
        middle = locate(offer, (offer.low + offer.high) / 2)
        return [likely_octave(offer), middle] if tells_octave(offer) else middle

    def widest(self, offer: Offer) -> float:
        if tells_octave(offer):  # of a subset without rows nothing is known
            return offer.span / 2
        # Not always the middle one: of few rows, a cell beside it may hold one count more.
        return max(published_width(self, offer, symbol) for symbol in range(grid_of(offer)[2]))

    def _position_nats(self, index: int, planned: int | None) -> float:
        """Under Theorem C: with a plan every node gets the same weight; without, depths share as anywhere else.

        A plan counts as many words as cells for each ask. What an ask had more, its octaves, is in the state's nats.
        """
        if planned is None:
            return position_nats(index)
        return log_transcripts(self.cells, planned) - (index - 1) * math.log(self.cells)

    @classmethod
    def for_(cls, *, rows: int, asks: int, width: float | None = None, confidence: float = 0.95) -> Self:
        """The number of cells that makes the last answer narrowest."""
        return cls(best_rounding(rows, asks, 1 - confidence)[0])


def _nats(offer: Offer, symbol: Symbol) -> float:
    """The length of a word: of a cell, of the outcome of a test, or for a failure."""
    payload = offer.payload
    cells = payload.cells if isinstance(payload, HypothesisPayload) else grid_words(offer, grid_of(offer)[2])
    return cell_nats(offer, cells, symbol)
