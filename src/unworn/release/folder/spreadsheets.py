"""A release as spreadsheets: what anyone can open without this package, made of the signed content alone.

Each sheet is text that comes in pieces, so that many rows need little memory, and that is the same whenever it is made
of the same content: whoever checks a folder makes its sheets again and compares.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from unworn.queries.language.literals import iso
from unworn.queries.row_protocol import Column
from unworn.release.question_labels import cells, lines

if TYPE_CHECKING:
    from unworn.release.release import Release

Sheet = tuple[str, Iterator[str]]
"""A file's name and its text, in pieces."""
Cells = Sequence[str]

MOST = 2_000_000
"""Beyond so many questions their answers are not written out: ask the release for those that matter."""
_RUN = 2**16


def sheets(release: Release, rows: int | None) -> Iterator[Sheet]:
    """All sheets of a release, with so many synthetic rows; with None there are none of those."""
    if rows is not None:
        yield "rows.csv", _rows(release, rows)
    yield "errors.csv", _sheet(*_errors(release))
    measured = release.outcome.measured
    if measured:
        yield "tables/index.csv", _sheet(*_index(release))
    for place, name in enumerate(table_names(release)):
        yield f"tables/{name}", _sheet(*_noisy(release, place))
    for place, name in enumerate(answer_names(release)):
        yield f"answers/{name}", _sheet(*_answers(release, place))


def table_names(release: Release) -> list[str]:
    """The file of each noisy table."""
    return _names(release, [each.axes for each in release.outcome.measured])


def answer_names(release: Release) -> list[str]:
    """The file of each block of the workload; none where there are too many questions to write out."""
    blocks = release.problem.blocks if release.problem.questions <= MOST else []
    return _names(release, [block.axes for block in blocks])


def _names(release: Release, many: Sequence[Sequence[int]]) -> list[str]:
    known, digits = release.problem.domain.names, len(str(len(many)))
    return [file_name(place, digits, [known[axis] for axis in axes]) for place, axes in enumerate(many, start=1)]


def file_name(place: int, digits: int, columns: Sequence[str]) -> str:
    """A short name that every file system takes, whatever the columns are called; the number tells files apart.

    >>> file_name(7, 2, ["Home town", "../etc", "收入"])
    '07-home-town-etc.csv'
    """
    slug = "-".join(re.findall(r"[a-z0-9]+", " ".join(columns).lower()))[:40].strip("-")
    return f"{place:0{digits}}{'-' if slug else ''}{slug}.csv"


def write_cell(text: str) -> str:
    """A text as a cell: quoted where it must be, and where it is empty, since nothing at all stands for missing.

    >>> write_cell("plain"), write_cell('say "yes", please'), write_cell("")
    ('plain', '"say ""yes"", please"', '""')
    """
    if text and not re.search(r'[",\r\n]|^\s|\s$', text):
        return text
    return '"' + text.replace('"', '""') + '"'


def _sheet(headers: Cells, columns: Sequence[Cells]) -> Iterator[str]:
    yield ",".join(map(write_cell, headers)) + "\n"
    for start in range(0, len(columns[0]), _RUN):
        run = zip(*(column[start : start + _RUN] for column in columns), strict=True)
        yield "".join(",".join(line) + "\n" for line in run)


def _rows(release: Release, rows: int) -> Iterator[str]:
    drawn = release.columns(rows)
    yield ",".join(map(write_cell, drawn)) + "\n"
    for start in range(0, rows, _RUN):
        run = zip(*(_written(column[start : start + _RUN]) for column in drawn.values()), strict=True)
        yield "".join(",".join(line) + "\n" for line in run)


def _written(column: Column) -> Cells:
    """Values as cells: numbers that read back exactly, true and false, ISO dates, nothing where one is missing."""
    if column.vocabulary is not None:
        words = np.array([write_cell(str(word)) for word in column.vocabulary], dtype=object)
        told = words.take(column.values, mode="clip").tolist()
    elif column.kind == "bool":
        told = np.where(column.values, "true", "false").tolist()
    elif column.kind == "date":
        told = [iso(moment) for moment in column.values.astype("datetime64[us]").tolist()]
    else:
        told = list(map(repr, column.values.tolist()))
    if column.missing is not None:
        told = np.where(column.missing, "", np.array(told, dtype=object)).tolist()
    return [str(cell) for cell in told]


def _errors(release: Release) -> tuple[Cells, Sequence[Cells]]:
    places = range(len(release.problem.blocks))
    told = [release.line(place) for place in places]
    files = [f"answers/{name}" for name in answer_names(release)] or [""] * len(told)
    headers = ["columns", "kind", "questions", "sample_error", "population_error", "file"]
    columns = [[write_cell(str(line[name])) for line in told] for name in headers[:3]]
    columns += [[_number(line[name]) for line in told] for name in headers[3:5]]
    return headers, [*columns, files]


def _index(release: Release) -> tuple[Cells, Sequence[Cells]]:
    """Which file holds which noisy table, and how much noise it has."""
    measured, names = release.outcome.measured, release.problem.domain.names
    return ["file", "columns", "noise", "scale"], [
        table_names(release),
        [write_cell(", ".join(names[axis] for axis in each.axes)) for each in measured],
        [each.noise for each in measured],
        [_number(each.scale) for each in measured],
    ]


def _noisy(release: Release, place: int) -> tuple[Cells, Sequence[Cells]]:
    each = release.outcome.measured[place]
    headers, labels = cells(release.problem.domain, each.axes)
    counts = list(map(str, each.counts.reshape(-1).tolist()))
    return [*headers, _apart("noisy_count", headers)], [*_quoted(labels), counts]


def _answers(release: Release, place: int) -> tuple[Cells, Sequence[Cells]]:
    known = release.intervals.block(place)
    headers, labels = lines(release.problem, place)
    numbers = {"share": known.values, "sample_error": known.errors, "low": known.lows, "high": known.highs}
    told = [list(map(_number, column.tolist())) for column in numbers.values()]
    return [*headers, *(_apart(name, headers) for name in numbers)], [*_quoted(labels), *told]


def _quoted(labels: Sequence[Cells]) -> list[Cells]:
    found: list[Cells] = []
    for column in labels:
        known = {label: write_cell(label) for label in set(column)}
        found.append([known[label] for label in column])
    return found


def _apart(name: str, taken: Cells) -> str:
    while name in taken:
        name += "_"
    return name


def _number(value: float) -> str:
    return f"{value:.6g}"
