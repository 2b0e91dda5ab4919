"""What a strategy for prefix sums is: linear measurements of a histogram, and linear estimates from them.

With h the counts of m values in order, a strategy measures C h, and estimates the m - 1 prefixes (the last is the
number of rows, which is public) from C h + noise. Neighbours replace a row: h moves by e_j - e_i, and C h by the
difference of two columns. So what counts is how far apart two columns can be, not how long one is, and adding the same
vector to every column changes nothing: it moves C h by a public vector.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unworn.queries.row_protocol import Floats

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class PrefixStrategy(ABC):
    """Measurements of the counts of ``cells`` values in order, and the prefix sums they give."""

    cells: int

    def __post_init__(self) -> None:
        if isinstance(self.cells, bool) or not isinstance(self.cells, int) or self.cells < 2:
            raise ValueError(f"prefix sums are of at least 2 values, not of {self.cells!r}")

    @property
    def grid(self) -> int:
        """Measurements are whole multiples of 1/``grid``."""
        return 1

    @property
    @abstractmethod
    def l1(self) -> float:
        """How far apart two columns can be, by the sum of absolute differences: what Laplace noise has to hide."""

    @property
    @abstractmethod
    def l2(self) -> float:
        """How far apart two columns can be, by Euclidean distance: what Gaussian noise has to hide."""

    @property
    @abstractmethod
    def norm(self) -> float:
        """How long a column can be: what a row added or removed would change, as most papers count."""

    @property
    @abstractmethod
    def spread(self) -> Floats:
        """The standard deviation of each estimated prefix, in standard deviations of one measurement."""

    @property
    @abstractmethod
    def reach(self) -> Floats:
        """A bound on how far each estimate moves when every measurement moves by at most 1."""

    @property
    def turns(self) -> float:
        """The largest error is about that of so many independent prefixes: for predictions only."""
        return self.cells - 1.0

    @property
    def heaviest(self) -> float:
        """A bound on the weight of any one measurement in any estimate: few heavy ones have longer tails than many."""
        return 1.0

    @abstractmethod
    def measure(self, counts: Integers) -> Integers:
        """``grid`` times C h, exactly."""

    @abstractmethod
    def prefixes(self, measured: Floats, rows: int) -> Floats:
        """The m - 1 prefixes from (noisy) C h, unbiased."""

    def rounding(self, measured: Floats, rows: int) -> float:
        """A bound on what floating-point arithmetic does to the estimates."""
        return 2.0**-44 * (rows + float(np.max(np.abs(measured))))
