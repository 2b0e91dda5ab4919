"""Domains read off rows: off train, which may be seen, and, only by name, off the rows that are to be kept private."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unworn.errors import Unaskable
from unworn.queries.language import literals
from unworn.queries.row_protocol import Column
from unworn.universe.domain.axes import Axis, unknown_in
from unworn.universe.domain.bins import FARTHEST, Bins
from unworn.universe.domain.declared_columns import read_axis
from unworn.universe.domain.domain_frames import list_names, read_columns
from unworn.universe.domain.value_columns import OTHER, Other, Values


def read_shown_values(frame: Any) -> dict[str, Axis]:
    """Every value that a frame shows, column by column; a null is a missing value.

    >>> read_shown_values({"plan": np.array(["basic", "pro", "basic"]), "age": np.array([20.0, 40.0, np.nan])})
    {'plan': ['basic', 'pro'], 'age': [20, 40, None]}
    """
    return {name: _shown(name, column) for name, column in read_columns(frame).items()}


def observed_axes(
    rows: Any, bins: int, most: int, declared: Mapping[str, Any] | None, columns: Iterable[str] | None
) -> dict[str, Any]:
    """A domain for rows like these: see :meth:`unworn.universe.domain.domain.Domain.of_train`.

    >>> rows = {"plan": np.array(["basic", "pro", "basic", "free"]), "age": np.array([31, 18, 64, 40])}
    >>> observed_axes(rows, 2, 1, None, None)
    {'plan': ['basic', OTHER], 'age': Bins([None, 40, None], whole=True)}
    """
    for what, number in (("bins", bins), ("most", most)):
        if isinstance(number, bool) or not isinstance(number, int) or number < 1:
            raise ValueError(f"{what} is a whole number from 1, not {number!r}")
    given = {str(name): read_axis(str(name), axis) for name, axis in (declared or {}).items()}
    names = None if columns is None else [name for name in list_names(columns) if name not in given]
    read = read_columns(rows, names)
    axes = {name: _observed_axis(name, column, bins, most) for name, column in read.items() if name not in given}
    return {**axes, **given}


def _observed_axis(name: str, column: Column, bins: int, most: int) -> Axis:
    values, counts = _distinct(column)
    unknown = unknown_in(column)
    missing = [None] if unknown is not None and unknown.any() else []
    if not len(values):
        raise Unaskable(f"column {name!r} has no values to read a domain off: declare it, or leave it out", column=name)
    if column.kind == "text":
        frequent = values[np.argsort(-counts, kind="stable")[:most]].tolist()  # among equals, the first in order
        listed = [word for word in frequent if word != Other.LABEL and len(word) <= literals.MAX_TEXT]
        return Values([*listed, OTHER, *missing], name)
    if column.kind == "bool":
        return Values([False, True, *missing], name)
    if len(values) <= bins:
        return Values([*values.tolist(), *missing], name)
    if column.kind == "date":
        raise Unaskable(
            f"column {name!r} holds more than {bins} dates, and dates have no bins: declare the dates it can hold, "
            "raise bins, turn it into a number (a year, an age), or leave it out with columns=",
            column=name,
        )
    return _cut(values, counts, bins, whole=column.values.dtype.kind in "iu", missing=bool(missing))


def _cut(values: NDArray[Any], counts: NDArray[Any], bins: int, whole: bool, missing: bool) -> Bins:
    """Bins with about equally many rows each, fewer where one value has many; their ends open, so all numbers fit."""
    below = np.cumsum(counts) - counts
    goals = (below[-1] + counts[-1]) * np.arange(1, bins) / bins
    after = np.clip(np.searchsorted(below, goals), 1, len(values) - 1)
    nearer = np.maximum(
        after - (goals - below[after - 1] < below[after] - goals), 1
    )  # of the two, the nearer to its goal
    edges = np.unique(values[nearer].astype(np.float64))
    edges = edges[np.abs(edges) <= FARTHEST]
    exact = whole and bool(np.all(np.abs(edges) < literals.MAX_EXACT))
    return Bins([None, *edges.tolist(), None], missing, exact)


def _shown(name: str, column: Column) -> Values:
    values, _ = _distinct(column)
    unknown = unknown_in(column)
    return Values([*values.tolist(), *([None] if unknown is not None and unknown.any() else [])], name)


def _distinct(column: Column) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """The values that are there, sorted, and how often each is."""
    unknown = unknown_in(column)
    known = column.values if unknown is None else column.values[~unknown]
    if column.vocabulary is None:
        return np.unique(known, return_counts=True)
    counts = np.bincount(known, minlength=len(column.vocabulary))
    used = np.flatnonzero(counts)
    order = used[np.argsort(column.vocabulary[used].astype(str), kind="stable")]
    return column.vocabulary[order], counts[order]
