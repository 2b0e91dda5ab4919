"""Noisy answers among coded ones: a count plus bounded noise, where nobody guesses and cells would cost more.

Theorem U adds their cost to that of the symbols. What a noisy answer shows surely is that the rows' count lies within
the noise's reach of it.
"""

from __future__ import annotations

from dataclasses import replace

from unworn.bounds.covers import cosine_nats
from unworn.bounds.one_currency import choose_noise, is_renewed
from unworn.events import Blurred
from unworn.mechanisms.base import RAISED, STOPPED, Offer, Published, State, Symbol
from unworn.mechanisms.coded import REST_NATS, SPARE_NATS, failure_nats
from unworn.mechanisms.limits import interval
from unworn.noise import Stream
from unworn.queries.query import Query
from unworn.queries.rows import Rows


def blurred_offer(offer: Offer, state: State, nats: float) -> Offer:
    """The same ask, answered by noise: for as many answers as are to be expected, after so many nats in all."""
    kept, radius = state.kept, state.radius
    if not radius or is_renewed(state.noisy):
        kept, radius = choose_noise(state.rows, nats, state.noisy, state.kept)
    cosine_nats(state.rows, kept, radius)  # its price may take a while, and is worked out before rows are touched
    return replace(offer, kept=kept, radius=radius, steps=state.rows)


def blurred_count(offer: Offer, query: Query, rows: Rows, noise: Stream | None) -> Symbol:
    """Read the rows. Each value is rounded to 0 or 1 by a coin of its own, which counts as a part of its row."""
    if noise is None:
        raise TypeError("noise is drawn from the holdout's key, and none was given")
    from unworn.noise.cosine import raised_cosine

    count = rows.rounded([query], [noise])[0]
    return int(count) + int(raised_cosine(noise, offer.radius, 1)[0])


def blurred_nats(offer: Offer, symbol: Symbol) -> float:
    """What a noisy answer costs; or that none could be made, which has a long word."""
    if offer.runs_code:
        raise ValueError("code that sees all the rows need not be a mean over them, which noise would hide")
    if symbol in (RAISED, STOPPED):
        return failure_nats(offer, symbol, SPARE_NATS)
    return cosine_nats(offer.rows, offer.kept, offer.radius) + REST_NATS


def blurred_event(offer: Offer, symbol: Symbol) -> Blurred:
    return Blurred(offer.radius, offer.kept, blurred_nats(offer, symbol))


def after_blurred(state: State, event: Blurred) -> State:
    if not state.kept <= event.kept < 1.0:
        raise TypeError("what Theorem U keeps never falls")
    later = state.further(nats=event.nats)
    return replace(later, kept=event.kept, noisy=state.noisy + 1, radius=event.radius)


def reveal_blurred(offer: Offer, symbol: Symbol, log_side: float | None) -> Published:
    """The limits of the counts that the noise can have led from."""
    if isinstance(symbol, bool) or not isinstance(symbol, int) or abs(symbol) > 2 * offer.rows + offer.radius:
        raise ValueError(f"a noisy answer is a whole number of rows, not {symbol!r:.40}")
    rows, reach, length = offer.rows, offer.radius - 1, offer.high - offer.low
    least, most = max(symbol - reach, 0), min(symbol + reach, rows)
    if least > most:
        raise ValueError("no rows could have given this noisy answer")
    shares = replace(offer, kind="binary", low=0.0, high=1.0)
    low, high = interval(shares, (least / rows, most / rows), 1.0, log_side)
    value = min(max(symbol / rows, low), high)
    return Published(offer.low + length * value, offer.low + length * low, offer.low + length * high, "noise")
