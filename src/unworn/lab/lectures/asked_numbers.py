"""Numbers of the lecture map for which a holdout has to be asked: a threshold, a boosted vote, a fitted model."""

from __future__ import annotations

import warnings

import numpy as np

from unworn.errors import SmallHoldout
from unworn.holdout import Holdout
from unworn.learn import Ball, boost, logistic, minimise
from unworn.ledger.seeded_keys import SeededStore
from unworn.mechanisms import AboveThreshold, Gaussian
from unworn.queries import col, share

ROWS = 100_000


def threshold_reach(rows: int = 10_000, asks: int = 1_000) -> float:
    """How far an *above* at the last of so many asks reaches beyond the threshold, one half.

    >>> round(threshold_reach(1_000, 10), 3)
    0.056
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SmallHoldout)
        store = SeededStore(np.random.default_rng(0))
        holdout = Holdout({"x": np.arange(rows)}, mechanism=AboveThreshold(0.5), ledger=store)
    for number in range(asks - 1):
        holdout.ask(share(col("x") < number / asks))
    return 0.5 - holdout.ask(share(col("x") >= 0)).low


def boosted_bound(seed: int = 0) -> float:
    """The certified error of boost by majority, where the label is the majority of three signs among five."""
    rng = np.random.default_rng(seed)
    signs = rng.choice([-1.0, 1.0], (ROWS, 5))
    votes = Holdout(signs, (signs[:, :3] > 0).sum(axis=1) > 1, mechanism=Gaussian(), asks=151, ledger=SeededStore(rng))
    return boost(votes, [col(f"x{place}") > 0 for place in range(5)], col("y"), edge=0.16, rounds=25).bound


def fitted_excess(seed: int = 0) -> float:
    """How much above the least risk a logistic regression of three coefficients is, at most."""
    rng = np.random.default_rng(seed)
    age, visits = rng.uniform(18, 90, ROWS), rng.uniform(0, 20, ROWS)
    churned = rng.random(ROWS) < 1 / (1 + np.exp(0.05 * (age - 50) + 0.2 * (visits - 10)))
    people = Holdout({"age": age, "visits": visits}, churned, mechanism=Gaussian(), asks=61, ledger=SeededStore(rng))
    return minimise(people, logistic({"age": (18, 90), "visits": (0, 20)}), Ball(3.0), ridge=0.1).excess
