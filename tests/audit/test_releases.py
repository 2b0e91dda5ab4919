"""Every method of release passes its audit on neighbouring tables, and versions of it with one mistake do not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

import unworn.noise.selection as selection
from unworn.audit import Report, audit, catalogue, find
from unworn.audit.cells import Cells, replaced, spread_evenly
from unworn.audit.release import called, claim_of_release, laid_out, release_target
from unworn.audit.releases import RELEASES, ReleasePlan
from unworn.bounds.privacy import Profile
from unworn.errors import Unaskable
from unworn.noise import Stream
from unworn.release.additive import GaussianRelease, LaplaceRelease
from unworn.release.auto import METHODS
from unworn.release.measured import Measured, noisy
from unworn.release.method import Method, Outcome, Progress
from unworn.release.mwem import MWEM
from unworn.release.problem import Problem, Tables
from unworn.release.projection import Projection
from unworn.release.thresholds import ThresholdRelease
from unworn.universe.blocks import Marginal
from unworn.universe.domain import Domain
from unworn.universe.explicit import Explicit
from unworn.universe.prefixes import ConsistentTree
from unworn.universe.workload import Marginals, Thresholds

NAMED = {plan.called: plan for plan in RELEASES}
BITS = Domain({"a": [0, 1], "b": [0, 1]})


def test_every_method_of_release_is_audited() -> None:
    assert {type(plan.method) for plan in RELEASES} == set(METHODS.values())
    assert {f"release-{name}" for name in METHODS} <= NAMED.keys() <= catalogue().keys()
    assert len(NAMED) == len(RELEASES)


def test_every_strategy_and_noise_is_audited() -> None:
    settled = [plan.method.settled(plan.problem) for plan in RELEASES]
    strategies = {method.strategy for method in settled if isinstance(method, ThresholdRelease)}
    assert strategies == {"direct", "tree", "consistent", "square-root"}
    for kind in (MWEM, Projection):
        assert {method.noise for method in settled if isinstance(method, kind)} == {"gaussian", "laplace"}


@pytest.mark.parametrize("name", NAMED)
def test_none_is_refuted(name: str) -> None:
    """Few trials, for a change that breaks one altogether; false alarm 1e-6 over all seeds."""
    report = audit(find(name), trials=200, seed=11)
    assert not report.refuted
    assert not report.broken


@pytest.mark.theory
@pytest.mark.parametrize("name", NAMED)
def test_none_is_refuted_in_ten_audits(name: str) -> None:
    """Each audit errs with probability 1e-6 at most: false alarm below 1e-5 over all seeds."""
    target = find(name)
    assert not any(audit(target, trials=400, seed=seed).refuted for seed in range(10))


@pytest.mark.theory
@pytest.mark.parametrize("name", NAMED)
def test_audits_see_something(name: str) -> None:
    """At full strength each finds an outcome that tells the inputs apart: it would notice if less was hidden."""
    report = audit(find(name))
    assert 0.1 * report.claimed.value < report.lower_bound <= report.claimed.value


def test_the_tables_are_neighbours_and_the_budgets_are_kept() -> None:
    for name, plan in NAMED.items():
        made = plan.target()
        for pair in made.pairs:
            assert pair.first.differs(pair.second) == 1, name
            assert pair.first.size == plan.problem.rows
        told = made.claimed.profile.delta(plan.problem.epsilon)
        assert float(told) <= plan.problem.delta, name


# ---------------------------------------------------------------------------- mistakes, planted one at a time

Patch = pytest.MonkeyPatch
exponential, permute_and_flip = selection.exponential, selection.permute_and_flip


def half_the_noise(patch: Patch) -> Any:
    """Selected tables are measured with noise of half the scale."""
    patch.setattr("unworn.release.mwem.noisy", lambda counts, kind, scale, key: noisy(counts, kind, scale / 2, key))
    return NAMED["release-mwem"].target()


def half_the_gaussian_noise(patch: Patch) -> Any:
    half_the_noise(patch)
    return NAMED["release-mwem-gaussian"].target()


def unshared_rounds(patch: Patch) -> Any:
    """Every round spends the whole budget."""
    from unworn.release.rounds import Rounds

    whole = Rounds.of.__func__  # type: ignore[attr-defined]
    patch.setattr(Rounds, "of", classmethod(lambda cls, problem, noise, count: replace(whole(cls, problem, noise, 1), count=count)))
    return replace(NAMED["release-mwem"], method=MWEM(rounds=2)).target()


def greedy(patch: Patch) -> Any:
    """The table that is most wrong is selected (of two, the second), and not only likely to be."""
    patch.setattr(selection, "permute_and_flip", lambda key, scores, rate: int(np.flatnonzero(scores == scores.max())[-1]))
    return NAMED["release-mwem"].target()


def selects_mostly(patch: Patch) -> Any:
    """No mistake: as MWEM, but with nearly all of the budget spent on selections."""
    patch.setattr("unworn.release.rounds.SELECTING", 0.9)
    return NAMED["release-mwem"].target()


def twice_the_rate(patch: Patch) -> Any:
    """Selects at the rate epsilon, as if one row moved the scores of two tables in one direction only."""
    patch.setattr(selection, "permute_and_flip", lambda key, scores, rate: permute_and_flip(key, scores, 2.0 * rate))
    return selects_mostly(patch)


def times_the_rows(patch: Patch) -> Any:
    """Scores are counts already, and multiplied by the number of rows once more."""
    rows = NAMED["release-averaged-mwem"].problem.rows
    patch.setattr(selection, "exponential", lambda key, scores, rate: exponential(key, scores, rows * rate))
    return NAMED["release-averaged-mwem"].target()


def as_if_added_gaussian(patch: Patch) -> Any:
    """A replaced row moves two counts, and noise is made for one."""
    patch.setattr(Marginal, "l2", 1.0)
    return NAMED["release-gaussian"].target()


def as_if_added_laplace(patch: Patch) -> Any:
    patch.setattr(Marginal, "l1", 1.0)
    return NAMED["release-laplace"].target()


def size_forgotten(patch: Patch) -> Any:
    """Errors are counted in rows times the size of the small data set, and the rate is that of rows."""
    plan = NAMED["release-small-db"]
    size = plan.method.size  # type: ignore[attr-defined]
    patch.setattr(selection, "exponential", lambda key, scores, rate: exponential(key, scores, size * rate))
    return plan.target()


def column_norm(patch: Patch) -> Any:
    """How long a column of the strategy is, as if a row was added, and not how far apart two of them are."""
    patch.setattr(ConsistentTree, "l1", 1.0)
    return NAMED["release-thresholds"].target()


@dataclass(frozen=True)
class Forgetful(Projection):
    """Pays for all tables that it measures but the last."""

    def _revealed(self, noise: Any, scales: Sequence[float]) -> Profile:
        return super()._revealed(noise, scales[:-1])


def table_forgotten(patch: Patch) -> Any:
    plan = NAMED["release-projection-laplace"]
    return replace(plan, method=Forgetful("laplace", ((0,), (1,)), (1.0, 1.0))).target()


@dataclass(frozen=True)
class ExactErrors(LaplaceRelease):
    """Says how wrong its answers are, instead of how wrong they can be."""

    def run(self, problem: Problem, tables: Tables, noise: Stream, progress: Progress | None = None) -> Outcome:
        told = super().run(problem, tables, noise, progress)
        assert told.answers is not None
        truth = [block.answers(tables.table(block.axes)) / problem.rows for block in problem.blocks]
        return replace(told, errors=[np.abs(a - t) for a, t in zip(told.answers, truth, strict=True)])


def exact_errors(patch: Patch) -> Any:
    return replace(NAMED["release-laplace"], method=ExactErrors(), name="exact").target()


@dataclass(frozen=True)
class Talkative(LaplaceRelease):
    """Tells a count among the numbers of its certificate."""

    def run(self, problem: Problem, tables: Tables, noise: Stream, progress: Progress | None = None) -> Outcome:
        told = super().run(problem, tables, noise, progress)
        return replace(told, numbers={**told.numbers, "largest": int(tables.table((0,)).max())})


def talkative(patch: Patch) -> Any:
    return replace(NAMED["release-laplace"], method=Talkative(), name="talkative").target()


PLANTED: dict[Callable[[Patch], Any], int] = {
    half_the_noise: 12_000,
    unshared_rounds: 12_000,
    greedy: 400,
    twice_the_rate: 4_000,
    times_the_rows: 400,
    as_if_added_gaussian: 4_000,
    as_if_added_laplace: 8_000,
    size_forgotten: 4_000,
    column_norm: 4_000,
    table_forgotten: 4_000,
    exact_errors: 400,
    talkative: 400,
}
"""With so many trials each is seen."""
