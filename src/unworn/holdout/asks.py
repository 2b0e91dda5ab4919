"""One question on its way: all that is public about it, and the entry that it becomes."""

from __future__ import annotations

from dataclasses import dataclass, replace

from unworn.basics.frozen_init import assign_fields
from unworn.holdout.asking.labels import NO_LABEL, Label
from unworn.ledger import Entry, Key
from unworn.mechanisms import Guess, Mechanism, Offer
from unworn.mechanisms.contract.conversation import charge_symbol, failure_symbol, follow_event, publish_symbol
from unworn.mechanisms.contract.mechanism import Reply, State
from unworn.mechanisms.contract.record import Record, final_name
from unworn.queries.query import Facts, Query
from unworn.record.practice_estimate import PracticeEstimate

Written = tuple[Entry, Record, State]
"""An entry, what it says, and the state once it is in the ledger."""


@assign_fields
@dataclass(frozen=True)
class Ask:
    """One question: everything public about it."""

    query: Query
    facts: Facts
    guess: Guess | None = None
    by: str | None = None
    again: bool = False
    parent: int | None = None
    final: tuple[int, int, bool] | None = None
    practice: PracticeEstimate | None = None
    noise: bool = False
    label: Label = NO_LABEL
    code: str | None = None

    @property
    def name(self) -> tuple[str, int | None]:
        """What a repeat has in common with it."""
        return self.query.fingerprint, self.parent if self.final is None else final_name(self.final)

    def placed(self, position: int, questions: int) -> Ask:
        """With its place among final values: others may have told some of them since they were fixed together."""
        return self if self.final is None else replace(self, final=(position, questions, self.final[2]))


@dataclass(slots=True)
class DraftEntry:
    """An ask's entry before its symbol is known: where it will stand, and at which offer."""

    holdout: str
    index: int
    previous: str
    ask: Ask
    offer: Offer
    batch: tuple[int, int]
    now: float
    key: Key

    def write(self, mechanism: Mechanism, state: State, reply: Reply, draw: tuple[str, int] | None = None) -> Written:
        """The entry with its symbol. All that depends on the symbol is worked out here, so that it fails here or not.

        Of what could not be answered nothing is asked but its price, which is public.
        """
        query, offer, symbol, event = self.ask.query, self.offer, reply.symbol, reply.event
        record = Record(
            query.to_json(),
            query.label,
            query.fingerprint,
            query.family,
            self.ask.guess,
            offer,
            symbol,
            event,
            publish_symbol(mechanism, offer, symbol),
            self.now,
            self.ask.by,
            self.ask.parent,
            self.batch,
            draw,
            self.ask.label.name,
            self.ask.label.tags,
            self.ask.code,
        )
        text = record.to_text(query.canonical_text)
        entry = Entry.seal_text(self.holdout, self.index, self.previous, text, self.key)
        return entry, record, follow_event(mechanism, state, event)

    def write_failure(self, mechanism: Mechanism, state: State, interrupted: bool) -> Written:
        """The entry that says that no answer could be made."""
        symbol = failure_symbol(mechanism, self.offer, interrupted)
        return self.write(mechanism, state, Reply(symbol, charge_symbol(mechanism, self.offer, symbol)))
