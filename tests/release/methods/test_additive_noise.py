"""Plain noisy answers: what they reveal, what they are off by, and which blocks are measured."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tests.release.tables import InMemory
from unworn.bounds.budget import gaussian_mu
from unworn.bounds.privacy import GDP, Pure
from unworn.errors import Unaskable
from unworn.noise import Stream
from unworn.release.intervals import Intervals
from unworn.release.methods.additive_noise import Additive, GaussianRelease, LaplaceRelease
from unworn.release.problem import Problem
from unworn.universe.domain.domain import Domain
from unworn.universe.workload import Conjunctions, Marginals, Ranges, Thresholds, Workload

DOMAIN = Domain({"age": [20, 30, 40, 50, 60], "paid": [0, 1], "plan": ["a", "b", "c"], "used": [0, 1]})
ROWS = 2_000
BOTH: Workload = Marginals(1) + Marginals(2)
EVERY: Workload = Marginals(2) + Thresholds("age") + Ranges("age") + Conjunctions()


def problem(workload: Workload = BOTH, epsilon: float = 1.0, delta: float = 0.0, confidence: float = 0.95) -> Problem:
    return Problem(ROWS, DOMAIN, workload, epsilon, delta, confidence)


def rows(seed: int = 0) -> InMemory:
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(0, size, ROWS) for size in DOMAIN.shape], axis=1).astype(np.int32)
    codes[:, 0] = np.minimum(codes[:, 0], codes[:, 1] + 2)
    return InMemory(codes, DOMAIN.shape)


def truth(asked: Problem, tables: InMemory) -> list[Any]:
    return [block.answers(tables.table(block.axes)) / asked.rows for block in asked.blocks]


@pytest.mark.parametrize("workload", [BOTH, EVERY], ids=["marginals", "every kind"])
@pytest.mark.parametrize("summed", [None, False, True])
@pytest.mark.parametrize("kind", [GaussianRelease, LaplaceRelease])
def test_answers_lie_within_their_errors(kind: type[Additive], summed: bool | None, workload: Workload) -> None:
    # Each of 24 runs fails with probability (1 - 0.99999) / 1000 = 1e-8 at most: false alarms below 2.4e-7.
    asked = problem(workload, delta=1e-6 if kind is GaussianRelease else 0.0, confidence=0.99999)
    method, tables = kind(summed=summed), rows()
    expected = truth(asked, tables)
    for seed in range(2):
        found = method.run(asked, tables, Stream(bytes(32), "noise", seed))
        assert found.model is None
        assert found.answers is not None
        for exact, told, errors in zip(expected, found.answers, found.errors, strict=True):
            assert told.shape == errors.shape == exact.shape
            assert (np.abs(told - exact) <= errors).all()
            assert (told >= 0.0).all()
            assert (told <= 1.0).all()


@pytest.mark.parametrize("kind", [GaussianRelease, LaplaceRelease])
@pytest.mark.parametrize("summed", [False, True])
def test_noise_has_the_scale_it_says(kind: type[Additive], summed: bool) -> None:
    # With wide noise and no cut at 0 or 1 in reach, the variance of n draws is within 6 of its deviations: 2e-9 each.
    asked = problem(Marginals(2), epsilon=8.0, delta=1e-6 if kind is GaussianRelease else 0.0)
    method, tables = kind(summed=summed).settled(asked), rows()
    exact = np.concatenate(truth(asked, tables))
    off = []
    for seed in range(60):
        found = method.run(asked, tables, Stream(bytes(32), "noise", seed))
        assert found.answers is not None
        off.append((np.concatenate(found.answers) - exact)[exact > 0.02] * ROWS)
    draws = np.concatenate(off)
    assert method.scale is not None
    sd, tail = (method.scale, 3.0) if kind is GaussianRelease else (method.scale * math.sqrt(2), 6.0)
    spread = sd**2 * math.sqrt((tail - 1.0) / len(draws))
    assert abs(np.mean(draws)) < 6 * sd / math.sqrt(len(draws))
    assert abs(np.mean(draws**2) - sd**2) < 6 * spread + 0.1


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 7.3])
@pytest.mark.parametrize("delta", [0.0, 1e-9, 1e-3])
@pytest.mark.parametrize("workload", [BOTH, EVERY], ids=["marginals", "every kind"])
def test_the_profile_keeps_the_budget(epsilon: float, delta: float, workload: Workload) -> None:
    asked = problem(workload, epsilon, delta)
    pure = LaplaceRelease().profile(asked)
    assert isinstance(pure, Pure)
    assert 0.999 * epsilon <= pure.epsilon <= epsilon
    if delta > 0.0:
        profile = GaussianRelease().profile(asked)
        assert isinstance(profile, GDP)
        assert float(profile.delta(epsilon)) <= delta
        assert profile.mu == pytest.approx(gaussian_mu(epsilon, delta), rel=1e-3)


def test_a_table_that_follows_from_another_need_not_be_measured() -> None:
    asked = problem()
    method = LaplaceRelease().settled(asked)
    assert method == LaplaceRelease(summed=True, scale=12.0)  # six tables of sensitivity 2, and none of the four others
    found = method.run(asked, rows(), Stream(bytes(32), "noise"))
    assert found.numbers["measured"] == 6
    apart = LaplaceRelease(summed=False).settled(asked)
    assert apart.scale == 20.0
    assert method.predicted(asked) < apart.predicted(asked)


def test_summing_a_long_column_is_not_worth_it() -> None:
    domain = Domain({"age": list(range(300)), "paid": [0, 1]})
    asked = Problem(ROWS, domain, Marginals(1) + Marginals(2), 1.0, 0.0)
    assert LaplaceRelease().settled(asked).summed is False


@pytest.mark.parametrize("kind", [GaussianRelease, LaplaceRelease])
def test_predictions_are_about_right(kind: type[Additive]) -> None:
    asked = problem(delta=1e-6 if kind is GaussianRelease else 0.0)
    method, tables = kind(), rows()
    exact = np.concatenate(truth(asked, tables))
    largest = []
    for seed in range(40):
        found = method.run(asked, tables, Stream(bytes(32), "noise", seed))
        assert found.answers is not None
        largest.append(np.abs(np.concatenate(found.answers) - exact).max())
    assert 0.6 < np.median(largest) / method.predicted(asked) < 1.3


def test_gaussian_noise_needs_delta() -> None:
    with pytest.raises(Unaskable, match="delta > 0"):
        GaussianRelease().check(problem())


def test_too_little_noise_is_refused() -> None:
    with pytest.raises(Unaskable, match="reveals more"):
        LaplaceRelease(summed=False, scale=19.9).check(problem())
    LaplaceRelease(summed=False, scale=20.0).check(problem())


def test_noise_beyond_whole_numbers_is_refused() -> None:
    with pytest.raises(ValueError, match="drown any table"):
        problem(epsilon=1e-15)
    with pytest.raises(Unaskable, match="raise epsilon"):
        LaplaceRelease(scale=2.0**53).check(problem())


def test_sums_of_noisy_cells_stay_honest_where_noise_is_everything() -> None:
    """All rows lie above, and the noisy cells below sum to more than all rows: the interval still has to hold 0."""
    asked = Problem(2_000, Domain({"x": range(64)}), Marginals(1), 0.01, 0.0)
    tables = InMemory(np.full((2_000, 1), 40, dtype=np.int32), (64,))
    way = LaplaceRelease().settled(asked)
    sums = []
    for seed in range(5):  # the noise passes its bound with chance 5e-5, and even then the interval may hold
        told = Intervals(asked, way.profile(asked), way.run(asked, tables, Stream(bytes(32), seed)))
        answer = told.chosen((0,), (np.arange(64) < 32).astype(float))
        assert answer is not None
        sums.append(float(told.block(0).values[:32].sum()))
        assert answer[0] == min(sums[-1], 1.0)
        assert answer[1] == 1.0
        assert answer[2] == 0.0
    assert max(sums) > 1.5


@pytest.mark.parametrize("scale", [0, -1.0, math.nan, math.inf, True])
def test_what_is_no_scale_is_refused(scale: Any) -> None:
    with pytest.raises(ValueError, match="scale"):
        LaplaceRelease(scale=scale)


def test_summed_is_yes_no_or_open() -> None:
    with pytest.raises(ValueError, match="summed"):
        LaplaceRelease(summed=1)  # type: ignore[arg-type]


def test_progress_ends_at_its_end() -> None:
    seen: list[tuple[int, int]] = []
    LaplaceRelease().run(problem(), rows(), Stream(bytes(32), "noise"), lambda *told: seen.append(told))
    assert seen[-1] == (6, 6)
