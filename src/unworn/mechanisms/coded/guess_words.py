"""The words of guess and check: which one the rows call for, what each of them costs, and what it tells.

Kraft's inequality holds at every node: the words of all the symbols that are not surprises, and those of all that are,
each sum to at most one. Questions that run code keep half of the surprises' words for "it raised", others the words of
offsets beyond the range; those with a gauge keep half for "only the gauge was off". A test has one surprise.
On the grid, and in sharpening, nothing is a surprise; on the grid, of a subset of the rows, its octave is told too.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

from unworn.bounds.code_length import distance_nats, side_nats, spare_chance
from unworn.bounds.compression import offset_nats
from unworn.bounds.numerics import LN2
from unworn.bounds.one_currency import beats_cells
from unworn.events import Guessed
from unworn.mechanisms.coded.blurred_counts import (
    NoisyCountPayload,
    NoisyPayload,
    blurred_payload,
    likely_blurred,
    outside_blurred,
)
from unworn.mechanisms.coded.coded_mechanism import cell_nats, failure_nats, lone_failure_event, lone_nats, place_now
from unworn.mechanisms.coded.coded_payloads import (
    CellsPayload,
    GridPayload,
    GuessPayload,
    HypothesisPayload,
    SharpenedPayload,
)
from unworn.mechanisms.coded.noisy_checks import NoisyCheckPayload
from unworn.mechanisms.coded.octave_words import grid_words, likely_octave, tells_octave
from unworn.mechanisms.contract.conversation import published_width
from unworn.mechanisms.contract.mechanism import RAISED, Offer, Published, State, Symbol, has_failed
from unworn.mechanisms.symbols.cell_limits import interval
from unworn.mechanisms.symbols.gauges import gauge_of, keeps_bound, octaves, pack
from unworn.mechanisms.symbols.symbol_cells import edges, grid_of, is_inside, locate
from unworn.queries.query import SUBSETS, Facts
from unworn.queries.row_protocol import Raised

if TYPE_CHECKING:
    from unworn.mechanisms.coded.guess_and_check import GuessAndCheck

_UPWARD = 1.0 + 1e-12
"""The length of a word that is made of what others leave is rounded up."""

# ---------------------------------------------------------------------- from the rows to a word


def cell_symbol(offer: Offer, value: float, gauge: float) -> Symbol:
    """Name the cell that the rows' value lies in; of a question with a gauge, ``gauge`` is what that is."""
    payload = offer.payload
    if isinstance(payload, GuessPayload):
        cell = locate(offer, value)
        if cell and abs(cell) > farthest(offer, cell):
            raise Raised  # no word is kept for it: the range cannot reach so far
        return pack(offer, gauge, cell)
    # Sharpening: the cell and the gauge told before must still hold, or it is another question.
    if isinstance(payload, SharpenedPayload):
        return locate(offer, value) if is_inside(offer, value) and keeps_bound(offer, gauge) else RAISED
    return pack(offer, gauge, locate(offer, value)) if tells_octave(offer) else locate(offer, value)


def likely_cell(offer: Offer) -> Symbol:
    """What to expect: agreement, or the middle of the range."""
    if isinstance(offer.payload, GuessPayload):
        return 0
    middle = locate(offer, (offer.low + offer.high) / 2)
    return [likely_octave(offer), middle] if tells_octave(offer) else middle


def farthest(offer: Offer, side: int) -> int:
    """How many cells a value of the range can lie above the guess (below, for -1), with one to spare for rounding."""
    payload = offer.payload
    if not isinstance(payload, GuessPayload):
        raise ValueError("this offer compares the rows with no guess")
    beyond = offer.high - payload.guess if side > 0 else payload.guess - offer.low
    return 1 + max(0, math.ceil((beyond - payload.slack) / payload.cell))


def unguessed_payload(mechanism: GuessAndCheck, state: State, facts: Facts) -> CellsPayload | NoisyCountPayload:
    """One of many cells; or noise, from where on that is cheaper.

    Noise hides means over rows, which a share of a subset is not; and code that sees all the rows at once need not be
    one. These get cells.
    """
    may_blur = not facts.runs_code and facts.kind not in SUBSETS
    cells = math.ceil(1 / mechanism.cell_share(state.rows))
    if state.pattern is not None and mechanism.unguessed != "cells" and may_blur:
        unguessed, spent = state.asked - state.pattern.asks, mechanism.spent(state)
        others = max(spent - (unguessed - state.noisy) * math.log(cells), 0.0)
        # Where guesses are checked with noise, its price is paid already: all nats are stretched.
        noise = mechanism.unguessed == "noise" or mechanism.surprises is not None or state.noisy
        if noise or beats_cells(state.rows, others - state.log_beta, unguessed):
            return blurred_payload(state, spent - state.log_beta)
    return CellsPayload(cells, place_now(state, ""), state.kept)


# ---------------------------------------------------------------------- what a word costs


def word_cost(offer: Offer, symbol: Symbol) -> tuple[bool, float]:
    """Whether a symbol is a surprise, and the length of its code word in nats."""
    payload = offer.payload
    if isinstance(payload, GuessPayload):
        return _guess_cost(offer, payload, symbol)
    if isinstance(payload, HypothesisPayload):
        if has_failed(symbol):
            return True, lone_failure_event(offer, symbol).nats
        return (False, 0.0) if symbol == 0 else (True, lone_nats(offer))
    return _grid_cost(offer, symbol)


def _guess_cost(offer: Offer, payload: GuessPayload, symbol: Symbol) -> tuple[bool, float]:
    if symbol == 0:
        return False, 0.0
    if has_failed(symbol):
        return True, _failure_nats(offer, payload, symbol)
    nats = LN2 if offer.runs_code else 0.0
    if isinstance(symbol, list):
        nats += math.log(octaves(offer.rows) + 1) + LN2
        offset = symbol[1]
    else:
        offset = int(symbol)
    return True, nats + (_offset_nats(offer, payload, offset) if offset else 0.0)


def _offset_nats(offer: Offer, payload: GuessPayload, offset: int) -> float:
    """The length of the word that says how many cells the rows lie from where agreement ends, and on which side."""
    if payload.place is None:
        return offset_nats(offset)
    return side_nats(payload.place[3:], offset) + distance_nats(abs(offset), farthest(offer, offset))


def _failure_nats(offer: Offer, payload: GuessPayload, symbol: Symbol) -> float:
    """The length of a word for what fails: made of the words that do not come up.

    Under Theorem C the words of the offsets o beyond the last one, k, of one side are 1/(2·o(o + 1)) each,
    1/(2(k + 1)) together.
    """
    below, above = (spare_chance(farthest(offer, side)) for side in (-1, 1))
    if payload.place is not None:
        below *= math.exp(-side_nats(payload.place[3:], -1))
        above *= math.exp(-side_nats(payload.place[3:], 1))
    free = below + above
    return failure_nats(offer, symbol, -math.log(free if gauge_of(offer) is None else free / 2) * _UPWARD)


def _grid_cost(offer: Offer, symbol: Symbol) -> tuple[bool, float]:
    """Of one of equal cells; under Theorem C what failed was a surprise, and there was no other."""
    words = grid_words(offer, grid_of(offer)[2])
    if offer.payload.place is not None:
        return False, cell_nats(offer, words, symbol)
    return (True, LN2) if has_failed(symbol) else (False, math.log(words))


@lru_cache(maxsize=64)
def agreement_event(origin: str, nats: float) -> Guessed:
    """One object for the many agreements that say the same."""
    return Guessed(origin, False, 0, nats)


# ---------------------------------------------------------------------- from a word to an interval


def reveal_cell(offer: Offer, symbol: Symbol, cell: tuple[float, float], limits: tuple[float, float]) -> Published:
    """The answer that a cell and its limits make."""
    payload, (low, high) = offer.payload, limits
    if isinstance(payload, GuessPayload) and symbol == 0:
        return Published(payload.guess, min(low, payload.guess), max(high, payload.guess), "guess")
    if isinstance(payload, GridPayload) and payload.within is not None:
        low, high = max(low, payload.within[0]), min(high, payload.within[1])
    value = (max(cell[0], offer.low) + min(cell[1], offer.high)) / 2
    source = "surprise" if isinstance(payload, GuessPayload) else "grid"
    return Published(value, min(low, value), max(high, value), source)


def widest_cell(mechanism: GuessAndCheck, offer: Offer) -> float:
    """The half-width of the widest interval that any symbol could publish."""
    payload = offer.payload
    if isinstance(payload, NoisyPayload):
        noisy = (likely_blurred(offer, payload), outside_blurred(offer, payload))
        return max(published_width(mechanism, offer, symbol) for symbol in noisy)
    # Limits are widest for values in the middle of the range, and for the longest words.
    middle = locate(offer, (offer.low + offer.high) / 2)
    if isinstance(payload, GridPayload):
        near = (min(max(offset, 0), payload.cells - 1) for offset in (middle - 1, middle, middle + 1))
        told = [[octaves(offer.rows), offset] if tells_octave(offer) else offset for offset in near]
        return max(published_width(mechanism, offer, symbol) for symbol in told)
    gauge, far = gauge_of(offer), max(farthest(offer, -1), farthest(offer, 1))
    gauged, nothing = gauge is not None, 1.0 if gauge is None else gauge.nothing
    words: list[Symbol] = [[0, o] if gauged else o for o in (-far, far) if abs(o) <= farthest(offer, o)]
    level = mechanism.log_side(offer, True, max(mechanism.cost(offer, word)[1] for word in words))
    # Agreement in all but the gauge is the widest cell that a question with one has.
    offsets = [0] * gauged + [offset for offset in (middle - 1, middle, middle + 1) if offset]
    limits = [interval(offer, edges(offer, offset), nothing, level) for offset in offsets]
    return max(published_width(mechanism, offer, 0), *((high - low) / 2 for low, high in limits))


def hoeffding_width(offer: Offer) -> float:
    """At least the half-width of agreement with a guess at a 0/1 question: exact limits lie inside Hoeffding's."""
    slack = offer.payload.slack if isinstance(offer.payload, GuessPayload | NoisyCheckPayload) else 1.0
    nats = (LN2 - offer.log_level) / (1 - offer.payload.kept)
    return slack + 1 / offer.rows + math.sqrt(nats / (2 * offer.rows))
