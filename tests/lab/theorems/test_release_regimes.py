"""Rows that releases need: what was solved for keeps its bound, one row less does not, and noise does what it is said
to do."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.two_sizes import reseeded
from unworn.bounds.budget import gaussian_mu
from unworn.bounds.noise_tails import largest_draw
from unworn.bounds.release import averaged_mwem_error, averaged_mwem_rounds
from unworn.bounds.release.projection_bound import projection_tail
from unworn.lab.theorems.release_regimes import (
    MWEM,
    NOISE,
    PROJECTION,
    lecture_rows,
    mwem_rows,
    noise_rms_rows,
    noise_rows,
    projection_rows,
    regimes,
    rows_needed,
)

BUDGET = (1.0, 1e-9, 0.05)
MU = gaussian_mu(1.0, 1e-9)


@settings(derandomize=True, deadline=None, max_examples=40)
@given(st.integers(1, 10**6), st.floats(0.01, 0.9), st.floats(1, 60))
def test_the_rows_are_enough_and_hardly_more(questions: int, alpha: float, bits: float) -> None:
    cells = float(round(2.0**bits)) + 1
    rows = noise_rows(questions, alpha, *BUDGET)
    reach = largest_draw("gaussian", math.sqrt(questions) / MU, 0.05 / questions)
    assert reach / rows <= alpha * (1 + 1e-9)
    assert reach / (rows - 1) > alpha or rows <= 1
    rows = projection_rows(cells, questions, alpha, *BUDGET)
    sd = math.sqrt(questions) / (rows * MU)
    assert projection_tail(cells, questions, sd, math.sqrt(questions) / 2, 0.05) <= alpha**2 * (1 + 1e-6)
    sd = math.sqrt(questions) / (max(rows - 2, 0.5) * MU)
    assert projection_tail(cells, questions, sd, math.sqrt(questions) / 2, 0.05) > alpha**2 * (1 - 1e-6)


@pytest.mark.parametrize(("cells", "questions", "alpha"), [(2**10, 50, 0.2), (2**20, 10**5, 0.1)])
def test_mwem_is_within_its_bound_and_one_row_less_is_not(cells: int, questions: int, alpha: float) -> None:
    rows = int(mwem_rows(cells, questions, alpha, *BUDGET))

    def error(count: int) -> float:
        public = (count, cells, 2 * questions, *BUDGET)
        return averaged_mwem_error(*public, averaged_mwem_rounds(*public, sharp=True), sharp=True)

    assert error(rows) <= alpha < error(rows - 1)


def test_noise_keeps_what_is_promised() -> None:
    """400 draws each: a largest error above alpha in 48 or more has a chance below 1e-7 if its own is 0.05."""
    rng = np.random.default_rng(reseeded(5))
    questions, alpha = 300, 0.1
    noise = np.rint(rng.normal(scale=math.sqrt(questions) / MU, size=(400, questions)))
    largest = abs(noise).max(axis=1) / noise_rows(questions, alpha, *BUDGET)
    assert (largest > alpha).sum() < 48
    length = np.sqrt((noise**2).mean(axis=1)) / noise_rms_rows(questions, alpha, *BUDGET)
    assert (length > alpha).sum() < 48
    assert length.max() > 0.7 * alpha  # it is no loose bound


def test_regimes_are_those_of_the_lecture() -> None:
    assert rows_needed(2**16, 10, 0.1).best() == NOISE
    assert rows_needed(2**16, 10**7, 0.1).best() == MWEM
    assert rows_needed(2**16, 10, 0.1).best("rms") == NOISE
    assert rows_needed(2**16, 10**6, 0.1).best("rms") == PROJECTION
    table = regimes(2**16, [10, 10**6], 0.1, measure="rms")
    assert {row["method"] for row in table} == {NOISE, PROJECTION, MWEM}
    with pytest.raises(ValueError, match="measure"):
        rows_needed(2**16, 10, 0.1).of("worst")  # type: ignore[arg-type]


def test_certified_rows_grow_as_the_lecture_says() -> None:
    """Slopes over two decades: noise like sqrt(k ln k)/alpha, projection and MWEM like 1/alpha^2, not with sqrt(k)."""
    few, many = (noise_rows(k, 0.01, *BUDGET) for k in (10**4, 10**8))
    assert many / few == pytest.approx(100 * math.sqrt(2), rel=0.15)
    assert projection_rows(2**40, 9, 0.01, *BUDGET) == projection_rows(2**40, 9**9, 0.01, *BUDGET)
    for rows in (projection_rows, mwem_rows):
        coarse, fine = (rows(2**40, 1_000, alpha, *BUDGET) for alpha in (0.1, 0.01))
        assert 99 <= fine / coarse <= 160
        small, large = (rows(2**bits, 1_000, 0.01, *BUDGET) for bits in (64, 256))
        assert large / small == pytest.approx(2.0, rel=0.25)  # sqrt(ln m)


def test_the_lectures_examples() -> None:
    """Thresholds, m = k: ln(m)^(3/2)/alpha^2 for MWEM. Pairs of d bits: sqrt(d) ln(d), and d sqrt(ln d) for noise."""
    m, alpha, d = 2**20, 0.1, 1_000
    assert lecture_rows(m, m, alpha)[MWEM] == pytest.approx(math.log(m) ** 1.5 / alpha**2)
    pairs = lecture_rows(2.0**d, d * d, alpha)
    assert pairs[MWEM] == pytest.approx(2 * math.log(d) * math.sqrt(d * math.log(2)) / alpha**2)
    assert pairs[NOISE] == pytest.approx(d * math.sqrt(2 * math.log(d)) / alpha)
    assert lecture_rows(2**10, 10, 0.1, 3.0)[PROJECTION] == pytest.approx(3 * lecture_rows(2**10, 10, 0.1)[PROJECTION])


@pytest.mark.parametrize(
    "wrong", [(1, 10, 0.1), (10, 0, 0.1), (10, 10, 0.0), (10, 10, 1.5), (10, 10, math.nan), (math.nan, 10, 0.1)]
)
def test_nonsense_is_refused(wrong: tuple[float, int, float]) -> None:
    with pytest.raises(ValueError, match="must"):
        lecture_rows(*wrong)
    with pytest.raises(ValueError, match="must"):
        projection_rows(*wrong, *BUDGET)
    with pytest.raises(ValueError, match="constant"):
        lecture_rows(10, 10, 0.1, 0.0)
