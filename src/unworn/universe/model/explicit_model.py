"""A distribution kept cell by cell."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Self

import numpy as np

from unworn.noise import Stream
from unworn.queries.row_protocol import Floats
from unworn.universe.model import contraction, table_kernel
from unworn.universe.model.model import Axes, Codes

FUSED = 2**20
"""Cells from which on a tilt waits for the next reading, so that both take one pass over the memory."""
REACH = 64.0
"""How far, in nats, the cells' total may drift from 1 before they are rescaled."""
_RUN = 2**16


class Explicit:
    """A distribution over a product domain, one number per cell.

    The cells are in proportion to the probabilities and their total is not kept at 1: every marginal sums to it, so
    whoever reads one learns it for free, and renormalising takes no pass. Between readings the logarithm of the total
    is known to within the exponents applied since. When it may pass ±64 nats, it is taken, and its inverse joins the
    next factor. Nothing overflows, the total cannot vanish, and a cell is lost (is 0, and stays 0) only when its
    probability falls below 1e-280, after however many tilts.

    >>> model = Explicit.uniform((2, 3))
    >>> model.tilt((0,), np.log([1.0, 3.0]))
    >>> model.table((0,)).tolist(), model.table((1,)).round(6).tolist()
    ([0.25, 0.75], [0.333333, 0.333333, 0.333333])
    """

    def __init__(self, weights: Floats) -> None:
        cells = np.array(weights, dtype=np.float64, order="C")
        if cells.ndim == 0 or cells.size == 0:
            raise ValueError(f"a distribution needs at least one column and one cell, not shape {cells.shape}")
        total, least = float(cells.sum()), float(cells.min())
        if not (least >= 0.0 and 0.0 < total < math.inf):
            raise ValueError("weights must be finite numbers of at least 0, with one above 0 and a finite sum")
        cells /= total
        self._cells = cells
        self._low = self._high = 0.0  # the logarithm of the total lies between
        self._waiting: tuple[Axes, Floats] | None = None  # a factor that the cells still lack

    @classmethod
    def uniform(cls, shape: Sequence[int]) -> Self:
        return cls(np.ones(tuple(shape)))

    @property
    def shape(self) -> tuple[int, ...]:
        return self._cells.shape

    @property
    def weights(self) -> Floats:
        """The probability of every cell: an array of its own."""
        self._settle()
        return np.asarray(self._cells / self._cells.sum())

    def table(self, axes: Axes) -> Floats:
        return self.tables([axes])[0]

    def tables(self, many: Sequence[Axes]) -> list[Floats]:
        if not many:
            return []
        found = self._sums(tuple(tuple(axes) for axes in many))
        total = float(found[0].sum())
        self._low = self._high = math.log(total)
        for at, sums in enumerate(found):
            found[at] = np.asarray(np.maximum(sums, 0.0))  # a transform may leave -1e-17 for 0
            found[at] /= total
        return found

    def tilt(self, axes: Axes, exponents: Floats) -> None:
        table = np.asarray(exponents, dtype=np.float64)
        axes = tuple(axes)
        if axes != tuple(axis for axis in range(len(self.shape)) if axis in axes):
            raise ValueError(f"axes are increasing places of the {len(self.shape)} columns, not {axes!r}")
        wanted = tuple(self.shape[axis] for axis in axes)
        if table.shape != wanted or not np.isfinite(table).all():
            raise ValueError(f"exponents over the columns {axes} are {wanted} finite numbers, here {table.shape}")
        low, high = float(table.min()), float(table.max())
        if max(-low, high) > REACH:
            table = self._within_reach(axes, table)
        else:
            if self._low + low < -REACH or self._high + high > REACH:
                table = table - (self._low if self._low == self._high else self._log_total())
                self._low = self._high = 0.0
            self._low, self._high = self._low + low, self._high + high
        self._multiply(axes, table)

    def _within_reach(self, axes: Axes, table: Floats) -> Floats:
        """The same exponents less a constant, so chosen that the cells' total becomes 1 or a little more.

        The largest exponent may be that of cells that weigh nothing, so the table's own marginal has to be asked.
        """
        shares = self.table(axes)
        seen = shares > 0.0
        with np.errstate(divide="ignore", over="ignore"):
            peak = float(np.max(table + np.log(shares), where=seen, initial=-math.inf))
            table = np.where(seen, table - peak - self._low, 0.0)
        self._low, self._high = 0.0, math.log(table.size)
        return table

    def _multiply(self, axes: Axes, table: Floats) -> None:
        places = np.flatnonzero(table)
        if len(places) == 0:
            return
        after = math.prod(self.shape[axes[-1] + 1 :]) if axes else self._cells.size
        if len(places) == 1 and (after == 1 or after >= 64):  # one slice; between, NumPy's short runs cost more
            at: list[int | slice] = [slice(None)] * len(self.shape)
            for axis, place in zip(axes, np.unravel_index(places[0], table.shape), strict=True):
                at[axis] = int(place)
            self._cells[tuple(at)] *= math.exp(table.flat[places[0]])
            return
        factor = np.exp(table)
        if self._waiting is not None and self._waiting[0] == axes:
            self._waiting = (axes, self._waiting[1] * factor)
            return
        self._settle()
        self._waiting = (axes, factor)
        if self._cells.size < FUSED:
            self._settle()

    def copy(self) -> Self:
        twin = type(self).__new__(type(self))
        twin._cells = self._cells.copy()
        twin._low, twin._high, twin._waiting = self._low, self._high, self._waiting
        return twin

    def draw(self, stream: Stream, rows: int) -> Codes:
        self._settle()
        steps = np.cumsum(self._cells)
        uniform = (stream.words(rows) >> np.uint64(11)) * (2.0**-53 * steps[-1])
        places = np.searchsorted(steps, uniform, side="right")  # a cell of probability 0 has no step and is never met
        np.minimum(places, np.searchsorted(steps, steps[-1]), out=places)  # the largest uniform may round to the total
        codes = np.empty((rows, len(self.shape)), dtype=np.int32)
        for axis in reversed(range(len(self.shape))):
            places, codes[:, axis] = np.divmod(places, self.shape[axis])
        return codes

    def divergence(self, other: Explicit) -> float:
        """How far this distribution is from another, in nats (Kullback-Leibler); infinite where the other has none.

        >>> round(Explicit(np.array([1.0, 0.0])).divergence(Explicit.uniform((2,))), 6)
        0.693147
        """
        if self.shape != other.shape:
            raise ValueError(f"distributions over {self.shape} and {other.shape} cells cannot be compared")
        self._settle()
        other._settle()
        mine, theirs = self._cells.reshape(-1), other._cells.reshape(-1)
        sums = 0.0
        for start in range(0, mine.size, _RUN):
            p, q = mine[start : start + _RUN], theirs[start : start + _RUN]
            p, q = p[p > 0.0], q[p > 0.0]
            if not q.all():
                return math.inf
            sums += float(np.sum(p * (np.log(p) - np.log(q))))
        total = float(mine.sum())
        return max(sums / total - math.log(total) + other._log_total(), 0.0)

    def _log_total(self) -> float:
        self._settle()
        self._low = self._high = math.log(float(self._cells.sum()))
        return self._low

    def _settle(self) -> None:
        """Apply the factor that waits."""
        if self._waiting is not None:
            table_kernel.multiply(self._cells, *self._waiting)
            self._waiting = None

    def _sums(self, many: tuple[Axes, ...]) -> list[Floats]:
        """Sums of the cells; with a factor waiting, in the pass that applies it, where few enough sums are wanted."""
        shape, (sweep, least) = self.shape, table_kernel.sweep(self._cells.size)
        split = table_kernel.row_start(shape, least)
        row = math.prod(shape[split:])
        across = [axes for axes in many if axes and axes[-1] >= split]
        lead = tuple(sorted({axis for axes in across for axis in axes if axis < split}))
        sums = math.prod(shape[axis] for axis in lead) if across else 0
        if self._waiting is None or 16 * max(row, sums * row, self._cells.size // row) > self._cells.size:
            self._settle()
            return contraction.tables(self._cells, many)
        (axes, factor), self._waiting = self._waiting, None
        into, each = np.zeros((sums, row)), np.empty(self._cells.size // row)
        rows, tiles = self._cells.reshape(-1, row), table_kernel.tiles(shape, split, axes, factor)
        which, where = (table_kernel.places(shape, split, some) for some in (axes, lead))
        sweep(rows, tiles, which, into, where, each)
        # Now each table is a marginal of one of two small ones: over the axes before the row, or the row and ``lead``.
        before = [axes for axes in many if not axes or axes[-1] < split]
        found = dict(zip(before, contraction.tables(each.reshape(shape[:split]), before), strict=True))
        if across:
            kept = (*lead, *range(split, len(shape)))
            inner = [tuple(kept.index(axis) for axis in axes) for axes in across]
            small = into.reshape([shape[axis] for axis in kept])
            found |= zip(across, contraction.tables(small, inner), strict=True)
        return [found[axes] for axes in many]
