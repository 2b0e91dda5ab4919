"""Words that tell, beside a cell or a number of steps, the octave of a gauge.

A share of a subset, or a ranking, says nothing of the population unless it is known how many rows count: they are its
gauge. One of equal cells always comes with the gauge's octave. Where 0 is the word for "nothing happened" (not better,
below), it comes without one: it tells that a bound which was declared holds, or else says nothing of the gauge. Every
other word does come with an octave, and all octaves have words of the same length. Where a bound was declared, half of
them are kept for "nothing happened, but the bound does not hold", so that Kraft's inequality holds.
"""

from __future__ import annotations

import math

from unworn.bounds.numerics import LN2
from unworn.mechanisms.coded.coded_mechanism import check_steps_word
from unworn.mechanisms.coded.coded_payloads import CellsPayload, GridPayload
from unworn.mechanisms.contract.mechanism import Offer, Symbol
from unworn.mechanisms.symbols.gauges import gauge_of, known_bound, octaves, pack, unpack
from unworn.queries.query import SUBSETS

_USUAL_OCTAVE = 2
"""What is expected of a subset of which nothing is known: between an eighth and a quarter of the rows."""


def tells_octave(offer: Offer) -> bool:
    """Whether each cell of a grid comes with an octave of the gauge: of some of the rows a cell alone says nothing."""
    return isinstance(offer.payload, CellsPayload) and offer.kind in SUBSETS


def grid_words(offer: Offer, cells: int) -> int:
    """How many words so many equal cells need.

    >>> subset = Offer(1, 1000, "conditional", 0.0, 1.0, True, False, -3.0, CellsPayload(45))
    >>> grid_words(subset, 45), octaves(1000)
    (495, 10)
    """
    return cells * (octaves(offer.rows) + 1) if tells_octave(offer) else cells


def octave_nats(offer: Offer) -> float:
    """By how much a word is longer that tells an octave, where 0 is the word for "nothing happened"."""
    if offer.kind not in SUBSETS:
        return 0.0
    return math.log(octaves(offer.rows) + 1) + (0.0 if offer.payload.gauge is None else LN2)


def pack_steps(offer: Offer, gauge: float, steps: int) -> Symbol:
    """The same for mechanisms that tell nothing of the discordance of a paired question."""
    return pack(offer, gauge, steps) if offer.kind in SUBSETS else steps


def unpack_steps(offer: Offer, symbol: Symbol, most: int) -> tuple[float, int]:
    """The bound on the gauge and the number of steps, 0 to ``most``, that such a symbol tells.

    Checked, since a replay meets whatever an entry holds: a word without its octave would be too short.

    >>> from unworn.mechanisms.coded.coded_payloads import PlacePayload
    >>> subset = Offer(1, 1000, "conditional", 0.0, 1.0, True, False, -3.0, PlacePayload(gauge=200.0))
    >>> unpack_steps(subset, 0, 1), unpack_steps(subset, [2, 1], 1), unpack_steps(subset, [3, 0], 1)
    ((200.0, 0), (126.0, 1), (63.0, 0))
    >>> unpack_steps(subset, 1, 1)
    Traceback (most recent call last):
    ...
    ValueError: the words here are 0 and [octave, 0 to 1], not 1
    """
    if offer.kind not in SUBSETS:
        return known_bound(offer), check_steps_word(symbol, most)
    if isinstance(symbol, list) and len(symbol) == 2:
        check_steps_word(symbol[0], octaves(offer.rows))
        if check_steps_word(symbol[1], most) or offer.payload.gauge is not None:
            return unpack(offer, symbol)
    elif symbol == 0 and not isinstance(offer.payload, GridPayload):
        return known_bound(offer), check_steps_word(symbol, most)
    raise ValueError(f"the words here are 0 and [octave, 0 to {most}], not {symbol!r:.40}")


def likely_octave(offer: Offer) -> int:
    """The octave to expect: that of the declared bound, where there is one."""
    kind, declared = gauge_of(offer), offer.payload.gauge
    if kind is None or declared is None:
        return min(_USUAL_OCTAVE, octaves(offer.rows))
    return kind.octave(declared, offer.rows)
