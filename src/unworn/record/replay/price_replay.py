"""Pricing an ask from the state before it, and pricing it again later, to see that it was priced by the terms."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from unworn.errors import Refused, Tampered
from unworn.mechanisms.contract.capabilities import GuessesItself, SharpensAnswers
from unworn.mechanisms.contract.conversation import (
    charge_symbol,
    check_question,
    follow_event,
    publish_symbol,
    reprice_offer,
)
from unworn.mechanisms.contract.declarations import offer_final_value, offer_noise, offer_test
from unworn.mechanisms.contract.mechanism import FinalPlace, Guess, Mechanism, Offer, State, has_failed
from unworn.mechanisms.contract.record import Record
from unworn.queries import parse
from unworn.queries.query import Facts
from unworn.record.terms import Terms

Final = tuple[int, int, bool]
"""The place of a final value among those fixed together, their number, and whether they are the last."""


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


class PriceReplay:
    """Prices asks again, one after another: the level, the cell and the interval must be the ones that were recorded.

    It begins where a batch does. ``record_at`` reads any record before the one that is checked, and ``records`` the
    first so many of all, for mechanisms that guess from them.
    """

    def __init__(
        self,
        terms: Terms,
        state: State,
        record_at: Callable[[int], Record],
        records: Callable[[int], Sequence[Record]],
    ) -> None:
        self.terms, self.mechanism, self.state = terms, terms.mechanism, state
        self._record_at, self._records = record_at, records
        self._before_batch, self._previous = state, None
        self._guesser = self.mechanism if isinstance(self.mechanism, GuessesItself) else None

    _previous: Record | None

    def check(self, index: int, record: Record) -> State:
        """Check the next ask; the state after it."""
        position, size = record.batch
        previous = self._previous
        if not 0 <= position < size or (position and (previous is None or previous.batch != (position - 1, size))):
            raise Tampered(f"entry {index} claims a place in a batch that is not there", index=index)
        if position == 0:
            self._before_batch = self.state
        facts = record.facts
        self._check_facts(index, record, facts)
        if self._guesser is not None:  # a batch is guessed from what was told before it
            self._check_guess(self._guesser, index, record, self._records(index - 1 - position))
        known = None if record.parent is None else self._parent(index, record)
        final = record.offer.final
        if not _is_in_place(previous if position else None, final, position, size):
            raise Tampered(f"entry {index} claims another place among final values", index=index)
        mechanism, requested = self.mechanism, record.offer.payload.requested
        offer = price_ask(mechanism, self._before_batch, facts, record.guess, known, position, final, requested)
        if position:
            offer = reprice_offer(mechanism, offer, self.state)
        symbol = record.symbol
        event, published = charge_symbol(mechanism, offer, symbol), publish_symbol(mechanism, offer, symbol)
        if not record.matches(offer, event, published):
            raise Tampered(f"entry {index} was not priced by the terms of entry 0: replaying it differs", index=index)
        self._previous = record
        self.state = follow_event(mechanism, self.state, record.event)
        return self.state

    def _parent(self, index: int, record: Record) -> Record:
        """What is sharpened, or told finally, was told before, and of the same question."""
        parent = record.parent or 0
        known = self._record_at(parent) if 1 <= parent < index - record.batch[0] else None
        if known is None or known.fingerprint != record.fingerprint:
            raise Tampered(f"entry {index} claims to sharpen an answer to another question", index=index)
        return known

    def _check_facts(self, index: int, record: Record, told: Facts) -> None:
        """What was offered must be about the question that is recorded: its range, its kind, its sensitivity."""
        question = record.question
        try:
            if question.get("ask") in ("share", "mean"):
                facts = parse(question).facts(self.terms.schema, self.terms.rows)
                same = (facts.kind, facts.low, facts.high) == (told.kind, told.low, told.high)
            else:  # what else they are about, code and predictions, is not in the ledger
                same = "range" not in question or list(question["range"]) == [told.low, told.high]
            same = same and told.sensitivity == question.get("sensitivity")
        except (Refused, KeyError, TypeError, ValueError, AttributeError) as why:
            raise Tampered(f"entry {index} holds no question that these terms could be asked", index=index) from why
        if not same:
            raise Tampered(f"entry {index} was priced for another question than it records", index=index)

    def _check_guess(self, guesser: GuessesItself, index: int, record: Record, told: Sequence[Record]) -> None:
        """Where the mechanism guesses itself, the recorded guess must be the one it made of what was ``told``."""
        guess = guesser.own_guess(parse(record.question), record.facts, told)
        if guess != record.guess:
            raise Tampered(
                f"entry {index} holds the guess {record.guess}, and the answers before it make it {guess}", index=index
            )


def _is_in_place(previous: Record | None, final: Final | None, position: int, size: int) -> bool:
    """Whether final values are the whole of their batch, all of them the last or none."""
    before = None if previous is None else previous.offer.final
    if final is None:
        return before is None
    return final[:2] == (position, size) and (not position or (before is not None and before[2] == final[2]))
