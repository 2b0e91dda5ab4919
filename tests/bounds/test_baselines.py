from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unworn.bounds.baselines import (
    best_rounding,
    published_tolerance,
    rounding_width,
    splitting_exact,
    splitting_width,
)

quiet = settings(derandomize=True, deadline=None, max_examples=100)
BETA = 0.05


def most_asks(width: Callable[[int], float], goal: float, limit: int) -> int:
    """The largest k up to ``limit`` with width(k) <= goal, by bisection."""
    low, high = 0, limit + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if width(middle) <= goal else (low, middle)
    return low


# n, then the most asks at half-width .1 and .05 by Hoeffding splitting, exact splitting and rounding.
KNOWN = [
    (10**3, (3, 5, 4), (1, 1, 1)),
    (10**4, (28, 38, 41), (8, 12, 9)),
    (10**5, (219, 281, 415), (63, 84, 88)),
    (10**6, (1788, 2222, 4152), (504, 641, 879)),
    (10**7, (15_015, 18_181, 41_527), (4158, 5102, 8795)),
]


@pytest.mark.parametrize(("n", "wide", "narrow"), KNOWN)
def test_known_numbers_of_asks(n: int, wide: tuple[int, ...], narrow: tuple[int, ...]) -> None:
    for goal, known in ((0.1, wide), (0.05, narrow)):
        found = (
            most_asks(lambda k: splitting_width(n, k, BETA), goal, n),
            most_asks(lambda k: splitting_exact(n, k, BETA), goal, n),
            most_asks(lambda k: best_rounding(n, k, BETA)[1], goal, n),
        )
        for mine, theirs in zip(found, known, strict=True):
            assert abs(mine - theirs) <= max(1, 0.02 * theirs)


@pytest.mark.parametrize(
    ("i", "f", "hoeffding", "kl"),
    [
        (1000, 0, 0.0304, 0.0192),
        (1000, 3, 0.0510, 0.0333),
        (1000, 20, 0.0997, 0.0701),
        (10_000, 0, 0.0340, 0.0216),
        (10_000, 3, 0.0564, 0.0372),
        (10_000, 20, 0.1117, 0.0799),
    ],
)
def test_known_published_tolerances(i: int, f: int, hoeffding: float, kl: float) -> None:
    """Only V = ceil(1/gamma) + 1 = 51 values gives these digits; 50 and 52 do not."""
    assert published_tolerance(10_000, i, f, BETA) == pytest.approx(hoeffding, abs=6e-5)
    assert published_tolerance(10_000, i, f, BETA, p=0.9) == pytest.approx(kl, abs=6e-5)


@pytest.mark.parametrize("n", [1, 3, 40, 10_000])
def test_published_tolerances_reach_the_farther_limit(n: int) -> None:
    """At the ends of the range too, and where few rows leave a limit far from the value."""
    for p in (0.0, 0.001, 0.3, 0.6, 0.999):
        mirrored = published_tolerance(n, 1, 0, BETA, p=1 - p)
        assert published_tolerance(n, 1, 0, BETA, p=p) == pytest.approx(mirrored, rel=1e-9)


@pytest.mark.parametrize(("n", "known"), [(5000, (0.0373, 0.0481, 0.0568)), (50_000, (0.0118, 0.0152, 0.0180))])
def test_known_published_tolerances_without_surprises(n: int, known: tuple[float, ...]) -> None:
    for i, width in zip((10**2, 10**4, 10**6), known, strict=True):
        assert published_tolerance(n, i, 0, BETA) == pytest.approx(width, abs=6e-5)


def test_rounds_split_by_batch_not_by_ask() -> None:
    assert splitting_width(10_000, 100, BETA, rounds=4) == pytest.approx(math.sqrt(math.log(2 * 100 / BETA) / 5000))
    assert splitting_exact(10_000, 100, BETA, rounds=4) < splitting_exact(10_000, 100, BETA)


@quiet
@given(st.integers(2, 10**6), st.integers(1, 1000), st.floats(1e-6, 0.5))
def test_more_rows_fewer_asks_and_less_confidence_narrow(n: int, k: int, beta: float) -> None:
    k = min(k, n)
    assert splitting_width(2 * n, k, beta) < splitting_width(n, k, beta)
    assert splitting_width(n, k, beta) < splitting_width(n, k, beta / 2)
    assert best_rounding(2 * n, k, beta)[1] < best_rounding(n, k, beta)[1]
    assert best_rounding(n, k, beta)[1] < best_rounding(n, k + 1, beta)[1]
    assert splitting_exact(n, k, beta) <= splitting_width(n, k, beta) + 1e-12


@quiet
@given(st.integers(2, 10**6), st.integers(2, 2000), st.floats(1e-9, 0.5))
def test_no_other_number_of_cells_is_better(n: int, k: int, beta: float) -> None:
    cells, width = best_rounding(n, k, beta)
    assert width == pytest.approx(rounding_width(n, k, beta, cells), rel=1e-14)
    others = {cells - 1, cells + 1, cells // 2, 2 * cells, 10 * cells, 1, 2, 45} - {0}
    assert all(rounding_width(n, k, beta, max(1, c)) >= width * (1 - 1e-12) for c in others)


@pytest.mark.parametrize(("n", "k", "cells"), [(100, 1, 10), (100, 2, 10), (100, 3, 4), (100, 12, 3), (100, 5, 1)])
def test_rounding_counts_the_nodes_of_its_tree(n: int, k: int, cells: int) -> None:
    nodes = sum(cells**depth for depth in range(k))
    known = 1 / (2 * cells) + math.sqrt(math.log(2 * nodes / BETA) / (2 * n))
    assert rounding_width(n, k, BETA, cells) == pytest.approx(known, rel=1e-13)


def test_rounding_of_long_transcripts_does_not_overflow() -> None:
    assert math.isfinite(rounding_width(10**9, 10**7, BETA, 45))


@pytest.mark.parametrize(
    "call",
    [
        lambda: splitting_width(10, 11, BETA),
        lambda: splitting_width(10, 5, BETA, rounds=6),
        lambda: splitting_width(0, 1, BETA),
        lambda: splitting_width(10, 1, 1.0),
        lambda: splitting_exact(10, 1, BETA, p=1.5),
        lambda: splitting_exact(10, 1, BETA, p=math.nan),
        lambda: rounding_width(10, 1, BETA, 0),
        lambda: rounding_width(10, 0, BETA, 5),
        lambda: best_rounding(10, 1, 0.0),
        lambda: best_rounding(math.inf, 1, BETA),  # type: ignore[arg-type]
        lambda: published_tolerance(10, 5, 5, BETA),
        lambda: published_tolerance(10, 5, 1, BETA, gamma=0.0),
        lambda: published_tolerance(10, 5, 1, BETA, p=math.nan),
        lambda: published_tolerance(10, 5, 1, math.nan),
    ],
)
def test_bad_numbers_are_refused(call: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=r"must|cannot"):
        call()
