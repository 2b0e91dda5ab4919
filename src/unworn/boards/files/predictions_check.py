"""A file of predictions, joined by id and checked without looking at labels: free, as often as anyone likes."""

from __future__ import annotations

import contextlib
import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unworn.basics.display import show_value
from unworn.boards.board_errors import SHOWN, InvalidSubmission
from unworn.boards.files.prediction_shapes import PredictionShape
from unworn.boards.files.table_files import FileTable
from unworn.boards.files.value_columns_check import Flaws, read_ids, read_labels, read_numbers, read_texts
from unworn.queries.metrics.loss_metrics import SUM_TOLERANCE
from unworn.queries.predictions import GivenPredictions


@dataclass(frozen=True, eq=False)
class Predictions:
    """Sound predictions in the order of the board's ids: one value per row, or a column per class."""

    values: NDArray[Any] = field(repr=False)
    rows: int

    @cached_property
    def source(self) -> GivenPredictions:
        """What questions are made of."""
        return GivenPredictions(self.values)

    @property
    def digest(self) -> str:
        """SHA-256 over the values: equal predictions have it in common, whichever file they came in."""
        return self.source.digest


def check_predictions(
    table: FileTable, shape: PredictionShape, id: str, target: str, places: Mapping[str, int]
) -> Predictions:
    """The predictions of a file in the order of the ids; ``InvalidSubmission`` with all that is wrong."""
    columns = _find_columns(table, shape, id, target)
    ids, wrong = read_ids(table.columns[id])
    found = list(map(places.get, ids))
    array, more = _read_values(table, shape, columns)
    order, unjoined, missing = _join(ids, found, places, table)
    wrong = wrong + more + unjoined
    if wrong or missing:
        told = [f"{table.place(row)}: {what}" for row, what in wrong.first]
        told += [f"id {show_value(name)} is missing" for name in missing[: SHOWN - len(told)]]
        raise InvalidSubmission.of(told, wrong.count + len(missing))
    return Predictions(array[order], len(order))


def place_of_fraction(table: FileTable, shape: PredictionShape, target: str) -> str:
    """The first prediction that is no whole number, and where it stands: what makes a column of labels none."""
    names = (*shape.columns, target)
    values = next((table.columns[name] for name in names if name in table.columns), ())
    for row, value in enumerate(values):
        with contextlib.suppress(ValueError, TypeError, OverflowError):
            if float(value) != int(float(value)):
                return f"{table.place(row)}: {show_value(value)}: "
    return ""


def _find_columns(table: FileTable, shape: PredictionShape, id: str, target: str) -> tuple[str, ...]:
    names = list(table.columns)[:1000]
    problems = []
    wanted = shape.columns
    if len(wanted) == 1 and wanted[0] not in table.columns and target in table.columns:
        wanted = (target,)  # as in the labels: what else could it be?
    for name in (id, *wanted):
        if name not in table.columns:
            alike = [each for each in names if each.casefold() == name.casefold()]
            close = alike or difflib.get_close_matches(name, names, n=1)
            hint = f"did you mean to call {close[0]!r:.40} so?" if close else f"there are: {', '.join(names)[:200]}"
            problems.append(f"line 1: there is no column {name!r:.80}; {hint}")
    if problems:
        raise InvalidSubmission.of(problems)
    return wanted


def _read_values(table: FileTable, shape: PredictionShape, columns: Sequence[str]) -> tuple[NDArray[Any], Flaws]:
    values = table.columns[columns[0]]
    if shape.form == "labels":
        return read_labels(values, shape.kind, shape.classes)
    if shape.form == "text":
        return read_texts(values, allow_empty=True)
    if shape.form == "probability":
        return read_numbers(values, 0.0, 1.0)
    if shape.form in ("score", "number"):
        return read_numbers(values)
    ends = (0.0, 1.0) if shape.sums_to_one else (-np.inf, np.inf)
    arrays, wrong = [], Flaws()
    for name in columns:
        array, more = read_numbers(table.columns[name], *ends)
        arrays.append(array)
        wrong += more.within(f"column {name}")
    scores = np.stack(arrays, axis=1)
    if shape.sums_to_one and not wrong:
        total = scores.sum(axis=1)
        off = np.flatnonzero(~(np.abs(total - 1) <= SUM_TOLERANCE)).tolist()
        wrong = Flaws.of(off, lambda row: f"the probabilities sum to {total[row]:.6g}, not to 1")
    return scores, wrong


def _join(
    ids: Sequence[str], found: Sequence[int | None], places: Mapping[str, int], table: FileTable
) -> tuple[NDArray[np.int64], Flaws, list[str]]:
    """Which row of the file has the prediction of each id; ids that are unknown or doubled; and those missing."""
    wrong = Flaws()
    if None in found:
        unknown = [row for row, place in enumerate(found) if place is None and ids[row]]
        wrong = Flaws.of(unknown, lambda row: f"the id {show_value(ids[row])} is not one of the board's")
        keep = [row for row, place in enumerate(found) if place is not None]
        rows, joined = np.array(keep, dtype=np.int64), np.array([found[row] for row in keep], dtype=np.int64)
    else:
        rows, joined = np.arange(len(found)), np.array(found, dtype=np.int64)
    order = np.full(len(places), -1, dtype=np.int64)
    order[joined[::-1]] = rows[::-1]  # the first of each id
    doubled = rows[order[joined] != rows].tolist() if len(rows) else []

    def describe(row: int) -> str:
        return f"the id {show_value(ids[row])} was there before, in {table.place(int(order[places[ids[row]]]))}"

    wrong += Flaws.of(doubled, describe)
    missing = np.flatnonzero(order < 0)
    if not len(missing):
        return order, wrong, []
    names = list(places)
    return order, wrong, [names[place] for place in missing.tolist()]
