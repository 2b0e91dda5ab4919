"""Releases against what theory says of them, in sizes for every day; ``benchmarks/release.py`` has the large ones.

What single methods promise is tested beside them: here is what holds between them, and against bounds from elsewhere.
"""

from __future__ import annotations

import math
import statistics

import numpy as np
import pytest

from tests.release.tables import InMemory
from tests.release.worlds import latent
from unworn.bounds.noise_tails import rounding
from unworn.bounds.regret import learning_rate, regret_bound
from unworn.bounds.release import averaged_mwem_epsilon, projection_error, sqrt_sd, tree_sd
from unworn.bounds.selection import selection_gap
from unworn.noise import Stream
from unworn.noise.private_selection import exponential
from unworn.queries.row_protocol import Floats
from unworn.release.methods.additive_noise import GaussianRelease
from unworn.release.methods.averaged_mwem import AveragedMWEM
from unworn.release.methods.method import Method, ReleaseOutcome
from unworn.release.methods.method_choice import choose_method
from unworn.release.methods.mwem import MWEM
from unworn.release.methods.projection import Projection
from unworn.release.methods.threshold_release import ThresholdRelease
from unworn.release.problem import Problem
from unworn.universe.domain.domain import Domain
from unworn.universe.model.explicit_model import Explicit
from unworn.universe.model.online_learning import ModelLearner
from unworn.universe.workload import Marginals, Thresholds

MIXED = Domain({"a": range(6), "b": [0, 1], "c": range(5), "d": range(4), "e": [0, 1, 2]})
"""720 cells."""


def errors(problem: Problem, tables: InMemory, found: ReleaseOutcome) -> Floats:
    told = found.answers
    if told is None:
        assert found.model is not None
        told = [np.asarray(block.answers(found.model.table(block.axes))) for block in problem.blocks]
    exact = [block.answers(tables.table(block.axes)) / problem.rows for block in problem.blocks]
    return np.abs(np.concatenate(told) - np.concatenate(exact))


def runs(method: Method, problem: Problem, seeds: int) -> list[Floats]:
    settled, shape = method.settled(problem), problem.domain.shape
    found = []
    for seed in range(seeds):
        tables = InMemory(latent(shape, problem.rows, seed), shape)
        found.append(errors(problem, tables, settled.run(problem, tables, Stream(bytes(32), "theory", seed))))
    return found


def largest(method: Method, problem: Problem, seeds: int = 3) -> float:
    """The median of the largest error."""
    return statistics.median(float(off.max()) for off in runs(method, problem, seeds))


@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize("rows", [1_000, 8_000])
def test_mwem_is_never_worse_than_the_version_with_the_theorem(rows: int, delta: float) -> None:
    problem = Problem(rows, MIXED, Marginals(2) + Marginals(3), 1.0, delta)
    assert largest(MWEM(), problem) < largest(AveragedMWEM(), problem)


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_more_rounds_than_are_chosen_do_not_pay_and_neither_do_few(delta: float) -> None:
    problem = Problem(30_000, MIXED, Marginals(2) + Marginals(3), 1.0, delta)
    rounds = MWEM().settled(problem).rounds
    assert rounds is not None
    assert largest(MWEM(), problem) < largest(MWEM(rounds=max(1, rounds // 4)), problem)
    # All of them: noise for each, and selections that know nothing. A tie would be within a few parts in ten.
    assert largest(MWEM(), problem) < 1.3 * largest(MWEM(rounds=len(problem.blocks)), problem)


def test_automatic_is_about_the_best_of_all() -> None:
    """Small and large tables, pure and not: never more than a third above the best of all methods."""
    for rows, delta in ((500, 1e-6), (30_000, 1e-6), (30_000, 0.0)):
        problem = Problem(rows, MIXED, Marginals(2) + Marginals(3), 1.0, delta)
        plain = choose_method("gaussian" if delta else "laplace", problem)
        best = min(largest(way, problem) for way in (MWEM(), Projection(), plain))
        assert largest(choose_method("auto", problem), problem) <= 4 / 3 * best


def test_the_averaged_analysis_step_by_step() -> None:
    """The largest error of the average is at most the mean of the largest ones (convexity), this at most the regret
    plus what selections miss, and both are below their bounds; the second but for 1e-7."""
    rows, rounds, miss = 4_000, 120, 1e-7
    problem = Problem(rows, MIXED, Marginals(2), 1.0, 1e-6)
    tables = InMemory(latent(MIXED.shape, rows, 0), MIXED.shape)
    truth = np.concatenate([block.answers(tables.table(block.axes)) for block in problem.blocks]) / rows
    owners = [(block, place) for block in problem.blocks for place in range(block.size)]
    epsilon = averaged_mwem_epsilon(rounds, 1.0, 1e-6)
    learner, stream = ModelLearner(Explicit.uniform(MIXED.shape), rounds), Stream(bytes(32), "steps")
    total, worst, missed = np.zeros(MIXED.shape), [], []
    for _ in range(rounds):
        total += learner.model.weights
        off = np.concatenate([block.answers(learner.model.table(block.axes)) for block in problem.blocks]) - truth
        both = np.concatenate([off, -off])
        place = exponential(stream, np.rint(rows * both).astype(np.int64), epsilon / 2.0)
        block, which = owners[place % len(off)]
        cost = block.question(which)
        learner.learn(block.axes, cost if place < len(off) else 1.0 - cost)
        worst.append(float(np.abs(off).max()))
        missed.append(worst[-1] - float(both[place]))
    average = Explicit(total)
    final = np.concatenate([block.answers(average.table(block.axes)) for block in problem.blocks])
    against = learner.regret(Explicit(tables.table(tuple(range(5))).astype(float)))
    assert np.abs(final - truth).max() <= np.mean(worst) + 1e-12
    assert np.mean(worst) == pytest.approx(against + np.mean(missed), abs=1e-9)
    assert against <= learner.regret() + 1e-12 <= regret_bound(720, rounds) + 1e-12
    assert learner.rate == learning_rate(720, rounds)
    assert max(missed) * rows <= selection_gap(2 * len(truth), epsilon, miss / rounds) + 1.0


@pytest.mark.parametrize("rows", [50, 200, 30_000])
def test_projection_is_below_its_bound_in_every_regime(rows: int) -> None:
    """Few rows: distributions leave most of the noise behind. Many rows: never more than the noise of plain tables."""
    problem = Problem(rows, MIXED, Marginals(3), 1.0, 1e-6)
    plain = GaussianRelease(summed=False).settled(problem)
    assert plain.scale is not None
    sd = math.sqrt(plain.scale**2 + rounding(plain.scale)) / rows
    bound = projection_error(problem.cells, problem.questions, sd, math.sqrt(len(problem.blocks)))
    squares = [float(np.mean(off**2)) for off in runs(Projection(), problem, 5)]
    assert np.mean(squares) < bound
    assert (bound < 0.9 * sd**2) == (rows <= 200)  # both regimes are met


def test_released_thresholds_have_the_factor_of_theory() -> None:
    """Of what is released: never less than published, as here nobody need hide how many rows there are."""
    told = {}
    for m in (64, 1024):
        problem = Problem(10**7, Domain({"age": range(m)}), Thresholds("age"), 1.0, 1e-6)
        tables = InMemory(latent((m,), 1_000, 0), (m,))
        sds = [
            ThresholdRelease(name).run(problem, tables, Stream(bytes(32))).numbers["largest_sd"]  # type: ignore[arg-type]
            for name in ("tree", "square-root")
        ]
        told[m] = sds[0] / sds[1]
        assert told[m] >= tree_sd(m) / sqrt_sd(m)
        assert told[m] == pytest.approx(tree_sd(m) / sqrt_sd(m), rel=0.15)
    assert told[64] < told[1024]
