"""Scaling a distribution to noisy measurements: the quick way to make it agree with all of them at once.

A measured table is a partition of the cells, so the distribution nearest to the current one (in relative entropy) that
has this table is the current one scaled cell by cell: iterative proportional fitting. A single question with a measured
share is a partition into two. Replaying all measurements a few times comes near to a distribution that has them all.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unworn.queries.row_protocol import Floats
from unworn.universe.model.model import Axes, Model
from unworn.universe.model.question_blocks import Block


@dataclass(frozen=True, eq=False)
class Measurement:
    """Noisy shares for one block, or (``place``) for one of its questions, with the noise's standard deviation."""

    block: Block
    place: int | None
    shares: Floats
    sd: float

    @property
    def axes(self) -> Axes:
        return self.block.axes

    def answers(self, table: Floats) -> Floats:
        """The same questions, put to a table."""
        told = self.block.answers(table)
        return np.asarray(told if self.place is None else told[self.place : self.place + 1])

    @cached_property
    def _possible(self) -> Floats:
        """The nearest shares that a distribution can have."""
        return onto_simplex(self.shares)

    def exponents(self, table: Floats) -> Floats:
        """By which the cells are scaled so that the distribution has what was measured."""
        floor = min(self.sd, 1.0) * 1e-3 / max(self.shares.size, 2)
        if self.place is None:
            wanted = np.maximum(self._possible, floor)
            return np.log(wanted / np.maximum(self.block.answers(table), 1e-300)).reshape(self.block.shape)
        now = float(np.clip(self.block.answers(table)[self.place], floor, 1.0 - floor))
        goal = float(np.clip(self.shares[0], floor, 1.0 - floor))
        step = math.log(goal / (1.0 - goal)) - math.log(now / (1.0 - now))
        return step * self.block.question(self.place)


def replay(model: Model, measured: Sequence[Measurement], sweeps: int, damping: float = 1.0) -> None:
    """Scale the distribution to each measurement in turn, the latest first, ``sweeps`` times.

    Noisy measurements contradict each other a little; the last sweeps take half steps, which settles between them.

    >>> from unworn.universe.model.question_blocks import Marginal
    >>> from unworn.universe.model.explicit_model import Explicit
    >>> model = Explicit.uniform((2, 2))
    >>> replay(model, [Measurement(Marginal((0,), (2,)), None, np.array([0.3, 0.7]), 0.01)], 1)
    >>> model.table((0,)).round(6).tolist()
    [0.3, 0.7]
    """
    for sweep in range(sweeps):
        step = damping if sweep < sweeps / 2 else damping / 2
        for each in reversed(measured):
            model.tilt(each.axes, step * each.exponents(model.table(each.axes)))


def onto_simplex(values: Floats) -> Floats:
    """The nearest point with no negative entry and sum 1, in Euclidean distance.

    >>> onto_simplex(np.array([0.5, 0.7, -0.3])).round(6).tolist()
    [0.4, 0.6, 0.0]
    """
    ordered = np.sort(values)[::-1]
    excess = (np.cumsum(ordered) - 1.0) / np.arange(1, len(ordered) + 1)
    return np.asarray(np.maximum(values - excess[np.flatnonzero(ordered > excess)[-1]], 0.0))
