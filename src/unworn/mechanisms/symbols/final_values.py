"""Final values: the rows' exact value, at the level that the conversation before it leaves.

Where nothing follows an answer, its own symbol need not be charged: given what was told before, the final interval
misses with probability at most its level, and final nodes and first missing nodes are one antichain (Theorem C′). If
more is to follow, half of what is left is kept for it, and it pays for what the final value told.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

from unworn.basics.frozen_init import assign_fields
from unworn.bounds.code_length import log_final_level
from unworn.bounds.numerics import LN2
from unworn.errors import Unaskable
from unworn.events import Event, Finished, Stopped
from unworn.mechanisms.coded.coded_mechanism import Cell, cell_nats, publish_value
from unworn.mechanisms.coded.coded_payloads import CodedPayload, GridPayload
from unworn.mechanisms.coded.guess_slack import guess_error
from unworn.mechanisms.contract.mechanism import (
    RAISED,
    STOPPED,
    FinalPlace,
    Guess,
    Offer,
    Published,
    Reply,
    State,
    Symbol,
    has_failed,
)
from unworn.mechanisms.symbols.cell_limits import interval
from unworn.mechanisms.symbols.exact_limits import exact_limits
from unworn.mechanisms.symbols.exact_value import exact_value, spread_of
from unworn.mechanisms.symbols.gauges import gauge_of, keeps_bound, known_bound
from unworn.mechanisms.symbols.symbol_cells import edges, is_inside, locate
from unworn.queries.query import SUBSETS, Facts, Query
from unworn.queries.row_protocol import Raised, Rows

_ERRORS = 4.0
"""How many standard errors around a guess a value is expected in."""
_FINER = 50
"""How many times finer than its half-width a final value is told where more is to follow."""


@assign_fields
@dataclass(frozen=True, slots=True)
class FinalPayload(GridPayload):
    """(position, questions, whether they are the last), and what is known of the question from an earlier answer: where
    the interval lies (``within``) and the bound of its gauge. If more is to follow, one of equal cells is told of what
    lies ``inside`` the cell that was told; else that is where the value is expected, of questions whose limits are made
    for what is expected."""

    final: tuple[int, int, bool] = field()
    kept: float = 0.0
    within: tuple[float, float] | None = None
    discordance: float = 1.0
    cells: int = 0
    inside: tuple[float, float] | None = None
    gauge: float | None = None

    def numbers(self) -> dict[str, Any]:
        return {**CodedPayload.numbers(self), "final": list(self.final)}


def final_payload(offer: Offer) -> FinalPayload:
    """That of an offer which is one of a final value."""
    if not isinstance(offer.payload, FinalPayload):
        raise ValueError("this is not an offer of a final value")
    return offer.payload


def final_offer(
    state: State, facts: Facts, place: FinalPlace, nats: float, told: tuple[Cell, Published] | None
) -> Offer:
    """The public numbers of a final value, after a conversation of so many nats.

    ``told`` is what is known of the question from an earlier answer; it says nothing of code, which may answer
    otherwise the second time.
    """
    state.check_open()
    level = log_final_level(state.log_beta, nats, place.questions) - (0.0 if place.last else LN2)
    inside, within, spread = (facts.low, facts.high), None, 1.0
    if told is not None and not facts.runs_code:
        ((low, high), spread), known = told
        inside, within = (max(low, facts.low), min(high, facts.high)), (known.low, known.high)
        if place.told is not None and place.told[0].kind != facts.kind:
            spread = 1.0  # a difference was told with its variance, and is asked now by its size; or vice versa
    payload = FinalPayload((place.position, place.questions, place.last), state.kept, within, spread)
    if told is not None and place.told is not None and has_same_gauge(facts, place.told[0]):
        # What code may do otherwise the second time is still what to expect of it; where it is more, that is checked.
        ((low, high), gauge), _ = told
        likely = (max(low, facts.low), min(high, facts.high))
        payload = replace(payload, discordance=1.0, gauge=gauge, inside=likely if place.last else None)
    expected = place.expected if place.told is None and place.last else None
    if expected is not None and takes_expectation(facts, expected):
        payload = replace(payload, gauge=expected.gauge, inside=_expected_range(facts, expected, state.rows))
    offer = Offer.about(facts, state.asked + 1 + place.position, state.rows, level, payload)
    if place.last:
        return offer
    if (facts.kind == "paired" or facts.kind in SUBSETS) and place.told is None:
        what = "a comparison" if facts.kind == "paired" else "a ranking or of a share of a subset"
        raise Unaskable(f"to go on after the final value of {what}, ask the question itself first")
    middle = (inside[0] + inside[1]) / 2
    low, high = interval(offer, (middle, middle), known_bound(offer))
    cells = max(2, math.ceil(2 * _FINER * (inside[1] - inside[0]) / (high - low)))
    return offer.with_payload(replace(payload, cells=cells, inside=inside))


def has_same_gauge(facts: Facts, told: Offer) -> bool:
    """Whether what was told of a question's gauge is about the gauge that is asked for now."""
    return facts.kind != "paired" and facts.kind == told.kind and gauge_of(told) is not None


def takes_expectation(facts: Facts, guess: Guess) -> bool:
    """Whether limits of this kind are made for what visible rows let one expect."""
    return facts.kind in ("unit", "ranking") and guess.gauge is not None


def _expected_range(facts: Facts, guess: Guess, rows: int) -> tuple[float, float]:
    error = _ERRORS * guess_error(facts, guess, rows)
    return max(guess.value - error, facts.low), min(guess.value + error, facts.high)


def answer_final(offer: Offer, query: Query, rows: Rows) -> Reply:
    """Read the rows."""
    payload = final_payload(offer)
    if not payload.cells and (offer.kind == "ranking" or (offer.kind == "unit" and payload.gauge is not None)):
        symbol = _all_moments(query, rows)
        return Reply(symbol, final_event(offer, symbol))
    symbol = exact_value(offer, query, rows)
    if payload.cells and not has_failed(symbol):
        value, spread = spread_of(offer, symbol)
        symbol = locate(offer, value) if is_inside(offer, value) and keeps_bound(offer, spread) else RAISED
    return Reply(symbol, final_event(offer, symbol))


def _all_moments(query: Query, rows: Rows) -> Symbol:
    """A ranking, or a mean with a variance, with all that its limits can be made of."""
    try:
        return list(rows.moments([query])[0])
    except Raised:
        return RAISED


def final_event(offer: Offer, symbol: Symbol) -> Event:
    """What a final value is entered as. An interrupt that no code can have raised tells nothing, and ends nothing."""
    if symbol == STOPPED and not offer.runs_code:
        return Stopped()
    payload = final_payload(offer)
    position, _, last = payload.final
    return Finished(last, 0.0 if last else cell_nats(offer, payload.cells, symbol) + (0.0 if position else LN2))


def final_nats(offer: Offer) -> float:
    """What all that follows pays for a final value."""
    event = final_event(offer, likely_final(offer))
    return event.nats if isinstance(event, Finished) else 0.0


def reveal_final(offer: Offer, symbol: Symbol) -> Published:
    """Never wider than what was known before."""
    payload = final_payload(offer)
    if payload.cells:
        cell = edges(offer, _cell_number(symbol))
        low, high = _cell_limits(offer, cell)
    else:
        value, _ = spread_of(offer, symbol)
        cell = (value, value)
        low, high = exact_limits(offer, symbol, payload.inside)
    within = payload.within
    if within is not None and max(low, within[0]) <= min(high, within[1]):
        low, high = max(low, within[0]), min(high, within[1])
    return publish_value((cell[0] + cell[1]) / 2, (low, high), "final")


def _cell_limits(offer: Offer, cell: tuple[float, float]) -> tuple[float, float]:
    """The limits of a cell whose own symbol is not charged.

    Of a mean with a variance each cell has a bet of its own. All cells that a limit misses must lose one and the same:
    that of the last of them does it if its evidence holds down to where the value could lie, so it is asked for there.
    """
    if offer.kind != "unit" or offer.payload.gauge is None:
        return interval(offer, cell, known_bound(offer))
    least, most = final_payload(offer).inside or (offer.low, offer.high)
    low, _ = interval(offer, (cell[0], most), known_bound(offer))
    _, high = interval(offer, (least, cell[1]), known_bound(offer))
    return low, high


def likely_final(offer: Offer) -> Symbol:
    """Of the values that it may have, the one nearest to the middle of the range, where limits are widest."""
    payload = final_payload(offer)
    low, high = payload.inside or payload.within or (offer.low, offer.high)
    middle = min(max((offer.low + offer.high) / 2, low), high)
    if payload.cells:
        return locate(offer, middle)
    if offer.kind == "paired":
        return [middle, payload.discordance * offer.span]
    least = int(known_bound(offer))
    if offer.kind == "conditional":
        return [round(middle * least), least]
    if offer.kind == "ranking":
        return _likely_ranking(middle, least, offer.rows)
    return middle if payload.gauge is None else _likely_mean(offer, middle, payload.gauge)


def _likely_ranking(value: float, least: int, rows: int) -> Symbol:
    """A ranking as its value lets one expect, with so many rows of the rarer class, and no others than the two."""
    if not 0 < least < rows:
        return [0, rows, 0.5, 0.25, 0.25, 0.25]
    from unworn.bounds.questions import exponential_placements, hanley_mcneil

    rarer = exponential_placements(value, 2 * least <= rows)
    return [least, rows - least, value, value * (1 - value), *hanley_mcneil(value), rarer.third, rarer.fourth]


def _likely_mean(offer: Offer, value: float, variance: float) -> Symbol:
    """A mean with its moments, as skewed as a loss would be."""
    from unworn.bounds.questions import MeanMoments

    moments = MeanMoments.expected((value - offer.low) / offer.span, variance)
    return [value, variance, moments.third, moments.fourth]


def _cell_number(symbol: Symbol) -> int:
    if not isinstance(symbol, int):
        raise ValueError(f"one of equal cells is named by its number, not by {symbol!r:.40}")
    return symbol


def expected_final(offer: Offer) -> Symbol:
    """The value to expect: of one that was told before, in the middle of where its interval lies.

    At the end of that interval, where the limits alone are widest, half of them are cut off.
    """
    payload = final_payload(offer)
    if payload.within is None or payload.inside is not None:
        return likely_final(offer)
    middle = (payload.within[0] + payload.within[1]) / 2
    return likely_again(offer, middle)


def likely_again(offer: Offer, value: float) -> Symbol:
    """The same, if the value is the one that was told before."""
    return likely_final(offer.with_payload(replace(final_payload(offer), within=(value, value), inside=None)))


def widest_final(offer: Offer) -> float:
    """The half-width that no final value exceeds: of the widest limits there are, cut to what was known."""
    payload = final_payload(offer)
    free, symbol = offer.with_payload(replace(payload, within=None)), likely_final(offer)
    near: list[Symbol] = [symbol]
    if payload.cells:  # a cell beside it may hold one count more
        near = [min(max(int(spread_of(offer, symbol)[0]) + step, 0), payload.cells - 1) for step in (-1, 0, 1)]
    elif offer.kind == "ranking" or (payload.gauge is not None and offer.runs_code):
        return _known_width(offer, payload)  # it may vary more than is expected of it
    elif offer.kind == "unit" and payload.gauge is not None and payload.inside is not None:
        known = payload.within is not None  # else the rows were never asked whether they vary so little
        places, most = (payload.inside, payload.gauge) if known else ((offer.low, offer.high), 0.25)
        # Of the third and fourth moment the worst there are, and none, as of rows that tell only two.
        means, further = (*places, sum(places) / 2), ((), (most, most), (-most, most))
        near = [[value, most, *more] for value in means for more in further]
    told = [reveal_final(free, each) for each in near]
    widest = max(one.high - one.low for one in told)
    return min(widest, payload.within[1] - payload.within[0] if payload.within else widest) / 2


def _known_width(offer: Offer, payload: FinalPayload) -> float:
    """The half-width of what was known."""
    low, high = payload.within or (offer.low, offer.high)
    return (high - low) / 2
