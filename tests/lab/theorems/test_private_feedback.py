"""The exercise: rates and constants, and a private Ladder that is played against them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.two_sizes import in_two_sizes, reseeded
from unworn.lab.theorems.kl_stability import best_expected_error
from unworn.lab.theorems.private_feedback import (
    compressed_ladder_rate,
    ladder_error,
    ladder_rate,
    reusable_error,
    reusable_rate,
)


def test_rates_are_those_of_the_exercise() -> None:
    assert ladder_rate(10**6, 100) / ladder_rate(10**8, 100) == pytest.approx(100**0.4)
    step = ladder_rate(10**6, 100)
    assert step == pytest.approx(reusable_rate(10**6, 100, 1) * (1 / step) ** 0.25)  # 1/step improvements
    assert compressed_ladder_rate(10**6, 100) > ladder_rate(10**6, 100)
    few, many = (ladder_error(rows, 10_000)[1] for rows in (10**6, 10**10))
    assert math.log(many / few, 10**4) == pytest.approx(-0.4, abs=0.02)
    few, many = (reusable_error(rows, 10_000, 10) for rows in (10**6, 10**10))
    assert math.log(many / few, 10**4) == pytest.approx(-0.5, abs=0.02)
    few, many = (reusable_error(10**8, 10_000, budget) for budget in (4, 4**4))
    assert math.log(many / few, 64) == pytest.approx(0.25, abs=0.03)


def climb(rows: int, asks: int, rng: np.random.Generator) -> float:
    """One private Ladder against somebody who flips labels at random and keeps what is announced as better.

    Labels are fair coins, so every population loss is 1/2: the result is how far from it the Ladder ever stood.
    """
    step, _ = ladder_error(rows, asks)
    tops = math.ceil(2 / step) + 1
    epsilon, _ = best_expected_error(rows, asks, tops, values=True)
    labels = rng.integers(0, 2, rows)
    kept, shown, threshold = rng.integers(0, 2, rows), 1.0, rng.laplace(scale=2 / epsilon)
    worst, announced = 0.0, 0
    for _ in range(asks):
        tried = np.where(rng.random(rows) < 0.05, rng.integers(0, 2, rows), kept)
        wrong = int((tried != labels).sum())
        gained = rows * (shown - step) - wrong + rng.laplace(scale=4 / epsilon)
        if announced < tops and gained >= threshold:
            shown = (wrong + rng.laplace(scale=4 / epsilon)) / rows
            kept, announced, threshold = tried, announced + 1, rng.laplace(scale=2 / epsilon)
        worst = max(worst, abs(shown - 0.5))
    return worst


@in_two_sizes(short=((100_000, 50), 4), full=((100_000, 400), 60))
def test_a_private_ladder_errs_less_than_expected(size: tuple[tuple[int, int], int]) -> None:
    """Every play is below the bound on the mean of all of them, which is meant for the worst analyst."""
    (rows, asks), plays = size
    rng = np.random.default_rng(reseeded(11))
    found = [climb(rows, asks, rng) for _ in range(plays)]
    bound = ladder_error(rows, asks)[1]
    assert max(found) < bound < 0.3
    assert min(found) > 0  # something was shown


def test_nonsense_is_refused() -> None:
    for wrong in ((0, 100), (math.nan, 100), (100, 1)):
        with pytest.raises(ValueError, match="must"):
            ladder_rate(*wrong)
        with pytest.raises(ValueError, match="must"):
            ladder_error(*wrong)
    with pytest.raises(ValueError, match="must"):
        reusable_rate(100, 100, 0)
