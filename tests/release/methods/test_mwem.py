"""MWEM: its bounds hold, its budget adds up, and it runs where the domain has more cells than memory."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.release.tables import InMemory
from tests.release.worlds import latent
from unworn.bounds.privacy import Concentrated, Pure
from unworn.errors import Unaskable
from unworn.noise import Stream
from unworn.release.methods.candidates import Candidates
from unworn.release.methods.learned_errors import LearnedErrors
from unworn.release.methods.mwem import MWEM
from unworn.release.methods.rounds import SELECTING, Rounds, rho_of
from unworn.release.problem import Problem
from unworn.universe.domain.domain import Domain
from unworn.universe.model.measurement_replay import Measurement, onto_simplex
from unworn.universe.workload import Marginals, Thresholds, Workload

SMALL = Domain({"a": [0, 1], "b": [0, 1, 2], "c": [0, 1, 2, 3], "d": [0, 1]})


def problem(
    rows: int = 2_000,
    workload: Workload | None = None,
    epsilon: float = 1.0,
    delta: float = 1e-6,
    domain: Domain = SMALL,
) -> Problem:
    return Problem(rows, domain, workload or Marginals(2), epsilon, delta)


def largest_error(asked: Problem, tables: InMemory, model: object) -> np.ndarray:
    candidates = Candidates.of(asked)
    return np.abs(candidates.answers(model) - candidates.counts(tables) / tables.size)  # type: ignore[arg-type]


@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize("workload", [Marginals(2), Thresholds("c"), Marginals(1) + Thresholds("b")])
def test_every_question_is_within_its_bound(delta: float, workload: Workload) -> None:
    # Each of the 40 runs may miss with probability 5e-5; three misses or more have probability below 1e-8.
    missed = 0
    for seed in range(40):
        tables = InMemory(latent(SMALL.shape, 2_000, seed), SMALL.shape)
        asked = problem(workload=workload, delta=delta)
        outcome = MWEM().settled(asked).run(asked, tables, Stream(bytes(32), seed))
        off = np.split(largest_error(asked, tables, outcome.model), np.cumsum([b.size for b in asked.blocks])[:-1])
        missed += any((error > bound).any() for error, bound in zip(off, outcome.errors, strict=True))
    assert missed <= 2


def test_the_bound_is_not_vacuous_and_the_error_small() -> None:
    tables = InMemory(latent(SMALL.shape, 100_000, 0), SMALL.shape)
    asked = problem(100_000)
    outcome = MWEM().settled(asked).run(asked, tables, Stream(bytes(32), 0))
    assert max(float(errors.max()) for errors in outcome.errors) < 0.02
    assert largest_error(asked, tables, outcome.model).max() < 0.005


def test_costs_add_up_to_the_budget() -> None:
    asked = problem()
    plan = Rounds.of(asked, "gaussian", 7)
    block = asked.blocks[0]
    each = plan.selection**2 / 8 + (block.l2 / plan.scale(block, single=False)) ** 2 / 2
    assert math.isclose(7 * each, rho_of(asked), rel_tol=1e-9)
    profile = MWEM().profile(asked)
    assert isinstance(profile, Concentrated)
    assert float(profile.delta(asked.epsilon)) <= asked.delta
    pure = problem(delta=0.0)
    plan = Rounds.of(pure, "laplace", 7)
    assert math.isclose(7 * (plan.selection + block.l1 / plan.scale(block, single=False)), pure.epsilon)
    assert math.isclose(plan.selection, SELECTING / 7)
    assert MWEM().profile(pure) == Pure(1.0)


def test_the_same_key_repeats_the_release_and_progress_is_told() -> None:
    tables = InMemory(latent(SMALL.shape, 500, 3), SMALL.shape)
    asked, seen = problem(500), []
    one, two = (
        MWEM(rounds=4).settled(asked).run(asked, tables, Stream(bytes(32), 1), lambda *told: seen.append(told))
        for _ in range(2)
    )
    assert one.model is not None
    assert two.model is not None
    np.testing.assert_array_equal(one.model.table((0, 1)), two.model.table((0, 1)))
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)] * 2


def test_more_cells_than_memory() -> None:
    shape = (4,) * 20
    domain = Domain({f"x{place:02}": [0, 1, 2, 3] for place in range(20)})
    codes = latent(shape, 5_000, 2)
    asked = problem(5_000, Marginals(1) + Marginals(2, among=("x00", "x01", "x02")), domain=domain)
    tables = InMemory(codes, shape)
    outcome = MWEM(rounds=12).settled(asked).run(asked, tables, Stream(bytes(32), 0))
    off = np.split(largest_error(asked, tables, outcome.model), np.cumsum([b.size for b in asked.blocks])[:-1])
    assert all((error <= bound).all() for error, bound in zip(off, outcome.errors, strict=True))
    assert outcome.model is not None
    assert outcome.model.draw(Stream(bytes(32)), 50).shape == (50, 20)


def test_what_it_refuses() -> None:
    with pytest.raises(Unaskable, match="delta > 0"):
        MWEM(noise="gaussian").check(problem(delta=0.0))
    huge = Domain({f"x{place:02}": list(range(30)) for place in range(20)})
    with pytest.raises(Unaskable, match="fewer columns"):
        MWEM().check(problem(workload=Marginals(6, among=huge.names[:6]), domain=huge))
    for wrong in ({"rounds": 0}, {"rounds": True}, {"sweeps": 0}, {"noise": "none"}):
        with pytest.raises(ValueError, match=r"noise|whole number"):
            MWEM(**wrong)


def test_a_bound_moves_with_the_answer_and_a_measurement_cuts_it() -> None:
    asked = problem(workload=Marginals(1))
    candidates = Candidates.of(asked)
    learned = LearnedErrors(candidates)
    then = np.full(asked.questions, 0.25)
    block, which = candidates.of_block(0)
    learned.add(0, Measurement(block, which, np.array([0.3, 0.7]), 0.01), 0.05)
    learned.show(then, [0, 1], 0, 0.1)
    errors = learned.errors(then + 0.01)
    seen = 0.7 - 0.25
    assert errors[:2] == pytest.approx([0.04 + 0.05, seen - 0.01 + 0.05])
    assert errors[2:5] == pytest.approx(seen + 0.05 + 0.1 + 0.01)
    assert (errors[5:] == 1.0).all()


def test_onto_the_simplex() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        values = rng.normal(0.1, 0.5, 8)
        near = onto_simplex(values)
        assert near.min() >= 0.0
        assert math.isclose(near.sum(), 1.0)
        others = rng.dirichlet(np.ones(8), 200)
        assert np.linalg.norm(near - values) <= np.linalg.norm(others - values, axis=1).min() + 1e-12
