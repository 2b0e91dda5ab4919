"""What was told before, found again: by its index, by its question, by its metric."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from unworn.errors import Tampered
from unworn.ledger import Entry, verify
from unworn.ledger.chain import Link
from unworn.mechanisms.contract.mechanism import Mechanism
from unworn.mechanisms.contract.record import Record
from unworn.record.chain_views import CHUNK, LazyView, Source
from unworn.record.drawn_rows import Draw
from unworn.record.fold_base import FoldBase, Step
from unworn.record.question_index import Name
from unworn.record.terms import Terms


class ChainLookups:
    """The half of a transcript that looks back.

    Entries after ``_settled`` are in ``_tail``, all others in the ``_source``; what those since ``_base`` add is in
    ``_steps`` and in the dictionaries.
    """

    remembered: ClassVar[int] = 1024
    """Answers that are kept at hand, because questions are often asked again soon."""
    first: Entry
    terms: Terms
    _source: Source
    _base: FoldBase
    _settled: int
    _steps: list[Step]
    _tail: list[tuple[Entry, Record | None]]
    _asked: dict[Name, list[int]]
    _families: dict[str, list[int]]
    _draws: set[Draw]
    _remembered: dict[int, tuple[Entry, Record]]

    @property
    def mechanism(self) -> Mechanism:
        return self.terms.mechanism

    @property
    def length(self) -> int:
        """The number of entries, with entry 0."""
        return self._base.index + 1 + len(self._steps)

    @property
    def entries(self) -> LazyView[Entry]:
        """The whole chain, read as it is needed."""
        return LazyView(self.length, self.entry, self._entries)

    @property
    def records(self) -> LazyView[Record]:
        """What was asked and answered; the first ask is at 0."""
        asks = 0 if self.terms.is_release else self.length - 1
        return LazyView(asks, lambda place: self.record(place + 1), lambda *ends: list(self._records(*ends)))

    def entry(self, index: int) -> Entry:
        """One entry of the chain, checked against its signature where it is read again."""
        if index == 0:
            return self.first
        if index > self._settled:
            return self._tail[index - self._settled - 1][0]
        known = self._remembered.get(index)
        return self._entries(index, index + 1)[0] if known is None else known[0]

    def record(self, index: int) -> Record:
        """The ask with this index (1 is the first)."""
        if not 1 <= index < self.length:
            raise IndexError(f"there is no answer {index}; {self.length - 1} have been given")
        if index > self._settled:
            record = self._tail[index - self._settled - 1][1]
            if record is not None:
                return record
        known = self._remembered.get(index)
        if known is not None:
            return known[1]
        entry = self.entry(index)
        record = Record.from_body(entry.body)
        self._remember(entry, record)
        return record

    def _remember(self, entry: Entry, record: Record) -> None:
        self._remembered[entry.index] = entry, record
        if len(self._remembered) > self.remembered:
            del self._remembered[next(iter(self._remembered))]

    def _entries(self, start: int, stop: int) -> list[Entry]:
        """Entries in a row: their hashes link them, and the signature of the last answers for all."""
        if start >= stop:
            return []
        durable = min(stop, self._settled + 1)
        found = self._source(start, durable) if start < durable else []
        if len(found) != max(durable - start, 0):
            raise durable_gone(start + len(found), self.terms.name)
        if found:
            after = Link(self.first.holdout, start - 1, found[0].previous) if start else None
            verify(found, public=self.terms.public, signatures="last", after=after)
        return found + [entry for entry, _ in self._tail if start <= entry.index < stop]

    def _records(self, start: int, stop: int) -> Iterator[Record]:
        for first in range(start + 1, stop + 1, CHUNK):
            for entry in self._entries(first, min(first + CHUNK, stop + 1)):
                known = self._remembered.get(entry.index)
                yield Record.from_body(entry.body) if known is None else known[1]

    def answered(self, fingerprint: str, parent: int | None = None) -> int | None:
        """The index under which a question (or the sharpening of answer ``parent``) was last answered.

        A final value that was interrupted was not told, and may be asked for again.
        """
        recent = self._asked.get((fingerprint, parent))
        if recent:
            return recent[-1]
        return next(self.all_answered(fingerprint, parent), None) if self._base.questions.runs else None

    def all_answered(self, fingerprint: str, parent: int | None = None) -> Iterator[int]:
        """All of them, the latest first."""
        name = fingerprint, parent
        yield from reversed(self._asked.get(name, []))
        for index in self._base.questions.find(name):
            record = self.record(index)
            if (record.fingerprint, record.asked_of) == name:
                yield index

    def drew(self, draw: Draw) -> bool:
        """Whether an answer was made from these rows, drawn ahead."""
        return draw in self._draws or draw in self._base.drawn

    def latest(self, family: str) -> Record | None:
        """The last answer to the same metric."""
        recent = self._families.get(family)
        index = recent[-1] if recent else self._base.families.get(family)
        return None if index is None else self.record(index)


def missing_entry(index: int, length: int) -> Tampered:
    """Why a chain that ends before its last entry is none."""
    return Tampered(
        f"entry {index} is missing, and the ledger has entries up to {length - 1}.\n  Restore it from a backup.",
        index=index,
    )


def durable_gone(index: int, name: str) -> Tampered:
    """Why a ledger that lacks an entry that was in it cannot be used."""
    return Tampered(
        f"entry {index} of holdout {name!r} was durable, and is gone from the ledger or replaced.\n"
        "  Entries were cut off: bring the ledger file back, with its -wal file.",
        index=index,
    )
