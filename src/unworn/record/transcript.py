"""A holdout's ledger, folded: its terms, its state, and where questions stand that were answered before.

Each step can be undone until its entry is durable, because an entry that another writer overtook never happened.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from unworn.errors import Tampered
from unworn.events import Stopped
from unworn.ledger import Entry, Key, verify
from unworn.ledger.chain import Link
from unworn.ledger.checkpoint import CHECKPOINT_EVERY, Checkpoint
from unworn.ledger.collector_pause import pause_collection
from unworn.mechanisms.contract.conversation import Final, price_ask
from unworn.mechanisms.contract.mechanism import Guess, Offer, State, has_failed
from unworn.mechanisms.contract.record import Record
from unworn.queries.query import Facts
from unworn.record.chain_lookups import ChainLookups, durable_gone, missing_entry
from unworn.record.chain_views import CHUNK, Source, source_of
from unworn.record.fold_base import FoldBase, Step
from unworn.record.question_index import QuestionIndex
from unworn.record.terms import Terms

__all__ = ["Terms", "Transcript", "durable_gone", "missing_entry"]


class Transcript(ChainLookups):
    """One holdout's chain and what follows from it: the state, and where questions stand, but not every entry.

    What an entry adds is kept until the next checkpoint, and the entries themselves until they are known to be durable:
    from then on they are read from their ``source`` when somebody wants to see them. With a ``key``, checkpoints are
    signed as they come due.
    """

    every: ClassVar[int] = CHECKPOINT_EVERY
    """Entries between two checkpoints."""

    def __init__(self, first: Entry, source: Source | None = None, key: Key | None = None) -> None:
        self.first = first
        self.terms = Terms.from_body(first.body)
        self.torn = False
        """Whether a step was interrupted halfway, so that what follows from the entries has to be found anew."""
        self._source = source_of([first]) if source is None else source
        self._key = key
        self._due: list[Checkpoint] = []
        self._remembered = {}
        self._go_back_to(FoldBase(0, first.hash, self.terms.begin(), QuestionIndex(first.holdout)))

    def _go_back_to(self, base: FoldBase) -> None:
        self._base, self._settled = base, base.index
        self._steps, self._tail = [], []
        self._asked, self._families, self._draws = {}, {}, set()

    @classmethod
    def of(cls, entries: Sequence[Entry]) -> Transcript:
        """Fold a whole chain."""
        transcript = cls(entries[0], source_of(entries))
        with pause_collection():
            for start in range(1, len(entries), CHUNK):
                for entry in entries[start : start + CHUNK]:
                    transcript.extend(entry)
                transcript.settle()
        return transcript

    @classmethod
    def load(
        cls,
        first: Entry,
        source: Source,
        checkpoints: Iterable[Checkpoint] = (),
        key: Key | None = None,
        length: int = 1,
    ) -> Transcript:
        """Go on from the last checkpoint that counts, and fold what follows it.

        What is read is checked: every hash from that checkpoint on, the signature of the last entry, and that there are
        ``length`` entries.
        """
        transcript = cls(first, source, key)
        verify([first], public=transcript.terms.public)
        for checkpoint in checkpoints:
            if not transcript._skip_to(checkpoint):
                break
        with pause_collection():
            transcript._read_on()
        if transcript.length < length:
            raise missing_entry(transcript.length, length)
        return transcript

    def _skip_to(self, checkpoint: Checkpoint) -> bool:
        """Whether a checkpoint counts: it is signed, and follows the last one. Then its entry must be there."""
        try:
            base = self._base.follow(checkpoint, self.terms.public)
        except Tampered:
            return False
        found = self._source(base.index, base.index + 1)
        if len(found) != 1 or (found[0].index, found[0].hash) != (base.index, base.hash):
            raise durable_gone(base.index, self.terms.name)
        verify(found, signatures=False, after=Link(self.first.holdout, base.index - 1, found[0].previous))
        self._go_back_to(base)
        return True

    @property
    def state(self) -> State:
        return self._steps[-1].state if self._steps else self._base.state

    @property
    def head(self) -> str:
        return self._steps[-1].hash if self._steps else self._base.hash

    def hash_at(self, index: int) -> str | None:
        """The hash of an entry since the last checkpoint; none where it is not at hand."""
        place = index - self._base.index
        if place == 0:
            return self._base.hash
        return self._steps[place - 1].hash if 0 < place <= len(self._steps) else None

    # ---- folding

    def extend(self, entry: Entry, record: Record | None = None, state: State | None = None) -> None:
        """Fold one more entry in. ``record``, and ``state`` after it, spare reading back what was just written."""
        if record is None:
            if entry.body.get("type") == "released":
                self._extend_by_release(entry)
                return
            record = Record.from_body(entry.body)
        if record.draw is not None and self.drew(record.draw):
            raise Tampered(f"entry {entry.index} was made from rows drawn for another answer", index=entry.index)
        step = step_of(entry.hash, record, state or self.terms.follow(self.state, record.event))
        self.torn = True
        self._tail.append((entry, record))
        self._steps.append(step)
        self._note(entry.index, step)
        self.torn = False

    def _note(self, index: int, step: Step) -> None:
        if step.name is not None:
            self._asked.setdefault(step.name, []).append(index)
        if step.family is not None:
            self._families.setdefault(step.family, []).append(index)
        if step.draw is not None:
            self._draws.add(step.draw)

    def _extend_by_release(self, entry: Entry) -> None:
        """A release was made: the one entry, but entry 0, that rows sealed for a release have."""
        if not self.terms.is_release or self.length > 1 or not isinstance(entry.body.get("path"), str):
            raise Tampered(f"entry {entry.index} records a release that these terms do not have", index=entry.index)
        self.torn = True
        self._tail.append((entry, None))
        self._steps.append(Step(entry.hash, self.state, None, None, None))
        self.torn = False

    @property
    def path(self) -> str | None:
        """A digest of the random path that a release has taken, if it was made."""
        made = self.terms.is_release and self.length > 1
        return str(self.entries[1].body["path"]) if made else None

    def settle(self, last: int | None = None) -> None:
        """What was folded, up to entry ``last``, is durable: from here on it is read from the source."""
        last = self.length - 1 if last is None else last
        self.torn = True
        count = last - self._settled
        for entry, record in self._tail[max(count - self.remembered, 0) : count]:
            if record is not None:
                self._remember(entry, record)
        self._settled = last
        del self._tail[:count]
        while self._settled - self._base.index >= self.every:
            self._move_base()
        self.torn = False

    def _move_base(self) -> None:
        """Past one checkpoint: what its entries add is kept in less room."""
        steps, rest = self._steps[: self.every], self._steps[self.every :]
        base = None
        if self._key is not None:
            try:
                checkpoint, base = self._base.seal(steps, self._key)
                self._due.append(checkpoint)
            except ValueError:  # a state that has no text: this ledger does without
                self._key = None
        self._base = self._base.after(steps) if base is None else base
        self._steps, self._asked, self._families, self._draws = rest, {}, {}, set()
        for index, step in enumerate(rest, self._base.index + 1):
            self._note(index, step)

    def take_checkpoints(self) -> list[Checkpoint]:
        """Those that came due since they were last taken, to be kept beside the entries."""
        due, self._due = self._due, []
        return due

    def truncate(self, length: int) -> None:
        """Forget the entries from index ``length`` on; what is durable stays."""
        self._mend()
        self._drop(length)

    def _drop(self, length: int) -> None:
        self.torn = self.length > max(length, self._settled + 1)
        while self.length > max(length, self._settled + 1):
            self._tail.pop()
            step = self._steps.pop()
            if step.draw is not None:
                self._draws.discard(step.draw)
            if step.name is not None:
                self._asked[step.name].pop()
            if step.family is not None:
                self._families[step.family].pop()
        self.torn = False

    def refresh(self) -> None:
        """Take in what other writers entered, and drop what never became durable."""
        self._mend()
        self._read_on()
        self._drop(self._settled + 1)

    def _mend(self) -> None:
        """Fold anew from the last checkpoint on, if a step was left halfway: what is durable, then the rest."""
        if not self.torn:
            return
        tail = [entry for entry, _ in self._tail]
        try:
            self._go_back_to(self._base)
            self._read_on()
            for entry in tail:
                if entry.index == self.length and entry.previous == self.head:
                    self.extend(entry)
        except BaseException:
            self.torn = True
            raise
        self.torn = False

    def _read_on(self) -> None:
        """Fold all that the source has beyond what is known to be durable, piece by piece."""
        start, known = self._settled, self.hash_at(self._settled)
        news = self._source(start, start + 1 + CHUNK)
        if not news or news[0].hash != known:
            raise durable_gone(start, self.terms.name)
        last = news[0]
        if len(news) == 1 and start == self._base.index and start:  # nothing follows that would answer for it
            verify(news, public=self.terms.public, after=Link(last.holdout, start - 1, last.previous))
        news = news[1:]
        while news:
            verify(news, public=self.terms.public, signatures="last", after=last)
            self._catch_up(news)
            last = news[-1]
            news = self._source(last.index + 1, last.index + 1 + CHUNK) if len(news) == CHUNK else []

    def _catch_up(self, news: Sequence[Entry]) -> None:
        """Take the store's word for these entries, which follow what is known to be durable."""
        for entry in news:
            place = entry.index - self._settled - 1
            if place < len(self._tail) and self._tail[place][0].hash == entry.hash:
                continue
            self._drop(entry.index)
            self.extend(entry)
        self.settle(news[-1].index)

    def offer(
        self,
        facts: Facts,
        guess: Guess | None,
        parent: int | None,
        position: int = 0,
        final: Final | None = None,
        noise: bool = False,
    ) -> Offer:
        """Price an ask at this point; with ``noise``, to be answered by noise whatever guess there is."""
        known = None if parent is None else self.record(parent)
        return price_ask(self.mechanism, self.state, facts, guess, known, position, final, noise)


def step_of(hashed: str, record: Record, state: State) -> Step:
    """What an ask adds to its chain: a repeat does not go back to a final value that was interrupted, nor a guess to
    what is no answer."""
    is_told = record.offer.final is None or not isinstance(record.event, Stopped)
    name = (record.fingerprint, record.asked_of) if is_told else None
    return Step(hashed, state, name, None if has_failed(record.symbol) else record.family, record.draw)
