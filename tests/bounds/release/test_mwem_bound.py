"""MWEM: measured errors stay below the bound before the run and below the one after it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unworn.bounds.regret import learning_rate
from unworn.bounds.release import (
    averaged_mwem_epsilon,
    averaged_mwem_error,
    averaged_mwem_profile,
    averaged_mwem_rounds,
    hlm_error,
    hlm_rounds,
    measured_slack,
)
from unworn.bounds.selection import selection_gap
from unworn.noise import Stream
from unworn.noise.samplers import exponential, gaussian, laplace

KEY = bytes(range(32))
ROWS = st.integers(100, 10**7)
CELLS = st.integers(2, 10**6)
QUESTIONS = st.integers(2, 10**6)
BUDGETS = st.tuples(st.floats(0.05, 10.0), st.sampled_from([0.0, 1e-12, 1e-6]))


def table(cells: int, rows: int, seed: int = 0) -> Any:
    """A histogram (counts) far from uniform, and 60 thresholds and parities with their complements."""
    rng = np.random.default_rng(seed)
    counts = rng.multinomial(rows, rng.dirichlet(np.full(cells, 0.1)))
    half = np.array([np.arange(cells) < 1 + cells * i // 40 for i in range(40)])
    half = np.vstack([half, rng.integers(0, 2, (20, cells)).astype(bool)])
    return counts, np.vstack([half, ~half]).astype(float)


@pytest.mark.parametrize("sharp", [False, True])
@pytest.mark.parametrize(("rows", "rounds"), [(1000, 10), (20_000, 60), (200_000, 200)])
def test_the_average_is_within_its_bound(rows: int, rounds: int, sharp: bool) -> None:
    # The bound may fail with probability beta = 1e-8 in each of 6 cases.
    cells, beta, epsilon, delta = 64, 1e-8, 2.0, 1e-9
    counts, questions = table(cells, rows)
    each, rate = averaged_mwem_epsilon(rounds, epsilon, delta), learning_rate(cells, rounds, sharp=sharp)
    stream, logs, total = Stream(KEY, "mwem", rows), np.zeros(cells), np.zeros(cells)
    for _ in range(rounds):
        p = np.exp(logs - logs.max())
        p /= p.sum()
        total += p / rounds
        scores = np.rint(rows * (questions @ p)).astype(np.int64) - (questions @ counts).astype(np.int64)
        logs -= rate * questions[exponential(stream, scores, each / 2)]
    error = np.abs(questions @ (total - counts / rows)).max()
    assert error <= averaged_mwem_error(rows, cells, len(questions), epsilon, delta, beta, rounds, sharp=sharp)
    assert error > 0


@pytest.mark.parametrize(("noise", "scale"), [("laplace", 30.0), ("gaussian", 40.0)])
def test_measured_rounds_certify_themselves(noise: Any, scale: float) -> None:
    # The slack may fail with probability beta = 1e-8.
    cells, rows, rounds, beta, epsilon = 64, 5000, 40, 1e-8, 0.3
    counts, questions = table(cells, rows, seed=1)
    truth = (questions @ counts).astype(np.int64)
    stream, logs = Stream(KEY, "measured", noise), np.zeros(cells)
    slack = measured_slack(rows, len(questions), rounds, epsilon, noise, scale, beta)
    seen = []
    for _ in range(rounds):
        p = np.exp(logs - logs.max())
        p /= p.sum()
        scores = np.abs(np.rint(rows * (questions @ p)).astype(np.int64) - truth)
        chosen = exponential(stream, scores, epsilon / 2)
        drawn = (laplace if noise == "laplace" else gaussian)(stream, scale, 1)[0]
        distance = (truth[chosen] + drawn) / rows - questions[chosen] @ p
        seen.append((np.abs(questions @ p - truth / rows).max(), abs(distance) + slack))
        logs += 2 * distance * questions[chosen]
    assert all(error <= bound for error, bound in seen)
    # And less than the choice's own part would not do for a choice that is not the worst one.
    assert slack * rows > selection_gap(len(questions), epsilon, beta) + 5 * scale


@given(ROWS, CELLS, QUESTIONS, BUDGETS, st.floats(1e-9, 0.5), st.integers(1, 10**4))
@settings(derandomize=True, deadline=None, max_examples=30)
def test_more_rows_and_fewer_questions_help(
    rows: int, cells: int, questions: int, budget: tuple[float, float], beta: float, rounds: int
) -> None:
    def bound(*, rows: int = rows, cells: int = cells, questions: int = questions, beta: float = beta) -> float:
        return averaged_mwem_error(rows, cells, questions, *budget, beta, rounds)

    assert bound(rows=2 * rows) <= bound() <= bound(cells=2 * cells)
    assert bound(beta=beta / 10) >= bound() <= bound(questions=2 * questions)
    assert bound() <= 1


@given(ROWS, CELLS, QUESTIONS, BUDGETS, st.floats(1e-6, 0.5), st.booleans())
@settings(derandomize=True, deadline=None, max_examples=30)
def test_no_other_number_of_rounds_is_better(
    rows: int, cells: int, questions: int, budget: tuple[float, float], beta: float, sharp: bool
) -> None:
    rounds = averaged_mwem_rounds(rows, cells, questions, *budget, beta, sharp=sharp)

    def bound(count: int) -> float:
        return averaged_mwem_error(rows, cells, questions, *budget, beta, count, grain=0.0, sharp=sharp)

    for other in {max(1, rounds - 1), rounds + 1, max(1, rounds // 2), 2 * rounds, 1, 10 * rounds}:
        assert bound(rounds) <= bound(other) * (1 + 1e-7)
    assert float(averaged_mwem_profile(rounds, *budget).delta(budget[0])) <= budget[1]


def test_the_seeds_shape() -> None:
    # About 4 sqrt(C ln(kT/beta)) (ln m)^(1/4) / sqrt(n): the slope in n is -1/2, less what the logarithm takes.
    bounds = []
    for rows in (10**5, 10**7):
        public = (rows, 2**16, 1000, 1.0, 1e-9, 0.05)
        rounds = averaged_mwem_rounds(*public)
        C = 1 / (averaged_mwem_epsilon(rounds, 1.0, 1e-9) * math.sqrt(rounds))
        nats = math.log(1000 * rounds / 0.05)
        assert rounds == pytest.approx(rows * math.sqrt(math.log(2**16)) / (C * nats), rel=0.2)
        bounds.append(averaged_mwem_error(*public, rounds))
        expected = 4 * math.sqrt(C * nats / rows) * math.log(2**16) ** 0.25
        assert bounds[-1] == pytest.approx(expected, rel=0.05)
    assert -0.5 <= math.log(bounds[1] / bounds[0]) / math.log(100) <= -0.43


@given(ROWS, CELLS, QUESTIONS, st.floats(0.01, 10.0), st.integers(1, 1000))
@settings(derandomize=True, deadline=None)
def test_the_published_bound(rows: int, cells: int, questions: int, epsilon: float, rounds: int) -> None:
    error, chance = hlm_error(rows, cells, questions, rounds, epsilon)
    in_rows = 2 * rows * math.sqrt(math.log(cells) / rounds) + 10 * rounds * math.log(questions) / epsilon
    assert error * rows == pytest.approx(in_rows)
    assert chance == min(1, 2 * rounds / questions)
    best = hlm_rounds(rows, cells, questions, epsilon)
    assert hlm_error(rows, cells, questions, best, epsilon)[0] <= error * (1 + 1e-9)
    closed = (epsilon * rows * math.sqrt(math.log(cells)) / (10 * math.log(questions))) ** (2 / 3)
    assert best == pytest.approx(max(closed, 1), abs=1.0)


@given(st.integers(1, 500), st.floats(0.01, 3.0), st.floats(1.0, 500.0), st.floats(1e-9, 0.5))
@settings(derandomize=True, deadline=None)
def test_slack_grows_with_all_that_it_covers(rounds: int, epsilon: float, scale: float, beta: float) -> None:
    for noise in ("laplace", "gaussian"):
        slack = measured_slack(10_000, 500, rounds, epsilon, noise, scale, beta)
        assert measured_slack(20_000, 500, rounds, epsilon, noise, scale, beta) == pytest.approx(slack / 2)
        assert measured_slack(10_000, 900, rounds, epsilon, noise, scale, beta) >= slack
        assert measured_slack(10_000, 500, rounds + 1, epsilon, noise, scale, beta) >= slack
        assert measured_slack(10_000, 500, rounds, epsilon / 2, noise, scale, beta) >= slack
        assert measured_slack(10_000, 500, rounds, epsilon, noise, 2 * scale, beta) >= slack
        assert measured_slack(10_000, 500, rounds, epsilon, noise, scale, beta, grain=0.0) == pytest.approx(
            slack - 1e-4
        )


@pytest.mark.parametrize("rows", [0, -1, math.nan, True, 2.5])
def test_wrong_numbers_are_refused(rows: Any) -> None:
    with pytest.raises(ValueError, match="rows"):
        averaged_mwem_error(rows, 10, 10, 1.0, 1e-9, 0.05, 5)
    with pytest.raises(ValueError, match="rows"):
        hlm_error(rows, 10, 10, 5, 1.0)
    with pytest.raises(ValueError, match="grain"):
        measured_slack(10, 10, 5, 1.0, "laplace", 1.0, 0.05, grain=math.nan)
    with pytest.raises(ValueError, match="epsilon"):
        hlm_rounds(10, 10, 10, 0.0)
