"""All that noisy tables say together: weighted least squares in closed form, for any number of overlapping tables.

A table over columns A splits into interactions, one for each set S of its columns: what the table over S says beyond
those over fewer columns. A noisy table T with independent noise of precision w (one over the variance) measures each of
its interactions S, and no two of them share noise; summing out the other columns leaves the precision w / (cells of T
outside S). So the best estimate of an interaction is the mean over the tables that have it, weighted so, and the best
estimate of a table is the sum of those of its interactions, each with its own known variance. No system of equations is
solved, and consistent tables come out. (The interactions are those of the analysis of variance; Xiao, He, Zhang and
Kifer 2023, "An optimal and scalable matrix mechanism for noisy marginals", measure them directly.)
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from unworn.queries.row_protocol import Floats
from unworn.release.methods.noisy_table import Measured
from unworn.universe.model.model import Axes
from unworn.universe.model.question_blocks import Block, Listed, Marginal

_Held = dict[Axes, tuple[NDArray[np.intp], Floats]]


def subsets(axes: Axes, most: int | None = None) -> Iterator[Axes]:
    """All sets of some of the columns, but not none of them."""
    for size in range(1, (len(axes) if most is None else min(most, len(axes))) + 1):
        yield from combinations(axes, size)


def interactions(many: Iterable[Axes]) -> tuple[Axes, ...]:
    """Every interaction of some tables, once.

    >>> interactions([(0, 1), (1, 2)])
    ((0,), (1,), (2,), (0, 1), (1, 2))
    """
    return tuple(sorted({part for axes in many for part in subsets(axes)}, key=lambda part: (len(part), part)))


def find_holders(shape: Sequence[int], tables: Sequence[Axes], wanted: Sequence[Axes]) -> _Held:
    """For each interaction the places of the tables that have it, and which part of its precision each passes on."""
    known, most = set(wanted), max(map(len, wanted), default=0)
    found: dict[Axes, tuple[list[int], list[float]]] = {part: ([], []) for part in wanted}
    for place, table in enumerate(tables):
        for part in subsets(table, most):
            if part in known:
                found[part][0].append(place)
                found[part][1].append(1.0 / cells(shape, [axis for axis in table if axis not in part]))
    return {part: (np.array(p, dtype=np.intp), np.array(v)) for part, (p, v) in found.items()}


def varying_columns(shape: Sequence[int], axes: Axes) -> Axes:
    """Those columns that have more than one value: the others have no interactions."""
    return tuple(axis for axis in axes if shape[axis] > 1)


def cells(shape: Sequence[int], axes: Iterable[int]) -> int:
    return math.prod(shape[axis] for axis in axes)


def components(block: Block, part: Axes) -> tuple[Floats, Floats]:
    """Of a block's questions, averaged over the columns outside ``part``: the interaction's square length and its top.

    Both have one entry per question, or a single one where all questions are alike.
    """
    sizes = dict(zip(block.axes, block.shape, strict=True))
    if isinstance(block, Marginal):
        spread = math.prod(size for axis, size in sizes.items() if axis not in part)
        inner = math.prod(1.0 - 1.0 / sizes[axis] for axis in part)
        return np.array([inner / spread**2]), np.array([inner / spread])
    if len(block.axes) == 1:
        size = block.shape[0]
        ones = np.asarray(block.answers(np.ones(size)), dtype=np.float64)
        squares = ones * (size - ones) / size
        return squares, np.where(squares > 0, np.maximum(ones, size - ones) / size, 0.0)
    lines = block.yes if isinstance(block, Listed) else [block.question(place) for place in range(block.size)]
    values = np.asarray(lines, dtype=np.float64).reshape(-1, *block.shape)
    outside = tuple(place + 1 for place, axis in enumerate(block.axes) if axis not in part)
    inner_values = centre_table(values.mean(axis=outside), range(1, len(part) + 1)).reshape(block.size, -1)
    return np.square(inner_values).sum(axis=1), np.abs(inner_values).max(axis=1)


def centre_table(table: Floats, places: Iterable[int]) -> Floats:
    """A table less its mean along each of some axes: the interaction of all of them."""
    for place in places:
        table = table - table.mean(axis=place, keepdims=True)
    return table


@dataclass(frozen=True, eq=False)
class LeastSquares:
    """Estimates for tables over ``targets`` from tables measured with these precisions."""

    shape: tuple[int, ...]
    tables: tuple[Axes, ...]
    precisions: Floats
    targets: tuple[Axes, ...]

    @cached_property
    def parts(self) -> tuple[Axes, ...]:
        return interactions(varying_columns(self.shape, axes) for axes in self.targets)

    @cached_property
    def _held(self) -> _Held:
        return find_holders(self.shape, self.tables, self.parts)

    @cached_property
    def precision(self) -> dict[Axes, float]:
        """How precisely each interaction is known: one over the variance of a cell of its table."""
        return {part: float(self.precisions[places] @ passed) for part, (places, passed) in self._held.items()}

    def variances(self, block: Block) -> Floats:
        """The variance of each answer of a block, in rows squared; a single one where all are alike."""
        total = np.zeros(1)
        for part in subsets(varying_columns(self.shape, block.axes)):
            total = total + components(block, part)[0] / self.precision[part]
        return total

    def weights(self, block: Block) -> Floats:
        """For each table (a line) how much one of its cells counts in an answer of the block, at most."""
        found = np.zeros((len(self.tables), 1))
        for part in subsets(varying_columns(self.shape, block.axes)):
            places, passed = self._held[part]
            top = components(block, part)[1] / self.precision[part]
            found = found + np.zeros_like(top)  # one entry per question, once a component has one
            found[places] += (self.precisions[places] * passed)[:, None] * top
        return found

    def estimates(self, measured: Sequence[Measured], rows: int) -> list[Floats]:
        """The estimated counts over each target: consistent with each other, and with the number of rows."""
        found: dict[Axes, Floats] = {}
        for part, (places, passed) in self._held.items():
            weights = self.precisions[places] * passed / self.precision[part]
            known = [weight * measured[at].onto(part) for at, weight in zip(places, weights, strict=True)]
            found[part] = centre_table(np.sum(known, axis=0), range(len(part)))
        return [self._table(axes, found, rows) for axes in self.targets]

    def _table(self, axes: Axes, found: dict[Axes, Floats], rows: int) -> Floats:
        shape = tuple(self.shape[axis] for axis in axes)
        table = np.full(shape, rows / math.prod(shape))
        for part in subsets(varying_columns(self.shape, axes)):
            wide = tuple(size if axis in part else 1 for axis, size in zip(axes, shape, strict=True))
            table += found[part].reshape(wide) * (math.prod(wide) / math.prod(shape))
        return table
