"""A holdout's ledger, folded: its terms, its state, and what was answered before.

The fold is kept by ledger head, so the ten-thousandth ask replays nothing. Each step can be undone, because an entry
that another writer overtook never happened.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from unworn.errors import LedgerError, Refused, Tampered
from unworn.events import Stopped
from unworn.ledger import Entry
from unworn.ledger.collection import pause_collection
from unworn.ledger.entry import is_holdout
from unworn.mechanisms import GuessAndCheck, from_json
from unworn.mechanisms.base import MOST_ASKS, MOST_ROWS, FinalPlace, Guess, Mechanism, Offer, State, has_failed
from unworn.mechanisms.practice_share import checked_share, practice_units
from unworn.mechanisms.record import FINAL, OPEN_FINAL, Record
from unworn.mechanisms.uses import Uses
from unworn.queries import parse
from unworn.queries.query import Facts
from unworn.queries.schema import Schema
from unworn.typed_fields import is_text, read_fields

_PLAIN, _WITH_USES, _WITH_PRACTICE = 3, 4, 5
"""Formats of entry 0: whoever knows no uses, or no practice rows, would take all the rows for this use's sealed ones.
Under 1 and 2 keys drew otherwise, so that digests, secret parts and thresholds would be others."""


@dataclass(frozen=True)
class Terms:
    """What entry 0 fixes, for good.

    Where several uses share the rows, ``size`` counts the units of this use's part and ``units`` those of all parts;
    ``first`` is the holdout whose key says which rows lie in which part, unless it is this one. ``practice`` is the
    share of this use's units that is set aside, and not counted in ``size``. ``rows`` and the digests are always of all
    the rows.
    """

    name: str
    size: int
    rows: int
    schema: Schema
    digest: str
    grouping: str
    order: str
    columns: dict[str, tuple[str, str]]
    mechanism: Mechanism
    confidence: float
    asks: int | None
    public: str
    kept: str
    version: str
    uses: Uses | None = None
    units: int | None = None
    first: str | None = None
    veiled: bool = False
    """Whether the columns' digests are masked by the key, so that equal columns do not show."""
    practice: float = 0.0

    @property
    def practice_size(self) -> int:
        """How many units are for practice."""
        return practice_units(self.practice, self._given) if self.practice else 0

    @property
    def _given(self) -> int:
        """The units that this use has been given, sealed or for practice."""
        return self.whole if self.uses is None else self.uses.size(self.whole)

    @property
    def whole(self) -> int:
        """The number of sampled units in all the rows, whatever part of them is this use's."""
        return self.size if self.units is None else self.units

    def to_body(self) -> dict[str, Any]:
        shared: dict[str, Any] = {}
        if self.uses is not None:
            shared = {"uses": {**self.uses.to_json(), "units": self.units, "first": self.first}}
        if self.practice:
            shared["practice"] = {"share": self.practice, "units": self.units}
        return {
            "type": "terms",
            "format": _WITH_PRACTICE if self.practice else _WITH_USES if shared else _PLAIN,
            "version": self.version,
            "name": self.name,
            "size": self.size,
            "rows": self.rows,
            "unit": "group" if self.schema.grouped else "row",
            "schema": self.schema.to_json(),
            "digest": self.digest,
            "grouping": self.grouping,
            "order": self.order,
            "columns": {name: list(pair) for name, pair in self.columns.items()},
            **({"veiled": True} if self.veiled else {}),
            "mechanism": self.mechanism.to_json(),
            "confidence": self.confidence,
            "asks": self.asks,
            "public": self.public,
            "kept": self.kept,
            "spoiled": not self.mechanism.promises,
            **shared,
        }

    @classmethod
    def from_body(cls, body: dict[str, Any]) -> Terms:
        try:
            if body["type"] != "terms":
                raise Tampered("entry 0 of the ledger does not hold terms")
            if body["format"] not in (_PLAIN, _WITH_USES, _WITH_PRACTICE):
                raise LedgerError(
                    f"terms of {body.get('name')!r:.80} are of format {body['format']!r:.20}, but this version "
                    f"reads {_PLAIN} to {_WITH_PRACTICE}\n  Use the version that wrote them, or another ledger file."
                )
            return _checked(
                name=body["name"],
                size=body["size"],
                rows=body["rows"],
                schema=Schema.from_json(body["schema"]),
                digest=body["digest"],
                grouping=body["grouping"],
                order=body["order"],
                columns={name: (values, sequence) for name, (values, sequence) in body["columns"].items()},
                mechanism=from_json(body["mechanism"]),
                confidence=body["confidence"],
                asks=body["asks"],
                public=body["public"],
                kept=body["kept"],
                version=body["version"],
                veiled=body.get("veiled") is True,
                **_parted(body),
            )
        except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError) as error:
            raise Tampered("entry 0 of the ledger does not have the form of terms") from error


def _checked(**told: Any) -> Terms:
    """Terms, each field of its type and of a size that can be: a stranger's card is signed by their own key."""
    terms = read_fields(Terms, told)
    digests = [digest for pair in terms.columns.values() for digest in pair]
    if not (
        1 <= terms.size <= terms.rows <= MOST_ROWS
        and (terms.asks is None or 1 <= terms.asks <= MOST_ASKS)
        and 0 < terms.confidence < 1
        and _KEY(terms.public)
        and all(map(is_text, digests))
    ):
        raise ValueError("no rows could be sealed on these terms")
    return terms


_KEY = re.compile("[0-9a-f]{64}").fullmatch


def _parted(body: dict[str, Any]) -> dict[str, Any]:
    """What entry 0 says of parts of the rows: this use's, and within it those that are sealed."""
    told: dict[str, Any] = {}
    units = given = body["size"]
    if body["format"] == _WITH_USES or (body["format"] == _WITH_PRACTICE and "uses" in body):
        uses, units, first = Uses.from_json(body["uses"]), body["uses"]["units"], body["uses"]["first"]
        if type(units) is not int or not (first is None or is_holdout(first)):
            raise ValueError("no uses are declared so")
        told, given = {"uses": uses, "units": units, "first": first}, uses.size(units)
    if body["format"] == _WITH_PRACTICE:
        share, units = body["practice"]["share"], body["practice"]["units"]
        possible = type(units) is int and units <= body["rows"] and units == told.get("units", units)
        if not possible or not 0 < share == checked_share(share):
            raise ValueError("no practice rows are set aside so")
        given = given if "uses" in told else units
        told, given = told | {"units": units, "practice": share}, given - practice_units(share, given)
    if given != body["size"]:
        raise ValueError("the part is not as large as its share")
    return told


@dataclass
class Transcript:
    """The entries of one holdout and everything that follows from them."""

    first: Entry
    terms: Terms = field(init=False)
    entries: list[Entry] = field(init=False)
    records: list[Record] = field(init=False, default_factory=list)
    _states: list[State] = field(init=False)
    _asked: dict[tuple[str, int | None], list[int]] = field(init=False, default_factory=dict)
    _families: dict[str, list[int]] = field(init=False, default_factory=dict)
    _draws: set[tuple[str, int]] = field(init=False, default_factory=set)
    torn: bool = field(init=False, default=False)
    """Whether a step was interrupted halfway, so that what follows from the entries has to be found anew."""

    def __post_init__(self) -> None:
        self.terms = Terms.from_body(self.first.body)
        self.entries = [self.first]
        self._states = [self.mechanism.begin(self.terms.size, self.terms.confidence, self.terms.asks)]

    @classmethod
    def of(cls, entries: Sequence[Entry]) -> Transcript:
        """Fold a whole chain."""
        transcript = cls(entries[0])
        with pause_collection():
            for entry in entries[1:]:
                transcript.extend(entry)
        return transcript

    @property
    def mechanism(self) -> Mechanism:
        return self.terms.mechanism

    @property
    def state(self) -> State:
        return self._states[-1]

    @property
    def head(self) -> str:
        return self.entries[-1].hash

    def extend(self, entry: Entry, record: Record | None = None, state: State | None = None) -> None:
        """Fold one more entry in. ``record``, and ``state`` after it, spare reading back what was just written."""
        if record is None:
            if entry.body.get("type") == "released":
                self._made(entry)
                return
            record = Record.from_body(entry.body)
        if record.draw is not None and record.draw in self._draws:
            raise Tampered(f"entry {entry.index} was made from rows drawn for another answer", index=entry.index)
        state = state or self.mechanism.follow(self.state, record.event)
        self.torn = True
        self._states.append(state)
        self.entries.append(entry)
        self.records.append(record)
        self._asked.setdefault((record.fingerprint, record.asked_of), []).append(entry.index)
        if record.family is not None:
            self._families.setdefault(record.family, []).append(entry.index)
        if record.draw is not None:
            self._draws.add(record.draw)
        self.torn = False

    def _made(self, entry: Entry) -> None:
        """A release was made: the one entry, but entry 0, that rows sealed for a release have."""
        if self.mechanism.currency != "release" or len(self.entries) > 1 or not isinstance(entry.body.get("path"), str):
            raise Tampered(f"entry {entry.index} tells of a release that these terms do not have", index=entry.index)
        self.torn = True
        self.entries.append(entry)
        self._states.append(self.state)
        self.torn = False

    @property
    def path(self) -> str | None:
        """A digest of the random path that a release has taken, if it was made."""
        made = self.entries[1:] if self.mechanism.currency == "release" else []
        return str(made[0].body["path"]) if made else None

    def truncate(self, length: int) -> None:
        """Forget the entries from index ``length`` on."""
        self._mend()
        self.torn = len(self.entries) > max(length, 1)
        while len(self.entries) > max(length, 1):
            self.entries.pop()
            self._states.pop()
            if len(self.records) < len(self.entries):  # a release, which has no record
                continue
            record = self.records.pop()
            if record.draw is not None:
                self._draws.discard(record.draw)
            self._asked[record.fingerprint, record.asked_of].pop()
            if record.family is not None:
                self._families[record.family].pop()
        self.torn = False

    def _mend(self) -> None:
        """Fold the entries there are anew, if an interrupt left the rest halfway between two of them."""
        if self.torn:
            vars(self).update(vars(Transcript.of(self.entries)))

    def catch_up(self, entries: list[Entry]) -> None:
        """Take the store's word for everything from the first of these entries on."""
        self._mend()
        for position, entry in enumerate(entries):
            if entry.index < len(self.entries) and self.entries[entry.index].hash == entry.hash:
                continue
            self.truncate(entry.index)
            for later in entries[position:]:
                self.extend(later)
            return
        if entries:
            self.truncate(entries[-1].index + 1)

    def record(self, index: int) -> Record:
        """The ask with this index (1 is the first)."""
        if not 1 <= index <= len(self.records):
            raise IndexError(f"there is no answer {index}; {len(self.records)} have been given")
        return self.records[index - 1]

    def answered(self, fingerprint: str, parent: int | None = None) -> int | None:
        """The index under which a question (or the sharpening of answer ``parent``) was last answered.

        A final value that was interrupted was not told, and may be asked for again.
        """
        asked = self._asked.get((fingerprint, parent), [])
        if parent in (FINAL, OPEN_FINAL):
            asked = [index for index in asked if not isinstance(self.record(index).event, Stopped)]
        return asked[-1] if asked else None

    def drew(self, draw: tuple[str, int]) -> bool:
        """Whether an answer was made from these rows, drawn ahead."""
        return draw in self._draws

    def latest(self, family: str) -> Record | None:
        """The last answer to the same metric."""
        asked = self._families.get(family)
        return self.record(asked[-1]) if asked else None

    def offer(
        self,
        facts: Facts,
        guess: Guess | None,
        parent: int | None,
        position: int = 0,
        final: tuple[int, int, bool] | None = None,
        noise: bool = False,
    ) -> Offer:
        """Price an ask at this point; with ``noise``, to be answered by noise whatever guess there is."""
        return self._offer(self.state, facts, guess, parent, position, final, noise)

    def _offer(
        self,
        state: State,
        facts: Facts,
        guess: Guess | None,
        parent: int | None,
        position: int,
        final: tuple[int, int, bool] | None,
        noise: bool,
    ) -> Offer:
        if final is not None:
            before = None if parent is None else self.record(parent)
            told = None if before is None or has_failed(before.symbol) else (before.offer, before.symbol)
            self.mechanism.check(facts)
            return self.mechanism.offer_final(state, facts, FinalPlace(*final, told))
        if parent is None:
            self.mechanism.check(facts)
            if noise:
                return self.mechanism.offer_noise(state, facts, guess, position)
            if facts.null is not None and guess is None:
                return self.mechanism.offer_test(state, facts, position)
            return self.mechanism.offer(state, facts, guess, position)
        if not isinstance(self.mechanism, GuessAndCheck):
            raise ValueError(f"{type(self.mechanism).__name__} has nothing to sharpen: its answers are not cells")
        known = self.record(parent)
        return self.mechanism.sharpen(state, known.offer, known.symbol)

    def check(self) -> None:
        """Replay every ask: the level, the cell and the interval must be the ones that were recorded."""
        told: list[Record] = []
        for index, record in enumerate(self.records, start=1):
            position, size = record.batch
            if not 0 <= position < size or (position and self.record(index - 1).batch != (position - 1, size)):
                raise Tampered(f"entry {index} claims a place in a batch that is not there", index=index)
            before = self._states[index - 1 - position]
            if position == 0:
                told.extend(self.records[len(told) : index - 1])  # a batch is guessed from what was told before it
            self._check_facts(index, record)
            self._check_guess(index, record, told)
            if record.parent is not None:
                self._check_parent(index, record)
            final = record.offer.final
            if not self._is_in_place(index, final, position, size):
                raise Tampered(f"entry {index} claims another place among final values", index=index)
            offer = self._offer(
                before, record.facts, record.guess, record.parent, position, final, record.offer.requested
            )
            if position:
                offer = self.mechanism.reprice(offer, self._states[index - 1])
            event, published = self.mechanism.charge(offer, record.symbol), self.mechanism.publish(offer, record.symbol)
            if not record.matches(offer, event, published):
                raise Tampered(
                    f"entry {index} was not priced by the terms of entry 0: replaying it differs", index=index
                )

    def _is_in_place(self, index: int, final: tuple[int, int, bool] | None, position: int, size: int) -> bool:
        """Whether final values are the whole of their batch, all of them the last or none."""
        before = self.record(index - 1).offer.final if position else None
        if final is None:
            return before is None
        return final[:2] == (position, size) and (not position or (before is not None and before[2] == final[2]))

    def _check_parent(self, index: int, record: Record) -> None:
        """What is sharpened, or told finally, was told before, and of the same question."""
        parent = record.parent or 0
        if not 1 <= parent < index - record.batch[0] or self.record(parent).fingerprint != record.fingerprint:
            raise Tampered(f"entry {index} claims to sharpen an answer to another question", index=index)

    def _check_facts(self, index: int, record: Record) -> None:
        """What was offered must be about the question that is recorded: its range, its kind, its sensitivity."""
        question, told = record.question, record.facts
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

    def _check_guess(self, index: int, record: Record, told: Sequence[Record]) -> None:
        """Where the mechanism guesses itself, the recorded guess must be the one it made of what was ``told``."""
        if type(self.mechanism).own_guess is Mechanism.own_guess:
            return
        guess = self.mechanism.own_guess(parse(record.question), record.facts, told)
        if guess != record.guess:
            raise Tampered(
                f"entry {index} holds the guess {record.guess}, and the answers before it make it {guess}", index=index
            )
