"""The public side of a release: everything that is known before a row is read, and all that a method may choose by."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from unworn.errors import Unaskable
from unworn.universe.blocks import Block
from unworn.universe.domain import CELLS, Domain
from unworn.universe.model import Axes
from unworn.universe.workload import Workload

LEAST = 1e-6
"""The smallest epsilon: what is asked for less would be answered by noise that no whole number holds."""
SLIM = 1e-3
"""Which part of the allowed miss probability goes to the release's own noise; the rest is for the population."""


class Tables(Protocol):
    """All that a method may ask of the rows: how many of them lie in each cell of a few columns."""

    @property
    def size(self) -> int:
        """How many rows."""

    def table(self, axes: Axes) -> NDArray[np.int64]:
        """Counts over the cells of these columns."""

    def tables(self, many: Sequence[Axes]) -> list[NDArray[np.int64]]:
        """The same for many sets of columns, with the work shared."""


@dataclass(frozen=True)
class Problem:
    """So many rows of a domain, the questions, and what may be revealed of one row (replaced by another).

    ``delta`` = 0 asks for pure differential privacy.
    """

    rows: int
    domain: Domain
    workload: Workload
    epsilon: float
    delta: float
    confidence: float = 0.95

    def __post_init__(self) -> None:
        for name, value, low, high in (
            ("epsilon", self.epsilon, 0.0, 700.0),
            ("confidence", self.confidence, 0.0, 1.0),
        ):
            if not (isinstance(value, int | float) and not isinstance(value, bool) and low < value < high):
                raise ValueError(f"{name} must lie above {low:g} and below {high:g}, not {value!r}")
        if isinstance(self.delta, bool) or not isinstance(self.delta, int | float) or not 0 <= self.delta < 1:
            raise ValueError(f"delta must lie in [0, 1), not {self.delta!r}; 0 asks for pure differential privacy")
        if self.epsilon < LEAST:
            raise ValueError(f"epsilon = {self.epsilon:g} would drown any table in noise: give at least {LEAST:g}")
        if self.rows < 1:
            raise Unaskable("there are no rows to release anything about")
        if not self.questions:
            raise Unaskable("the workload asks nothing: give it at least one question")
        largest = max(max(math.prod(block.shape), block.size) for block in self.blocks)
        if largest > CELLS:
            raise Unaskable(
                f"one table of the workload has {largest:,} cells or questions, and {CELLS:,} are the most that are "
                "counted in one: ask fewer columns at a time, or wider bins",
                cells=largest,
                limit=CELLS,
            )

    @cached_property
    def blocks(self) -> list[Block]:
        """The workload's questions, table by table."""
        return self.workload.blocks(self.domain)

    @cached_property
    def questions(self) -> int:
        """How many there are."""
        return sum(block.size for block in self.blocks)

    @property
    def cells(self) -> int:
        """How many cells the domain has."""
        return math.prod(self.domain.shape)

    @property
    def chance(self) -> float:
        """The probability with which the noise may pass the bound that a release states for it."""
        return (1.0 - self.confidence) * SLIM
