"""The small database: the closed forms, and the exact mechanism on a tiny universe."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unworn.bounds.release import small_alpha, small_error, small_release_error, small_rows, small_size
from unworn.noise.samplers import exponential_log_pmf

NUMBERS = (
    st.integers(100, 10**7),
    st.integers(2, 1000),
    st.integers(3, 10**6),
    st.floats(0.05, 5.0),
    st.floats(1e-9, 0.5),
)


@given(*NUMBERS, st.floats(0.01, 2.0))
@settings(derandomize=True, deadline=None)
def test_the_best_alpha_is_the_best(n: int, cells: int, k: int, epsilon: float, beta: float, alpha: float) -> None:
    best = small_error(n, cells, k, epsilon, beta)
    assert best <= small_error(n, cells, k, epsilon, beta, alpha) * (1 + 1e-12)
    assert small_error(n, cells, k, epsilon, beta, small_alpha(n, cells, k, epsilon)) == best
    assert small_error(2 * n, cells, k, epsilon, beta) <= best <= small_error(n, 2 * cells, k, epsilon, beta)
    assert small_error(n, cells, k, epsilon, beta / 2) >= best <= small_error(n, cells, 2 * k, epsilon, beta)


@given(*NUMBERS[1:], st.floats(0.01, 1.0))
@settings(derandomize=True, deadline=None)
def test_so_many_rows_are_enough(cells: int, k: int, epsilon: float, beta: float, alpha: float) -> None:
    rows = small_rows(cells, k, epsilon, beta, alpha)
    assert small_error(rows, cells, k, epsilon, beta, alpha / 2) <= alpha * (1 + 1e-9)


@given(st.integers(3, 10**6), st.floats(0.01, 1.0))
@settings(derandomize=True, deadline=None)
def test_the_size_is_that_of_a_sample(k: int, alpha: float) -> None:
    for size in (small_size(k, alpha), small_size(k, alpha, book=True)):
        assert 2 * k * math.exp(-2 * size * alpha**2) <= 1 + 1e-9


def test_the_mechanism_itself_stays_within_its_bound() -> None:
    # No chance is involved: the probability of every database is computed.
    cells, size, n, epsilon, beta = 3, 6, 150, 2.0, 0.05
    questions = np.array([[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 1, 1]])
    small = np.array([c for c in itertools.product(range(size + 1), repeat=cells) if sum(c) == size])
    for counts in ([50, 50, 50], [140, 9, 1], [0, 75, 75], [17, 101, 32]):
        off = np.abs(n * small @ questions.T - size * questions @ np.array(counts)).max(axis=1)  # times n and size
        chances = np.exp(exponential_log_pmf(-off, epsilon / (2 * size)))
        bound = small_release_error(n, cells, len(questions), epsilon, beta, size)
        assert chances[off / (n * size) > bound].sum() <= beta
        assert off.min() / (n * size) <= math.sqrt(math.log(2 * len(questions)) / (2 * size))
    assert small_release_error(n, cells, 4, epsilon, beta, size, grain=1.5) == pytest.approx(bound + 1.5 / n)


@given(*NUMBERS, st.integers(1, 300))
@settings(derandomize=True, deadline=None)
def test_counting_databases_once_is_no_worse_than_the_published_bound(
    n: int, cells: int, k: int, epsilon: float, beta: float, size: int
) -> None:
    ours = small_release_error(n, cells, k, epsilon, beta, size)
    alpha = math.sqrt(math.log(k) / size)
    assert ours <= small_error(n, cells, k, epsilon, beta, alpha) * (1 + 1e-9) or k < 4
    assert small_release_error(2 * n, cells, k, epsilon, beta, size) <= ours


@pytest.mark.parametrize(
    "wrong", [(0, 3, 3, 1.0, 0.1), (9, 0, 3, 1.0, 0.1), (9, 3, 0, 1.0, 0.1), (9, 3, 3, 0.0, 0.1), (9, 3, 3, 1.0, 0.0)]
)
def test_wrong_numbers_are_refused(wrong: Any) -> None:
    with pytest.raises(ValueError):
        small_error(*wrong)
    with pytest.raises(ValueError):
        small_release_error(*wrong, 5)
    for alpha in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(ValueError, match="alpha"):
            small_error(9, 3, 3, 1.0, 0.1, alpha)
        with pytest.raises(ValueError, match="alpha"):
            small_rows(3, 3, 1.0, 0.1, alpha)
