"""The intervals of a release hold for the population, also for questions chosen by looking at the release."""

from __future__ import annotations

import numpy as np
import pytest

from tests.release.tables import InMemory
from unworn.bounds import clopper_pearson
from unworn.bounds.privacy import GDP
from unworn.noise import Stream
from unworn.release.intervals import Intervals
from unworn.release.methods.additive_noise import GaussianRelease, LaplaceRelease
from unworn.release.methods.method import Method, ReleaseOutcome
from unworn.release.methods.mwem import MWEM
from unworn.release.methods.projection import Projection
from unworn.release.problem import Problem
from unworn.universe.domain.domain import Domain
from unworn.universe.model.explicit_model import Explicit
from unworn.universe.workload import Marginals

DOMAIN = Domain({"a": [0, 1, 2], "b": [0, 1, 2, 3], "c": [0, 1]})
ROWS, REPETITIONS = 400, 60
POPULATION = Explicit(np.random.default_rng(3).dirichlet(np.ones(24)).reshape(DOMAIN.shape))


def played(method: Method, seed: int, confidence: float = 0.5) -> tuple[Problem, Intervals]:
    """One sample of the population, released."""
    asked = Problem(ROWS, DOMAIN, Marginals(2), 4.0, 1e-6, confidence)
    tables = InMemory(POPULATION.draw(Stream(bytes(32), "rows", seed), ROWS), DOMAIN.shape)
    way = method.settled(asked)
    outcome = way.run(asked, tables, Stream(bytes(32), "noise", seed))
    return asked, Intervals(asked, way.profile(asked), outcome)


def misses(asked: Problem, told: Intervals) -> tuple[bool, bool, bool]:
    """Whether an interval of the workload, one of a question chosen afterwards, or a bare sample bound misses."""
    listed = chosen = bare = False
    for place, block in enumerate(asked.blocks):
        truth = block.answers(POPULATION.table(block.axes))
        known = told.block(place)
        listed |= bool(((truth < known.lows) | (truth > known.highs)).any())
        bare |= bool((np.abs(truth - known.values) > known.errors).any())
        # The worst question an analyst could think of who knows the population: all cells that came out too large.
        inside = (known.values > truth).reshape(block.shape)
        answer = told.chosen(block.axes, inside.astype(float))
        assert answer is not None
        chosen |= not answer[2] <= float(truth.reshape(block.shape)[inside].sum()) <= answer[3]
    return listed, chosen, bare


@pytest.mark.parametrize("method", [GaussianRelease(), LaplaceRelease(), Projection(), MWEM()])
def test_all_intervals_hold_together(method: Method) -> None:
    # At 50 % confidence 52 or more misses of 60 have probability below 1e-8; a bare sample bound misses far more often.
    told = np.array([misses(*played(method, seed)) for seed in range(REPETITIONS)])
    assert told[:, 0].sum() < 52
    assert told[:, 1].sum() < 52


def test_the_sample_bound_alone_would_not_do() -> None:
    told = np.array([misses(*played(GaussianRelease(), seed)) for seed in range(20)])
    assert told[:, 2].sum() > 10  # more than the half that is allowed; about 19 are expected, 10 have chance below 1e-7


def test_intervals_are_narrow_where_theory_says_so() -> None:
    asked, told = played(GaussianRelease(), 0, confidence=0.95)
    assert told.sample_error < told.population_error < 0.25
    assert told.adaptive.floor >= asked.chance / (1 - asked.confidence)


def test_sums_of_cells_bound_from_inside_and_outside() -> None:
    asked = Problem(10_000, DOMAIN, Marginals(1), 1.0, 1e-6)
    tables = [POPULATION.table(block.axes) for block in asked.blocks]
    errors = [np.full(block.size, 0.01) for block in asked.blocks]
    model = Intervals(asked, GDP(0.01), ReleaseOutcome(POPULATION, None, errors))
    plain = Intervals(asked, GDP(0.01), ReleaseOutcome(None, [table.reshape(-1) for table in tables], errors))
    three = np.array([1.0, 1.0, 1.0, 0.0])
    told, noisy = model.chosen((1,), three), plain.chosen((1,), three)
    assert told is not None
    assert noisy is not None
    assert told[1] == pytest.approx(0.01)  # the one cell outside is off by .01 at most, so those inside are too
    assert noisy[1] == pytest.approx(0.03)  # noisy cells need not sum to 1
    assert model.chosen((0, 1), np.ones((3, 4))) is None


@pytest.mark.parametrize("away", [0.1, 0.3, 0.7])
def test_a_count_at_the_very_end_of_its_error_is_among_those_that_are_possible(away: float) -> None:
    """Share and error are floats, and their sum or difference may pass the whole count that it stands for."""
    bits, rows = Domain({"a": [0, 1]}), 200
    asked = Problem(rows, bits, Marginals(1), 1.0, 1e-6)
    for count in range(rows + 1):
        share, error = count / rows, away * (1 - count / rows)
        for sign in (1.0, -1.0):
            told = np.array([share + sign * error, 1 - share - sign * error])
            promised = Intervals(asked, GDP(50.0), ReleaseOutcome(None, [told], [np.full(2, error)]))
            low, high = clopper_pearson(float(count), float(rows), promised.log_level)
            known = promised.block(0)
            assert known.lows[0] <= low * (1 + 1e-12)
            assert known.highs[0] >= high * (1 - 1e-12)
            # ... and no count beyond it is: the end of the interval is the count's own.
            end, own = (known.lows[0], low) if sign > 0 else (known.highs[0], high)
            assert end == pytest.approx(own, rel=1e-9, abs=1e-12)
