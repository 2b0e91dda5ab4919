"""From the rows to a cell beside a guess or of a grid, and from the cell to an interval: how guess and check tells."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from unworn.bounds.numerics import LN2
from unworn.bounds.one_currency import beats_cells
from unworn.mechanisms.coded.blurred_counts import (
    NoisyCountPayload,
    NoisyPayload,
    blurred_payload,
    likely_blurred,
    outside_blurred,
)
from unworn.mechanisms.coded.coded_mechanism import place_now
from unworn.mechanisms.coded.coded_payloads import CellsPayload, GridPayload, GuessPayload, SharpenedPayload
from unworn.mechanisms.coded.guess_words import farthest, with_a_word
from unworn.mechanisms.coded.noisy_checks import NoisyCheckPayload
from unworn.mechanisms.coded.octave_words import likely_octave, tells_octave
from unworn.mechanisms.contract.conversation import published_width
from unworn.mechanisms.contract.mechanism import RAISED, Offer, Published, State, Symbol
from unworn.mechanisms.symbols.cell_limits import interval
from unworn.mechanisms.symbols.gauges import gauge_of, keeps_bound, octaves, pack
from unworn.mechanisms.symbols.symbol_cells import edges, is_inside, locate
from unworn.queries.query import SUBSETS, Facts, Query
from unworn.queries.row_protocol import Rows

if TYPE_CHECKING:
    from unworn.mechanisms.coded.guess_and_check import GuessAndCheck


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


def cell_symbol(offer: Offer, value: float, gauge: float) -> Symbol:
    """Name the cell that the rows' value lies in; of a question with a gauge, ``gauge`` is what that is."""
    payload = offer.payload
    if isinstance(payload, GuessPayload):
        return pack(offer, gauge, with_a_word(offer, locate(offer, value)))
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


def judge(offer: Offer, query: Query, rows: Rows, level: float) -> Symbol:
    """Read the rows, and say whether they reject the hypothesis at that level."""
    from unworn.mechanisms.symbols.hypothesis_symbols import judge_hypothesis  # loaded by those who test

    return judge_hypothesis(offer, query, rows, level)


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
