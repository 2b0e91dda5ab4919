"""A narrower interval for an answer that matters: which part of its cell the value lies in."""

from __future__ import annotations

from unworn.errors import Unaskable
from unworn.mechanisms.coded.blurred_counts import NoisyPayload
from unworn.mechanisms.coded.coded_mechanism import CodedMechanism, place_now, price_offer
from unworn.mechanisms.coded.coded_payloads import SharpenedPayload
from unworn.mechanisms.contract.conversation import publish_symbol, published_width
from unworn.mechanisms.contract.mechanism import Offer, State, Symbol, has_failed
from unworn.mechanisms.symbols.gauges import gauge_of

_WORTHWHILE = 0.9
"""What sharpening must narrow an interval to."""


def check_sharpenable(told: Offer) -> None:
    """Refuse what names no cell."""
    if told.null is not None:
        raise Unaskable("there is nothing to sharpen: a test says rejected or not; ask the question itself")
    if told.final is not None:
        raise Unaskable("there is nothing to sharpen: a final value is as sharp as it gets")
    if isinstance(told.payload, NoisyPayload):
        raise Unaskable(
            "a noisy answer names no cell to sharpen: ask(..., guess=, again=True), or ask for the final value"
        )


def sharpened_offer(
    mechanism: CodedMechanism, state: State, told: Offer, symbol: Symbol, pieces: int | None = None
) -> Offer:
    """The offer to ask the same question again inside the cell that was published.

    Of ``pieces`` equal parts one is named; by default of 8, 16 or 32: the more was spent, the more parts.
    """
    if has_failed(symbol):
        raise ValueError("there is nothing to sharpen: the question's code failed on the rows")
    if told.null is not None or told.final is not None or isinstance(told.payload, NoisyPayload):
        raise ValueError("there is nothing to sharpen: only answers that name a cell can be sharpened")
    (low, high), gauge = mechanism.cell_of(told, symbol)
    published = publish_symbol(mechanism, told, symbol)
    nats = state.nats if state.pattern is None else mechanism.spent(state)
    payload = SharpenedPayload(
        pieces or (8 if nats < 5 else 16 if nats < 25 else 32),
        (max(low, told.low), min(high, told.high)),
        # Code may answer otherwise the second time, so its two intervals need not speak of one question.
        None if told.runs_code else (published.low, published.high),
        gauge if told.kind == "paired" else 1.0,
        place_now(state, ""),
        state.kept,
        None if told.kind == "paired" or gauge_of(told) is None else gauge,
    )
    return price_offer(state, told.facts, 0, payload)


def check_gain(mechanism: CodedMechanism, told: Offer, symbol: Symbol, offer: Offer) -> None:
    """Refuse to sharpen once more, or where it gains too little to be worth its nats: both are public."""
    if not isinstance(offer.payload, SharpenedPayload):
        raise ValueError("this is not an offer to sharpen an answer")
    before, cells = published_width(mechanism, told, symbol), offer.payload.cells
    pieces = {*range(0, cells, max(1, cells // 64)), cells // 2, cells - 1}
    after = max(published_width(mechanism, offer, piece) for piece in pieces)
    if isinstance(told.payload, SharpenedPayload) and offer.payload.place is not None:
        raise Unaskable("this answer was sharpened already; holdout.final releases the exact value")
    if after > _WORTHWHILE * before:
        raise Unaskable(
            f"sharpening would gain next to nothing: ± {before:.4g} would become ± {after:.4g} at worst.\n"
            "  Nothing was charged. holdout.final releases the exact value, as the last word."
        )
