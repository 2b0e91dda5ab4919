"""Projection: noisy tables, and the distribution that fits them best."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np

from unworn.bounds.noise_tails import Noise, largest_sum, middle_of_largest
from unworn.bounds.privacy import Profile
from unworn.errors import Unaskable
from unworn.noise import Stream
from unworn.queries.row_protocol import Floats
from unworn.release.methods.least_squares import LeastSquares, varying_columns
from unworn.release.methods.method import Method, Progress, ReleaseOutcome
from unworn.release.methods.nearest_model import nearest
from unworn.release.methods.noise_budget import check_noise, check_scales, privacy_of_noise
from unworn.release.methods.noisy_table import Measured, noisy
from unworn.release.methods.starting_model import EXPLICIT
from unworn.release.methods.table_strategy import MOVED, TableStrategy, choose_tables, is_covered, maximal, solver
from unworn.release.problem import Problem, Tables
from unworn.universe.domain.domain import CELLS
from unworn.universe.model.factored_model import Factored
from unworn.universe.model.model import Axes, Model
from unworn.universe.model.question_blocks import Block, Marginal

COLUMNS = 12
"""How many columns one question may speak of: its interactions are as many as their sets."""
_ROUNDING = 1e-12
"""What floating point may move a share by."""


@dataclass(frozen=True)
class Projection(Method):
    """Measure tables with noise, and release the distribution whose tables are nearest to what was measured.

    Which tables are measured, and how precisely, is chosen from public numbers
    (:mod:`unworn.release.methods.table_strategy`). All of them together estimate the tables asked for
    (:mod:`unworn.release.methods.least_squares`), with known variances, and the distribution is fitted to these
    estimates, each with its own weight. As a distribution has no negative cells and agrees with itself, most of the
    noise does not fit, and is left behind. How far an answer can be off is told from what is released: how far it lies
    from the estimate, and how far that can lie from the rows.

    Parameters
    ----------
    noise
        ``"gaussian"`` (needs delta > 0) or ``"laplace"``; None for what suits delta.
    tables
        The columns of each table to measure, by place; None leaves the choice to public numbers.
    scales
        The scale of each table's noise in rows: a standard deviation, or the scale of Laplace's distribution.

    References
    ----------
    Nikolov, Talwar and Zhang, "The geometry of differential privacy: the sparse and approximate cases", STOC 2013:
    the nearest answers that some distribution has are off by much less than the noise where there are many questions.
    """

    theorem: ClassVar[str] = "noisy tables fitted by a distribution (Nikolov, Talwar and Zhang); tails of the noise"

    noise: Noise | None = None
    tables: tuple[Axes, ...] | None = None
    scales: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if self.noise not in (None, "gaussian", "laplace"):
            raise ValueError(f"noise is 'gaussian' or 'laplace', not {self.noise!r}")
        if (self.tables is None) != (self.scales is None):
            raise ValueError("give both the tables to measure and their scales, or neither")
        if self.tables is not None and self.scales is not None:
            if len(self.tables) != len(self.scales) or not self.tables:
                raise ValueError(f"{len(self.tables)} tables need as many scales, not {len(self.scales)}")
            object.__setattr__(self, "tables", tuple(tuple(axes) for axes in self.tables))
            if any(isinstance(scale, bool) or not 0.0 < scale < math.inf for scale in self.scales):
                raise ValueError("a scale of noise is a finite number of rows above 0")
            object.__setattr__(self, "scales", tuple(float(scale) for scale in self.scales))

    # ------------------------------------------------------------------ from public numbers

    def check(self, problem: Problem) -> None:
        noise = check_noise(self.noise, problem)
        asked = maximal(block.axes for block in problem.blocks)
        if (most := max(map(len, asked))) > COLUMNS:
            raise Unaskable(
                f"a question speaks of {most} columns at once, and Projection takes {COLUMNS}: use MWEM", columns=most
            )
        if problem.cells > EXPLICIT and not Factored(problem.domain.shape).fits(*asked):
            raise Unaskable(
                f"the domain has {problem.cells:,} cells, above the {EXPLICIT:,} that are kept one by one, and the "
                "tables asked for tie its columns too closely together for a distribution in factors.\n"
                "  MWEM learns from as many of them as fit; or ask about fewer combinations of columns.",
                cells=problem.cells,
            )
        if self.tables is not None:
            self._check_tables(problem, self.tables)
        scales = self.settled(problem).scales or ()
        check_scales(self._revealed(noise, scales), scales, problem)

    def _check_tables(self, problem: Problem, tables: Sequence[Axes]) -> None:
        columns = len(problem.domain.shape)
        for axes in tables:
            known = all(type(axis) is int and 0 <= axis < columns for axis in axes)
            if not axes or not known or not all(low < high for low, high in pairwise(axes)):
                raise ValueError(f"a table's columns are given by place, 0 to {columns - 1}, rising; not {axes!r:.60}")
            if (size := math.prod(problem.domain.shape[axis] for axis in axes)) > CELLS:
                raise Unaskable(f"a table of {size:,} cells is too large to count in: at most {CELLS:,}", cells=size)
        for block in problem.blocks:
            if not is_covered(tables, varying_columns(problem.domain.shape, block.axes)):
                names = ", ".join(problem.domain.names[axis] for axis in block.axes)
                raise Unaskable(f"no measured table has all of the columns {names}: add one that does")

    def settled(self, problem: Problem) -> Self:
        noise = check_noise(self.noise, problem)
        if self.tables is not None:
            return replace(self, noise=noise)
        strategy = choose_tables(problem, noise, problem.cells <= EXPLICIT)
        return replace(self, noise=noise, tables=strategy.tables, scales=strategy.scales)

    def profile(self, problem: Problem) -> Profile:
        ours = self.settled(problem)
        return self._revealed(check_noise(ours.noise, problem), ours.scales or ())

    def _revealed(self, noise: Noise, scales: Sequence[float]) -> Profile:
        return privacy_of_noise(noise, [MOVED[noise]] * len(scales), scales)

    def predicted(self, problem: Problem) -> float:
        """The middle of the largest error of the estimates, of which the fit leaves a part behind."""
        solved = self.settled(problem)._solver(problem)
        variances = [float(np.max(solved.variances(block))) for block in problem.blocks]
        sizes = [float(block.size) for block in problem.blocks]
        return min(1.0, middle_of_largest("gaussian", variances, 0.0, sizes) / problem.rows)

    def _solver(self, problem: Problem) -> LeastSquares:
        """Least squares for the tables of the blocks, from the settled strategy."""
        strategy = TableStrategy(self.tables or (), self.scales or ())
        asked = tuple(dict.fromkeys(block.axes for block in problem.blocks))
        return solver(problem, strategy, check_noise(self.noise, problem), asked)

    # ------------------------------------------------------------------ the rows

    def run(self, problem: Problem, tables: Tables, noise: Stream, progress: Progress | None = None) -> ReleaseOutcome:
        ours = self.settled(problem)
        ours.check(problem)
        kind, measured_axes, scales = check_noise(ours.noise, problem), ours.tables or (), ours.scales or ()
        counts = tables.tables(measured_axes)
        measured = [
            Measured(axes, noisy(table, kind, scale, noise), kind, scale)
            for axes, table, scale in zip(measured_axes, counts, scales, strict=True)
        ]
        return _released(problem, ours._solver(problem), measured, progress)


def _released(
    problem: Problem, solved: LeastSquares, measured: list[Measured], progress: Progress | None
) -> ReleaseOutcome:
    """Everything after the noise: no row is read from here on."""
    rows = problem.rows
    estimates = dict(zip(solved.targets, solved.estimates(measured, rows), strict=True))
    model, numbers = _model(problem, solved, {axes: table / rows for axes, table in estimates.items()}, progress)
    told = dict(zip(solved.targets, model.tables(solved.targets), strict=True))
    errors = []
    for block in problem.blocks:
        known = np.asarray(block.answers(estimates[block.axes])) / rows
        reach = largest(problem, solved, measured, block) / rows
        # The rows' own share lies within reach of the estimate, and between 0 and 1.
        low, high = np.maximum(known - reach, 0.0), np.minimum(known + reach, 1.0)
        answers = np.asarray(block.answers(told[block.axes]))
        errors.append(np.minimum(np.maximum(np.maximum(high - answers, answers - low), 0.0) + _ROUNDING, 1.0))
    numbers |= {"noise": measured[0].noise, "tables": len(measured)}
    return ReleaseOutcome(model, None, errors, numbers, measured)


def largest(problem: Problem, solved: LeastSquares, measured: Sequence[Measured], block: Block) -> Floats:
    """How far a block's estimates can lie from the rows, in rows: in all blocks at once, but for the allowed chance."""
    noise, scales = measured[0].noise, np.array([each.scale for each in measured])
    squares = solved.variances(block) * (1.0 if noise == "gaussian" else 0.5)
    most = np.max(scales[:, None] * solved.weights(block), axis=0)
    return largest_sum(noise, squares, most, float(scales.min()), problem.chance / problem.questions)


def _model(
    problem: Problem, solved: LeastSquares, shares: dict[Axes, Floats], progress: Progress | None
) -> tuple[Model, dict[str, Any]]:
    """The distribution nearest to the estimates of the largest tables, of which all others are sums."""
    shape = problem.domain.shape
    blocks = [Marginal(axes, tuple(shape[axis] for axis in axes)) for axes in maximal(shares)]
    # A table of columns with a single value each is known without noise, and says nothing.
    blocks = [block for block in blocks if block.size > 1]
    precisions = [problem.rows**2 / float(solved.variances(block)[0]) for block in blocks]
    return nearest(shape, blocks, [shares[block.axes] for block in blocks], precisions, progress)
