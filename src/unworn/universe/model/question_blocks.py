"""Blocks of questions that read the same table: how a workload meets a distribution without a matrix of all cells.

A block's questions are 0/1 functions of a few columns, so its answers are a linear function of the marginal on those
columns (``answers``), and what its questions weigh is a table over the same columns (``spread``, the transpose).
Counts go in and come out as whole numbers, shares as floats.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unworn.queries.row_protocol import Bools, Floats
from unworn.universe.model.model import Axes

Numbers = NDArray[Any]


@dataclass(frozen=True)
class Block(ABC):
    """Questions about the table over ``axes``, whose columns have ``shape`` values."""

    axes: Axes
    shape: tuple[int, ...]

    @property
    @abstractmethod
    def size(self) -> int:
        """How many questions."""

    @abstractmethod
    def answers(self, table: Numbers) -> Numbers:
        """Every question's answer from the table: whole numbers from counts, shares from shares."""

    @abstractmethod
    def spread(self, weights: Floats) -> Floats:
        """The sum of the questions as functions of a cell, each taken ``weights`` times: a table."""

    @property
    @abstractmethod
    def l1(self) -> float:
        """By how much all answers together, as counts, can change when one row is replaced."""

    @property
    @abstractmethod
    def l2(self) -> float:
        """The same in Euclidean length."""

    def question(self, place: int) -> Floats:
        """One question as a function of a cell."""
        one = np.zeros(self.size)
        one[place] = 1.0
        return self.spread(one)

    @abstractmethod
    def find(self, yes: Bools) -> int | None:
        """Which question says yes in exactly these cells (of the table, in one line); None if none does."""

    def __len__(self) -> int:
        return self.size


@dataclass(frozen=True)
class Marginal(Block):
    """One question for every cell of the table: how many rows are in it.

    >>> block = Marginal((0, 2), (2, 3))
    >>> block.size, block.answers(np.arange(6).reshape(2, 3)).tolist(), round(block.l2, 3)
    (6, [0, 1, 2, 3, 4, 5], 1.414)
    """

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    def answers(self, table: Numbers) -> Numbers:
        return table.reshape(-1)

    def spread(self, weights: Floats) -> Floats:
        return np.asarray(weights).reshape(self.shape)

    def find(self, yes: Bools) -> int | None:
        places = np.flatnonzero(yes)
        return int(places[0]) if len(places) == 1 else None

    @property
    def l1(self) -> float:
        return 2.0 if self.size > 1 else 0.0  # a row can only move where there are two cells

    @property
    def l2(self) -> float:
        return math.sqrt(self.l1)


@dataclass(frozen=True)
class Prefix(Block):
    """How many rows are at or below each value of one column, but for its last, below which all are.

    >>> Prefix((1,), (4,)).answers(np.array([5, 1, 2, 7])).tolist()
    [5, 6, 8]
    """

    @property
    def size(self) -> int:
        return self.shape[0] - 1

    def answers(self, table: Numbers) -> Numbers:
        return np.cumsum(table)[:-1]

    def spread(self, weights: Floats) -> Floats:
        return np.append(np.cumsum(np.asarray(weights)[::-1])[::-1], 0.0)

    def find(self, yes: Bools) -> int | None:
        count = int(np.count_nonzero(yes))
        return count - 1 if 0 < count < len(yes) and yes[:count].all() else None

    @property
    def l1(self) -> float:
        return float(self.size)

    @property
    def l2(self) -> float:
        return math.sqrt(self.size)


@dataclass(frozen=True)
class Range(Block):
    """How many rows lie between any two values of one column, ends included: by first end, then by last.

    >>> Range((0,), (3,)).answers(np.array([5, 1, 2])).tolist()
    [5, 6, 8, 1, 3, 2]
    """

    @property
    def size(self) -> int:
        return self.shape[0] * (self.shape[0] + 1) // 2

    @cached_property
    def _ends(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        return np.triu_indices(self.shape[0])

    def answers(self, table: Numbers) -> Numbers:
        sums = np.concatenate([np.zeros(1, dtype=table.dtype), np.cumsum(table)])
        first, last = self._ends
        return np.asarray(sums[last + 1] - sums[first])

    def spread(self, weights: Floats) -> Floats:
        steps = np.zeros(self.shape[0] + 1)
        first, last = self._ends
        np.add.at(steps, first, weights)
        np.add.at(steps, last + 1, -np.asarray(weights))
        return np.cumsum(steps)[:-1]

    def find(self, yes: Bools) -> int | None:
        places = np.flatnonzero(yes)
        if not len(places) or places[-1] - places[0] + 1 != len(places):
            return None
        first, values = int(places[0]), self.shape[0]
        return first * values - first * (first - 1) // 2 + len(places) - 1

    @cached_property
    def _moved(self) -> float:
        """How many ranges hold one of two values but not both, at most.

        From value i to j > i those are (i+1)(j-i) that start no later than i and end before j, and as many on the
        other side: the count depends on i and j alone.
        """
        m = self.shape[0]
        i, j = np.triu_indices(m, 1)
        apart = (i + 1) * (j - i) + (j - i) * (m - j)
        return float(np.max(apart, initial=0))

    @property
    def l1(self) -> float:
        return self._moved

    @property
    def l2(self) -> float:
        return math.sqrt(self._moved)


@dataclass(frozen=True, eq=False)
class Listed(Block):
    """Any 0/1 questions about the same columns: ``yes`` has a line for each, over the cells of the table.

    >>> Listed((0,), (3,), np.array([[True, False, True]])).answers(np.array([5, 1, 2])).tolist()
    [7]
    """

    yes: Bools

    @property
    def size(self) -> int:
        return len(self.yes)

    def answers(self, table: Numbers) -> Numbers:
        return np.asarray(self.yes.astype(table.dtype) @ table.reshape(-1))

    def spread(self, weights: Floats) -> Floats:
        return np.asarray(weights @ self.yes.astype(np.float64)).reshape(self.shape)

    def find(self, yes: Bools) -> int | None:
        places = np.flatnonzero((self.yes == yes).all(axis=1))
        return int(places[0]) if len(places) else None

    @cached_property
    def _moved(self) -> float:
        """How many questions tell two cells apart, at most; where there are too many cells, how many questions vary."""
        columns = np.unique(self.yes, axis=1).T.astype(np.float32)
        if len(columns) > 4096:
            return float(np.count_nonzero(self.yes.any(axis=1) & ~self.yes.all(axis=1)))
        ones = columns.sum(axis=1)
        return float(np.max(ones[:, None] + ones - 2.0 * columns @ columns.T))

    @property
    def l1(self) -> float:
        return self._moved

    @property
    def l2(self) -> float:
        return math.sqrt(self._moved)
