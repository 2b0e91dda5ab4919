"""What a release promises of the rows and of the population, question by question.

Three things can go wrong, and each has its part of the allowed probability: the noise may pass its bound (one part in a
thousand); the rows may differ from the population on some question of the workload, which was fixed before any row was
read, so that a union bound over its questions suffices; and on a question that somebody chose after seeing the release,
for which the release's privacy is needed (Theorem D2). The last two have half of the rest each, so both hold at once
and an interval may be cut by either.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unworn.bounds import clopper_pearson
from unworn.bounds.privacy import Profile
from unworn.bounds.transfer import Stability, share_limits, stability
from unworn.queries.row_protocol import Bools, Floats
from unworn.release.methods.method import ReleaseOutcome
from unworn.release.problem import Problem
from unworn.universe.model.model import Axes
from unworn.universe.model.question_blocks import Block, Marginal

_SLIP = 1e-9
"""What rounding may move a share by: a count that is whole up to this is taken as whole."""


@dataclass(frozen=True)
class Known:
    """Answers with what is known of them: the released shares, their sample errors, and ends for the population."""

    values: Floats
    errors: Floats
    lows: Floats
    highs: Floats


class Intervals:
    """The promises of one outcome. Everything is a function of what was released and of public numbers."""

    def __init__(self, problem: Problem, profile: Profile, outcome: ReleaseOutcome) -> None:
        self.problem, self.outcome = problem, outcome
        half = (1.0 - problem.confidence - problem.chance) / 2.0
        self.log_level = math.log(half / problem.questions)
        """The logarithm of the miss probability of one question of the workload."""
        paid = stability(profile, half)
        self.adaptive = Stability(paid.tilt, min(1.0, paid.floor + problem.chance / half))
        """The price of questions chosen after the release, by D2: noise past its bound counts as an error of 1."""
        self._known: dict[int, Known] = {}

    def block(self, place: int) -> Known:
        """The questions of one block."""
        if place not in self._known:
            block, errors = self.problem.blocks[place], np.asarray(self.outcome.errors[place], dtype=np.float64)
            values = self.values(place, block)
            lows, highs = self._population(values, errors)
            self._known[place] = Known(values, errors, lows, highs)
        return self._known[place]

    def values(self, place: int, block: Block) -> Floats:
        """The released answers: the noisy ones where there are such, else the distribution's."""
        if self.outcome.answers is not None:
            return np.asarray(self.outcome.answers[place], dtype=np.float64)
        if self.outcome.model is None:
            raise TypeError("a release has answers or a distribution")
        return np.asarray(block.answers(self.outcome.model.table(block.axes)), dtype=np.float64)

    def _population(self, values: Floats, errors: Floats) -> tuple[Floats, Floats]:
        rows = self.problem.rows
        # The rows' own count is whole: between these two.
        fewest = np.clip(np.ceil(rows * (values - errors - _SLIP)), 0, rows)
        most = np.clip(np.floor(rows * (values + errors + _SLIP)), 0, rows)
        lows = clopper_pearson(fewest, rows, self.log_level)[0]
        highs = clopper_pearson(most, rows, self.log_level)[1]
        low, high = share_limits(values, errors, self.adaptive)
        return np.maximum(lows, low), np.minimum(highs, high)

    def chosen(self, axes: Axes, weights: Floats) -> tuple[float, float, float, float] | None:
        """(value, sample error, low, high) of any 0/1 question about columns of one released table, whenever chosen.

        The answer is a sum of cells. Errors of a table's cells cancel (all shares sum to 1), so the cells inside and
        those outside bound it alike. None where no table has these columns.
        """
        found: list[tuple[float, float, float, float]] = []
        for place, block in enumerate(self.problem.blocks):
            if isinstance(block, Marginal) and set(axes) <= set(block.axes):
                known = self.block(place)
                wide = [size if axis in axes else 1 for axis, size in zip(block.axes, block.shape, strict=True)]
                inside = np.broadcast_to(np.asarray(weights).reshape(wide) > 0.5, block.shape).reshape(-1)
                found.append(self._summed(known, inside))
        return min(found, key=lambda told: told[3] - told[2]) if found else None

    def _summed(self, known: Known, inside: Bools) -> tuple[float, float, float, float]:
        value = min(max(float(known.values[inside].sum()), 0.0), 1.0)  # noisy cells may sum to more; the rows' do not
        error = float(min(known.errors[inside].sum(), known.errors[~inside].sum(), 1.0))
        if self.outcome.answers is not None:  # noisy cells need not sum to 1, so only those inside bound their sum
            error = float(min(known.errors[inside].sum(), 1.0))
        low, high = (float(end[0]) for end in share_limits(np.array([value]), np.array([error]), self.adaptive))
        low = max(low, float(known.lows[inside].sum()), 1.0 - float(known.highs[~inside].sum()))
        high = min(high, float(known.highs[inside].sum()), 1.0 - float(known.lows[~inside].sum()))
        return value, error, max(0.0, low), min(1.0, high)

    @cached_property
    def sample_error(self) -> float:
        """The largest sample error over the workload."""
        return max(float(np.max(self.block(place).errors)) for place in range(len(self.problem.blocks)))

    @cached_property
    def population_error(self) -> float:
        """How far the population can lie from a released answer of the workload, at most."""
        known = (self.block(place) for place in range(len(self.problem.blocks)))
        return max(float(np.max(np.maximum(k.highs - k.values, k.values - k.lows))) for k in known)
