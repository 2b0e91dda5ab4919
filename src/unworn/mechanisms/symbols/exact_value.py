"""The value on the rows itself, and what it may come with: a *gauge*, a second number that makes its limits narrower.

Of a paired question it is the mean absolute difference. A mechanism that shows exact values shows both; one that tells
cells tells whether the gauge is within its declared bound.
"""

from __future__ import annotations

from unworn.mechanisms.contract.mechanism import RAISED, Offer, Symbol
from unworn.queries.query import Query
from unworn.queries.row_protocol import Raised, Rows

GAUGED = frozenset({"paired"})
"""The kinds of question that have a gauge."""


def read_value(offer: Offer, query: Query, rows: Rows) -> tuple[float, float]:
    """A question's value on the offer's part of the rows, and its gauge in the question's own units (0 for none)."""
    part = offer.payload.part
    if offer.kind == "binary":
        return int(rows.counts([query], part=part)[0]) / offer.rows, 0.0
    if offer.kind == "unit":
        return float(rows.means([query], part=part)[0]), 0.0
    difference, size = rows.differences([query], part=part)[0]
    return float(difference), float(size)


def exact_value(offer: Offer, query: Query, rows: Rows) -> Symbol:
    """The value as a symbol, with its gauge where it has one; or that the question's code failed."""
    try:
        value, gauge = read_value(offer, query, rows)
    except Raised:
        return RAISED
    return [value, gauge] if offer.kind in GAUGED else value


def spread_of(offer: Offer, symbol: Symbol) -> tuple[float, float]:
    """The value that such a symbol holds, and its gauge as a share of the span, 1 where there is none."""
    if isinstance(symbol, list):
        return symbol[0], min(symbol[1] / offer.span, 1.0)
    return float(symbol), 1.0
