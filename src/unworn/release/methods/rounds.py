"""How adaptive rounds share a privacy budget: a part for selecting, the rest for measuring."""

from __future__ import annotations

import math
from dataclasses import dataclass

from unworn.bounds.noise_tails import Noise
from unworn.release.problem import Problem
from unworn.universe.model.question_blocks import Block

_HAIR = 1.0 - 1e-14
"""What floats may lose when a budget is divided and added up again."""
SELECTING = 0.25
"""Which part of the budget goes to selections: what is selected need only be nearly the worst."""


@dataclass(frozen=True)
class Rounds:
    """One round: the epsilon of its selection, and the noise of its measurement for each unit of sensitivity.

    Under ``delta`` > 0 costs are added up as concentrated differential privacy: a selection by the exponential
    mechanism costs epsilon²/8 (its range is bounded), a Gaussian measurement of sensitivity l2 and standard deviation
    sd costs (l2/sd)²/2. Pure costs are added up as they are.
    """

    count: int
    noise: Noise
    selection: float
    unit: float
    chance: float
    """The probability with which, in one round, the selection may be further off, or the noise larger, than is said."""

    @classmethod
    def of(cls, problem: Problem, noise: Noise, count: int) -> Rounds:
        chance = problem.chance / (2 * count)
        if problem.delta == 0:
            each = problem.epsilon / count * _HAIR
            return cls(count, noise, SELECTING * each, 1.0 / ((1.0 - SELECTING) * each), chance)
        each = rho_of(problem) / count * _HAIR
        selection, measuring = math.sqrt(8.0 * SELECTING * each), (1.0 - SELECTING) * each
        # Laplace noise of scale l1/e is e-private, and so e²/2-concentrated.
        return cls(count, noise, selection, 1.0 / math.sqrt(2.0 * measuring), chance)

    def scale(self, block: Block, single: bool) -> float:
        """The noise's scale in rows: a standard deviation, or that of Laplace's distribution."""
        if single:
            return self.unit
        return self.unit * max(1.0, block.l2 if self.noise == "gaussian" else block.l1)

    def sd(self, scale: float) -> float:
        """The noise's standard deviation in rows."""
        return scale if self.noise == "gaussian" else scale * math.sqrt(2.0)

    def largest(self, scale: float, size: int) -> float:
        """What none of ``size`` draws passes, but with the round's chance, in rows."""
        from unworn.bounds.noise_tails import largest_draw

        return largest_draw(self.noise, scale, self.chance / size)

    def gap(self, candidates: int) -> float:
        """By how many rows the selected error may fall short of the largest, but with the round's chance."""
        from unworn.bounds.selection import selection_gap

        return selection_gap(candidates, self.selection, self.chance)


def rho_of(problem: Problem) -> float:
    """The whole budget as concentrated differential privacy."""
    from unworn.bounds.budget import concentrated_rho

    return concentrated_rho(problem.epsilon, problem.delta)
