"""Every answer of a ledger as a table: a row for each, and a column for every tag anybody used."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from unworn.basics.display import show_line
from unworn.basics.tags import show_tag
from unworn.record.answer import Answer
from unworn.record.certificate import Certificate
from unworn.record.transcript import Transcript

COLUMNS = ("index", "question", "value", "low", "high", "width", "source", "guess", "by", "at", "metric", "name")


def answer_rows(transcript: Transcript) -> Iterator[dict[str, Any]]:
    """One row for each answer, read as it is needed."""
    asked = () if transcript.terms.is_release else islice(transcript.entries, 1, None)
    for entry, record in zip(asked, transcript.records, strict=True):
        yield Answer.of(Certificate(transcript.first, entry, transcript.terms, record)).row()


def answer_columns(rows: Iterable[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """The same in columns; a tag that is a number here and a word there is a column of words."""
    columns: dict[str, list[Any]] = {name: [] for name in COLUMNS}
    tags: dict[str, dict[int, Any]] = {}
    length = 0
    for place, row in enumerate(rows):
        length = place + 1
        for name in COLUMNS:
            columns[name].append(row[name])
        for key, value in row["tags"].items():
            tags.setdefault(key, {})[place] = value
    for key in sorted(tags):
        values = tags[key]
        kinds = {float if type(value) is int else type(value) for value in values.values()}
        plain = values if len(kinds) == 1 else {place: show_tag(value) for place, value in values.items()}
        columns[f"tags.{show_line(key)}"] = [plain.get(place) for place in range(length)]
    return columns
