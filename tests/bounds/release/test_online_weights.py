"""Online multiplicative weights: an update gains what it should, and no adversary gets more of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unworn.bounds.release import book_updates, most_updates, online_alpha, online_error


@given(st.integers(0, 10**6), st.integers(2, 30), st.floats(0.01, 8.0))
@settings(derandomize=True, deadline=None, max_examples=100)
def test_an_update_gains_what_hoeffdings_lemma_says(seed: int, cells: int, rate: float) -> None:
    rng = np.random.default_rng(seed)
    h, p = rng.dirichlet(np.full(cells, 0.2)), rng.dirichlet(np.full(cells, 0.5)) + 1e-9
    p /= p.sum()
    q = rng.random(cells) if seed % 2 else rng.integers(0, 2, cells).astype(float)
    gap = q @ (h - p)
    q, gap = (q, gap) if gap > 0 else (1 - q, -gap)
    tilted = p * np.exp(rate * q)
    tilted /= tilted.sum()
    gained = float(h @ (np.log(tilted) - np.log(p)))  # KL(h || p) - KL(h || tilted)
    assert gained >= rate * gap - rate**2 / 8 - 1e-12


@pytest.mark.parametrize("gap", [0.3, 0.1])
def test_an_adversary_gets_no_more_updates(gap: float) -> None:
    # No chance of a false alarm: the bound holds for all histograms and questions.
    cells, rng = 256, np.random.default_rng(2)
    for h in (np.eye(cells)[7], rng.dirichlet(np.full(cells, 0.02)), np.append(0.5, np.full(cells - 1, 0.5 / 255))):
        logs, updates = np.zeros(cells), 0
        while True:
            p = np.exp(logs - logs.max())
            p /= p.sum()
            order = np.argsort(p - h)  # the question that is most wrong at a size of just above the gap
            sums = np.cumsum((h - p)[order])
            if sums.max() < gap:
                break
            q = np.zeros(cells)
            q[order[: int(np.argmax(sums >= gap)) + 1]] = 1.0
            logs += 4 * gap * q
            updates += 1
        assert updates <= most_updates(cells, gap)
    assert most_updates(cells, gap) <= math.log(cells) / (2 * gap**2) + 1


@given(st.integers(1, 10**9), st.floats(1e-3, 1.0), st.floats(0.1, 1.9))
@settings(derandomize=True, deadline=None)
def test_the_best_rate_is_the_best(cells: int, gap: float, part: float) -> None:
    best = most_updates(cells, gap)
    assert best <= most_updates(cells, gap, rate=4 * gap * part)
    assert best <= most_updates(cells, gap, rate=gap / 2) <= book_updates(cells, gap)
    assert most_updates(2 * cells, gap) >= best
    assert best == most_updates(cells, gap, rate=4 * gap)


@given(
    st.integers(100, 10**9), st.integers(2, 10**9), st.integers(1, 10**9), st.floats(0.01, 10.0), st.floats(1e-9, 0.5)
)
@settings(derandomize=True, deadline=None, max_examples=30)
def test_the_least_alpha_meets_the_condition(n: int, cells: int, k: int, epsilon: float, beta: float) -> None:
    X = math.log(cells)
    for delta in (0.0, 1e-9):
        alpha = online_alpha(n, cells, k, epsilon, delta, beta)
        for value, enough in ((alpha * (1 + 1e-9), True), (alpha * (1 - 1e-9), False)):
            length = math.log(k) + math.log(32 * X / (value**2 * beta))
            if length <= 0:
                continue
            if delta == 0.0:
                assert (value >= 36 * X * length / (epsilon * value**2 * n)) is enough
            else:
                needed = (2 + 32 * math.sqrt(2)) * math.sqrt(X * math.log(2 / delta)) * length / (epsilon * n)
                assert (value**2 >= needed) is enough
        assert online_alpha(2 * n, cells, k, epsilon, delta, beta) <= alpha
        assert online_alpha(n, cells, 2 * k, epsilon, delta, beta) >= alpha * (1 - 1e-9)
        assert online_alpha(n, cells, k, epsilon, delta, beta / 2) >= alpha * (1 - 1e-9)
        assert online_error(n, cells, k, epsilon, delta, beta) == min(1.0, 3 * alpha)


def test_wrong_numbers_are_refused() -> None:
    wrong: Any
    for wrong in (0.0, -0.1, 1.5, math.nan):
        with pytest.raises(ValueError, match="gap"):
            most_updates(10, wrong)
        with pytest.raises(ValueError, match="gap"):
            book_updates(10, wrong)
    for wrong in (0.0, 0.9, math.nan, -1.0):  # eight gaps gain nothing
        with pytest.raises(ValueError, match="no nearer"):
            most_updates(10, 0.1, rate=wrong)
    for wrong in (
        (0, 2, 2, 1.0, 0.0, 0.1),
        (9, 2, 2, 0.0, 0.0, 0.1),
        (9, 2, 2, 1.0, 2.0, 0.1),
        (9, 2, 2, 1.0, 0.0, 1.0),
    ):
        with pytest.raises(ValueError):
            online_alpha(*wrong)
