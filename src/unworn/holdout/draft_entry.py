"""A question's entry before its symbol is known: all that stands on it is public."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from unworn.ledger import Entry, Key
from unworn.mechanisms import Mechanism, Offer
from unworn.mechanisms.contract.mechanism import Reply, State, has_failed, whole_range
from unworn.mechanisms.contract.record import Record

if TYPE_CHECKING:
    from unworn.holdout.jobs import Ask
    from unworn.mechanisms.contract.mechanism import Symbol

Written = tuple[Entry, Record, State]
"""An entry, what it says, and the state once it is in the ledger."""


@dataclass(slots=True)
class DraftEntry:
    """Where an entry will stand, for which ask and at which offer."""

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
            whole_range(offer) if has_failed(symbol) else mechanism.publish(offer, symbol),
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
        return entry, record, mechanism.follow(state, event)

    def write_failure(self, mechanism: Mechanism, state: State, interrupted: bool) -> Written:
        """The entry that says that no answer could be made."""
        symbol: Symbol = mechanism.failure(self.offer, interrupted)
        return self.write(mechanism, state, Reply(symbol, mechanism.charge(self.offer, symbol)))
