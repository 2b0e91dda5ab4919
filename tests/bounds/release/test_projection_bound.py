"""Projection: measured errors stay below the bound, in the mean and in the tail."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

from unworn.bounds.release import projection_error, projection_tail


def projected(F: Any, noisy: Any) -> Any:
    """The nearest point of the hull of the columns: non-negative least squares with a heavy row for the sum of 1."""
    heavy = 1e4
    weights = nnls(np.vstack([F, np.full(F.shape[1], heavy)]), np.append(noisy, heavy))[0]
    return F @ (weights / weights.sum())


@pytest.mark.parametrize(("k", "sd"), [(200, 0.3), (30, 0.05)])
def test_measured_errors_are_below_the_bound(k: int, sd: float) -> None:
    rng = np.random.default_rng(5)
    cells, radius, errors = 40, math.sqrt(k) / 2, []
    F = rng.integers(0, 2, (k, cells)).astype(float)
    truth = F @ rng.dirichlet(np.ones(cells))
    for _ in range(120):
        w = sd * rng.normal(size=k)
        off = projected(F, truth + w) - truth
        assert off @ off <= w @ off + 1e-6  # which is all of the proof that is about projections
        assert off @ off <= w @ w
        errors.append(off @ off / k)
    # The mean of 120 lies 15 standard errors and more below the bound (0.28 and 0.75 of it), so chance does not matter.
    bound = projection_error(cells, k, sd, radius)
    assert bound / 5 < np.mean(errors) <= bound
    assert max(errors) <= projection_tail(cells, k, sd, radius, 1e-9)  # a false alarm of 1.2e-7 by the bound itself


@given(st.integers(2, 10**9), st.integers(1, 10**6), st.floats(1e-6, 10.0), st.floats(1e-3, 1e3), st.floats(1e-9, 0.5))
@settings(derandomize=True, deadline=None)
def test_shapes(cells: int, k: int, sd: float, radius: float, beta: float) -> None:
    error, tail = projection_error(cells, k, sd, radius), projection_tail(cells, k, sd, radius, beta)
    assert error <= min(tail, projection_error(cells, k, sd, radius, book=True), sd**2) * (1 + 1e-9)
    assert projection_error(2 * cells, k, sd, radius) >= error
    assert projection_error(cells, k, 2 * sd, radius) >= error <= projection_error(cells, k, sd, 2 * radius)
    assert projection_tail(cells, k, sd, radius, beta / 2) >= tail
    assert projection_error(1, k, sd, radius) == 0.0


def test_the_published_form() -> None:
    k, n, mu, cells = 500, 10_000, 0.7, 2**12
    sd = math.sqrt(k) / (n * mu)
    found = projection_error(cells, k, sd, math.sqrt(k), book=True)
    assert found == pytest.approx(2 * math.sqrt(2 * math.log(2 * cells)) / (n * mu))


@pytest.mark.parametrize(
    "wrong", [(0, 5, 1.0, 1.0), (5, 0, 1.0, 1.0), (5, 5, -1.0, 1.0), (5, 5, math.nan, 1.0), (5, 5, 1.0, math.inf)]
)
def test_wrong_numbers_are_refused(wrong: Any) -> None:
    with pytest.raises(ValueError):
        projection_error(*wrong)
    with pytest.raises(ValueError):
        projection_tail(*wrong, 0.05)
