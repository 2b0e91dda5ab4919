"""The words of guess and check, and what each of them costs.

Kraft's inequality holds at every node: the words of all the symbols that are not surprises, and those of all that are,
each sum to at most one. Questions that run code keep half of the surprises' words for "it raised", others the words of
offsets beyond the range; those with a gauge keep half for "only the gauge was off". A test has one surprise.
On the grid, and in sharpening, nothing is a surprise; on the grid, of a subset of the rows, its octave is told too.
"""

from __future__ import annotations

import math
from functools import lru_cache

from unworn.bounds.code_length import distance_nats, side_nats, spare_chance
from unworn.bounds.compression import offset_nats
from unworn.bounds.numerics import LN2
from unworn.events import Guessed
from unworn.mechanisms.coded.coded_mechanism import cell_nats, failure_nats, lone_failure_event, lone_nats
from unworn.mechanisms.coded.coded_payloads import GuessPayload, HypothesisPayload
from unworn.mechanisms.coded.octave_words import grid_words
from unworn.mechanisms.contract.mechanism import Offer, Symbol, has_failed
from unworn.mechanisms.symbols.gauges import gauge_of, octaves
from unworn.mechanisms.symbols.symbol_cells import grid_of
from unworn.queries.row_protocol import Raised

_UPWARD = 1.0 + 1e-12
"""The length of a word that is made of what others leave is rounded up."""


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


def farthest(offer: Offer, side: int) -> int:
    """How many cells a value of the range can lie above the guess (below, for -1), with one to spare for rounding."""
    payload = guess_payload(offer)
    beyond = offer.high - payload.guess if side > 0 else payload.guess - offer.low
    return 1 + max(0, math.ceil((beyond - payload.slack) / payload.cell))


def guess_payload(offer: Offer) -> GuessPayload:
    """That of an offer which compares the rows with a guess."""
    if not isinstance(offer.payload, GuessPayload):
        raise ValueError("this offer compares the rows with no guess")
    return offer.payload


def with_a_word(offer: Offer, offset: int) -> int:
    """An offset from a guess, unless no word is kept for it: the range cannot reach so far."""
    if offset and abs(offset) > farthest(offer, offset):
        raise Raised
    return offset


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
