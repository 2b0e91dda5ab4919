"""One pass over a large table that multiplies it in place and adds it up while it is in the cache.

Tilting a distribution of many cells and reading a few marginals of it takes as long as the memory takes to move the
cells, if each is read once and written once. The table is taken as rows of a few hundred cells: the last columns
within a row, the others by row. What multiplies a row is one of a few tiles, and each row is added into one of a few
sums of rows, so that tiles and sums stay in the fastest cache.

With numba installed (``pip install unworn[fast]``) the pass is compiled and runs at the speed of the memory; without
it NumPy does the same row by row, in two to three times the time.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unworn.queries.row_protocol import Floats
from unworn.universe.model.model import Axes

Places = NDArray[np.intp]
Sweep = Callable[[Floats, Floats, Places, Floats, Places, Floats], None]

COMPILED = 2**22
"""Cells from which on waiting for the compiler (about a second, once) is worth it."""


def multiply(cells: Floats, axes: Axes, factor: Floats) -> None:
    """Multiply a table in place by one over some of its axes.

    NumPy is slow where the last axis is short, so the factor is first repeated over a row of a thousand cells.
    """
    split = row_start(cells.shape, 1024)
    lead, row = cells.shape[:split], math.prod(cells.shape[split:])
    wide = tuple(size if axis in axes else 1 for axis, size in enumerate(cells.shape))
    if math.prod(wide[:split]) * row * 4 > cells.size:
        cells *= factor.reshape(wide)
        return
    rows = cells.reshape(*lead, row)
    rows *= tiles(cells.shape, split, axes, factor).reshape(*wide[:split], row)


def row_start(shape: tuple[int, ...], least: int) -> int:
    """The first axis of the row: the last one from which on the axes have ``least`` cells together."""
    row, split = 1, len(shape)
    while split and row < least:
        split -= 1
        row *= shape[split]
    return split


def tiles(shape: tuple[int, ...], split: int, axes: Axes, factor: Floats) -> Floats:
    """What rows are multiplied by: a line for each cell of the factor's axes before the row."""
    lead = [size if axis in axes else 1 for axis, size in enumerate(shape[:split])]
    trail = [size if axis in axes else 1 for axis, size in enumerate(shape[split:], split)]
    wide = np.broadcast_to(factor.reshape(*lead, *trail), (*lead, *shape[split:]))
    return np.ascontiguousarray(wide.reshape(math.prod(lead), math.prod(shape[split:])))


def places(shape: tuple[int, ...], split: int, axes: Axes) -> Places:
    """For every row, in which cell of the axes before the row it lies."""
    lead = [size if axis in axes else 1 for axis, size in enumerate(shape[:split])]
    return np.broadcast_to(np.arange(math.prod(lead)).reshape(lead), shape[:split]).reshape(-1)


def sweep(size: int) -> tuple[Sweep, int]:
    """The pass for a table of so many cells, and how many of them a row should have at least.

    In ``sweep(rows, tiles, which, into, where, sums)`` row i is multiplied by ``tiles[which[i]]``, added into
    ``into[where[i]]`` (unless ``into`` is empty), and its own sum is left in ``sums[i]``. Compiled, a tile and a sum of
    rows should leave room in the first cache; for NumPy a row must outweigh the calls, and fits the second.
    """
    compiled = _compiled() if size >= COMPILED else None
    return (row_by_row, 2**15) if compiled is None else (compiled, 256)


def row_by_row(rows: Floats, tiles: Floats, which: Places, into: Floats, where: Places, sums: Floats) -> None:
    """The pass with NumPy alone."""
    for at, (row, tile, place) in enumerate(zip(rows, which.tolist(), where.tolist(), strict=True)):
        np.multiply(row, tiles[tile], out=row)
        sums[at] = np.add.reduce(row)
        if len(into):
            np.add(into[place], row, out=into[place])


def _cell_by_cell(rows: Any, tiles: Any, which: Any, into: Any, where: Any, sums: Any) -> None:
    """The pass as a compiler wants it."""
    for i in range(rows.shape[0]):
        row, tile, total = rows[i], tiles[which[i]], 0.0
        if into.shape[0]:
            column = into[where[i]]
            for j in range(row.shape[0]):
                value = row[j] * tile[j]
                row[j] = value
                column[j] += value
                total += value
        else:
            for j in range(row.shape[0]):
                value = row[j] * tile[j]
                row[j] = value
                total += value
        sums[i] = total


@lru_cache(maxsize=1)
def _compiled() -> Sweep | None:
    try:
        numba = importlib.import_module("numba")
    except ImportError:
        return None
    # Sums may be taken in another order, several cells at a time; nothing else of the arithmetic is relaxed.
    made: Sweep = numba.njit(fastmath={"reassoc", "nsz"}, nogil=True)(_cell_by_cell)
    return made
