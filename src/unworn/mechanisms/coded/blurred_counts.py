"""Noisy answers among coded ones: a count plus bounded noise, where nobody guesses or noise was asked for.

Theorem U adds their cost to that of the symbols. What a noisy answer shows surely is that the rows' count lies within
the noise's reach of it. Where few rows can be expected to count, or nearly all, it is first told whether they are
(``most``): that is nearly free, and then noise that is narrower costs no more. Where guesses are checked with noise
(:mod:`~unworn.mechanisms.coded.noisy_checks`), a noisy count follows a surprise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from unworn.basics.frozen_init import assign_fields
from unworn.bounds.covers import cosine_nats, low_count_nats
from unworn.bounds.one_currency import choose_noise, is_renewed, low_count, narrowed_radius
from unworn.errors import Unaskable
from unworn.events import Blurred, Matched, Screened
from unworn.mechanisms.coded.coded_mechanism import OUTSIDE, REST_NATS, SPARE_NATS, failure_nats, fold_symbol, place_of
from unworn.mechanisms.coded.coded_payloads import CodedPayload
from unworn.mechanisms.coded.noisy_checks import (
    NoisyCheckPayload,
    after_matched,
    agreeing_reach,
    draw_agreement,
    guessed_count,
    matched_cost,
    matched_event,
)
from unworn.mechanisms.contract.mechanism import Offer, Published, State, Symbol, has_failed
from unworn.mechanisms.symbols.cell_limits import interval
from unworn.noise import Stream
from unworn.queries.query import SUBSETS, Facts, Query
from unworn.queries.row_protocol import Rows

SCREEN = "low counts"
"""The origin of checks that few rows count, or nearly all: their surprises are told apart from those of guesses."""
_DEARER = 1.25
"""By how much a narrower noise may cost more than the wide one: of few rows that count the law is lopsided."""


@assign_fields
@dataclass(frozen=True, slots=True)
class NoisyCountPayload(CodedPayload):
    """A count plus noise below ``radius`` is told, one of ``steps`` to the length of the range.

    With ``most`` it is first told whether at most so many rows count (where it is negative: do not count), and if so
    the noise is narrower. ``requested`` says that noise was asked for, whatever guess there is.
    """

    is_rounded = may_be_rounded = True

    steps: int = 0
    place: tuple[str, float, float, int, int] | None = None
    kept: float = 0.0
    radius: int = 0
    most: int = 0
    requested: bool = False

    def check(self, rows: int) -> None:
        CodedPayload.check(self, rows)
        if not -rows < self.most < rows or not self.radius:
            raise ValueError("nothing is checked like this before noise is drawn")

    def numbers(self) -> dict[str, Any]:
        return {**CodedPayload.numbers(self), **({} if not self.most else {"most": self.most})}


NoisyPayload = NoisyCountPayload | NoisyCheckPayload
"""The payloads of answers that tell a count with noise, or may."""


def check_blurrable(facts: Facts, state: State) -> None:
    """Refuse noise by request where Theorem U has no price for it."""
    if state.pattern is None:
        raise Unaskable(
            "this ledger was sealed under Theorem C, which has no price for noise among other answers.\n"
            "  Leave out noise=, or seal fresh rows."
        )
    if facts.runs_code:
        raise Unaskable(
            "noise hides a mean over rows, and code that sees all the rows at once need not be one.\n"
            "  Ask with an array of predictions or an expression, or leave out noise=."
        )
    if facts.kind == "paired" or facts.null is not None:
        raise Unaskable("a comparison or a test is not answered by noise: leave out noise=, or ask each of the two")
    if facts.kind in SUBSETS:
        raise Unaskable(
            "noise hides a mean over all rows, which a share of a subset or a ranking is not: leave out noise=, or ask "
            "for two plain shares, as in ratio(share(a & b), share(a))"
        )


def blurred_payload(
    state: State,
    nats: float,
    requested: bool = False,
    expected: tuple[float, float] | None = None,
    most: int = 0,
) -> NoisyCountPayload:
    """Of an ask that is answered by noise: for as many answers as are to be expected, after so many nats in all.

    ``expected`` is the share of rows that is expected to count, and by how much it may be more; else a check of
    ``most`` that was offered already stays, if it still can.
    """
    kept, radius = state.kept, state.radius
    if not radius or is_renewed(state.noisy):
        kept, radius = choose_noise(state.rows, nats, state.noisy, state.kept)
    # Prices may take a while, and are worked out before rows are touched.
    widely = cosine_nats(state.rows, kept, radius)
    if expected is not None:
        most = low_count(state.rows, kept, radius, *expected)
    if most:
        narrowly = low_count_nats(state.rows, kept, narrowed_radius(state.rows, radius, abs(most)), abs(most))
        most = most if narrowly < _DEARER * widely else 0
    place = place_of(state, SCREEN) if most else OUTSIDE
    return NoisyCountPayload(state.rows, place, kept, radius, most, requested)


def blurred_count(offer: Offer, payload: NoisyPayload, query: Query, rows: Rows, noise: Stream | None) -> Symbol:
    """Read the rows. Each value is rounded to 0 or 1 by a coin of its own, which counts as a part of its row."""
    if noise is None:
        raise TypeError("noise is drawn from the holdout's key, and none was given")
    from unworn.noise.cosine import raised_cosine

    count = int(rows.rounded([query], [noise])[0])
    if isinstance(payload, NoisyCheckPayload):
        # Noise of their own for both: another guess at the same question, in a copy of the ledger, must not share it.
        own = noise.within("matched", guessed_count(offer, payload), agreeing_reach(offer, payload))
        agrees = draw_agreement(offer, payload, count, own.within("agreement"))
        return 0 if agrees else [1, count + int(raised_cosine(own.within("count"), payload.radius, 1)[0])]
    if not payload.most:
        return count + int(raised_cosine(noise, payload.radius, 1)[0])
    low, high = _checked_counts(offer, payload)
    inside = low <= count <= high
    radius = _narrow_radius(offer, payload) if inside else payload.radius
    # Noise of its own: the same question with another guess, in a copy of the ledger, must not share it.
    blurred = count + int(raised_cosine(noise.within("screened", payload.most), radius, 1)[0])
    return blurred if inside else [1, blurred]


def blurred_cost(offer: Offer, payload: NoisyPayload, symbol: Symbol) -> tuple[bool, float]:
    """Whether a check failed, and what the noisy answer costs; that none could be made has a long word."""
    if offer.runs_code:
        raise ValueError("code that sees all the rows need not be a mean over them, which noise would hide")
    if isinstance(payload, NoisyCheckPayload):
        return matched_cost(offer, payload, symbol)
    if has_failed(symbol):
        return False, failure_nats(offer, symbol, SPARE_NATS)
    if payload.most and not isinstance(symbol, list):
        nats = low_count_nats(offer.rows, payload.kept, _narrow_radius(offer, payload), abs(payload.most))
        if nats == math.inf:
            raise ValueError("no check was priced that allows so narrow a noise")
        return False, nats + REST_NATS
    return isinstance(symbol, list), cosine_nats(offer.rows, payload.kept, payload.radius) + REST_NATS


def blurred_event(offer: Offer, payload: NoisyPayload, symbol: Symbol) -> Blurred | Screened | Matched:
    if isinstance(payload, NoisyCheckPayload):
        return matched_event(offer, payload, symbol)
    surprise, nats = blurred_cost(offer, payload, symbol)
    if not payload.most:
        return Blurred(payload.radius, payload.kept, nats)
    return Screened(surprise, payload.radius, payload.kept, nats)


def after_blurred(state: State, event: Blurred | Screened | Matched) -> State:
    if isinstance(event, Matched):
        return after_matched(state, event)
    if not state.kept <= event.kept < 1.0:
        raise TypeError("what Theorem U keeps never falls")
    if isinstance(event, Screened):
        later = fold_symbol(state, event.surprise, event.nats, SCREEN)
    else:
        later = state.further(nats=event.nats)
    return replace(later, kept=event.kept, noisy=state.noisy + 1, radius=event.radius)


def reveal_blurred(offer: Offer, payload: NoisyPayload, symbol: Symbol, log_side: float | None) -> Published:
    """The limits of the counts that the noise can have led from."""
    if isinstance(payload, NoisyCheckPayload):
        return _reveal_matched(offer, payload, symbol, log_side)
    surely, radius, blurred = (0, offer.rows), payload.radius, symbol
    if payload.most:
        surely, radius = _checked_counts(offer, payload), _narrow_radius(offer, payload)
    if payload.most and isinstance(symbol, list) and len(symbol) == 2 and symbol[0] == 1:
        low, high = surely
        surely = (high + 1, offer.rows) if payload.most > 0 else (0, low - 1)
        radius, blurred = payload.radius, symbol[1]
    return _reveal_count(offer, blurred, radius, surely, log_side, "noise")


def _reveal_matched(offer: Offer, payload: NoisyCheckPayload, symbol: Symbol, log_side: float | None) -> Published:
    """Of agreement the limits of the counts that can be said to agree; of a surprise those of the noisy count."""
    whole = (0, offer.rows)
    if isinstance(symbol, list) and len(symbol) == 2 and symbol[0] == 1:
        return _reveal_count(offer, symbol[1], payload.radius, whole, log_side, "surprise")
    if isinstance(symbol, bool) or symbol != 0:
        raise ValueError(f"a guess that is checked with noise has no answer {symbol!r:.40}")
    guessed, reach = guessed_count(offer, payload), agreeing_reach(offer, payload)
    told = _reveal_count(offer, guessed, reach + 1, whole, log_side, "guess")
    return Published(payload.guess, min(told.low, payload.guess), max(told.high, payload.guess), "guess")


def _reveal_count(
    offer: Offer, blurred: Symbol, radius: int, surely: tuple[int, int], log_side: float | None, source: str
) -> Published:
    """The limits of the counts less than ``radius`` from the blurred one, and surely between two numbers."""
    if isinstance(blurred, bool) or not isinstance(blurred, int) or abs(blurred) > 2 * offer.rows + radius:
        raise ValueError(f"a noisy answer is a whole number of rows, not {blurred!r:.40}")
    rows, length = offer.rows, offer.high - offer.low
    least, most = max(blurred - radius + 1, surely[0]), min(blurred + radius - 1, surely[1])
    if least > most:
        raise ValueError("no rows could have given this noisy answer")
    shares = replace(offer, kind="binary", low=0.0, high=1.0)
    low_share, high_share = interval(shares, (least / rows, most / rows), 1.0, log_side)
    value = min(max(blurred / rows, low_share), high_share)
    return Published(
        offer.low + length * value, offer.low + length * low_share, offer.low + length * high_share, source
    )


def likely_blurred(offer: Offer, payload: NoisyPayload) -> Symbol:
    """A half; where few are checked to count, as many as leave the noise room on either side; agreement, if guessed."""
    if isinstance(payload, NoisyCheckPayload):
        return 0
    if not payload.most:
        return offer.rows // 2
    low, high = _checked_counts(offer, payload)
    radius = _narrow_radius(offer, payload)
    return max(high - radius, 0) if payload.most > 0 else min(low + radius, offer.rows)


def outside_blurred(offer: Offer, payload: NoisyPayload) -> Symbol:
    """What is told in the middle of the range, where limits are widest; a surprise, where a check can fail."""
    if isinstance(payload, NoisyCheckPayload):
        return [1, offer.rows // 2]
    if not payload.most:
        return offer.rows // 2
    low, high = _checked_counts(offer, payload)
    middle = offer.rows // 2
    return [1, max(middle, high + payload.radius) if payload.most > 0 else min(middle, low - payload.radius)]


def _checked_counts(offer: Offer, payload: NoisyCountPayload) -> tuple[int, int]:
    """The counts that the check leaves."""
    return (0, payload.most) if payload.most > 0 else (offer.rows + payload.most, offer.rows)


def _narrow_radius(offer: Offer, payload: NoisyCountPayload) -> int:
    return narrowed_radius(offer.rows, payload.radius, abs(payload.most))
