"""The value on the rows itself, and what it may come with: a *gauge* (:mod:`~unworn.mechanisms.symbols.gauges`).

A mechanism that shows exact values shows both; one that tells cells tells whether the gauge is within its bound.
"""

from __future__ import annotations

from unworn.mechanisms.contract.mechanism import RAISED, Offer, Symbol
from unworn.queries.query import Query
from unworn.queries.row_protocol import Raised, Rows


def exact_value(offer: Offer, query: Query, rows: Rows) -> Symbol:
    """The value as a symbol, with its gauge where it has one; or that the question's code failed.

    Of a paired question [difference, mean absolute difference] in its own units, of a share of a subset [rows that say
    yes, rows in the subset], of a ranking [value, rows of the rarer class], of a mean with a declared variance [mean,
    variance].
    """
    try:
        return read_symbol(offer, query, rows)
    except Raised:
        return RAISED


def spread_of(offer: Offer, symbol: Symbol) -> tuple[float, float]:
    """The value that such a symbol holds, and its gauge, 1 where there is none.

    The share of a subset without rows, of which nothing is known, is said to be one half.
    """
    if not isinstance(symbol, list):
        return float(symbol), 1.0
    if offer.kind == "conditional":
        count, size = symbol
        return (count / size if size else 0.5), float(size)
    if offer.kind == "ranking" and len(symbol) >= RANK_NUMBERS:
        return float(symbol[2]), float(min(symbol[0], symbol[1]))
    if offer.kind == "paired":
        return symbol[0], min(symbol[1] / offer.span, 1.0)
    return float(symbol[0]), float(symbol[1])


def likely_exact(offer: Offer) -> Symbol:
    """What might be read of rows that nobody knows: the middle of the range, of half the rows where not all count."""
    middle, some = (offer.low + offer.high) / 2, max(offer.rows // 2, 1)
    if offer.kind == "conditional":
        return [some // 2, some]
    return [middle, some] if offer.kind == "ranking" else middle


RANK_NUMBERS = 6
"""How many numbers a final ranking tells at least: those of :class:`~unworn.bounds.questions.RankMoments`."""

MEAN_NUMBERS = 4
"""How many a final mean with a declared variance tells: mean, variance, and two more central moments on the scale of
[0, 1]. Rows that are kept in an engine tell the first two."""


def read_symbol(offer: Offer, query: Query, rows: Rows) -> Symbol:
    """The same, where a failure is the caller's to tell."""
    part = offer.payload.part
    if offer.kind == "unit" and offer.payload.gauge is not None:
        return [float(each) for each in rows.moments([query], part)[0][:2]]
    found = rows.statistics([query], part)[0]
    if offer.kind == "binary":
        return int(found) / offer.rows
    if offer.kind == "unit":
        return float(found)
    number, gauge = found
    return [int(number), int(gauge)] if offer.kind == "conditional" else [float(number), float(gauge)]
