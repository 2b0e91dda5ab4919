"""Why every width comes from the planned number of answers: widths from the running number miss too often.

With many rows the privacy part and the sampling error vanish and answer j misses exactly when its own noise passes its
width, independently of the others. So the miss probability is a product of Gaussian tails, computed here without
simulation.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import log_ndtr, ndtr

from unworn.bounds.extremes import largest_gaussian

BETA = 0.05


def passes(width: float, k: int) -> float:
    """P(the largest of k standard Gaussians is beyond +- width)."""
    return float(-np.expm1(k * np.log1p(-2 * ndtr(-width))))


def largest(k: int, beta: float) -> float:
    """CVaR_beta of the largest of k absolute standard Gaussians, by quadrature."""
    quantile = brentq(lambda t: passes(t, k) - beta, 1e-3, 40.0)
    beyond, _ = quad(lambda t: passes(t, k), quantile, quantile + 12.0, epsabs=1e-12)
    return float(quantile + beyond / beta)


def some_answer_misses(widths: NDArray[np.float64]) -> float:
    return float(-np.expm1(np.sum(np.log1p(-2 * np.exp(log_ndtr(-widths))))))


def test_widths_from_the_running_budget_miss_and_planned_ones_do_not() -> None:
    k = 1000
    running = np.array([largest(j, BETA) for j in range(1, k + 1)])
    planned = np.full(k, running[-1])
    assert planned[0] == pytest.approx(largest_gaussian(k, BETA), rel=1e-6)  # 4.276
    assert some_answer_misses(planned) < BETA / 2
    assert some_answer_misses(running) == pytest.approx(0.1344, abs=1e-3)  # beta ln(k)/e, and growing
    assert some_answer_misses(running[:10]) > BETA  # ten answers are enough
    assert some_answer_misses(running) == pytest.approx(BETA / math.e * (math.log(k) + np.euler_gamma), rel=0.05)


def test_epochs_that_double_hold_together() -> None:
    """The valid way to go on without a plan: epoch l plans 2^l answers at 6 beta/(pi l)^2."""
    last = 12
    widths = [
        np.full(2 ** (epoch - 1), largest(2**epoch, 6 * BETA / (math.pi * epoch) ** 2)) for epoch in range(1, last)
    ]
    assert some_answer_misses(np.concatenate(widths)) < BETA
