"""MWEM: find the table that the distribution gets most wrong, measure it, and learn from it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from unworn.bounds.noise_tails import Noise
from unworn.bounds.privacy import Concentrated, Profile, Pure
from unworn.errors import Unaskable
from unworn.noise import Stream
from unworn.queries.row_protocol import Floats
from unworn.release.methods.candidates import Candidates, digest_choice
from unworn.release.methods.learned_errors import LearnedErrors
from unworn.release.methods.method import Method, Progress, ReleaseOutcome
from unworn.release.methods.noisy_table import Measured, noisy
from unworn.release.methods.rounds import Rounds, rho_of
from unworn.release.methods.starting_model import fits, uniform
from unworn.release.problem import Problem, Tables
from unworn.universe.model.measurement_replay import Measurement, replay
from unworn.universe.model.model import Model
from unworn.universe.model.question_blocks import Marginal

_MOST = 100_000


@dataclass(frozen=True)
class MWEM(Method):
    """Select the table whose worst cell is most wrong, by the exponential mechanism; measure it with noise; replay all.

    A candidate is a whole marginal (its cells are disjoint, so measuring all of them reveals no more than measuring
    two), or else a single question. Selected answers are compared with what was measured, so each distribution on the
    way comes with a bound on its largest error over the *whole* workload: the last is released, unless the bound of
    another is clearly smaller.
    Above 16 million cells the distribution is kept in factors: then only tables that keep those small are learned from,
    and a last selection among all tables checks the rest.

    Parameters
    ----------
    rounds
        How many candidates are selected and measured; None leaves it to public numbers.
    noise
        ``"gaussian"`` (needs delta > 0) or ``"laplace"``; None for what suits delta.
    sweeps
        How often all measurements are replayed after each round, and twice as often again, more gently, after the last.

    References
    ----------
    Hardt, Ligett and McSherry, "A simple and practical algorithm for differentially private data release", NIPS 2012;
    for the price of a selection Cesar and Rogers, "Bounding, concentrating, and truncating: unifying privacy loss
    composition for data analytics", ALT 2021.
    """

    theorem: ClassVar[str] = "exponential mechanism and measured errors (MWEM)"

    rounds: int | None = None
    noise: Noise | None = None
    sweeps: int = 2

    def __post_init__(self) -> None:
        for name, value in (("rounds", self.rounds), ("sweeps", self.sweeps)):
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= _MOST):
                raise ValueError(f"{name} is a whole number from 1 to {_MOST:,}, not {value!r}")
        if self.noise not in (None, "gaussian", "laplace"):
            raise ValueError(f"noise is 'gaussian' or 'laplace', not {self.noise!r}")

    # ------------------------------------------------------------------ from public numbers

    def check(self, problem: Problem) -> None:
        if self.noise == "gaussian" and problem.delta == 0:
            raise Unaskable("Gaussian noise needs delta > 0: give one, or take noise='laplace'")
        start = uniform(problem)
        if not any(fits(start, block.axes) for block in problem.blocks):
            raise Unaskable("every table of the workload is too large to learn from: ask fewer columns at a time")

    def settled(self, problem: Problem) -> Self:
        noise: Noise = self.noise or ("gaussian" if problem.delta > 0 else "laplace")
        return replace(self, noise=noise, rounds=self.rounds or _rounds(problem, noise))

    def profile(self, problem: Problem) -> Profile:
        return Pure(problem.epsilon) if problem.delta == 0 else Concentrated(rho_of(problem))

    def predicted(self, problem: Problem) -> float:
        ours = self.settled(problem)
        return min(1.0, _predicted(problem, ours.noise or "laplace", ours.rounds or 1))

    # ------------------------------------------------------------------ the rows

    def run(self, problem: Problem, tables: Tables, noise: Stream, progress: Progress | None = None) -> ReleaseOutcome:
        from unworn.noise.private_selection import exponential, permute_and_flip

        self.check(problem)
        ours = self.settled(problem)
        candidates = Candidates.of(problem)
        plan = Rounds.of(problem, ours.noise or "laplace", min(ours.rounds or 1, len(candidates)))
        counts, learned, model = candidates.counts(tables), LearnedErrors(candidates), uniform(problem)
        answers = candidates.answers(model)
        # Permute-and-flip is never worse, and as private; only its price in concentrated privacy is four times higher.
        select = permute_and_flip if problem.delta == 0 else exponential
        best: tuple[float, Model, Floats] | None = None
        tables_out: list[Measured] = []
        selected: list[int] = []
        for turn in range(plan.count):
            open_ = _open(candidates, learned, model, last=turn == plan.count - 1)
            scores = candidates.scores(counts, answers)[open_]
            place = open_[
                select(noise.within("select", turn, digest_choice(open_, answers)), scores, plan.selection / 2.0)
            ]
            selected.append(place)
            block, which = candidates.of_block(place)
            scale = plan.scale(block, which is not None)
            stretch = candidates.stretch(place)
            told = noisy(counts[stretch], plan.noise, scale, noise.within("measure", turn, place))
            if which is None:
                tables_out.append(Measured(block.axes, told.reshape(block.shape), plan.noise, scale))
            learned.add(
                place,
                Measurement(block, which, told / problem.rows, plan.sd(scale) / problem.rows),
                plan.largest(scale, int(candidates.sizes[place])) / problem.rows,
            )
            # A row more: scores are errors rounded to whole rows, the largest and the selected one alike.
            learned.show(answers, open_, place, (plan.gap(len(open_)) + 1.0) / problem.rows)
            bound = float(np.max(learned.errors(answers)))
            if best is None or bound < best[0]:
                best = bound, model.copy(), answers
            measured = [each for each in learned.measured if fits(model, each.axes)]
            replay(model, measured, self.sweeps)
            if turn == plan.count - 1:  # gentle steps leave behind more of the noise that no distribution has
                replay(model, measured, 2 * self.sweeps, damping=0.5)
            answers = candidates.answers(model)
            if progress is not None:
                progress(turn + 1, plan.count)
        # The last has learned from most, and is the nearest as a rule: bounds are too wide to tell when they are close.
        if best is not None and 1.1 * np.max(learned.errors(best[2])) < np.max(learned.errors(answers)):
            _, model, answers = best
        errors = candidates.in_blocks(learned.errors(answers))
        numbers = {
            "rounds": plan.count,
            "noise": plan.noise,
            "selection_epsilon": plan.selection,
            "unit": plan.unit,
            "selected": selected,
        }
        return ReleaseOutcome(model, None, errors, numbers, tables_out)


def _open(candidates: Candidates, learned: LearnedErrors, model: Model, last: bool) -> list[int]:
    """What may be selected: not measured yet and small enough to learn from; in the last round all that is left."""
    left = [place for place in range(len(candidates)) if place not in learned.places]
    fitting = {home: fits(model, block.axes) for home, block in enumerate(candidates.problem.blocks)}
    small = [place for place in left if fitting[int(candidates.blocks[place])]]
    return left if last or not small else small


_UNLEARNED = 4.0
"""What so many rounds leave unlearned is about this over their square: seen on tables of people, and no promise."""


def _learned(problem: Problem, noise: Noise, rounds: int) -> float:
    """About what so many rounds leave, as a share: the largest noise of a measurement, and what is left unlearned."""
    plan = Rounds.of(problem, noise, rounds)
    largest = max(plan.scale(block, not isinstance(block, Marginal)) for block in problem.blocks)
    cells = max(block.size for block in problem.blocks)
    return plan.sd(largest) * math.sqrt(2.0 * math.log(2.0 * cells)) / problem.rows + _UNLEARNED / rounds**2


def _predicted(problem: Problem, noise: Noise, rounds: int) -> float:
    """The same, and half of what a selection may fall short by: on some tables it costs so much, on others nothing."""
    short = math.log(len(Candidates.of(problem))) / Rounds.of(problem, noise, rounds).selection
    return _learned(problem, noise, rounds) + short / problem.rows


def _rounds(problem: Problem, noise: Noise) -> int:
    """The fewest that leave at most a tenth more than the best number: the time they take grows as their square."""
    most = len(Candidates.of(problem))
    left = {tried: _learned(problem, noise, tried) for tried in sorted({min(most, round(1.2**p)) for p in range(50)})}
    return next(tried for tried, error in left.items() if error <= 1.1 * min(left.values()))
