"""A piece of a chain, checked: every hash, every signature, and every price from the state before it.

Pieces begin anywhere, and batches are priced from where they begin: what is left of a batch at the start of a piece is
priced with the piece before it, which goes on beyond its end as long as its last batch does.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from unworn.basics.float_settings import USUAL_FLOATS
from unworn.errors import Exhausted, Tampered
from unworn.ledger import Entry, verify
from unworn.ledger.chain import Link
from unworn.ledger.collector_pause import pause_collection
from unworn.mechanisms.contract.capabilities import GuessesItself
from unworn.mechanisms.contract.declarations import is_complete
from unworn.mechanisms.contract.mechanism import State
from unworn.mechanisms.contract.record import Record
from unworn.record.chain_views import LazyView, Source
from unworn.record.drawn_rows import Draw
from unworn.record.fold_base import FoldBase, Step
from unworn.record.question_index import QuestionIndex
from unworn.record.replay.price_replay import PriceReplay
from unworn.record.terms import Terms
from unworn.record.transcript import step_of

_AT_HAND = 2048


@contextmanager
def replaying() -> Iterator[None]:
    """What cannot even be computed again was not made by this mechanism: numbers of the wrong type or size."""
    try:
        with np.errstate(**USUAL_FLOATS):  # or the caller's own settings would make a true ledger a forged one
            yield
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError, Exhausted) as error:
        raise Tampered(f"an entry cannot be replayed under the terms of entry 0 ({type(error).__name__})") from error


def check_complete(terms: Terms) -> None:
    if not terms.is_release and not is_complete(terms.mechanism):
        raise Tampered("entry 0 leaves open what sealing fixes: the price of its plan")


class CheckedChunk(NamedTuple):
    """Where a chain stands after a piece that is as it should be, and which of the heads looked for are in it."""

    after: FoldBase
    heads: frozenset[str]


@dataclass
class ChunkCheck:
    """Checks one chain, piece by piece, reading it from its ``source``."""

    first: Entry
    source: Source

    def __post_init__(self) -> None:
        self.terms = Terms.from_body(self.first.body)
        self._at_hand: dict[int, Record] = {}
        self._prices: PriceReplay | None = None
        check_complete(self.terms)

    @property
    def is_serial(self) -> bool:
        """Whether guesses follow from all that was told before, so that pieces cannot be checked apart."""
        return isinstance(self.terms.sealed_for, GuessesItself)

    def begin(self) -> FoldBase:
        """Where the chain stands after entry 0."""
        return FoldBase(0, self.first.hash, self.terms.begin(), QuestionIndex(self.first.holdout))

    def check(
        self, base: FoldBase, stop: int, *, heads: Collection[str] = (), signatures: bool = True
    ) -> CheckedChunk | None:
        """Check the entries that follow, up to ``stop`` or to the end; none where there are no more."""
        entries = self.source(base.index + 1, stop)
        if not entries:
            return None
        with pause_collection():
            checked = self._check(base, entries, heads, signatures)
            if self._prices is not None and checked.after.index + 1 == stop:
                with replaying():
                    self._check_overhang(self._prices, stop)
        return checked

    def _check(
        self, base: FoldBase, entries: Sequence[Entry], heads: Collection[str], signatures: bool
    ) -> CheckedChunk:
        if signatures:
            verify(entries, public=self.terms.public, after=Link(self.first.holdout, base.index, base.hash))
        with replaying():
            steps = list(self._steps(base, entries))
            _check_draws(base, steps)
            return CheckedChunk(base.after(steps), frozenset(step.hash for step in steps if step.hash in heads))

    def _steps(self, base: FoldBase, entries: Sequence[Entry]) -> Iterator[Step]:
        """Fold these, and price those from the first batch on that begins here."""
        state, self._prices = base.state, self._begin_prices(base.state) if base.index == 0 else None
        for entry in entries:
            if entry.body.get("type") == "released":
                state = self._check_release(entry, state)
                yield Step(entry.hash, state, None, None, None)
                continue
            record = self._read(entry)
            if self._prices is None and record.batch[0] == 0:
                self._prices = self._begin_prices(state)
            if self._prices is None:
                state = self.terms.follow(state, record.event)
            else:
                state = self._prices.check(entry.index, record)
            yield step_of(entry.hash, record, state)

    def _check_overhang(self, prices: PriceReplay, start: int) -> None:
        """Price what is left of the last batch."""
        while entries := self.source(start, start + 256):
            for entry in entries:
                if entry.body.get("type") == "released":
                    return
                record = self._read(entry)
                if record.batch[0] == 0:
                    return
                prices.check(entry.index, record)
            start += len(entries)

    def _begin_prices(self, state: State) -> PriceReplay | None:
        """None where the rows are sealed for a release: it has no asks to price."""
        if self.terms.is_release:
            return None
        return PriceReplay(self.terms, state, self._record_at, self._records)

    def _check_release(self, entry: Entry, state: State) -> State:
        """A release was made: the one entry, but entry 0, that rows sealed for a release have."""
        if not self.terms.is_release or entry.index != 1 or not isinstance(entry.body.get("path"), str):
            raise Tampered(f"entry {entry.index} records a release that these terms do not have", index=entry.index)
        return state

    def _read(self, entry: Entry) -> Record:
        record = Record.from_body(entry.body)
        self._at_hand[entry.index] = record
        if len(self._at_hand) > _AT_HAND:
            del self._at_hand[next(iter(self._at_hand))]
        return record

    def _record_at(self, index: int) -> Record:
        known = self._at_hand.get(index)
        if known is not None:
            return known
        (entry,) = self.source(index, index + 1)
        return Record.from_body(entry.body)

    def _records(self, count: int) -> Sequence[Record]:
        return LazyView(
            count,
            lambda place: self._record_at(place + 1),
            lambda start, stop: [self._record_at(place + 1) for place in range(start, stop)],
        )


def _check_draws(base: FoldBase, steps: Sequence[Step]) -> None:
    """No rows drawn ahead serve two answers."""
    seen: set[Draw] = set()
    for index, step in enumerate(steps, base.index + 1):
        if step.draw is not None:
            if step.draw in seen or step.draw in base.drawn:
                raise Tampered(f"entry {index} was made from rows drawn for another answer", index=index)
            seen.add(step.draw)
