"""Every method of release passes its audit on neighbouring tables, and versions of it with one mistake do not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

import unworn.noise.private_selection as selection
from tests.lab.audit.sight import Sight
from tests.two_sizes import in_two_sizes, reseeded
from unworn.bounds.privacy import Profile
from unworn.errors import Unaskable
from unworn.lab.audit import Claim, audit, catalogue, find
from unworn.lab.audit.cell_counts import Cells, replaced, spread_evenly
from unworn.lab.audit.release_audit import laid_out, method_name, release_target
from unworn.lab.audit.release_plans import RELEASES, ReleasePlan
from unworn.noise import Stream
from unworn.release.methods.additive_noise import GaussianRelease, LaplaceRelease
from unworn.release.methods.method import Progress, ReleaseOutcome
from unworn.release.methods.method_choice import METHODS
from unworn.release.methods.mwem import MWEM
from unworn.release.methods.noisy_table import Measured, noisy
from unworn.release.methods.projection import Projection
from unworn.release.methods.rounds import Rounds
from unworn.release.methods.threshold_release import ThresholdRelease
from unworn.release.problem import Problem, Tables
from unworn.universe.domain.domain import Domain
from unworn.universe.model.explicit_model import Explicit
from unworn.universe.model.question_blocks import Marginal
from unworn.universe.prefixes import ConsistentTree
from unworn.universe.workload import Marginals

NAMED = {plan.called: plan for plan in RELEASES}
BITS = Domain({"a": [0, 1], "b": [0, 1]})
THREE_BITS = Domain({"a": [0, 1], "b": [0, 1], "c": [0, 1]})


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
@in_two_sizes(short=(1, 200), full=(10, 400))
def test_none_is_refuted(name: str, size: tuple[int, int]) -> None:
    """Few trials each, for a change that breaks one altogether.

    Each of 10 audits is allowed an error of 1e-7: false alarm 1e-6 over all seeds.
    """
    target, (audits, trials) = find(name), size
    for seed in range(reseeded(11), reseeded(11) + audits):
        report = audit(target, trials, seed=seed, confidence=1 - 1e-7)
        assert not report.refuted
        assert not report.broken


@pytest.mark.parametrize("name", NAMED)
@in_two_sizes(short=Sight(1_000, 0.0, 0.5), full=Sight(None, 0.1, 1 - 1e-6))
def test_audits_see_something(name: str, size: Sight) -> None:
    """Each finds an outcome that tells the inputs apart: it would notice if less was hidden."""
    report = audit(find(name), size.trials, size.confidence, seed=reseeded(0))
    assert report.lower_bound > size.share * report.claimed.value
    assert report.lower_bound <= report.claimed.value or size.confidence < 1 - 1e-6


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
    patch.setattr(
        "unworn.release.methods.mwem.noisy", lambda counts, kind, scale, key: noisy(counts, kind, scale / 2, key)
    )
    return NAMED["release-mwem"].target()


def half_the_gaussian_noise(patch: Patch) -> Any:
    half_the_noise(patch)
    return NAMED["release-mwem-gaussian"].target()


def unshared_rounds(patch: Patch) -> Any:
    """Every one of six rounds spends the whole budget, and what the row has moved is in each of their tables."""
    shared = Rounds.of

    def whole(problem: Problem, noise: Any, count: int) -> Rounds:
        return replace(shared(problem, noise, 1), count=count)

    patch.setattr(Rounds, "of", whole)
    problem = Problem(9, THREE_BITS, Marginals(1) + Marginals(2), 2.0, 0.0)
    return ReleasePlan(MWEM(rounds=6), problem).target()


def greedy(patch: Patch) -> Any:
    """The table that is most wrong is selected (of two, the second), and not only likely to be."""
    most = lambda key, scores, rate: int(np.flatnonzero(scores == scores.max())[-1])  # noqa: E731
    patch.setattr(selection, "permute_and_flip", most)
    return NAMED["release-mwem"].target()


def selects_mostly(patch: Patch) -> Any:
    """No mistake: as MWEM, but with nearly all of the budget spent on selections."""
    patch.setattr("unworn.release.methods.rounds.SELECTING", 0.9)
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
    patch.setattr(ConsistentTree, "l1", ConsistentTree.norm)
    return replace(NAMED["release-thresholds"], method=ThresholdRelease("consistent", fan=4)).target()


@dataclass(frozen=True)
class Forgetful(Projection):
    """Pays for all tables that it measures but the last."""

    def _revealed(self, noise: Any, scales: Sequence[float]) -> Profile:
        return super()._revealed(noise, scales[:-1])


def table_forgotten(patch: Patch) -> Any:
    plan = NAMED["release-projection-laplace"]
    return replace(plan, method=Forgetful("laplace", ((0,), (1,)), (1.0, 1.0))).target()


@dataclass(frozen=True)
class ExactErrors(GaussianRelease):
    """Says how wrong its answers are, instead of how wrong they can be."""

    def run(self, problem: Problem, tables: Tables, noise: Stream, progress: Progress | None = None) -> ReleaseOutcome:
        told = super().run(problem, tables, noise, progress)
        assert told.answers is not None
        truth = [block.answers(tables.table(block.axes)) / problem.rows for block in problem.blocks]
        return replace(told, errors=[np.abs(a - t) for a, t in zip(told.answers, truth, strict=True)])


def exact_errors(patch: Patch) -> Any:
    return replace(NAMED["release-gaussian"], method=ExactErrors(), name="exact").target()


@dataclass(frozen=True)
class Talkative(GaussianRelease):
    """Tells a count among the numbers of its certificate."""

    def run(self, problem: Problem, tables: Tables, noise: Stream, progress: Progress | None = None) -> ReleaseOutcome:
        told = super().run(problem, tables, noise, progress)
        return replace(told, numbers={**told.numbers, "largest": int(tables.table((0,)).max())})


def talkative(patch: Patch) -> Any:
    return replace(NAMED["release-gaussian"], method=Talkative(), name="talkative").target()


Mistake = Callable[[Patch], Any]

GLARING: dict[Mistake, int] = {
    greedy: 400,
    times_the_rows: 2_000,
    size_forgotten: 4_000,
    exact_errors: 3_000,
    talkative: 400,
}
"""Seen with so many trials."""
SUBTLE: dict[Mistake, tuple[int, float]] = {
    half_the_noise: (8_000, 0.3),
    half_the_gaussian_noise: (8_000, 0.15),
    unshared_rounds: (6_000, 0.15),
    twice_the_rate: (4_000, 0.15),
    as_if_added_gaussian: (4_000, 0.15),
    as_if_added_laplace: (4_000, 0.15),
    column_norm: (2_000, 0.15),
    table_forgotten: (8_000, 0.15),
}
"""Refuted with so many trials; with a tenth of them so much of the claim is found."""


@pytest.mark.parametrize("mistake", GLARING, ids=lambda mistake: mistake.__name__)
def test_a_glaring_mistake_shows_in_few_trials(mistake: Mistake, monkeypatch: Patch) -> None:
    """Power: in 400 trials the limits of selection without chance and of a count that is told were .49 and .22 nats
    beyond the claim, with standard deviations of .01 and less over seeds; the others have 3 to 5 times the trials in
    which theirs were .04 (.09), .35 (.18) and .17 (.04).
    """
    report = audit(mistake(monkeypatch), trials=GLARING[mistake], seed=reseeded(0))
    assert report.refuted, report


@pytest.mark.parametrize("mistake", SUBTLE, ids=lambda mistake: mistake.__name__)
@in_two_sizes(short=10, full=1)
def test_a_factor_of_two_shows_in_more(mistake: Mistake, size: int, monkeypatch: Patch) -> None:
    """In a tenth of the trials no mistake is refuted, but a part of the claim is found.

    Power of that: half the noise showed .79 of the claim, with a standard deviation of .06 over seeds, and half the
    Gaussian noise .51 with .05. Rounds that do not share their budget, at full size: the odds found are about .4 to
    .01, so that of 3,000 trials 39 may have what 92 would be too many of.
    """
    trials, share = SUBTLE[mistake]
    report = audit(mistake(monkeypatch), trials // size, seed=reseeded(0))
    if size == 1:
        assert report.refuted, report
    assert report.lower_bound > share * report.claimed.value


@in_two_sizes(short=10, full=1)
def test_what_only_looks_like_a_mistake_is_not_refuted(size: int, monkeypatch: Patch) -> None:
    """Most of the budget spent on selections, at the right rate; false alarm 1e-6 over all seeds."""
    report = audit(selects_mostly(monkeypatch), SUBTLE[twice_the_rate][0] // size, seed=reseeded(0))
    assert not report.refuted, report


# ---------------------------------------------------------------------------- how methods are run


def test_where_a_number_stands() -> None:
    problem = Problem(40, BITS, Marginals(1), 1.0, 0.0)
    second, both = np.array([3, 5]), np.arange(4).reshape(2, 2)
    measured = [Measured((1,), second, "laplace", 1.0), Measured((0, 1), both, "laplace", 1.0)]
    model = Explicit(np.array([[1.0, 2.0], [3.0, 4.0]]))
    outcome = ReleaseOutcome(
        model, None, [np.full(2, 0.25)] * 2, {"noise": "laplace", "rounds": 2, "late": 1}, measured
    )
    told = laid_out(problem, outcome, ("noise", "rounds", "unknown"))
    nan = float("nan")
    order, counts = [1, 2, nan], [nan, nan, 3, 5, 0, 1, 2, 3]
    assert told[:11].tolist() == pytest.approx(order + counts, nan_ok=True)
    assert np.isnan(told[11:15]).all()  # no answers
    assert told[15:23].tolist() == pytest.approx([0.1, 0.2, 0.3, 0.4] + [0.25] * 4)
    assert told[24] == 2
    assert np.isnan(told[25])
    assert np.isfinite(told[[23, 26]]).all()
    again = laid_out(problem, replace(outcome, measured=[*measured, measured[0]]), ("noise", "rounds", "unknown"))
    assert again[[2, 5, 6]].tolist() == [1, 6, 10]
    assert len(again) == len(told) == 27
    other = replace(outcome, numbers={**outcome.numbers, "late": 2})
    assert laid_out(problem, other, ("noise", "rounds", "unknown"))[26] != told[26]
    with pytest.raises(ValueError, match=r"columns \(1, 0\): they are given by place, 0 to 1, and rising"):
        laid_out(problem, replace(outcome, measured=[replace(measured[1], axes=(1, 0))]))


def test_trials_are_independent_of_each_other() -> None:
    made = find("release-mwem")
    first = made.pairs[0].first
    many = made.outputs(first, 20, np.random.default_rng(3))
    alone = made.outputs(first, 1, np.random.default_rng(3))
    assert np.array_equal(alone, many[:1], equal_nan=True)
    assert len(np.unique(many[:, :7], axis=0)) > 10  # a fresh key each


def test_targets_say_what_they_audit() -> None:
    made = find("release-laplace")
    assert made.note == "LaplaceRelease(summed=False, scale=2.0), 20 rows, 4 questions of 4 cells"
    assert str(made.claimed) == "ε = 2"
    assert made.pairs[0].label == "one row in cell (1, 1) instead of (0, 0)"
    assert str(find("release-mwem-gaussian").claimed) == "ε = 4 at δ = 0.1"
    assert [method_name(kind()) for kind in METHODS.values()] == list(METHODS)
    assert method_name(Talkative()) == "talkative"
    claim = Claim.pure(0.5)
    assert release_target(LaplaceRelease(), NAMED["release-laplace"].problem, claimed=claim).claimed is claim


def test_a_table_of_cells() -> None:
    first, second = replaced(spread_evenly((2, 3), 8), (0, 0), (1, 2))
    assert (first.size, first.shape, first.differs(second), first.differs(first)) == (9, (2, 3), 1, 0)
    assert first.table((0, 1)).tolist() == [[3, 2, 1], [1, 1, 1]]
    assert second.tables([(0,), (1,), ()])[0].tolist() == [5, 4]
    first.table((0,))[0] = 99  # a method may write into what it was given
    assert first.table((0,)).tolist() == [6, 3]
    for counts in ([], [0.5], [-1], 3, [True]):
        with pytest.raises(ValueError, match="a whole number from 0 for every cell"):
            Cells(counts)
    for cell in ((0,), (0, 3), (-1, 0)):
        with pytest.raises(ValueError, match="a place on each of the 2 columns"):
            replaced([[1, 1, 1], [1, 1, 1]], cell, (0, 0))
    with pytest.raises(ValueError, match="not neighbours"):
        first.differs(Cells([9]))


def test_problems_that_cannot_be_audited() -> None:
    many = Problem(40, Domain({"a": range(300)}), Marginals(1), 1.0, 0.0)
    wide = Problem(40, Domain({name: [0, 1] for name in "abcde"}), Marginals(1), 1.0, 0.0)
    for problem in (many, wide):
        with pytest.raises(ValueError, match="audits are for up to 256 cells in 4 columns"):
            release_target(LaplaceRelease(), problem)
    small = Problem(40, BITS, Marginals(1), 1.0, 0.0)
    for others in (np.full((2, 2), 10), np.array([39]), np.array([[9.5, 9.5], [10, 10]])):
        with pytest.raises(ValueError, match=r"39 rows, one less than|a whole number from 0"):
            release_target(LaplaceRelease(), small, others=others)
    with pytest.raises(Unaskable, match="needs delta > 0"):
        release_target(GaussianRelease(), small)
    with pytest.raises(Unaskable, match="thresholds or the ranges"):
        release_target(ThresholdRelease(), small)
