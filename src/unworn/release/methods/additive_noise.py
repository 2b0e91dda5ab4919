"""Plain noisy answers: every count of the workload, plus noise of one scale."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from unworn.bounds.noise_tails import Noise, largest_draw, largest_sum, middle_of_largest
from unworn.bounds.privacy import Profile
from unworn.errors import Unaskable
from unworn.noise import Stream
from unworn.queries.row_protocol import Floats
from unworn.release.methods.least_squares import cells
from unworn.release.methods.method import Method, Progress, ReleaseOutcome
from unworn.release.methods.noise_budget import check_scales, common_scale, privacy_of_noise
from unworn.release.methods.noisy_table import Integers, noisy
from unworn.release.methods.table_strategy import maximal
from unworn.release.problem import Problem, Tables
from unworn.universe.model.question_blocks import Block, Marginal


@dataclass(frozen=True)
class Additive(Method):
    """What the two kinds of noise share: which blocks are measured, with how much noise, and what follows from them.

    All measured blocks have noise of one scale: of all ways to divide a budget this has the smallest largest noise.
    A block whose columns all lie in one measured table can be summed from it instead of being measured itself: then
    the others get less noise, and its own answers more. Whichever way has the smaller expected largest error is taken.
    Answers are cut to [0, 1], where the rows' own shares lie, so that this only ever brings them nearer.
    """

    noise_kind: ClassVar[Noise]

    summed: bool | None = None
    scale: float | None = None

    def __post_init__(self) -> None:
        if self.summed is not None and not isinstance(self.summed, bool):
            raise ValueError(f"summed is True, False, or None to leave it open; not {self.summed!r}")
        if self.scale is not None:
            number = isinstance(self.scale, int | float) and not isinstance(self.scale, bool)
            if not number or not 0.0 < self.scale < math.inf:
                raise ValueError(f"scale is a finite number of rows above 0, not {self.scale!r}")

    # ------------------------------------------------------------------ from public numbers

    def check(self, problem: Problem) -> None:
        if self.noise_kind == "gaussian" and problem.delta == 0:
            raise Unaskable("GaussianRelease needs delta > 0: give one, or use LaplaceRelease")
        ours = self.settled(problem)
        check_scales(ours.profile(problem), [ours.scale or 1.0], problem)

    def settled(self, problem: Problem) -> Self:
        if self.summed is None:
            ways = [replace(self, summed=way).settled(problem) for way in (False, True)]
            return min(ways, key=lambda way: way.predicted(problem))
        if self.scale is not None:
            return self
        return replace(self, scale=common_scale(self.noise_kind, self._measured(problem), problem))

    def profile(self, problem: Problem) -> Profile:
        ours = self.settled(problem)
        blocks = ours._measured(problem)
        moved = [block.l2 if self.noise_kind == "gaussian" else block.l1 for block in blocks]
        return privacy_of_noise(self.noise_kind, moved, [ours.scale or 1.0] * len(blocks))

    def predicted(self, problem: Problem) -> float:
        """The middle of the largest noise."""
        ours = self.settled(problem)
        scale, counted = ours.scale or 1.0, np.concatenate(ours._counted(problem))
        kinds, sizes = np.unique(counted, return_counts=True)
        largest = middle_of_largest(self.noise_kind, np.maximum(kinds, 1.0) * scale**2, scale, sizes)
        return min(1.0, largest / problem.rows)

    def _sources(self, problem: Problem) -> list[int]:
        """For each block the block it is answered from: its own place where it is measured."""
        blocks = problem.blocks
        places = list(range(len(blocks)))
        return _sources(blocks, problem.domain.shape) if self.summed else places

    def _measured(self, problem: Problem) -> list[Block]:
        return [problem.blocks[place] for place in sorted(set(self._sources(problem)))]

    def _errors(self, problem: Problem, chance: float) -> list[Floats]:
        """What the noise of each answer, as a share, passes with probability at most ``chance``, all together."""
        scale, each = self.scale or 1.0, chance / problem.questions
        found = []
        for counted in self._counted(problem):
            many = largest_sum(self.noise_kind, counted * scale**2, scale, scale, each)
            reach = np.where(counted <= 1, largest_draw(self.noise_kind, scale, each), many) / problem.rows
            found.append(np.minimum(reach, 1.0))  # answers and truth both lie in [0, 1]
        return found

    def _counted(self, problem: Problem) -> list[Floats]:
        """Of how many noisy counts each answer is the sum."""
        found = []
        for block, source in zip(problem.blocks, self._sources(problem), strict=True):
            table = problem.blocks[source]
            cells_each = math.prod(table.shape) // math.prod(block.shape)
            found.append(np.ones(block.size) if table is block else cells_each * _questions_cells(block))
        return found

    # ------------------------------------------------------------------ the rows

    def run(self, problem: Problem, tables: Tables, noise: Stream, progress: Progress | None = None) -> ReleaseOutcome:
        ours = self.settled(problem)
        ours.check(problem)
        sources, scale = ours._sources(problem), ours.scale or 1.0
        places = sorted(set(sources))
        counts = tables.tables([problem.blocks[place].axes for place in places])
        told: dict[int, Integers] = {}
        for done, (place, table) in enumerate(zip(places, counts, strict=True), start=1):
            told[place] = noisy(np.asarray(problem.blocks[place].answers(table)), self.noise_kind, scale, noise)
            if progress is not None:
                progress(done, len(places))
        answers = [
            np.clip(_answered(block, problem.blocks[source], told[source]) / problem.rows, 0.0, 1.0)
            for block, source in zip(problem.blocks, sources, strict=True)
        ]
        numbers = {"noise": self.noise_kind, "scale": scale, "measured": len(places)}
        return ReleaseOutcome(None, answers, ours._errors(problem, problem.chance), numbers)


@dataclass(frozen=True)
class GaussianRelease(Additive):
    """Every count plus a rounded normal number; needs delta > 0.

    The rounding is done to the noisy count, so the whole is exactly as private as with the continuous normal:
    mu = sqrt(sum of the blocks' squared sensitivities) / scale, without any inequality.

    Parameters
    ----------
    summed
        Whether blocks that follow from measured tables are summed from them; None leaves it to public numbers.
    scale
        The noise's standard deviation in rows; None for what the budget asks for.

    References
    ----------
    Dong, Roth and Su, "Gaussian differential privacy", JRSS B 2022.
    """

    theorem: ClassVar[str] = "Gaussian noise; its tail for every answer, and a union bound over all"
    noise_kind: ClassVar[Noise] = "gaussian"


@dataclass(frozen=True)
class LaplaceRelease(Additive):
    """Every count plus discrete Laplace noise: pure differential privacy.

    Parameters
    ----------
    summed
        Whether blocks that follow from measured tables are summed from them; None leaves it to public numbers.
    scale
        The noise's scale in rows; None for what the budget asks for: the sum of the blocks' sensitivities over epsilon.

    References
    ----------
    Dwork, McSherry, Nissim and Smith, "Calibrating noise to sensitivity in private data analysis", TCC 2006; Ghosh,
    Roughgarden and Sundararajan, "Universally utility-maximizing privacy mechanisms", STOC 2009 for whole numbers.
    """

    theorem: ClassVar[str] = "Laplace noise; its tail for every answer, and a union bound over all"
    noise_kind: ClassVar[Noise] = "laplace"


def _sources(blocks: Sequence[Block], shape: Sequence[int]) -> list[int]:
    """For each block the smallest table that no other contains and that has its columns; else the block itself."""
    largest = set(maximal(block.axes for block in blocks if isinstance(block, Marginal)))
    whole: dict[tuple[int, ...], int] = {}
    for place, block in enumerate(blocks):
        if isinstance(block, Marginal) and block.axes in largest:
            whole.setdefault(block.axes, place)
    masks = [(sum(1 << axis for axis in axes), cells(shape, axes), place) for axes, place in whole.items()]
    masks.sort(key=lambda mask: mask[1])
    found = []
    for place, block in enumerate(blocks):
        bits = sum(1 << axis for axis in block.axes)
        found.append(next((home for mask, _, home in masks if bits & ~mask == 0), place))
    return found


def _questions_cells(block: Block) -> Floats:
    """How many cells of its own table each question of a block counts."""
    return np.asarray(block.answers(np.ones(block.shape)), dtype=np.float64)


def _answered(block: Block, source: Block, told: Integers) -> Floats:
    """A block's noisy counts, its own or summed from those of a table that has its columns."""
    if source is block:
        return np.asarray(told, dtype=np.float64)
    others = tuple(place for place, axis in enumerate(source.axes) if axis not in block.axes)
    return np.asarray(block.answers(told.reshape(source.shape).sum(axis=others)), dtype=np.float64)
