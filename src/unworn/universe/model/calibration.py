"""A product of factors in probabilities: one sweep up a junction tree and one down.

The sweep up, in logarithms, leaves for every clique the distribution of its columns given those it shares with the
clique above; the sweep down multiplies out the clique's marginal. A table across cliques is put together from what
the branches below tell, and a branch of which nothing is asked tells nothing: its probabilities sum to 1.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from unworn.queries.row_protocol import Floats
from unworn.universe.model import junction_tree
from unworn.universe.model.factors import conditional, sum_table, together, widen_table
from unworn.universe.model.junction_tree import JunctionTree
from unworn.universe.model.model import Axes

Fixed = tuple[tuple[int, int], ...]
"""Columns held at one value each, for a table that is put together slice by slice."""


class CalibratedTree:
    """The distribution in probabilities: for every clique its columns given those above, and its marginal.

    No table made on the way has more than ``limit`` cells, nor have all that are kept for the next question.
    """

    def __init__(self, tree: JunctionTree, factors: Mapping[Axes, Floats], limit: int) -> None:
        self.tree, self._limit = tree, limit
        self._passed: dict[tuple[int, frozenset[int], Fixed], tuple[Axes, Floats]] = {}
        self._kept = 0
        logs = [np.zeros([tree.shape[axis] for axis in clique]) for clique in tree.cliques]
        for axes, table in factors.items():
            home = tree.home(axes)
            assert home is not None  # the tree was made for these factors
            logs[home] += widen_table(table, axes, tree.cliques[home])
        self.shares = list(logs)
        for place in reversed(range(len(logs))):
            clique, given, above = tree.cliques[place], tree.separators[place], tree.parents[place]
            self.shares[place], totals = conditional(logs[place], clique, given)
            if above >= 0:
                logs[above] += widen_table(totals, given, tree.cliques[above])
        self.marginals = list(self.shares)
        for place in range(1, len(logs)):
            clique, given, above = tree.cliques[place], tree.separators[place], tree.parents[place]
            outer = sum_table(self.marginals[above], tree.cliques[above], given)
            self.marginals[place] = self.shares[place] * widen_table(outer, given, clique)

    def table(self, axes: Axes) -> Floats:
        """The marginal on some columns: summed from a clique that has them all, or gathered from several."""
        home = self.tree.home(axes)
        if home is not None:
            # A copy: whoever asked may write into it, and a clique's own table must not change.
            return sum_table(self.marginals[home], self.tree.cliques[home], axes).copy()
        asked, place = frozenset(axes), 0
        while (down := self._only(place, asked)) is not None:
            place = down
        return self._sliced(place, asked, ())

    def _only(self, place: int, asked: frozenset[int]) -> int | None:
        """The one clique below under which everything asked can be found, if there is one."""
        for child in self.tree.children[place]:
            if asked <= self.tree.below[child] | set(self.tree.separators[child]):
                return child
        return None

    def _sliced(self, top: int, asked: frozenset[int], fixed: Fixed) -> Floats:
        """What is asked of a clique and those below, in slices where messages between them would be too large."""
        free = asked.difference(axis for axis, _ in fixed)
        messages = (free & below | set(sep) for sep, below in zip(self.tree.separators, self.tree.below, strict=True))
        if not free or max(junction_tree.cells(self.tree.shape, axes) for axes in messages) <= self._limit:
            return self._gathered(top, self.marginals[top], asked, (), fixed)[1]
        axis = max(free, key=lambda one: self.tree.shape[one])
        slices = [self._sliced(top, asked, (*fixed, (axis, value))) for value in range(self.tree.shape[axis])]
        return np.concatenate(slices, axis=sorted(asked).index(axis))

    def _message(self, place: int, asked: frozenset[int], fixed: Fixed) -> tuple[Axes, Floats]:
        """The distribution of what is asked at and under a clique, given what it shares with the one above."""
        if (place, asked, fixed) not in self._passed:
            made = self._gathered(place, self.shares[place], asked, self.tree.separators[place], fixed)
            if self._kept + made[1].size > self._limit:
                self._passed, self._kept = {}, 0
            self._passed[place, asked, fixed] = made
            self._kept += made[1].size
        return self._passed[place, asked, fixed]

    def _gathered(
        self, place: int, table: Floats, asked: frozenset[int], given: Axes, fixed: Fixed
    ) -> tuple[Axes, Floats]:
        """A clique's table with what is asked of the cliques below, all other columns summed out."""
        clique, tree = self.tree.cliques[place], self.tree
        branches = [(child, sought) for child in tree.children[place] if (sought := asked & tree.below[child])]
        parts = [self._message(child, sought, fixed) for child, sought in branches]
        onto = tuple(sorted(asked.union(given)))
        needed = set(onto).union(*(axes for axes, _ in parts))
        kept = tuple(axis for axis in clique if axis in needed)
        for axis, value in fixed:
            if axis in clique:
                table = np.take(table, [value], axis=clique.index(axis))
        return onto, together([(kept, sum_table(table, clique, kept)), *parts], onto)
