"""SmallDB: the small data set that answers best, drawn by the exponential mechanism from all there are."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from unworn.bounds.privacy import Profile, Pure
from unworn.errors import Unaskable
from unworn.mechanisms.synthetic.version_space import LARGEST, VersionSpace, data_sets, fits, log_data_sets
from unworn.noise import Stream
from unworn.queries.row_protocol import Floats
from unworn.release.methods.method import Method, Progress, ReleaseOutcome
from unworn.release.problem import Problem, Tables
from unworn.universe.model.explicit_model import Explicit

_NUMBERS = 20_000_000
"""How many answers (data sets times questions) are held at once."""


@dataclass(frozen=True)
class SmallDB(Method):
    """Draw, among all data sets of ``size`` rows, one whose answers are near to those of the rows.

    A data set whose largest error is e counts is drawn with probability proportional to exp(-epsilon e / 2). Pure
    differential privacy, one draw; but all data sets are listed, which only tiny domains allow.

    Parameters
    ----------
    size
        How many rows the small data set has; None for the size with the smallest bound that can still be listed.

    References
    ----------
    Blum, Ligett and Roth, "A learning theory approach to non-interactive database privacy", STOC 2008; Dwork and Roth,
    *The Algorithmic Foundations of Differential Privacy*, Algorithm 4.
    """

    theorem: ClassVar[str] = "exponential mechanism over small data sets (Blum, Ligett and Roth)"

    size: int | None = None

    def __post_init__(self) -> None:
        if self.size is not None and (isinstance(self.size, bool) or not isinstance(self.size, int) or self.size < 1):
            raise ValueError(f"size is a whole number of rows from 1, not {self.size!r}")

    def check(self, problem: Problem) -> None:
        size = 1 if self.size is None else self.size
        if not fits(problem.cells, size):
            tens = max(log_data_sets(problem.cells, size), math.log(problem.cells)) / math.log(10)
            raise Unaskable(
                f"SmallDB lists every data set of {size:,} rows over the domain's {problem.cells:,} cells: about "
                f"10^{tens:.1f}, where {LARGEST:,} are the most; no quicker way is known.\n"
                "  Use MWEM or Projection, or a smaller domain.",
                cells=problem.cells,
            )

    def settled(self, problem: Problem) -> Self:
        if self.size is not None:
            return self
        sizes = [size for size in range(1, 200) if fits(problem.cells, size)]
        if not sizes:
            self.check(problem)
        return replace(self, size=min(sizes, key=lambda size: _bound(problem, size)))

    def profile(self, problem: Problem) -> Profile:
        return Pure(problem.epsilon)

    def predicted(self, problem: Problem) -> float:
        return _bound(problem, self.settled(problem).size or 1)

    def run(self, problem: Problem, tables: Tables, noise: Stream, progress: Progress | None = None) -> ReleaseOutcome:
        from unworn.noise.private_selection import exponential

        self.check(problem)
        size = self.settled(problem).size or 1
        space = VersionSpace.of(problem.cells, size)
        scores = -_largest_errors(problem, tables, space)
        # The errors are counted in rows of the data times rows of the small data set, so one row changes them by size.
        chosen = exponential(noise, scores, problem.epsilon / (2.0 * size) * (1.0 - 1e-15))
        model = Explicit(space.histograms[:, chosen].astype(np.float64).reshape(problem.domain.shape))
        bound = _bound(problem, size)
        errors = [np.full(block.size, bound) for block in problem.blocks]
        return ReleaseOutcome(model, None, errors, {"size": size, "data_sets": len(space)})


def _bound(problem: Problem, size: int) -> float:
    """How far the drawn data set is off at most, but for the allowed chance: the best one's distance, and the draw's.

    Some data set of this size is within sqrt(ln(2k) / (2 size)) of any distribution on all k questions: one drawn from
    it is, with positive probability. Rounding the distribution is another.
    """
    from unworn.bounds.selection import selection_gap
    from unworn.mechanisms.synthetic.version_space import nearness

    best = min(math.sqrt(math.log(2 * problem.questions) / (2 * size)), nearness(problem.cells, size))
    missed = selection_gap(data_sets(problem.cells, size), problem.epsilon, problem.chance)
    return min(1.0, best + missed / problem.rows)


def _largest_errors(
    problem: Problem, tables: Tables, space: VersionSpace
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """For every data set its largest error over the workload, times rows and size: whole numbers."""
    worst = np.zeros(len(space), dtype=np.int64)
    every = tuple(range(len(problem.domain.shape)))
    for block in problem.blocks:
        truth = space.size * block.answers(tables.table(block.axes)).astype(np.int64)
        lines = max(1, _NUMBERS // len(space))
        for first in range(0, block.size, lines):
            places = range(first, min(first + lines, block.size))
            weights = np.array([_over(block.question(place), block.axes, every, problem) for place in places])
            small = weights.astype(np.int64) @ space.histograms.astype(np.int64)
            off = np.abs(problem.rows * small - truth[first : first + len(places), None])
            np.maximum(worst, off.max(axis=0), out=worst)
    return worst


def _over(question: Floats, axes: tuple[int, ...], every: tuple[int, ...], problem: Problem) -> Floats:
    """A question about a few columns as a function of every cell of the (tiny) domain."""
    wide = [size if axis in axes else 1 for axis, size in zip(every, problem.domain.shape, strict=True)]
    return np.broadcast_to(question.reshape(wide), problem.domain.shape).reshape(-1)
