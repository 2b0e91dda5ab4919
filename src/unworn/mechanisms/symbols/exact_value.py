"""The value on the rows itself, for the mechanisms that show it: the control, and a split looked at once."""

from __future__ import annotations

from unworn.mechanisms.contract.mechanism import RAISED, Offer, Symbol
from unworn.queries.query import Query
from unworn.queries.row_protocol import Raised, Rows


def exact_value(offer: Offer, query: Query, rows: Rows) -> Symbol:
    """The mean of a question over the offer's part of the rows, as a symbol (paired: with its discordance)."""
    try:
        if offer.kind == "binary":
            return int(rows.counts([query], part=offer.part)[0]) / offer.rows
        if offer.kind == "unit":
            return float(rows.means([query], part=offer.part)[0])
        difference, spread = rows.differences([query], part=offer.part)[0]
        return [float(difference), float(spread)]
    except Raised:
        return RAISED


def spread_of(offer: Offer, symbol: Symbol) -> tuple[float, float]:
    """The value and the share of discordance that such a symbol holds."""
    if isinstance(symbol, list):
        return symbol[0], min(symbol[1] / offer.span, 1.0)
    return float(symbol), 1.0
