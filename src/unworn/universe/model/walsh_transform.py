"""All small marginals of yes/no columns at once, by a Walsh transform that drops early what nobody will read.

A marginal of binary columns is made of the Walsh coefficients of the subsets of its columns, and the coefficients are
made by one pass of sums and differences for each column. After some columns only the wanted subsets of these are kept,
so that for all marginals of k of d columns the passes shrink to about 2(k + 1) readings of the whole, not d.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unworn.universe.model.model import Axes

Numbers = NDArray[Any]
Places = NDArray[np.intp]
_CACHED = 2**16
"""Numbers that a run of the transform starts from: half a mebibyte."""


class Walsh:
    """The transform of ``columns`` binary columns for some sets of them: both ways, planned once.

    >>> Walsh(3, ((0, 2), (1,))).tables(np.arange(8).reshape(2, 2, 2))[0].tolist()
    [[2, 4], [10, 12]]
    """

    def __init__(self, columns: int, many: tuple[Axes, ...]) -> None:
        self.columns, self.many = columns, many
        wanted = {part for axes in set(many) for size in range(len(axes) + 1) for part in combinations(axes, size)}
        rows: list[Axes] = [()]
        self._grown: list[Places] = []
        for axis in range(columns):
            # Rows of the next state: all that are here, then those to which this column is added.
            longer = {part[: part.index(axis) + 1] for part in wanted if axis in part}
            grown = [place for place, row in enumerate(rows) if (*row, axis) in longer]
            rows += [(*rows[place], axis) for place in grown]
            self._grown.append(np.array(grown, dtype=np.intp))
        self._rows = {row: place for place, row in enumerate(rows)}

    @property
    def cost(self) -> float:
        """How many numbers are read and written: the planner's measure of time."""
        kept, cells, total = 1, 2**self.columns, 0.0
        for grown in self._grown:
            total += kept * cells * (1.0 + len(grown) / kept)
            kept, cells = kept + len(grown), cells // 2
        return total

    @cached_property
    def _turn(self) -> int:
        """After how many columns the kept subsets are put last, so that whatever is added up lies side by side."""
        kept = 1
        for axis, grown in enumerate(self._grown):
            if kept * 8 > 2 ** (self.columns - axis):
                return axis
            kept += len(grown)
        return self.columns

    @cached_property
    def _kept(self) -> int:
        return 1 + sum(len(grown) for grown in self._grown[: self._turn])

    @cached_property
    def _runs(self) -> list[slice]:
        """The cells of the last columns in runs: all the work on a run stays in the cache."""
        cells, run = 2 ** (self.columns - self._turn), max(16, _CACHED >> self._turn)
        return [slice(start, start + run) for start in range(0, cells, run)]

    @cached_property
    def _groups(self) -> list[tuple[int, list[int], Places]]:
        """For each size: which of ``many`` have it, and where the coefficients of their subsets are."""
        sizes = sorted({len(axes) for axes in self.many})
        groups = []
        for size in sizes:
            which = [place for place, axes in enumerate(self.many) if len(axes) == size]
            # The subset that belongs to a cell has the columns where the cell says yes.
            picks = [[at for at in range(size) if cell >> (size - 1 - at) & 1] for cell in range(2**size)]
            lines = [[self._rows[tuple(self.many[p][at] for at in pick)] for pick in picks] for p in which]
            groups.append((size, which, np.array(lines, dtype=np.intp).reshape(len(which), 2**size)))
        return groups

    def tables(self, whole: Numbers) -> list[Numbers]:
        """The marginals of a table over all columns; whole numbers stay whole and exact."""
        coefficients = self._forth(whole.reshape(-1))
        found: list[Numbers] = [coefficients] * len(self.many)
        for size, which, lines in self._groups:
            sums = coefficients[lines] @ _signs(size).astype(whole.dtype)
            many = sums // 2**size if whole.dtype.kind in "iu" else sums / 2**size
            for place, table in zip(which, many, strict=True):
                found[place] = table.reshape((2,) * size)
        return found

    def spread(self, tables: Sequence[Numbers]) -> Numbers:
        """The sum of tables over the sets of columns, as one table over all columns."""
        coefficients = np.zeros(len(self._rows))
        for size, which, lines in self._groups:
            many = np.stack([np.asarray(tables[place], dtype=np.float64).reshape(-1) for place in which])
            np.add.at(coefficients, lines, many @ _signs(size) / 2**size)
        return self._back(coefficients).reshape((2,) * self.columns)

    def _forth(self, flat: Numbers) -> Numbers:
        whole = flat.reshape(2**self._turn, -1)
        turned = np.empty((whole.shape[1], self._kept), dtype=flat.dtype)
        for run in self._runs:
            state = whole[None, :, run]
            for grown in self._grown[: self._turn]:
                first, second = state[:, : state.shape[1] // 2], state[:, state.shape[1] // 2 :]
                kept, state = len(state), np.empty((len(state) + len(grown), *first.shape[1:]), dtype=flat.dtype)
                np.add(first, second, out=state[:kept])
                if kept > len(grown):
                    first, second = first[grown], second[grown]
                np.subtract(first, second, out=state[kept:])
            turned[run] = state[:, 0].T
        for grown in self._grown[self._turn :]:
            first, second = turned.reshape(2, -1, turned.shape[1])
            turned = np.concatenate([first + second, (first - second)[:, grown]], axis=1)
        return turned.reshape(-1)

    def _back(self, coefficients: Numbers) -> Numbers:
        turned = coefficients.reshape(1, -1)
        for grown in reversed(self._grown[self._turn :]):
            kept = turned.shape[1] - len(grown)
            both = np.stack([turned[:, :kept]] * 2)
            both[0][:, grown] += turned[:, kept:]
            both[1][:, grown] -= turned[:, kept:]
            turned = both.reshape(-1, kept)
        whole = np.empty((2**self._turn, len(turned)))
        for run in self._runs:
            state = np.ascontiguousarray(turned[run].T)[:, None]
            for grown in reversed(self._grown[: self._turn]):
                kept = len(state) - len(grown)
                both = np.stack([state[:kept]] * 2, axis=1)
                both[grown, 0] += state[kept:]
                both[grown, 1] -= state[kept:]
                state = both.reshape(kept, -1, state.shape[2])
            whole[:, run] = state[0]
        return whole.reshape(-1)


@lru_cache(maxsize=32)
def _signs(size: int) -> Numbers:
    """The matrix of the transform of a few columns: -1 where two subsets share an odd number of them."""
    signs = np.ones((1, 1), dtype=np.int64)
    for _ in range(size):
        signs = np.block([[signs, signs], [signs, -signs]])
    signs.flags.writeable = False
    return signs
