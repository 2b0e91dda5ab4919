"""The words of guess and check, and what each of them costs.

Kraft's inequality holds at every node: the words of all the symbols that are not surprises, and those of all that are,
each sum to at most one. Questions that run code keep half of the surprises' words for "it raised", others the words of
offsets beyond the range; paired ones keep half for "only the discordance was off". A test has one surprise, "rejected".
On the grid, and in sharpening, nothing is a surprise.
"""

from __future__ import annotations

import math

from unworn.bounds.code_length import distance_nats, side_nats, spare_chance
from unworn.bounds.compression import offset_nats
from unworn.bounds.numerics import LN2
from unworn.mechanisms.coded.coded_mechanism import cell_nats, failure_nats, lone_failed, lone_nats
from unworn.mechanisms.contract.mechanism import Offer, Symbol, has_failed
from unworn.queries.row_protocol import Raised

_UPWARD = 1.0 + 1e-12
"""The length of a word that is made of what others leave is rounded up."""


def word_cost(offer: Offer, symbol: Symbol) -> tuple[bool, float]:
    """Whether a symbol is a surprise, and the length of its code word in nats."""
    if offer.guess is None and offer.null is None:
        return _grid_cost(offer, symbol)
    if has_failed(symbol):
        return True, _failure_nats(offer, symbol)
    if offer.null is not None:
        return (False, 0.0) if symbol == 0 else (True, lone_nats(offer))
    if symbol == 0:
        return False, 0.0
    nats = LN2 if offer.runs_code else 0.0
    if isinstance(symbol, list):
        nats += math.log(octaves(offer.rows) + 1) + LN2
        offset = symbol[1]
    else:
        offset = int(symbol)
    return True, nats + (_offset_nats(offer, offset) if offset else 0.0)


def unpack(offer: Offer, symbol: Symbol) -> tuple[float, int]:
    """The bound on the observed discordance and the offset that a symbol tells."""
    if isinstance(symbol, list):
        octave, offset = symbol
        return 2.0**-octave, offset
    return offer.discordance, int(symbol)


def farthest(offer: Offer, side: int) -> int:
    """How many cells a value of the range can lie above the guess (below, for -1), with one to spare for rounding."""
    guess = offer.guess or 0.0
    beyond = offer.high - guess if side > 0 else guess - offer.low
    return 1 + max(0, math.ceil((beyond - offer.slack) / offer.cell))


def with_a_word(offer: Offer, offset: int) -> int:
    """An offset, unless no word is kept for it: the range cannot reach so far."""
    if offset and offer.guess is not None and abs(offset) > farthest(offer, offset):
        raise Raised
    return offset


def _offset_nats(offer: Offer, offset: int) -> float:
    """The length of the word that says how many cells the rows lie from where agreement ends, and on which side."""
    if offer.place is None:
        return offset_nats(offset)
    return side_nats(offer.place[3:], offset) + distance_nats(abs(offset), farthest(offer, offset))


def _failure_nats(offer: Offer, symbol: Symbol) -> float:
    """The length of a word for what fails: made of the words that do not come up.

    Under Theorem C the words of the offsets o beyond the last one, k, of one side are 1/(2·o(o + 1)) each,
    1/(2(k + 1)) together.
    """
    if offer.null is not None:
        return lone_failed(offer, symbol).nats
    below, above = (spare_chance(farthest(offer, side)) for side in (-1, 1))
    if offer.place is not None:
        below *= math.exp(-side_nats(offer.place[3:], -1))
        above *= math.exp(-side_nats(offer.place[3:], 1))
    free = below + above
    return failure_nats(offer, symbol, -math.log(free / 2 if offer.kind == "paired" else free) * _UPWARD)


def _grid_cost(offer: Offer, symbol: Symbol) -> tuple[bool, float]:
    """Of one of equal cells; under Theorem C what failed was a surprise, and there was no other."""
    if offer.place is not None:
        return False, cell_nats(offer, symbol)
    return (True, LN2) if has_failed(symbol) else (False, math.log(offer.cells))


def octaves(rows: int) -> int:
    return (rows - 1).bit_length()
