"""Final values: the rows' exact value, at the level that the conversation before it leaves.

Where nothing follows an answer, its own symbol need not be charged: given what was told before, the final interval
misses with probability at most its level, and final nodes and first missing nodes are one antichain (Theorem C′). If
more is to follow, half of what is left is kept for it, and it pays for what the final value told.
"""

from __future__ import annotations

import math
from dataclasses import replace

from unworn.bounds.code_length import log_final_level
from unworn.bounds.numerics import LN2
from unworn.errors import Unaskable
from unworn.events import Event, Finished, Stopped
from unworn.mechanisms.coded.coded_mechanism import Cell, cell_nats, published
from unworn.mechanisms.contract.mechanism import (
    RAISED,
    STOPPED,
    FinalPlace,
    Offer,
    Published,
    Reply,
    State,
    Symbol,
    has_failed,
)
from unworn.mechanisms.symbols.cell_limits import interval
from unworn.mechanisms.symbols.exact_value import exact_value, spread_of
from unworn.mechanisms.symbols.symbol_cells import edges, is_inside, locate
from unworn.queries.query import Facts, Query
from unworn.queries.row_protocol import Rows

_FINER = 50
"""How many times finer than its half-width a final value is told where more is to follow."""


def final_offer(
    state: State, facts: Facts, place: FinalPlace, nats: float, told: tuple[Cell, Published] | None
) -> Offer:
    """The public numbers of a final value, after a conversation of so many nats.

    ``told`` is what is known of the question from an earlier answer; it says nothing of code, which may answer
    otherwise the second time.
    """
    state.check_open()
    level = log_final_level(state.log_beta, nats, place.questions) - (0.0 if place.last else LN2)
    kind = (facts.kind, facts.low, facts.high, facts.zero_one, facts.runs_code)
    offer = Offer(
        state.asked + 1 + place.position,
        state.rows,
        *kind,
        level,
        final=(place.position, place.questions, place.last),
        kept=state.kept,
    )
    inside, spread = (offer.low, offer.high), 1.0
    if told is not None and not facts.runs_code:
        ((low, high), spread), known = told
        inside = max(low, offer.low), min(high, offer.high)
        offer = replace(offer, within=(known.low, known.high))
    offer = replace(offer, discordance=spread)
    if place.last:
        return offer
    if facts.kind == "paired" and place.told is None:
        raise Unaskable("to go on after the final value of a comparison, ask the comparison first")
    middle = (inside[0] + inside[1]) / 2
    low, high = interval(offer, (middle, middle), spread)
    cells = max(2, math.ceil(2 * _FINER * (inside[1] - inside[0]) / (high - low)))
    return replace(offer, cells=cells, inside=inside)


def answer_final(offer: Offer, query: Query, rows: Rows) -> Reply:
    """Read the rows."""
    symbol = exact_value(offer, query, rows)
    if offer.cells and not has_failed(symbol):
        value, spread = spread_of(offer, symbol)
        as_told = is_inside(offer, value) and spread <= offer.discordance + 1e-9
        symbol = locate(offer, value) if as_told else RAISED
    return Reply(symbol, final_event(offer, symbol))


def final_event(offer: Offer, symbol: Symbol) -> Event:
    """What a final value is entered as. An interrupt that no code can have raised tells nothing, and ends nothing."""
    if symbol == STOPPED and not offer.runs_code:
        return Stopped()
    position, _, last = offer.final or (0, 1, True)
    return Finished(last, 0.0 if last else cell_nats(offer, symbol) + (0.0 if position else LN2))


def reveal_final(offer: Offer, symbol: Symbol) -> Published:
    """Never wider than what was known before."""
    if offer.cells:
        cell, spread = edges(offer, int(spread_of(offer, symbol)[0])), offer.discordance
    else:
        value, spread = spread_of(offer, symbol)
        cell = (value, value)
    low, high = interval(offer, cell, spread)
    if offer.within is not None and max(low, offer.within[0]) <= min(high, offer.within[1]):
        low, high = max(low, offer.within[0]), min(high, offer.within[1])
    return published((cell[0] + cell[1]) / 2, (low, high), "final")


def likely_final(offer: Offer) -> Symbol:
    """Of the values that it may have, the one nearest to the middle of the range, where limits are widest."""
    low, high = offer.inside or offer.within or (offer.low, offer.high)
    middle = min(max((offer.low + offer.high) / 2, low), high)
    if offer.cells:
        return locate(offer, middle)
    return [middle, offer.discordance * offer.span] if offer.kind == "paired" else middle


def widest_final(offer: Offer) -> float:
    """The half-width that no final value exceeds: of the widest limits there are, cut to what was known."""
    free, symbol = replace(offer, within=None), likely_final(offer)
    near: list[Symbol] = [symbol]
    if offer.cells:  # a cell beside it may hold one count more
        near = [min(max(int(spread_of(offer, symbol)[0]) + step, 0), offer.cells - 1) for step in (-1, 0, 1)]
    told = [reveal_final(free, each) for each in near]
    widest = max(one.high - one.low for one in told)
    return min(widest, offer.within[1] - offer.within[0] if offer.within else widest) / 2
