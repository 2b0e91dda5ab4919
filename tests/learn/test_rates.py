"""Excess risk falls with the rows as the theorems say, on three problems whose population is known exactly."""

from __future__ import annotations

import numpy as np
import pytest

from tests.two_sizes import in_two_sizes, reseeded
from unworn import Holdout
from unworn.bounds.optimisation import published_iterations
from unworn.learn import Ball, hinge, least_squares, logistic, minimise
from unworn.learn.descent_methods import Scheme
from unworn.learn.iteration_plan import plan_descent
from unworn.ledger.seeded_keys import SeededStore
from unworn.mechanisms import Gaussian

BOUNDS = {"a": (-1.0, 1.0), "b": (-1.0, 1.0)}
PROBLEMS = [
    (hinge(BOUNDS), Ball(2.0), 0.0, 1 / 3),
    (least_squares(BOUNDS, range=(-1.0, 1.0)), Ball(1.0), 0.0, 2 / 5),
    (logistic(BOUNDS), Ball(2.0), 0.25, 1.0),
]


@pytest.mark.parametrize(("loss", "over", "ridge", "power"), PROBLEMS)
@in_two_sizes(short=100_000, full=1_000_000)
def test_certificates_fall_at_the_rate_of_their_theorem(loss, over, ridge, power, size):
    """From 10^4 to 10^6 rows (in short, 10^5), within a factor of 2.

    What a certificate adds up are regrets and widths of the plan, weighted by where the noise led: chance moves it by
    little, and a factor of 2 is left for that. With a penalty the error is that of the widths, squared: the root of the
    iterations over the rows.
    """
    rng = np.random.default_rng(reseeded(1))
    x = rng.uniform(-1, 1, (400, 2))
    score = 2 * x[:, 0] - x[:, 1]
    y = (score > 0).astype(float) if loss.classifies else score / 3
    told, counts = {}, {}
    for rows in (10_000, size):
        plan = plan_descent(rows, loss, over, ridge=ridge)
        counts[rows] = plan.iterations
        drawn = rng.integers(0, 400, rows)
        holdout = Holdout(
            {"a": x[drawn, 0], "b": x[drawn, 1]},
            y[drawn],
            mechanism=Gaussian(),
            asks=plan.asks,
            ledger=SeededStore(np.random.default_rng(reseeded(rows))),
        )
        told[rows] = minimise(holdout, loss, over, ridge=ridge, iterations=plan.iterations, risk=False).excess
    grown = (counts[size] / counts[10_000]) ** 0.5 if ridge else 1.0
    assert told[size] <= 2 * told[10_000] * (size / 10_000) ** -power * grown


@pytest.mark.parametrize("excess", [0.3, 0.1, 0.01])
def test_iterations_are_within_the_published_counts(excess):
    """For the two theorems that have a published counterpart, in the units of each; for k = 1000 and beta = 0.05."""
    for ridge, strongly in ((0.0, False), (0.5, True)):
        schemes = {scheme.method: scheme for scheme in Scheme.all(hinge(BOUNDS), Ball(2.0), ridge)}
        scheme = schemes["strongly convex" if strongly else "convex"]
        unit = scheme.lipschitz**2 / (ridge / 2) if strongly else scheme.lipschitz * scheme.reach
        assert scheme.iterations(excess * unit) <= published_iterations(excess, 1000, 0.05, strongly=strongly)
