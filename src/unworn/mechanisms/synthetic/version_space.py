"""Every small data set over a finite domain, and those of them that agree with what has been answered.

Only how often each point occurs matters to a mean, so a data set is kept as its histogram. Everything is in whole
numbers: which data sets survive, and their median, come out the same on every machine.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unworn.queries.row_protocol import Floats

GRID = 2**20
"""A question's value at a point is rounded to one of so many steps: far below any noise, and exact for 0 and 1."""
LARGEST = 2_000_000
"""How many data sets are kept at most."""


@dataclass(frozen=True, eq=False)
class VersionSpace:
    """Data sets of ``size`` points each, as histograms: one column per data set, one row per point of the domain.

    >>> space = VersionSpace.of(points=2, size=4)
    >>> space.histograms.tolist()
    [[0, 1, 2, 3, 4], [4, 3, 2, 1, 0]]
    >>> yes_at_the_first = on_grid(np.array([1.0, 0.0]))
    >>> space.median(yes_at_the_first) / (4 * GRID)
    0.5
    >>> left = space.within(yes_at_the_first, 3 * GRID, 4 * GRID)
    >>> len(left), left.median(yes_at_the_first) / (4 * GRID)
    (2, 0.75)
    """

    histograms: NDArray[np.int32]
    size: int

    @classmethod
    def of(cls, points: int, size: int) -> VersionSpace:
        """All of them: every way to put ``size`` equal things into ``points`` places."""
        left = np.array([size], dtype=np.int32)
        histograms = np.zeros((0, 1), dtype=np.int32)
        for _ in range(points - 1):
            ways = left + 1  # none of what is left, one of it, …, all of it
            ends = np.cumsum(ways)
            chosen = (np.arange(ends[-1]) - np.repeat(ends - ways, ways)).astype(np.int32)
            histograms = np.vstack([np.repeat(histograms, ways, axis=1), chosen])
            left = np.repeat(left, ways) - chosen
        return cls(np.vstack([histograms, left]), size)

    def __len__(self) -> int:
        return int(self.histograms.shape[1])

    def sums(self, weights: NDArray[np.int64]) -> NDArray[np.int64]:
        """For every data set the sum of a question's values (from :func:`on_grid`) over its points."""
        total = np.zeros(len(self), dtype=np.int64)
        for weight, counts in zip(weights.tolist(), self.histograms, strict=True):
            if weight:
                total += weight * counts.astype(np.int64)
        return total

    def median(self, weights: NDArray[np.int64]) -> int:
        """The lower median of the sums: at least half of all are no smaller, and at least half no larger."""
        middle = (len(self) - 1) // 2
        return int(np.partition(self.sums(weights), middle)[middle])

    def within(self, weights: NDArray[np.int64], low: int, high: int) -> VersionSpace:
        """Those whose sum lies in [low, high]."""
        sums = self.sums(weights)
        return VersionSpace(self.histograms[:, (sums >= low) & (sums <= high)], self.size)


def on_grid(values: Floats) -> NDArray[np.int64]:
    """Values in [0, 1] as whole steps of the grid."""
    return np.rint(np.clip(values, 0.0, 1.0) * GRID).astype(np.int64)


def data_sets(points: int, size: int) -> int:
    """How many there are.

    >>> data_sets(points=3, size=300), data_sets(points=10, size=300) > LARGEST
    (45451, True)
    """
    return math.comb(size + points - 1, points - 1)


def fits(points: int, size: int) -> bool:
    """Whether they can be listed; told at once, where to count them would take long.

    >>> fits(4, 226), fits(4, 227), fits(10**6, 10**6)
    (True, False, False)
    """
    return log_data_sets(points, size) <= math.log(LARGEST) + 1.0 and data_sets(points, size) <= LARGEST


def log_data_sets(points: int, size: int) -> float:
    """ln of how many there are, nearly.

    >>> round(log_data_sets(3, 300), 6) == round(math.log(45451), 6)
    True
    """
    return math.lgamma(size + points) - math.lgamma(size + 1) - math.lgamma(points)


def most_wrong(points: int, size: int) -> int:
    """How many guesses can be wrong at most: every one of them rules out at least half of the data sets.

    At most ``size`` · log2(points), which counts data sets whose points come in an order, and usually far fewer.

    >>> most_wrong(points=3, size=300), math.floor(300 * math.log2(3))
    (15, 475)
    """
    return data_sets(points, size).bit_length() - 1


def nearness(points: int, size: int) -> float:
    """How near some data set of this size comes to any distribution on the domain, for *every* 0/1 question at once.

    Write p_i·size = whole part + f_i and round the r = Σf largest remainders up: what is added is at most
    r - r·(r/points), so the two distributions differ by at most r(points - r)/points/size of mass.

    >>> nearness(points=4, size=50)
    0.02
    """
    half = points // 2
    return half * (points - half) / (points * size)
