"""Rows as cells of a finite domain: coded once, then counted in any table of a few columns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from unworn.errors import Unaskable
from unworn.rows.memory.row_passes import CHUNK
from unworn.universe.domain.axes import Axis, small
from unworn.universe.domain.domain import CELLS, Domain
from unworn.universe.model.model import Axes, Codes

if TYPE_CHECKING:
    from unworn.queries.row_protocol import Column
    from unworn.rows.memory.sample import Sample

Counts = NDArray[np.int64]


class CodedRows:
    """The rows of a sample as places in a domain: all that a release may ask of rows.

    What is public is checked first (names, kinds, groups). A row outside the domain is then refused, without saying
    which row, which value, or how many: the refusal tells the owner of the rows what to declare, and no more.

    >>> from unworn.rows import Sample
    >>> sample = Sample.read({"age": np.array([31, 18, 40]), "paid": np.array([True, False, True])})
    >>> coded = CodedRows(sample, Domain({"age": [18, 31, 40], "paid": [False, True]}))
    >>> coded.table((0, 1)).tolist()
    [[1, 0], [0, 1], [0, 1]]
    """

    def __init__(self, sample: Sample, domain: Domain) -> None:
        check_schema(sample, domain)
        self.size, self.shape = sample.rows, domain.shape
        coded = {name: _coded(axis, sample.columns[name]) for name, axis in domain.columns}
        if outside := [name for name, codes in coded.items() if codes is None]:
            fixes = "\n".join(f"  {name}: {domain.axis(name).remedy}." for name in outside[:10])
            raise Unaskable(
                f"some rows lie outside the domain: in {', '.join(map(repr, outside))}. Nothing was counted.\n{fixes}",
                columns=outside,
            )
        self._columns = [codes for codes in coded.values() if codes is not None]

    @property
    def codes(self) -> Codes:
        """Every row as a line of places, in the order of the domain's columns."""
        return np.stack(self._columns, axis=1, dtype=np.int32, casting="unsafe")

    def table(self, axes: Axes) -> Counts:
        """How many rows lie in each cell of these columns."""
        shape = tuple(self.shape[axis] for axis in axes)
        cells = math.prod(shape)
        if cells > CELLS:
            raise Unaskable(
                f"a table of {cells:.3g} cells is too large to count in: at most {CELLS:,}", cells=cells, limit=CELLS
            )
        counts = np.zeros(cells, dtype=np.int64)
        # Runs keep the places in cache, but adding up a table must not take longer than filling it.
        step = max(CHUNK, 4 * cells)
        for start in range(0, self.size, step):
            counts += np.bincount(self._flat(axes, slice(start, start + step)), minlength=cells)
        return counts.reshape(shape)

    def _flat(self, axes: Axes, rows: slice) -> NDArray[np.int64]:
        """For each row the number of its cell in the table."""
        flat = np.zeros(len(range(*rows.indices(self.size))), dtype=np.int64)
        for axis in axes:
            flat *= self.shape[axis]
            flat += self._columns[axis][rows]
        return flat

    def tables(self, many: Sequence[Axes]) -> list[Counts]:
        """The same for many sets of columns: rows are read for a few larger tables, and those added up.

        >>> from unworn.rows import Sample
        >>> sample = Sample.read({"a": np.array([0, 1, 1]), "b": np.array([1, 1, 0])})
        >>> [table.tolist() for table in CodedRows(sample, Domain({"a": [0, 1], "b": [0, 1]})).tables([(0,), (0, 1)])]
        [[1, 2], [[0, 1], [1, 1]]]
        """
        wanted = list(dict.fromkeys(tuple(axes) for axes in many))
        made: dict[Axes, Counts] = {}
        for hub, served in _hubs(wanted, self.shape, max(SMALL, min(self.size // 4, LARGE))):
            table = self.table(hub)
            for axes in served:
                others = tuple(place for place, axis in enumerate(hub) if axis not in axes)
                made[axes] = table.sum(axis=others) if others else table
        return [made[tuple(axes)].copy() for axes in many]

    def __repr__(self) -> str:
        return f"Coded({self.size} rows, {len(self.shape)} columns)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("coded rows cannot be pickled: rows do not travel")


SMALL, LARGE = 2**12, 2**20
"""A table that serves many others has at most a quarter as many cells as there are rows, within these bounds."""


def _hubs(wanted: Sequence[Axes], shape: Sequence[int], limit: int) -> list[tuple[Axes, list[Axes]]]:
    """Few tables from which all those wanted can be added up, none with more than ``limit`` cells but where it must.

    Greedy: a table grows by the column that brings most of the tables left nearest to it, for the cells it costs.

    >>> _hubs([(0, 1), (0, 2), (1, 2), (2, 3)], (2, 3, 2, 9), 12)
    [((0, 1, 2), [(0, 1), (0, 2), (1, 2)]), ((2, 3), [(2, 3)])]
    """
    left = np.zeros((len(wanted), len(shape)), dtype=bool)
    for place, axes in enumerate(wanted):
        left[place, list(axes)] = True
    costs = np.log(np.maximum(shape, 2))
    places = np.arange(len(wanted))
    hubs: list[tuple[Axes, list[Axes]]] = []
    while len(places):
        hub = left[0].copy()
        while True:
            lacking = (left & ~hub).sum(axis=1)
            cells = math.prod(size for size, inside in zip(shape, hub, strict=True) if inside)
            fits = ~hub & (np.array([cells * size <= limit for size in shape]))
            gains = (8.0**-lacking * (lacking > 0)) @ left / costs
            gains[~fits] = 0.0
            if not gains.any():
                break
            hub[int(np.argmax(gains))] = True
        served = lacking == 0
        hubs.append((tuple(np.flatnonzero(hub).tolist()), [wanted[place] for place in places[served]]))
        left, places = left[~served], places[~served]
    return hubs


def check_schema(sample: Sample, domain: Domain) -> None:
    """Refuse what names, kinds and groups alone rule out; no value is looked at."""
    if sample.groups is not None:
        raise Unaskable("a release counts rows, and these are grouped: seal them without groups, one row per group")
    for name, axis in domain.columns:
        if name not in sample.columns:
            why = "its dtype has no kind" if name in sample.left_out else "name only columns that the rows have"
            known = ", ".join(list(sample.columns)[:20]) + (", …" if len(sample.columns) > 20 else "")
            raise Unaskable(f"the domain has a column {name!r} and the rows have {known}: {why}", column=name)
        kind = sample.schema.of(name).kind
        if kind != axis.kind:
            raise Unaskable(
                f"column {name!r} is {axis.kind} in the domain and {kind} in the rows: declare {kind} values",
                column=name,
                domain=axis.kind,
                rows=kind,
            )


def _coded(axis: Axis, column: Column) -> NDArray[Any] | None:
    """The place of every row in a small type, or None where some row has none."""
    rows = len(column.values)
    codes = np.empty(rows, dtype=small(len(axis)))
    # Text is looked up word by word, and once is enough; numbers are searched for in runs that stay in cache.
    step = max(rows, 1) if column.kind == "text" else CHUNK
    inside = True
    for start in range(0, rows, step):
        places = axis.places(column[start : start + step])
        inside = inside and bool((places >= 0).all())
        codes[start : start + step] = places
    return codes if inside else None
