"""A distribution kept cell by cell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np

from unworn.noise import Stream
from unworn.queries.rows import Floats
from unworn.universe.model import Axes, Codes


class Explicit:
    """A distribution over a product domain, one number a cell."""

    def __init__(self, weights: Floats) -> None:
        self.weights = np.asarray(weights, dtype=np.float64) / np.sum(weights)

    @classmethod
    def uniform(cls, shape: Sequence[int]) -> Self:
        return cls(np.ones(tuple(shape)))

    @property
    def shape(self) -> tuple[int, ...]:
        return self.weights.shape

    def table(self, axes: Axes) -> Floats:
        others = tuple(axis for axis in range(len(self.shape)) if axis not in axes)
        return np.asarray(self.weights.sum(axis=others))

    def tables(self, many: Sequence[Axes]) -> list[Floats]:
        return [self.table(axes) for axes in many]

    def tilt(self, axes: Axes, exponents: Floats) -> None:
        wide = [size if axis in axes else 1 for axis, size in enumerate(self.shape)]
        self.weights *= np.exp(np.asarray(exponents)).reshape(wide)
        self.weights /= self.weights.sum()

    def copy(self) -> Self:
        return type(self)(self.weights)

    def draw(self, stream: Stream, rows: int) -> Codes:
        steps = np.cumsum(self.weights.reshape(-1))
        places = np.searchsorted(steps, (stream.words(rows) >> np.uint64(11)) * 2.0**-53 * steps[-1], side="right")
        return np.stack(np.unravel_index(places, self.shape), axis=1).astype(np.int32)
