"""A distribution kept in factors, for domains with more cells than any memory holds.

Multiplicative weights only ever multiplies by functions of a few columns, so its distribution is a product of small
tables, and a junction tree turns these into marginals exactly (McKenna, Sheldon and Miklau 2019 fit private
measurements so). Rows are drawn along the tree, clique by clique.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Self

import numpy as np

from unworn.errors import Unaskable
from unworn.noise import Stream
from unworn.queries.row_protocol import Floats
from unworn.universe.model import junction_tree
from unworn.universe.model.calibration import CalibratedTree
from unworn.universe.model.junction_tree import JunctionTree
from unworn.universe.model.model import Axes, Codes
from unworn.universe.model.row_sampling import pick_columns

LIMIT = 2**22
"""Cells all tables of the tree may have together, unless told otherwise: about 100 MB."""


class Factored:
    """A distribution over a product domain as a product of factors, each a function of a few columns.

    ``limit`` bounds the cells of all tables of the junction tree together. Whether more columns can be tied together
    within it is a public fact (:meth:`fits`), so a search can leave out beforehand what would be refused.

    >>> model = Factored((6,) * 20)
    >>> model.tilt((0, 1), np.log(np.arange(1.0, 37.0)).reshape(6, 6))
    >>> model.tilt((1, 2), np.zeros((6, 6)))
    >>> model.tree.cells, model.table((0,)).round(3).tolist()
    (174, [0.032, 0.086, 0.14, 0.194, 0.248, 0.302])
    >>> model.fits(tuple(range(9))), model.cells_with((0, 2))
    (False, 318)
    """

    def __init__(self, shape: Sequence[int], limit: int = LIMIT) -> None:
        sizes = tuple(shape)
        if not sizes or any(isinstance(size, bool) or not isinstance(size, int) or size < 1 for size in sizes):
            raise ValueError(f"a shape has a whole number of values, 1 or more, for every column; not {sizes!r:.80}")
        if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
            raise ValueError(f"limit is how many cells the tables may have together, 1 or more; not {limit!r}")
        self.limit = limit
        self._shape = sizes
        self._factors: dict[Axes, Floats] = {}
        self._calibrated: CalibratedTree | None = None
        self.tree = self._tree(frozenset())

    @property
    def shape(self) -> tuple[int, ...]:
        return self._shape

    @property
    def factors(self) -> dict[Axes, Floats]:
        """The factors' logarithms by their columns: tilting a uniform distribution by them gives this one again."""
        return {axes: table.copy() for axes, table in self._factors.items()}

    def cells_with(self, *more: Axes) -> int:
        """How many cells the tables would have together once these sets of columns have a factor each."""
        slim = [self._slim(axes) for axes in more]
        if all(self.tree.home(axes) is not None for axes in slim):
            return self.tree.cells
        members = junction_tree.cliques(self._shape, self._scopes(slim))
        return sum(junction_tree.cells(self._shape, clique) for clique in members)

    def fits(self, *more: Axes) -> bool:
        """Whether factors on these sets of columns would be taken, all of them together."""
        return self.cells_with(*more) <= self.limit

    def tilt(self, axes: Axes, exponents: Floats) -> None:
        self.tilts([axes], [exponents])

    def tilts(self, many: Sequence[Axes], exponents: Sequence[Floats]) -> None:
        """Several tilts at once; where one is refused, none is made."""
        added = [self._checked(axes, table) for axes, table in zip(many, exponents, strict=True)]
        slim = [axes for axes, _ in added]
        if not all(self.tree.home(axes) is not None for axes in slim):
            self.tree = self._tree(self._scopes(slim))
        for axes, table in added:
            held = self._factors.get(axes)
            both = table if held is None else held + table
            # A constant changes no distribution; without it, logarithms do not wander off over many steps.
            self._factors[axes] = both - both.max()
        self._calibrated = None

    def table(self, axes: Axes) -> Floats:
        return self.tables([axes])[0]

    def tables(self, many: Sequence[Axes]) -> list[Floats]:
        slim = [self._slim(axes) for axes in many]
        for axes in slim:
            if (size := junction_tree.cells(self._shape, axes)) > self.limit:
                raise Unaskable(
                    f"a table over {len(axes)} columns has {size:,} cells, above the limit of {self.limit:,}: "
                    "ask about fewer columns, or raise limit",
                    cells=size,
                    limit=self.limit,
                )
        calibrated = self._calibrate()
        return [calibrated.table(few).reshape(self._sizes(axes)) for few, axes in zip(slim, many, strict=True)]

    def copy(self) -> Self:
        # Tables are replaced, never changed in place, so both may hold the same ones.
        twin = type(self).__new__(type(self))
        twin.limit, twin._shape, twin.tree = self.limit, self._shape, self.tree
        twin._factors, twin._calibrated = dict(self._factors), self._calibrated
        return twin

    def draw(self, stream: Stream, rows: int) -> Codes:
        calibrated, codes = self._calibrate(), np.zeros((rows, len(self._shape)), dtype=np.int32)
        for clique, given, shares in zip(self.tree.cliques, self.tree.separators, calibrated.shares, strict=True):
            pick_columns(stream, codes, clique, given, shares)
        return codes

    def __repr__(self) -> str:
        return f"Factored({self._shape!r}, limit={self.limit}): {len(self.tree.cliques)} tables"

    def _calibrate(self) -> CalibratedTree:
        if self._calibrated is None:
            self._calibrated = CalibratedTree(self.tree, self._factors, self.limit)
        return self._calibrated

    def _scopes(self, more: Sequence[Axes]) -> junction_tree.Scopes:
        return frozenset(self._factors).union(more)

    def _tree(self, scopes: junction_tree.Scopes) -> JunctionTree:
        members = junction_tree.cliques(self._shape, scopes)
        sizes = [junction_tree.cells(self._shape, clique) for clique in members]
        if sum(sizes) > self.limit:
            raise Unaskable(
                f"the factors tie so many columns together that the tables need {sum(sizes):,} cells "
                f"({max(sizes):,} in the largest), above the limit of {self.limit:,}: "
                "leave out some combinations of columns, merge values, or raise limit",
                cells=sum(sizes),
                largest=max(sizes),
                limit=self.limit,
            )
        return junction_tree.tree(self._shape, scopes)

    def _sizes(self, axes: Axes) -> tuple[int, ...]:
        return tuple(self._shape[axis] for axis in axes)

    def _slim(self, axes: Axes) -> Axes:
        """The columns without those of a single value, which tie nothing to anything."""
        rising = all(low < high for low, high in pairwise(axes))
        if not rising or not all(0 <= axis < len(self._shape) for axis in axes):
            last = len(self._shape) - 1
            raise ValueError(f"columns are given by place, 0 to {last}, in increasing order; not {axes!r:.80}")
        return tuple(axis for axis in axes if self._shape[axis] > 1)

    def _checked(self, axes: Axes, exponents: Floats) -> tuple[Axes, Floats]:
        table, slim = np.asarray(exponents, dtype=np.float64), self._slim(axes)
        if table.shape != self._sizes(axes):
            raise ValueError(f"the exponents for columns {axes} have shape {table.shape}, not {self._sizes(axes)}")
        if not np.isfinite(table).all():
            raise ValueError("an exponent is infinite or not a number: weights may become small, but never zero")
        return slim, table.reshape(self._sizes(slim))
