"""One question on its way: what the asker writes beside it, all that is public about it, and the entry it becomes.

A name and tags are kept with the answer, and change nothing about it. One name does more: that of a model
(``score(model, name=)``), of a function or of a statistic is what it is known by. What goes by the name is then noted
beside it, so that the name of one model never gets the answer of another.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from unworn.basics.display import show_value
from unworn.basics.frozen_init import assign_fields
from unworn.basics.json_text import MOST_DIGITS, canonical, read_canonical
from unworn.basics.plain_text import has_bytes, plain_text
from unworn.basics.tags import LONGEST_TEXT, Plain, Tags, read_tags
from unworn.errors import Unaskable
from unworn.ledger import Entry, Key
from unworn.mechanisms import Guess, Mechanism, Offer
from unworn.mechanisms.contract.conversation import charge_symbol, failure_symbol, follow_event, publish_symbol
from unworn.mechanisms.contract.mechanism import Reply, State
from unworn.mechanisms.contract.record import FINAL, OPEN_FINAL, Record, final_name
from unworn.queries.code.code_in_query import is_other_code, models_of
from unworn.queries.query import Facts, Query, check_parts
from unworn.record.practice_estimate import PracticeEstimate

if TYPE_CHECKING:
    from unworn.record.transcript import Transcript

_LONG_NUMBER = re.compile(rf"[0-9]{{{MOST_DIGITS}}}")
_LONGEST = 2**22
"""Characters of all that an asker says in one entry: far more than any question has."""


@assign_fields
@dataclass(frozen=True)
class Label:
    """A name and tags, as they are kept."""

    name: str | None = None
    tags: Tags | None = None


NO_LABEL = Label()
GivenTags = Mapping[str, Plain] | Label | None
"""Tags as they are given. A scorer gives a whole label: what its models are known by is not its to say."""


def read_label(name: str | None, tags: GivenTags) -> Label:
    """A label, checked: what the ledger cannot hold must not reach the rows."""
    if isinstance(tags, Label):  # read like any other: whoever holds it could change it once rows are seen
        name, tags = tags.name if name is None else name, tags.tags
    if name is None and tags is None:
        return NO_LABEL
    plain = None if name is None else plain_text(name, LONGEST_TEXT)
    if name is not None and not plain:
        raise Unaskable(f"name= is a text of 1 to {LONGEST_TEXT} characters, not {show_value(name)}")
    try:
        return Label(plain, None if tags is None else read_tags(tags) or None)
    except ValueError as why:
        raise Unaskable(f"tags=: {why}") from None


def read_labels(name: Any, tags: Any, questions: int) -> list[Label]:
    """One label for all questions of a batch, or one for each."""
    names = _one_each(name, questions, "names", lambda given: isinstance(given, str))
    several = _one_each(tags, questions, "tags", lambda given: isinstance(given, Mapping | Label))
    return [read_label(one, own) for one, own in zip(names, several, strict=True)]


def _one_each(given: Any, questions: int, what: str, is_one: Any) -> Sequence[Any]:
    if given is None or is_one(given) or not isinstance(given, Sequence):
        return [given] * questions
    if len(given) != questions:
        raise Unaskable(f"there are {questions} questions but {len(given)} {what}")
    return given


@assign_fields
@dataclass(frozen=True, slots=True)
class Wording:
    """A question in the words of its entry: as JSON, as its canonical text, its label and its family.

    Read once, before rows are touched, so that nothing about rows can get into it: the code of a question may hold on
    to the question, and change what it is called while it sees rows.
    """

    question: dict[str, Any]
    text: str
    label: str
    family: str | None


def put_into_words(query: Query, by: str | None, label: Label, code: str | None) -> Wording:
    """What an entry will say; refused, for nothing, if no ledger could hold that and what is noted beside it.

    If that were found out with the answer, the question's code would have seen the rows for nothing.
    """
    check_parts(query)
    try:
        wording = Wording(query.to_json(), query.canonical_text, query.label, query.family)
        tags = "" if label.tags is None else canonical(label.tags)
        notes = (wording.text, wording.label, tags, wording.family, by, code, label.name)
        said = "".join([note for note in notes if note is not None])
        if not (len(said) <= _LONGEST and (said.isascii() or has_bytes(said))):
            raise ValueError("it is too long, or has characters that cannot be written")
        if _LONG_NUMBER.search(wording.text):
            read_canonical(wording.text)  # a class of 10**60 would be written, never read, and so end the ledger
    except (TypeError, ValueError, AttributeError, RecursionError) as why:
        raise Unaskable(f"this question cannot be written into a ledger ({why}); rename or fix it") from None
    return wording


Written = tuple[Entry, Record, State]
"""An entry, what it says, and the state once it is in the ledger."""


@assign_fields
@dataclass(frozen=True)
class Ask:
    """One question: everything public about it, and ``words``, what its entry will say of it whatever comes."""

    query: Query
    facts: Facts
    words: Wording
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


def check_names(asks: Sequence[Ask], transcript: Transcript) -> None:
    """Refuse a name that stands for other code already, in the ledger or in the same batch."""
    noted: dict[str, str] = {}
    for ask in asks:
        if ask.code is None:
            continue
        fingerprint = ask.query.fingerprint
        _check_same(ask, noted.setdefault(fingerprint, ask.code), "in this batch")
        for parent in (None, OPEN_FINAL, FINAL):
            index = transcript.answered(fingerprint, parent)
            if index is not None:
                _check_same(ask, transcript.record(index).code, f"in answer {index}")


def _check_same(ask: Ask, noted: str | None, where: str) -> None:
    if is_other_code(noted, ask.code):
        same = "\n  If both are the same to you, NamedPredictions(model, name, watch=False) says so."
        raise Unaskable(
            f"{ask.words.label}: {where} this name stands for something else, with other bytes or code.\n"
            "  Nothing was asked or charged. Give what is new a name of its own (tags= say what several have in "
            "common),\n  or leave the name out: it is then known by its bytes and code."
            + (same if models_of(ask.query) else "")
        )


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
        offer, symbol, event, words = self.offer, reply.symbol, reply.event, self.ask.words
        record = Record(
            words.question,
            words.label,
            self.ask.query.fingerprint,
            words.family,
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
        text = record.to_text(words.text)
        entry = Entry.seal_text(self.holdout, self.index, self.previous, text, self.key)
        return entry, record, follow_event(mechanism, state, event)

    def write_failure(self, mechanism: Mechanism, state: State, interrupted: bool) -> Written:
        """The entry that says that no answer could be made."""
        symbol = failure_symbol(mechanism, self.offer, interrupted)
        return self.write(mechanism, state, Reply(symbol, charge_symbol(mechanism, self.offer, symbol)))
