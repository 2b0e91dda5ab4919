"""The public side of a release: everything that is known before a row is read, and all that a method may choose by."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from unworn.errors import Unaskable
from unworn.universe.domain.domain import CELLS, Domain
from unworn.universe.model.model import Axes
from unworn.universe.model.question_blocks import Block
from unworn.universe.workload import Workload

LEAST = 1e-6
"""The smallest epsilon: what is asked for less would be answered by noise that no whole number holds."""
QUESTIONS = 2**24
"""How many questions one table is asked at most."""
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
        for name, within in (("epsilon", "(0, 700)"), ("confidence", "(0, 1)"), ("delta", "[0, 1)")):
            value, most = getattr(self, name), 700.0 if name == "epsilon" else 1.0
            known = isinstance(value, Real) and not isinstance(value, bool)
            if not known or not 0.0 <= float(value) < most or (value == 0 and name != "delta"):
                pure = "; 0 asks for pure differential privacy" if name == "delta" else ""
                raise ValueError(f"{name} must lie in {within}, not {value!r}{pure}")
            object.__setattr__(self, name, float(value))  # 1 and 1.0 are the same terms
        if self.epsilon < LEAST:
            raise ValueError(f"epsilon = {self.epsilon:g} would drown any table in noise: give at least {LEAST:g}")
        if self.rows < 1:
            raise Unaskable("there are no rows to release anything about")
        if not self.questions:
            raise Unaskable("the workload asks nothing: give it at least one question")
        for what, number, most in (
            ("cells", max(math.prod(block.shape) for block in self.blocks), CELLS),
            ("questions", max(block.size for block in self.blocks), QUESTIONS),
        ):
            if number > most:
                raise Unaskable(
                    f"one table of the workload has {number:,} {what}, and {most:,} are the most: ask fewer columns at "
                    "a time, take wider bins, or thresholds instead of ranges",
                    **{what: number, "limit": most},
                )
        if not any(block.l1 for block in self.blocks):
            raise Unaskable("every answer to this workload is known without the rows: no question tells two rows apart")

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
