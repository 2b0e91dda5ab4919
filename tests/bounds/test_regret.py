"""Regret: never above its bound, against costs that try."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unworn.bounds.regret import learning_rate, regret, regret_bound


def played(actions: int, rounds: int, rate: float, seed: int, linear: bool = False) -> float:
    """Regret against an adversary who raises what is heavy, or what chance says."""
    rng = np.random.default_rng(seed)
    logs, paid, total = np.zeros(actions), 0.0, np.zeros(actions)
    for _ in range(rounds):
        p = np.exp(logs - logs.max())
        p /= p.sum()
        costs = rng.random(actions) if seed % 3 == 0 else (p > np.median(p)).astype(float)
        if seed % 3 == 1:
            costs = np.where(np.arange(actions) == np.argmax(p), 1.0, rng.integers(0, 2, actions))
        paid += costs @ p
        total += costs
        logs += np.log1p(-rate * costs) if linear else -rate * costs
    return (paid - total.min()) / rounds


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("actions", "rounds"), [(2, 1), (2, 300), (50, 20), (50, 400), (1000, 100)])
def test_regret_is_never_above_its_bound(actions: int, rounds: int, seed: int) -> None:
    # No chance of a false alarm: the bound holds for all costs.
    rate, sharp = learning_rate(actions, rounds), learning_rate(actions, rounds, sharp=True)
    assert played(actions, rounds, rate, seed) <= regret(actions, rounds, rate) <= regret_bound(actions, rounds)
    assert played(actions, rounds, sharp, seed) <= regret_bound(actions, rounds, sharp=True) * (1 + 1e-12)
    if rate <= 0.5:  # the linear update: where it is proved is where the bound is below 1
        assert played(actions, rounds, rate, seed, linear=True) <= regret_bound(actions, rounds)
        assert rounds >= 4 * math.log(actions)
    else:
        assert regret_bound(actions, rounds) == 1.0


def test_the_sharp_bound_is_nearly_reached() -> None:
    # Two actions, costs (0, 1) and (1, 0) by fair coins: regret is about sqrt(1/(2 pi T)) of sqrt(ln 2/(2T)).
    rounds, rate = 400, learning_rate(2, 400, sharp=True)
    coins = np.random.default_rng(1).integers(0, 2, (300, rounds))
    found = []
    for line in coins:
        ahead = np.append(0, np.cumsum(2 * line - 1))[:-1]  # how much more the second has cost
        p = 1 / (1 + np.exp(rate * ahead))  # of the second
        found.append((np.where(line, p, 1 - p).sum() - min(line.sum(), rounds - line.sum())) / rounds)
    bound = regret_bound(2, rounds, sharp=True)
    assert max(found) <= bound
    assert np.mean(found) > 0.5 * bound


@given(st.integers(2, 10**6), st.integers(1, 10**6), st.floats(1e-4, 10.0))
@settings(derandomize=True, deadline=None)
def test_shapes(actions: int, rounds: int, rate: float) -> None:
    bound, sharp = regret_bound(actions, rounds), regret_bound(actions, rounds, sharp=True)
    assert sharp <= bound <= 1
    assert regret_bound(actions + 1, rounds) >= bound >= regret_bound(actions, rounds + 1)
    assert regret(actions, rounds, rate) >= sharp * (1 - 1e-12)  # the best rate is the best
    assert regret(actions, rounds, learning_rate(actions, rounds, sharp=True)) == pytest.approx(sharp)
    assert regret_bound(1, rounds) == 0.0


@pytest.mark.parametrize("wrong", [(0, 1), (2, 0), (2.5, 3), (math.nan, 3), (2, math.inf), (True, 3), (2, True)])
def test_wrong_numbers_are_refused(wrong: Any) -> None:
    for bound in (regret_bound, learning_rate):
        with pytest.raises(ValueError, match="must be a whole number"):
            bound(*wrong)
    for rate in (0.0, math.nan, math.inf, -1.0):
        with pytest.raises(ValueError, match="learning rate"):
            regret(3, 3, rate)
