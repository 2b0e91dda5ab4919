"""The plain strategy: measure what is asked."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from unworn.queries.row_protocol import Floats
from unworn.universe.prefixes.prefix_strategy import Integers, PrefixStrategy


@dataclass(frozen=True)
class Direct(PrefixStrategy):
    """Every prefix itself. A row moved from the first value to the last changes them all.

    >>> Direct(5).measure(np.array([3, 0, 2, 1, 4])).tolist(), Direct(5).l2
    ([3, 3, 5, 6], 2.0)
    """

    @property
    def l1(self) -> float:
        return float(self.cells - 1)

    @property
    def l2(self) -> float:
        return math.sqrt(self.cells - 1)

    @property
    def norm(self) -> float:
        return self.l2

    @property
    def spread(self) -> Floats:
        return np.ones(self.cells - 1)

    @property
    def reach(self) -> Floats:
        return np.ones(self.cells - 1)

    def measure(self, counts: Integers) -> Integers:
        return np.cumsum(counts, dtype=np.int64)[:-1]

    def prefixes(self, measured: Floats, rows: int) -> Floats:
        return np.asarray(measured, dtype=np.float64)
