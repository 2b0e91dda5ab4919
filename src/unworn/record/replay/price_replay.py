"""Pricing asks again, from the state before each, to see that they were priced by the terms of entry 0."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from unworn.errors import Refused, Tampered
from unworn.mechanisms.contract.capabilities import GuessesItself
from unworn.mechanisms.contract.conversation import (
    Final,
    charge_symbol,
    follow_event,
    price_ask,
    publish_symbol,
    reprice_offer,
)
from unworn.mechanisms.contract.mechanism import State
from unworn.mechanisms.contract.record import Record
from unworn.queries import parse
from unworn.queries.query import Facts
from unworn.record.terms import Terms


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
        try:
            question = record.question["of"] if record.question.get("ask") == "hypothesis" else record.question
            if question.get("ask") in ("share", "mean"):
                facts = parse(question).facts(self.terms.schema, self.terms.rows)
                same = (facts.kind, facts.low, facts.high) == (told.kind, told.low, told.high)
            elif question.get("masked"):  # where the predicate does not hold it is 0, whatever the declared range
                same = getattr(parse(question), "bounds", None) == (told.low, told.high)
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
