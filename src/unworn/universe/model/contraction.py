"""Many marginals of one full table with the work shared, and the way back.

Two tables of a few columns each can be summed from a common, smaller table instead of the whole: a plan is a tree of
such tables, each made from its parent by summing out columns. It is found once for a shape and its sets of columns.
Walked downwards it gives every marginal; walked upwards it adds tables up into one over all columns, which is what
the gradient of a sum of squares over marginals needs, at the same price.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unworn.queries.row_protocol import Floats
from unworn.universe.model.model import Axes
from unworn.universe.model.walsh_transform import Walsh

Numbers = NDArray[Any]

_CALL = 6_000.0
"""What one call of NumPy costs, counted in cells that are read in a long run: about 3 µs."""


def tables(whole: Numbers, many: Sequence[Axes]) -> list[Numbers]:
    """The marginals of a full table on many sets of axes; whole numbers stay whole. The whole itself is not copied.

    >>> [table.tolist() for table in tables(np.arange(8).reshape(2, 2, 2), [(0, 2), (1,), ()])]
    [[[2, 4], [10, 12]], [10, 18], 28]
    """
    return plan_contraction(whole.shape, tuple(many)).tables(whole)


def spread(given: Sequence[Numbers], many: Sequence[Axes], shape: tuple[int, ...]) -> Floats:
    """The sum of tables over many sets of axes, each repeated along the axes it does not have: the transpose.

    >>> spread([np.array([1.0, 2.0]), np.array([10.0, 20.0])], [(0,), (1,)], (2, 2)).tolist()
    [[11.0, 21.0], [12.0, 22.0]]
    """
    return plan_contraction(tuple(shape), tuple(many)).spread(given)


@lru_cache(maxsize=256)
def plan_contraction(shape: tuple[int, ...], many: tuple[Axes, ...]) -> Walsh | ContractionPlan:
    """The cheapest way found: a tree by one of a few orders of summing out, or for yes/no columns a transform."""
    if wrong := [axes for axes in many if axes != tuple(sorted(set(axes))) or not set(axes) <= set(range(len(shape)))]:
        raise ValueError(f"axes are increasing places of the {len(shape)} columns, not {wrong[0]!r}")
    wanted = frozenset(many)
    walsh = Walsh(len(shape), many) if len(wanted) > 1 and set(shape) == {2} else None
    price = math.inf if walsh is None else 1.2 * walsh.cost + 20 * _CALL
    if walsh is not None and price < len(wanted) * _CALL:  # what any tree costs at least
        return walsh
    natural = tuple(range(len(shape)))
    by_size = tuple(sorted(natural, key=lambda axis: -shape[axis]))
    trees = [
        ContractionPlan(shape, many).grown(natural, wanted, order, halve)
        for order in dict.fromkeys((natural, by_size))
        for halve in (False, True)
    ]
    best = min(trees, key=lambda plan: plan.cost)
    return walsh if walsh is not None and price < best.cost else best


@dataclass(eq=False)
class ContractionPlan:
    """A tree of tables: ``steps`` name a parent (0 is the whole) and its cells as (before, summed out, after)."""

    shape: tuple[int, ...]
    many: tuple[Axes, ...]
    steps: list[tuple[int, int, int, int]] = field(default_factory=list)
    nodes: dict[Axes, int] = field(default_factory=dict)
    cost: float = 0.0

    def grown(self, axes: Axes, wanted: frozenset[Axes], order: Axes, halve: bool, node: int = 0) -> ContractionPlan:
        """Add what makes the wanted tables from the table over ``axes``, which contain them all.

        Those that lack a column are made from the table without it, and so on until none is left; ``halve`` first
        takes those that lie in the first or the last columns.
        """
        if axes in wanted:
            self.nodes[axes] = node
        rest = sorted(wanted - {axes})
        middle = len(axes) // 2
        halves = [set(axes[:middle]), set(axes[middle:])] if halve else []
        for lacks in [*({*axes} - half for half in halves), *({axis} for axis in order if axis in axes)]:
            some = [table for table in rest if not lacks & set(table)]
            if not some or (len(lacks) > 1 and 3 * len(some) < len(wanted)):
                continue
            rest = [table for table in rest if lacks & set(table)]
            child = tuple(sorted(set().union(*some)))
            self.grown(child, frozenset(some), order, halve, self._summed_out(axes, child, node))
        return self

    def _summed_out(self, axes: Axes, child: Axes, node: int) -> int:
        """Columns side by side go together, the largest group first."""
        while axes != child:
            gone = [axis not in child for axis in axes]
            starts = [at for at, lost in enumerate(gone) if lost and not (at and gone[at - 1])]
            groups = [(at, next((e for e in range(at, len(axes)) if not gone[e]), len(axes))) for at in starts]
            sizes = [self.shape[axis] for axis in axes]
            start, stop = max(groups, key=lambda group: math.prod(sizes[group[0] : group[1]]))
            before, out, after = (math.prod(part) for part in (sizes[:start], sizes[start:stop], sizes[stop:]))
            self.steps.append((node, before, out, after))
            self.cost += _CALL + before * out * after * _slowness(out, after)
            node, axes = len(self.steps), axes[:start] + axes[stop:]
        return node

    @cached_property
    def _last(self) -> dict[int, int]:
        """The step after which a table is no longer needed."""
        kept = set(self.nodes.values())
        return {parent: at for at, (parent, *_) in enumerate(self.steps) if parent not in kept}

    def tables(self, whole: Numbers) -> list[Numbers]:
        found: list[Numbers | None] = [whole, *[None] * len(self.steps)]
        for at, (parent, *cells) in enumerate(self.steps):
            above = found[parent]
            assert above is not None
            found[at + 1] = _summed(above.reshape(cells))
            if self._last.get(parent) == at:
                found[parent] = None
        made = {axes: found[node] for axes, node in self.nodes.items()}
        return [np.reshape(made[axes], self._sizes(axes)) for axes in self.many]  # type: ignore[arg-type]

    def spread(self, given: Sequence[Numbers]) -> Floats:
        found: list[Floats | None] = [None] * (len(self.steps) + 1)
        for axes, table in zip(self.many, given, strict=True):
            node, read = self.nodes[axes], np.asarray(table, dtype=np.float64)
            if read.shape != self._sizes(axes):
                raise ValueError(f"a table over the columns {axes} has shape {self._sizes(axes)}, not {read.shape}")
            before = found[node]
            found[node] = read.reshape(-1).copy() if before is None else before + read.reshape(-1)
        for at in reversed(range(len(self.steps))):
            parent, *cells = self.steps[at]
            below, found[at + 1] = found[at + 1], None
            assert below is not None
            found[parent] = _repeated(found[parent], below.reshape(cells[0], 1, cells[2]), cells[1])
        whole = found[0]
        return np.zeros(self.shape) if whole is None else whole.reshape(self.shape)

    def _sizes(self, axes: Axes) -> tuple[int, ...]:
        return tuple(self.shape[axis] for axis in axes)


def _slowness(out: int, after: int) -> float:
    """How much longer a cell takes than in a long run, as measured: short runs cost NumPy more than the sums."""
    if after >= 48:
        return 1.0
    return (1.0 if out >= 16 else 2.0) if after == 1 else 2.0 if after >= 8 else 4.0


def _summed(cells: Numbers) -> Numbers:
    """The sum over the middle axis of three, by whichever of NumPy's ways is quick for such a shape."""
    _, out, after = cells.shape
    if after == 1 and out < 16:
        total = cells[:, 0, 0] + cells[:, 1, 0] if out > 1 else cells[:, 0, 0]
        for at in range(2, out):
            total += cells[:, at, 0]
        return total
    if after == 1 or after >= 256:
        return np.asarray(np.add.reduce(cells, axis=1))
    return np.asarray(np.einsum("isj->ij", cells))


def _repeated(onto: Floats | None, below: Floats, times: int) -> Floats:
    """A table repeated along a new middle axis, added to what is there already."""
    before, _, after = below.shape
    if onto is None:
        return np.repeat(below, times, axis=1).reshape(-1)
    cells = onto.reshape(before, times, after)
    if times <= 16 and after < 32:
        for at in range(times):
            cells[:, at] += below[:, 0]
    else:
        cells += below
    return onto
