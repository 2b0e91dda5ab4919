"""The probabilities: they sum to one, agree with arithmetic of many digits, and stay finite far out."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from unworn.noise.samplers import (
    cut_cosine_log_pmf,
    discrete_gaussian_log_pmf,
    gaussian_log_pmf,
    laplace_log_pmf,
    raised_cosine_log_pmf,
)

SCALED = [laplace_log_pmf, gaussian_log_pmf, discrete_gaussian_log_pmf]
Pmf = Callable[..., Any]


def precisely(pmf: Pmf, m: int, scale: float) -> float:
    mp: Any = pytest.importorskip("mpmath")
    with mp.workdps(60 + int(min((m / scale) ** 2 / 4, 500))):
        s = mp.mpf(scale)
        if pmf is laplace_log_pmf:
            return float(mp.log(mp.tanh(1 / (2 * s))) - abs(m) / s)
        if pmf is gaussian_log_pmf:
            near, far = (mp.erfc((abs(m) + half) / s / mp.sqrt(2)) / 2 for half in (-0.5, 0.5))
            return float(mp.log(near - far))
        total = mp.jtheta(3, 0, mp.exp(-1 / (2 * s * s))) if s < 50 else s * mp.sqrt(2 * mp.pi)
        return float(-m * m / (2 * s * s) - mp.log(total))


@pytest.mark.parametrize("pmf", SCALED)
@pytest.mark.parametrize("scale", [0.05, 0.3, 0.99, 1.0, 1.01, 7.3, 400.0])
def test_they_sum_to_one(pmf: Pmf, scale: float) -> None:
    reach = math.ceil(45 * scale) + 2
    m = np.arange(-reach, reach + 1)
    assert math.fsum(np.exp(pmf(m, scale))) == pytest.approx(1, abs=2e-14)
    assert np.array_equal(pmf(m, scale), pmf(-m, scale))


@pytest.mark.parametrize("N", [1, 2, 3, 50, 12345])
def test_the_cosine_sums_to_one_and_is_bounded(N: int) -> None:
    m = np.arange(-N - 3, N + 4)
    found = np.exp(raised_cosine_log_pmf(m, N))
    assert math.fsum(found) == pytest.approx(1, abs=2e-14)
    inside = np.abs(m) < N
    assert np.array_equal(found > 0, inside)
    np.testing.assert_allclose(found[inside], (1 + np.cos(np.pi * m[inside] / N)) / (2 * N), atol=1e-15 / N)


@pytest.mark.parametrize(("N", "zero"), [(1, 1), (1, 9), (2, 3), (50, 50), (50, 57), (445, 477)])
def test_a_cosine_that_is_cut_off_sums_to_one(N: int, zero: int) -> None:
    m = np.arange(-zero - 3, zero + 4)
    found = np.exp(cut_cosine_log_pmf(m, N, zero))
    assert math.fsum(found) == pytest.approx(1, abs=2e-14)
    assert np.array_equal(found > 0, np.abs(m) < N)
    inside = 1 + np.cos(np.pi * m[found > 0] / zero)
    np.testing.assert_allclose(found[found > 0], inside / math.fsum(inside), rtol=1e-12)


@pytest.mark.parametrize("pmf", SCALED)
@pytest.mark.parametrize("scale", [0.1, 0.7, 1.0, 1.9, 30.0, 4096.0, 1e6, 2.0**40])
def test_they_agree_with_many_digits(pmf: Pmf, scale: float) -> None:
    steps = (0.0, 0.3, 1.0, 2.5, 4.0, 8.0, 20.0) if 1 <= scale < 1e5 else (0.0, 0.3, 1.0, 2.5, 4.0)
    for m in {round(step * max(scale, 1.0)) for step in steps}:
        assert float(pmf(m, scale)) == pytest.approx(precisely(pmf, m, scale), rel=2e-14, abs=2e-14)


def test_rounded_gaussian_where_the_method_changes() -> None:
    # An sd of 3 integrates up to |m| = 36 and takes differences of tails beyond: both agree with many digits.
    for m in (35, 36, 37, 38, 60):
        assert float(gaussian_log_pmf(m, 3.0)) == pytest.approx(precisely(gaussian_log_pmf, m, 3.0), rel=1e-13)


def test_far_out_they_are_finite_or_minus_infinity_and_never_nan() -> None:
    millionth = -0.5 * (10**6 - 0.5) ** 2 - math.log(10**6) - 0.9189
    assert float(gaussian_log_pmf(10**6, 1.0)) == pytest.approx(millionth, rel=1e-9)
    for pmf in SCALED:
        for scale in (5e-324, 1e-300, 1e-10, 2.0**52):
            found = pmf([0, 1, -1, 10, 2**60], scale)
            assert not np.isnan(found).any()
            assert found[0] <= 0
            assert found[0] >= found[1] >= found[3] >= found[4]
    assert float(laplace_log_pmf(0, 1e-300)) == 0.0


def test_shapes() -> None:
    for pmf in (*SCALED, raised_cosine_log_pmf):
        assert pmf(0, 3).shape == ()
        assert pmf([[0, 1], [2, 3]], 3).shape == (2, 2)
        assert pmf(np.empty(0, dtype=np.int64), 3).shape == (0,)


@pytest.mark.parametrize("m", [0.5, math.nan, math.inf, "x", True])
def test_what_is_no_whole_number_is_refused(m: Any) -> None:
    for pmf in (*SCALED, raised_cosine_log_pmf):
        with pytest.raises(ValueError, match="m must be finite whole numbers"):
            pmf(m, 3)


@pytest.mark.parametrize("scale", [0.0, -1.0, math.nan, math.inf, 2.0**53])
def test_a_scale_out_of_range_is_refused(scale: float) -> None:
    for pmf in SCALED:
        with pytest.raises(ValueError, match=r"must lie in \(0, 2\*\*52\]"):
            pmf(0, scale)
    with pytest.raises(ValueError, match="N must be a whole number from 1"):
        raised_cosine_log_pmf(0, scale)
