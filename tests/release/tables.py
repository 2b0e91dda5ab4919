"""Rows in memory, as a method of release sees them: counts over the cells of a few columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from unworn.universe.model.model import Axes, Codes


class InMemory:
    """The :class:`~unworn.release.problem.Tables` of rows given as codes."""

    def __init__(self, codes: Codes, shape: Sequence[int]) -> None:
        self.codes, self.shape = codes, tuple(shape)

    @property
    def size(self) -> int:
        return len(self.codes)

    def table(self, axes: Axes) -> NDArray[np.int64]:
        shape = tuple(self.shape[axis] for axis in axes)
        places = np.ravel_multi_index(tuple(self.codes[:, axis] for axis in axes), shape)
        return np.bincount(places, minlength=int(np.prod(shape))).astype(np.int64).reshape(shape)

    def tables(self, many: Sequence[Axes]) -> list[NDArray[np.int64]]:
        return [self.table(axes) for axes in many]
