"""Every point of a domain written out, as a question sees rows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unworn.errors import Unaskable
from unworn.queries.row_protocol import Column
from unworn.universe.domain.axes import Axis

CELLS = 2**26
"""How many points are written out at most: half a gigabyte of float64."""


class Points:
    """A domain's :class:`~unworn.queries.row_protocol.Frame`, one value per cell: the last column changes fastest."""

    def __init__(self, columns: tuple[tuple[str, Axis], ...]) -> None:
        self._axes = dict(columns)
        self.size = math.prod(len(axis) for _, axis in columns)
        if self.size > CELLS:
            raise Unaskable(
                f"the domain's {len(columns)} columns have {self.size:.3g} points together, and at most {CELLS:,} are "
                "written out: ask about fewer columns at once, or give them fewer values",
                points=self.size,
                limit=CELLS,
            )

    def column(self, name: str) -> Column:
        if name not in self._axes:
            raise Unaskable(f"the domain has no column {name!r}", column=name)
        sizes, place = [len(axis) for axis in self._axes.values()], list(self._axes).index(name)
        before, after = math.prod(sizes[:place]), math.prod(sizes[place + 1 :])
        cells = np.tile(np.repeat(np.arange(sizes[place], dtype=np.int32), after), before)
        points = self._axes[name].points()
        missing = None if points.missing is None else points.missing.take(cells)
        return Column(points.kind, points.values.take(cells), missing, points.vocabulary)

    def pick(self, values: NDArray[Any]) -> NDArray[Any]:
        raise Unaskable("an array with one entry per row says nothing about the points of a domain")
