"""Rows without rows: how many lie in each cell of a small domain, for a method of release to be run on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unworn.bounds.numerics import whole
from unworn.universe.model.model import Axes

Cell = Sequence[int]
"""A row of a domain: for every column the place of its value."""


class Cells:
    """The :class:`~unworn.release.problem.Tables` of a table that is given whole.

    Examples
    --------
    >>> rows = Cells([[3, 1], [0, 2]])
    >>> rows.size, rows.table((0,)).tolist(), rows.table((1,)).tolist()
    (6, [4, 2], [3, 3])
    """

    def __init__(self, counts: ArrayLike) -> None:
        cells = np.asarray(counts)
        if cells.dtype.kind not in "iu" or not cells.ndim or not cells.size or (cells < 0).any():
            raise ValueError("a table of rows has a whole number from 0 for every cell of its domain")
        self._cells = cells.astype(np.int64)
        self._known: dict[Axes, NDArray[np.int64]] = {}

    @property
    def size(self) -> int:
        return int(self._cells.sum())

    @property
    def shape(self) -> tuple[int, ...]:
        return self._cells.shape

    def table(self, axes: Axes) -> NDArray[np.int64]:
        # Summed once, as the same rows are released thousands of times; copied, as a method may write into its own.
        if axes not in self._known:
            others = tuple(axis for axis in range(self._cells.ndim) if axis not in axes)
            self._known[axes] = np.asarray(self._cells.sum(axis=others), dtype=np.int64)
        return self._known[axes].copy()

    def tables(self, many: Sequence[Axes]) -> list[NDArray[np.int64]]:
        return [self.table(axes) for axes in many]

    def differs(self, other: Cells) -> int:
        """How many rows would have to be replaced to make one table of the other."""
        if self.shape != other.shape or self.size != other.size:
            raise ValueError(
                f"tables of {self.size} rows in {self.shape} cells and of {other.size} in {other.shape}: not neighbours"
            )
        return int(np.abs(self._cells - other._cells).sum()) // 2


def replaced(others: ArrayLike, before: Cell, after: Cell) -> tuple[Cells, Cells]:
    """Two tables that differ in one row: ``others`` counts the rows that stay, the last one changes its cell.

    >>> first, second = replaced([[3, 1], [0, 2]], (0, 1), (1, 0))
    >>> first.table((0, 1)).tolist(), second.table((0, 1)).tolist(), first.differs(second)
    ([[3, 2], [0, 2]], [[3, 1], [1, 2]], 1)
    """
    stay = Cells(others).table(tuple(range(np.ndim(others))))
    told = []
    for cell in (before, after):
        if len(cell) != stay.ndim or not all(0 <= place < size for place, size in zip(cell, stay.shape, strict=True)):
            raise ValueError(
                f"a cell is a place on each of the {stay.ndim} columns of {stay.shape} values, not {cell!r}"
            )
        counts = stay.copy()
        counts[tuple(cell)] += 1
        told.append(Cells(counts))
    return told[0], told[1]


def spread_evenly(shape: Sequence[int], rows: int) -> NDArray[np.int64]:
    """So many rows, as many in each cell as in any other, but for one.

    >>> spread_evenly((2, 2), 7).tolist()
    [[2, 2], [2, 1]]
    """
    places = int(np.prod(shape))
    each, more = divmod(whole("rows", rows, 0), places)
    return (np.full(places, each) + (np.arange(places) < more)).astype(np.int64).reshape(tuple(shape))
