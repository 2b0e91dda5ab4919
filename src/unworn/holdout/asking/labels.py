"""What an asker writes beside a question: a name and tags. They are kept with the answer, and change nothing about it.

One name does more: that of a model (``score(model, name=)``), of a function or of a statistic is what it is known by.
What goes by the name is then noted beside it, so that the name of one model never gets the answer of another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from unworn.basics.display import show_value
from unworn.basics.frozen_init import assign_fields
from unworn.basics.plain_text import plain_text
from unworn.basics.tags import LONGEST_TEXT, Plain, Tags, read_tags
from unworn.errors import Unaskable
from unworn.mechanisms.contract.record import FINAL, OPEN_FINAL
from unworn.queries.code.code_in_query import is_other_code, models_of

if TYPE_CHECKING:
    from unworn.holdout.asks import Ask
    from unworn.record.transcript import Transcript


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
