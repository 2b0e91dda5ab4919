"""The choice of tables: within the budget, better than the plain one, and from public numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest

from unworn.bounds.budget import gaussian_mu
from unworn.bounds.noise_tails import Noise
from unworn.queries import col, share
from unworn.release.methods.least_squares import varying_columns
from unworn.release.methods.table_strategy import TableStrategy, choose_tables, is_covered, maximal, solver
from unworn.release.problem import Problem
from unworn.universe.domain.domain import Domain
from unworn.universe.workload import Conjunctions, Marginals, Shares, Thresholds, Workload

DOMAIN = Domain({f"c{place}": list(range(size)) for place, size in enumerate((2, 5, 7, 6, 2, 8, 5, 3))})
SMALL = Domain({"age": list(range(12)), "one": ["only"], "paid": [0, 1], "used": [0, 1]})


def largest(problem: Problem, strategy: TableStrategy, noise: Noise) -> float:
    asked = tuple(dict.fromkeys(block.axes for block in problem.blocks))
    solved = solver(problem, strategy, noise, asked)
    return math.sqrt(max(float(np.max(solved.variances(block))) for block in problem.blocks))


def spent(strategy: TableStrategy, noise: Noise) -> float:
    scales = np.array(strategy.scales)
    return float(np.sqrt(2.0 * (scales**-2.0).sum()) if noise == "gaussian" else 2.0 * (1.0 / scales).sum())


@pytest.mark.parametrize("noise", ["gaussian", "laplace"])
@pytest.mark.parametrize(
    ("domain", "workload"),
    [
        (DOMAIN, Marginals(2) + Marginals(3)),
        (DOMAIN, Marginals(1)),
        (SMALL, Marginals(2) + Thresholds("age") + Conjunctions()),
        (SMALL, Shares([share((col("age") > 3) & (col("paid") == 1)), share(col("used") == 1)])),
    ],
    ids=["adult", "ones", "mixed", "shares"],
)
def test_the_budget_is_kept_and_every_table_known(noise: Noise, domain: Domain, workload: Workload) -> None:
    problem = Problem(10_000, domain, workload, 1.0, 1e-9 if noise == "gaussian" else 0.0)
    limit = gaussian_mu(1.0, 1e-9) if noise == "gaussian" else 1.0
    for larger in (False, True):
        strategy = choose_tables(problem, noise, larger)
        assert 0.99 * limit <= spent(strategy, noise) <= limit
        assert all(is_covered(strategy.tables, varying_columns(domain.shape, block.axes)) for block in problem.blocks)
        assert len(set(strategy.tables)) == len(strategy.tables) == len(strategy.scales)


@pytest.mark.parametrize(("noise", "plain", "better"), [("gaussian", 46.9, 45.5), ("laplace", 127.8, 100.0)])
def test_it_beats_the_plain_choice(noise: Noise, plain: float, better: float) -> None:
    """Largest standard deviations in rows at epsilon = 1 and delta = 1e-9, for all 2- and 3-way tables."""
    problem = Problem(10_000, DOMAIN, Marginals(2) + Marginals(3), 1.0, 1e-9 if noise == "gaussian" else 0.0)
    threes = maximal(block.axes for block in problem.blocks)
    scale = math.sqrt(2 * 56) / gaussian_mu(1.0, 1e-9) if noise == "gaussian" else 2.0 * 56
    assert largest(problem, TableStrategy(threes, (scale,) * 56), noise) == pytest.approx(plain, rel=1e-3)
    found = choose_tables(problem, noise, True)
    assert largest(problem, found, noise) < better
    # Larger tables are worth it where a budget divided among many tables costs more than its root.
    assert (max(map(len, found.tables)) > 3) == (noise == "laplace")


def test_few_cells_are_measured_as_one_table() -> None:
    """Pure, and all pairs of five yes/no columns: the whole table at scale 2 says more than ten of scale 20."""
    domain = Domain({name: [0, 1] for name in "abcde"})
    problem = Problem(10_000, domain, Marginals(2), 1.0, 0.0)
    found = choose_tables(problem, "laplace", True)
    assert max(map(len, found.tables)) >= 4
    assert largest(problem, found, "laplace") <= math.sqrt(8.0 * 8.0)  # a pair's cell is a sum of 8 of them


def test_without_larger_tables_those_asked_for_are_measured() -> None:
    problem = Problem(10_000, DOMAIN, Marginals(2), 1.0, 0.0)
    assert set(choose_tables(problem, "laplace", False).tables) <= {block.axes for block in problem.blocks}
