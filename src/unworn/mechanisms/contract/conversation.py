"""One ask from offer to answer: what is the same for all mechanisms, around the methods of each.

Final values, tests, failures and interrupts are handled here, so that a mechanism's own methods meet none of them but
the failures that it prices itself.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from unworn.errors import Unaskable
from unworn.events import Ended, Event, Finished, Stopped
from unworn.mechanisms.contract.capabilities import (
    AnswersSubsets,
    BoundsWidth,
    ChecksHypotheses,
    LimitsQuestions,
    RepricesBatches,
    SharpensAnswers,
)
from unworn.mechanisms.contract.declarations import offer_final_value, offer_noise, offer_test
from unworn.mechanisms.contract.mechanism import Mechanism
from unworn.mechanisms.contract.offer import FinalPlace, Guess, Offer, whole_range
from unworn.mechanisms.contract.state import State
from unworn.mechanisms.contract.symbol import RAISED, STOPPED, Published, Reply, Symbol, has_failed
from unworn.noise import Stream
from unworn.queries.query import Facts, Query
from unworn.queries.row_protocol import Rows

if TYPE_CHECKING:
    from unworn.mechanisms.contract.record import Record

Final = tuple[int, int, bool]
"""The place of a final value among those fixed together, their number, and whether they are the last."""


def check_question(mechanism: Mechanism, facts: Facts) -> None:
    """Refuse a question of a kind that a mechanism has no answer to, from public facts alone."""
    if isinstance(mechanism, LimitsQuestions):
        mechanism.check(facts)
    else:
        refuse_statistics(mechanism, facts)
    if not isinstance(mechanism, AnswersSubsets):
        refuse_subsets(mechanism, facts)


def refuse_subsets(mechanism: Mechanism, facts: Facts) -> None:
    """Refuse what is counted over a subset of the rows, or over pairs of them, to a mechanism that knows only means."""
    name = type(mechanism).__name__
    if facts.kind == "conditional":
        raise Unaskable(
            f"{name} has no interval for a share of a subset (given=, where=, precision, recall, F1): ask for two "
            "plain shares, of the rows with both and of the subset, as in ratio(share(a & b), share(a))"
        )
    if facts.kind == "ranking":
        raise Unaskable(f"{name} has no interval for roc_auc, which compares rows in pairs: ask brier or log_loss")


def refuse_statistics(mechanism: object, facts: Facts) -> None:
    """Refuse what is not a mean over rows."""
    if facts.kind == "statistic":
        raise Unaskable(
            f"a statistic is not a mean over rows, and {type(mechanism).__name__} answers only means: "
            "seal the rows with BoundedNoise, Gaussian or Laplace to ask it"
        )


def price_ask(
    mechanism: Mechanism,
    state: State,
    facts: Facts,
    guess: Guess | None,
    known: Record | None,
    position: int = 0,
    final: Final | None = None,
    noise: bool = False,
) -> Offer:
    """The offer that a state allows; ``known`` is the answer that is sharpened, or told finally, if there is one.

    With ``noise`` it is to be answered by noise, whatever guess there is.
    """
    if final is not None:
        told = None if known is None or has_failed(known.symbol) else (known.offer, known.symbol)
        check_question(mechanism, facts)
        return offer_final_value(mechanism, state, facts, FinalPlace(*final, told, guess))
    if known is None:
        check_question(mechanism, facts)
        if noise:
            return offer_noise(mechanism, state, facts, guess, position)
        if facts.null is not None and guess is None:
            return offer_test(mechanism, state, facts, position)
        return mechanism.offer(state, facts, guess, position)
    if not isinstance(mechanism, SharpensAnswers):
        raise ValueError(f"{type(mechanism).__name__} has nothing to sharpen: its answers are not cells")
    return mechanism.sharpen(state, known.offer, known.symbol)


def reprice_offer(mechanism: Mechanism, offer: Offer, state: State) -> Offer:
    """The offer of an ask of a batch, made before the batch, once the answers before it in the batch are known."""
    return mechanism.reprice(offer, state) if isinstance(mechanism, RepricesBatches) else offer


def make_reply(
    mechanism: Mechanism, state: State, offer: Offer, query: Query, rows: Rows, noise: Stream | None = None
) -> Reply:
    """Read the rows, for every offer there is."""
    if offer.payload.final is not None:
        from unworn.mechanisms.symbols.final_values import answer_final

        return answer_final(offer, query, rows)
    return mechanism.answer(state, offer, query, rows, noise)


def failure_symbol(mechanism: Mechanism, offer: Offer, interrupted: bool) -> Symbol:
    """The symbol for an answer that could not be made.

    An interrupt is the asker's own doing, and needs no price, unless the question brings code that may have raised
    it for some rows.
    """
    return STOPPED if interrupted and (mechanism.prices_failure or not offer.runs_code) else RAISED


def charge_symbol(mechanism: Mechanism, offer: Offer, symbol: Symbol) -> Event:
    """What releasing a symbol is entered as, also where making an answer failed or was interrupted."""
    if offer.payload.final is not None:
        from unworn.mechanisms.symbols.final_values import final_event

        return final_event(offer, symbol)
    if not mechanism.prices_failure:
        if symbol == RAISED:
            return Ended()
        if symbol == STOPPED and not offer.runs_code:
            return Stopped()
    return mechanism.event(offer, symbol)


def follow_event(mechanism: Mechanism, state: State, event: Event) -> State:
    """The state once an event is in the ledger, for every event there is."""
    if state.ended and not isinstance(event, Ended):
        raise TypeError("nothing follows a failure that closed the holdout")
    if state.closed and not isinstance(event, Finished | Stopped):  # others fixed with the first may be interrupted
        raise TypeError("nothing follows final values")
    if isinstance(event, Ended):
        return replace(state.further(), ended=True)
    if isinstance(event, Finished):
        return replace(state.further(nats=event.nats), closed=state.closed or event.last)
    return state.further() if isinstance(event, Stopped) else mechanism.after(state, event)


def publish_symbol(mechanism: Mechanism, offer: Offer, symbol: Symbol) -> Published:
    """The interval that holds for every row set that could have produced this symbol.

    Where making an answer failed, nothing is known: the whole range holds.
    """
    if has_failed(symbol):
        return whole_range(offer)
    payload = offer.payload
    if payload.final is not None:
        from unworn.mechanisms.symbols.final_values import reveal_final

        return reveal_final(offer, symbol)
    if payload.null is not None:
        if not isinstance(mechanism, ChecksHypotheses):
            raise ValueError(f"{type(mechanism).__name__} tests no hypotheses")
        rejected = mechanism.is_rejected(offer, symbol)
        return Published(float(rejected), offer.low, offer.high, "test")  # of the value itself nothing is said
    return mechanism.reveal(offer, symbol)


def published_width(mechanism: Mechanism, offer: Offer, symbol: Symbol) -> float:
    """The half-width of what a symbol publishes."""
    published = publish_symbol(mechanism, offer, symbol)
    return (published.high - published.low) / 2


def likely_width(mechanism: Mechanism, offer: Offer) -> float:
    """The half-width that an honest asker should expect."""
    return published_width(mechanism, offer, mechanism.likely(offer))


def widest_width(mechanism: Mechanism, offer: Offer) -> float:
    """The half-width of the widest interval that any symbol could publish."""
    return mechanism.widest(offer) if isinstance(mechanism, BoundsWidth) else likely_width(mechanism, offer)
