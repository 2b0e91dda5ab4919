"""Trees over the values of a column: noisy counts of all nodes but the root, whose count is public.

With a fan of f, level l has the nodes [floor(j m / f^l), floor((j + 1) m / f^l)), so that any m is divided as evenly
as it can be. Below the last level at which every node has a value, nodes of several values are divided into single
ones and nodes of one are not measured again. Everything runs level by level on whole arrays, in O(m).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from unworn.queries.row_protocol import Floats
from unworn.universe.prefixes.prefix_strategy import Integers, PrefixStrategy

Places = NDArray[np.intp]


@dataclass(frozen=True)
class CountTree(PrefixStrategy):
    """A prefix is a sum of nodes: at every level those left of the way to its end.

    Dwork, Naor, Pitassi and Rothblum (2010) and Chan, Shi and Song (2011). For m = 2^L, with the root measured too and
    a row added or removed, the largest standard deviation is sqrt(L (L + 1)) noise units:

    >>> tree = CountTree(1024)
    >>> round(math.sqrt(tree.norm**2 + 1) * float(tree.spread.max()), 1), round(tree.l2 * float(tree.spread.max()), 2)
    (10.5, 14.14)
    """

    fan: int = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.fan, bool) or not isinstance(self.fan, int) or self.fan < 2:
            raise ValueError(f"the fan of a tree is a whole number from 2, not {self.fan!r}")

    @cached_property
    def full(self) -> int:
        """How many levels below the root have a value in every node."""
        level = 0
        while self.fan ** (level + 1) <= self.cells:
            level += 1
        return level

    @cached_property
    def groups(self) -> list[tuple[Places, int]]:
        """The nodes of the last full level that are divided once more, and into how many values; of two sizes."""
        sizes = np.diff(self.edges(self.full))
        least = self.cells // self.fan**self.full
        return [(np.flatnonzero(sizes == size), size) for size in (least, least + 1) if size > 1 and size in sizes]

    def edges(self, level: int) -> Places:
        """Where the nodes of a level begin, and where the last one ends."""
        nodes = self.fan**level
        return np.asarray(np.arange(nodes + 1) * self.cells // nodes)

    @cached_property
    def _changed(self) -> int:
        """How many counts change at most: those on the ways from the root to two values, apart from the first step."""
        if self.full == 0:
            return 2
        branches = {int(node) for nodes, _ in self.groups for node in nodes // self.fan ** (self.full - 1)}
        return 2 * self.full + min(2, len(branches))

    @property
    def l1(self) -> float:
        return float(self._changed)

    @property
    def l2(self) -> float:
        return math.sqrt(self._changed)

    @property
    def norm(self) -> float:
        return math.sqrt(self.full + bool(self.groups))

    @cached_property
    def reach(self) -> Floats:
        """How many nodes are summed."""
        return self.prefixes(np.ones(self._measured), 0)

    @cached_property
    def spread(self) -> Floats:
        return np.sqrt(self.reach)

    @property
    def _measured(self) -> int:
        levels = sum(int(self.fan**level) for level in range(1, self.full + 1))
        return levels + sum(len(at) * size for at, size in self.groups)

    def measure(self, counts: Integers) -> Integers:
        sums = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(counts, dtype=np.int64)])
        levels = [np.diff(sums[self.edges(level)]) for level in range(1, self.full + 1)]
        starts, own = self.edges(self.full), np.asarray(counts, dtype=np.int64)
        last = [own[starts[at, None] + np.arange(size)].reshape(-1) for at, size in self.groups]
        return np.concatenate([*levels, *last])

    def prefixes(self, measured: Floats, rows: int) -> Floats:
        levels, last = self._parts(measured)
        before = np.zeros(1)  # the sum of all to the left of each node
        for nodes in levels:
            before = (before[:, None] + left_of(nodes)).reshape(-1)
        between = [before[at, None] + left_of(nodes) for (at, _), nodes in zip(self.groups, last, strict=True)]
        return self._placed(before, between)

    def _parts(self, measured: Floats) -> tuple[list[Floats], list[Floats]]:
        """The measurements of each full level, a line for each parent, and those of each size of group."""
        shapes = [(self.fan**level, self.fan) for level in range(self.full)]
        shapes += [(len(at), size) for at, size in self.groups]
        ends = np.cumsum([lines * width for lines, width in shapes])
        parts = [part.reshape(shape) for part, shape in zip(np.split(measured, ends[:-1]), shapes, strict=True)]
        return parts[: self.full], parts[self.full :]

    def _placed(self, before: Floats, between: list[Floats]) -> Floats:
        """What belongs to the beginnings of the last full level's nodes and of the values in its groups, in order."""
        starts, found = self.edges(self.full), np.empty(self.cells)
        found[starts[:-1]] = before
        for (at, size), inside in zip(self.groups, between, strict=True):
            found[starts[at, None] + np.arange(size)] = inside
        return found[1:]


def left_of(nodes: Floats) -> Floats:
    """For every node the sum of the siblings before it."""
    return np.asarray(np.cumsum(nodes, axis=1) - nodes)
