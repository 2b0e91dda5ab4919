from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.special import betainc, betaincinv

from tests.bounds.questions.exact_laws import LEVELS, conditional_outcomes
from unworn.bounds.binomial import high_limit, low_limit
from unworn.bounds.questions.conditional_shares import (
    conditional_cell_limits,
    conditional_share_limits,
    octave_rows,
    row_octave,
)

quiet = settings(derandomize=True, deadline=None, max_examples=100)
unit = st.floats(0, 1)
sides = st.floats(-2000, -0.7)
SHARES = (0.02, 0.3, 0.5, 0.77, 0.98)


@pytest.mark.parametrize("u", [0.003, 0.05, 0.31, 0.5, 0.74, 0.97, 0.999])
@pytest.mark.parametrize("b", [0.5, 0.2, 0.05, 1e-3, 1e-6, 1e-60])
def test_the_real_count_limit_shrinks_with_the_rows(u: float, b: float) -> None:
    """Lemma 1: the upper b-quantile of Beta(ua + 1, (1 - u)a) falls with a."""
    a = np.geomspace(0.5 / min(u, 1 - u), 1e6, 400)
    high = 1 - betaincinv((1 - u) * a, u * a + 1, b)
    assert (np.diff(high) <= 1e-12).all()
    at_u = betainc((1 - u) * a, u * a + 1, 1 - u)  # P(Beta > u), which falls to 1/2
    assert (np.diff(at_u) <= 1e-12).all()
    assert at_u[-1] >= 0.5 - 1e-9


@quiet
@example(0.92, 0.92, 48, 76, -13.8)
@example(0.6, 0.6, 29, 212, -0.7)
@example(0.0, 1.0, 1, 0, -1.0)
@given(unit, unit, st.integers(1, 40), st.integers(0, 120), sides)
def test_they_contain_the_limits_of_all_that_the_cell_allows(
    one: float, two: float, least: int, more: int, log_side: float
) -> None:
    low, high = min(one, two), max(one, two)
    limits = conditional_cell_limits(low, high, least, least + more, log_side)
    for rows in range(least, least + more + 1):
        counts = [count for count in range(rows + 1) if low <= count / rows <= high]
        if counts:
            assert limits[0] <= low_limit(counts[0], rows, log_side) + 1e-13
            assert limits[1] >= high_limit(counts[-1], rows, log_side) - 1e-13


@pytest.mark.parametrize(("low", "high", "least"), [(0.88, 0.92, 100), (0.45, 0.55, 1_000), (0.001, 0.01, 5_000)])
@pytest.mark.parametrize("log_side", [-1.0, -3.7, -20.0, -300.0])
def test_they_are_hardly_wider_than_the_exact_envelope(low: float, high: float, least: int, log_side: float) -> None:
    """By at most half a row on either side, compared with the largest over all numbers of rows up to three times."""
    limits = conditional_cell_limits(low, high, least, 100 * least, log_side)
    exact_low = min(low_limit(math.ceil(low * a - 1e-9), a, log_side) for a in range(least, 3 * least))
    exact_high = max(high_limit(math.floor(high * a + 1e-9), a, log_side) for a in range(least, 3 * least))
    assert exact_low - 0.5 / least <= limits[0] <= exact_low
    assert exact_high <= limits[1] <= exact_high + 0.5 / least


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("level", LEVELS)
def test_final_coverage_is_exact_whatever_the_number_of_rows_that_count(share: float, level: float) -> None:
    n, log_side = 60, math.log(level)
    for of_a in (0.02, 0.3, 0.9):
        below = above = 0.0
        for chance, rows, count in conditional_outcomes(n, of_a, share):
            low, high = conditional_share_limits(count, rows, log_side)
            below, above = below + chance * (share < low), above + chance * (share > high)
        assert max(below, above) <= level


def test_all_rows_instead_of_those_that_count_are_caught() -> None:
    n, share, of_a, level = 60, 0.3, 0.1, 0.05
    missed = 0.0
    for chance, rows, count in conditional_outcomes(n, of_a, share):
        high = high_limit(round(n * count / max(rows, 1)), n, math.log(level))  # as if all n rows were in A
        missed += chance * (share > high)
    assert missed > 5 * level


@pytest.mark.parametrize("level", LEVELS)
def test_a_symbol_whose_limits_miss_is_rare_enough(level: float) -> None:
    """Theorem C′ needs P(symbol) <= b wherever the published limits exclude the truth; exactly, for every symbol."""
    n, log_side, closest = 50, math.log(level), 0.0
    cells = [(k / 8, (k + 1) / 8) for k in range(8)]
    for least in (1, 10, 20):
        for low, high in cells:
            limits = conditional_cell_limits(low, high, least, n, log_side)
            assert limits[0] <= low <= high <= limits[1]
            for truth in (limits[0] - 1e-9, limits[1] + 1e-9):
                if 0 < truth < 1:
                    chance = sum(
                        p for p, a, c in conditional_outcomes(n, 0.4, truth) if a >= least and low <= c / a <= high
                    )
                    closest = max(closest, chance / level)
    assert 0.05 < closest <= 1.0


@quiet
@given(unit, unit, st.integers(1, 10**6), st.integers(0, 10**6), st.integers(1, 10**6), sides, sides)
def test_monotone_in_rows_level_and_cell(
    one: float, two: float, least: int, more: int, fewer: int, log_side: float, other: float
) -> None:
    low, high = min(one, two), max(one, two)
    most = least + more
    limits = conditional_cell_limits(low, high, least, most, max(log_side, other))
    assert 0 <= limits[0] <= low <= high <= limits[1] <= 1
    for wider in (
        conditional_cell_limits(low, high, least, most, min(log_side, other)),
        conditional_cell_limits(low, high, min(least, fewer), most, max(log_side, other)),
        conditional_cell_limits(0.5 * low, high, least, most, max(log_side, other)),
    ):
        assert wider[0] <= limits[0] + 1e-12
        assert wider[1] >= limits[1] - 1e-12


def test_no_rows_say_nothing() -> None:
    assert conditional_share_limits(0, 0, -3.0) == (0.0, 1.0)
    assert conditional_cell_limits(0.4, 0.6, 0, 1000, -3.0) == (0.0, 1.0)


@given(st.integers(1, 10**9), st.integers(0, 10**9))
def test_octaves_hold_their_rows(rows: int, part: int) -> None:
    part = min(part, rows)
    octave = row_octave(rows, part)
    assert 0 <= octave <= (rows - 1).bit_length()
    assert octave_rows(rows, octave) <= part <= max(rows >> octave, 1)


@pytest.mark.parametrize("bad", [math.nan, -0.1, 0.0, math.inf, -math.inf])
def test_levels_out_of_range_are_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="log_side"):
        conditional_share_limits(1, 2, bad)
    with pytest.raises(ValueError, match="log_side"):
        conditional_cell_limits(0.1, 0.2, 1, 2, bad)


def test_counts_and_cells_out_of_range_are_refused() -> None:
    with pytest.raises(ValueError, match="count"):
        conditional_share_limits(3, 2, -1.0)
    with pytest.raises(ValueError, match="high"):
        conditional_cell_limits(0.3, 0.2, 1, 2, -1.0)
    with pytest.raises(ValueError, match="low"):
        conditional_cell_limits(math.nan, 0.2, 1, 2, -1.0)
    with pytest.raises(ValueError, match="least"):
        conditional_cell_limits(0.1, 0.2, 3, 2, -1.0)
