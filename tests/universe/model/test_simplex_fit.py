"""The fitted distribution against what an exact solver finds, and where it may stop."""

from __future__ import annotations

import numpy as np
import pytest

from unworn.universe.model.contraction import tables
from unworn.universe.model.simplex_fit import fitted_cells

SHAPE = (2, 3, 4)
MANY = [(0, 1), (1, 2), (0, 2)]


def noisy(seed: int, sd: float) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    whole = rng.dirichlet(np.full(24, 0.3)).reshape(SHAPE)
    return [table + rng.normal(0, sd, table.shape) for table in tables(whole, MANY)]


def best_misfit(shares: list[np.ndarray], precisions: list[float]) -> float:
    """By non-negative least squares; a heavy last line holds the sum at 1."""
    from scipy.optimize import nnls

    lines, goals = [], []
    for axes, share, precision in zip(MANY, shares, precisions, strict=True):
        whole = np.eye(24).reshape(24, *SHAPE)
        others = tuple(axis + 1 for axis in range(3) if axis not in axes)
        lines.append(np.sqrt(precision) * whole.sum(axis=others).reshape(24, -1).T)
        goals.append(np.sqrt(precision) * share.reshape(-1))
    heavy = 1e4 * np.sqrt(max(precisions))
    matrix = np.concatenate([*lines, np.full((1, 24), heavy)])
    goal = np.concatenate([*goals, [heavy]])
    return 0.5 * float(nnls(matrix, goal)[1]) ** 2


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("sd", [0.003, 0.05])
def test_it_finds_the_best(seed: int, sd: float) -> None:
    shares, precisions = noisy(seed, sd), [sd**-2, 4.0 * sd**-2, sd**-2]
    found = fitted_cells(SHAPE, MANY, shares, precisions, enough=0.02, steps=3_000)
    best = best_misfit(shares, precisions)
    assert best - 1e-3 <= found.misfit <= best + 0.05
    cells = found.model.weights
    assert cells.min() >= 0.0
    assert cells.sum() == pytest.approx(1.0)


def test_it_stops_when_the_fit_is_good_enough() -> None:
    shares, precisions = noisy(0, 0.01), [1e4] * 3
    best = best_misfit(shares, precisions)
    quick = fitted_cells(SHAPE, MANY, shares, precisions, enough=5.0)
    slow = fitted_cells(SHAPE, MANY, shares, precisions, enough=0.5)
    assert quick.steps < slow.steps
    assert quick.misfit <= best + 5.0
    assert slow.misfit <= best + 0.5


def test_what_no_table_speaks_of_stays_even() -> None:
    found = fitted_cells((2, 5), [(0,)], [np.array([0.2, 0.8])], [1e6])
    assert found.model.table((1,)) == pytest.approx(np.full(5, 0.2))
    assert found.model.table((0,)) == pytest.approx(np.array([0.2, 0.8]), abs=1e-3)


def test_progress_is_told() -> None:
    seen: list[int] = []
    found = fitted_cells(SHAPE, MANY, noisy(1, 0.01), [1e4] * 3, steps=7, enough=0.0, step_done=seen.append)
    assert seen == list(range(1, 8))
    assert found.steps == 7


def test_a_step_that_rounding_hides_ends_the_search_for_a_shorter_one() -> None:
    """With a precision this high the misfit and the entropy of the last steps are below what floats can compare."""
    shares = [np.array([[0.62, 0.07], [-0.01, 0.32]])]
    found = fitted_cells((2, 2), [(0, 1)], shares, [28275.132048931224], noise=2.0, steps=400)
    nearest = [[0.62 - 0.01 / 3, 0.07 - 0.01 / 3], [0.0, 0.32 - 0.01 / 3]]
    assert np.allclose(found.model.weights, nearest, atol=1e-3)
