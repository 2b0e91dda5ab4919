"""AveragedMWEM: multiplicative weights against the exponential mechanism, as its analysis has it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from hashlib import sha256
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from unworn.bounds.privacy import Profile
from unworn.errors import Unaskable
from unworn.noise import Stream
from unworn.queries.row_protocol import Floats
from unworn.release.methods.candidates import digest_choice
from unworn.release.methods.method import Method, Progress, ReleaseOutcome
from unworn.release.problem import Problem, Tables
from unworn.universe.model.explicit_model import Explicit

MOST_ROUNDS = 1_000_000
LARGEST = 2**26
"""How many cells a distribution is kept for one by one."""


@dataclass(frozen=True)
class AveragedMWEM(Method):
    """Select the question that the distribution answers worst, tilt the distribution, and release the average.

    Questions are taken with their complements, so that the worst one always errs upwards and is the cost that the
    learner pays. Selections are the only look at the rows: by the regret bound their average cost falls, and by
    convexity so does the largest error of the average. This is the version with a clean theorem;
    :class:`~unworn.release.methods.mwem.MWEM` measures what it selects, and is the one to use.

    Parameters
    ----------
    rounds
        How many questions are selected; None for the number with the smallest bound.

    References
    ----------
    Hardt, Ligett and McSherry, "A simple and practical algorithm for differentially private data release", NIPS 2012;
    the analysis by regret is from lecture notes on online learning and query release.
    """

    theorem: ClassVar[str] = "regret of multiplicative weights, exponential mechanism (averaged MWEM)"

    rounds: int | None = None

    def __post_init__(self) -> None:
        rounds = 1 if self.rounds is None else self.rounds
        if isinstance(rounds, bool) or not isinstance(rounds, int) or not 1 <= rounds <= MOST_ROUNDS:
            raise ValueError(f"rounds is a whole number from 1 to {MOST_ROUNDS:,}, not {rounds!r}")

    def check(self, problem: Problem) -> None:
        if problem.cells > LARGEST:
            raise Unaskable(
                f"AveragedMWEM keeps all {problem.cells:,} cells of the domain, and {LARGEST:,} are the most.\n"
                "  MWEM keeps such a distribution in factors.",
                cells=problem.cells,
            )

    def settled(self, problem: Problem) -> Self:
        if self.rounds is not None:
            return self
        from unworn.bounds.release import averaged_mwem_rounds

        return replace(self, rounds=min(averaged_mwem_rounds(*_public(problem)), MOST_ROUNDS))

    def profile(self, problem: Problem) -> Profile:
        from unworn.bounds.release import averaged_mwem_profile

        return averaged_mwem_profile(self.settled(problem).rounds or 1, problem.epsilon, problem.delta)

    def predicted(self, problem: Problem) -> float:
        return self._bound(problem, self.settled(problem).rounds or 1)

    def _bound(self, problem: Problem, rounds: int) -> float:
        from unworn.bounds.release import averaged_mwem_error

        return min(1.0, averaged_mwem_error(*_public(problem), rounds=rounds))

    def run(self, problem: Problem, tables: Tables, noise: Stream, progress: Progress | None = None) -> ReleaseOutcome:
        from unworn.bounds.regret import learning_rate
        from unworn.bounds.release import averaged_mwem_epsilon
        from unworn.noise.private_selection import exponential

        self.check(problem)
        rounds = self.settled(problem).rounds or 1
        epsilon = averaged_mwem_epsilon(rounds, problem.epsilon, problem.delta)
        rate = learning_rate(problem.cells, rounds)
        axes = [block.axes for block in problem.blocks]
        truth = _answers(problem, tables.tables(axes)).astype(np.int64)
        starts = np.cumsum([0] + [block.size for block in problem.blocks])
        model = Explicit.uniform(problem.domain.shape)
        total, path = np.zeros(problem.domain.shape), sha256()
        for turn in range(rounds):
            total += model.weights
            answers = _answers(problem, model.tables(axes))
            off = np.rint(problem.rows * answers).astype(np.int64) - truth
            own = noise.within("select", turn, digest_choice((), answers))
            chosen = exponential(own, np.concatenate([off, -off]), epsilon / 2.0)
            path.update(chosen.to_bytes(8, "big"))
            sign, place = (1.0, chosen) if chosen < len(off) else (-1.0, chosen - len(off))
            block = int(np.searchsorted(starts, place, side="right")) - 1
            cost = problem.blocks[block].question(int(place - starts[block]))
            model.tilt(axes[block], -sign * rate * cost)
            if progress is not None:
                progress(turn + 1, rounds)
        bound = self._bound(problem, rounds)
        errors = [np.full(each.size, bound) for each in problem.blocks]
        return ReleaseOutcome(
            Explicit(total), None, errors, {"rounds": rounds, "epsilon_each": epsilon, "selected": path.hexdigest()}
        )


def _public(problem: Problem) -> tuple[int, int, int, float, float, float]:
    """Rows, cells, questions with their complements, epsilon, delta, and the chance that the bound may fail."""
    return problem.rows, problem.cells, 2 * problem.questions, problem.epsilon, problem.delta, problem.chance


def _answers(problem: Problem, tables: list[NDArray[np.int64]] | list[Floats]) -> Floats:
    """All answers in one line, block after block."""
    return np.concatenate([block.answers(table) for block, table in zip(problem.blocks, tables, strict=True)])
