"""The floats that decide most draws are wrong by less than a thousandth of the margin that is kept of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from unworn.noise import comparison, inversion
from unworn.noise.cosine import chances as cosine_chances
from unworn.noise.discrete_gaussian import chances as kept_chances
from unworn.noise.discrete_laplace import magnitudes as laplace_magnitudes
from unworn.noise.rounded_gaussian import magnitudes as gaussian_magnitudes

mp: Any = pytest.importorskip("mpmath")
FACTOR = 1000


def numbers(count: int) -> list[int]:
    """Numerators of v: uniform, uniform in the logarithm, and close to 1/2."""
    rng = np.random.default_rng(1)
    small = (2.0 ** rng.uniform(44, 63, count)).astype(np.int64)
    close = 2**63 - 1 - (2.0 ** rng.uniform(0, 50, count)).astype(np.int64)
    return [inversion.TAIL, 2**63 - 1, *np.concatenate([rng.integers(2**44, 2**63, count), small, close]).tolist()]


@pytest.mark.parametrize("scale", [0.1, 1.0, 50.0, 4096.0, 1e6 + 0.1])
def test_magnitudes(scale: float) -> None:
    found = numbers(300)
    v = np.multiply(np.array(found), 2.0**-64)
    laplace, gaussian = laplace_magnitudes(v.copy(), scale), gaussian_magnitudes(v.copy(), scale)
    worst = [0.0, 0.0]
    with mp.workprec(140):
        s = mp.mpf(scale)
        for numerator, one, other in zip(found, laplace.tolist(), gaussian.tolist(), strict=True):
            exact = mp.mpf(numerator) / 2**64
            worst[0] = max(worst[0], abs(float(one + s * mp.log(exact * (1 + mp.exp(-1 / s))))))
            point = (mp.mpf(other) - 0.5) / s  # the quantile is found to first order from the float, which is close
            away = (mp.erfc(point / mp.sqrt(2)) / 2 - exact) / mp.npdf(point)
            worst[1] = max(worst[1], abs(float(away * s)))
    # From here on an edge can be near (the first lies at 1): a narrower noise has none that is not in the far tail.
    allowed = inversion.MARGIN * scale / FACTOR
    assert max(worst) < allowed
    assert max(worst) > allowed / 2**12  # it is the error of floats, and not of nothing


def test_the_bits_left_open_move_a_magnitude_by_less_than_the_margin() -> None:
    # d/dv of -ln v and of -quantile(v), times 2^-64, where the float magnitudes are trusted: v >= 2^-20.
    least = inversion.TAIL * 2.0**-64
    assert 2.0**-64 / least < inversion.MARGIN / 100
    assert 2.0**-64 / float(mp.npdf(4.8)) < inversion.MARGIN / 100
    assert float(mp.erfc(4.8 / math.sqrt(2)) / 2) < least


@pytest.mark.parametrize("N", [1, 2, 3, 50, 999, 10**6, 2**31 + 5, 2**40 + 1, 2**52])
def test_cosine_chances(N: int) -> None:
    rng = np.random.default_rng(N)
    m = np.unique(np.clip(np.concatenate([rng.integers(-N, N, 1000), np.arange(-4, 4), np.arange(5) - N]), -N, N - 1))
    found = cosine_chances(m, N)
    with mp.workprec(140):
        for one, chance in zip(m.tolist(), found.tolist(), strict=True):
            assert abs(float(chance - mp.cos(mp.pi * one / (2 * N)) ** 2)) + 2.0**-53 < comparison.MARGIN / FACTOR


@pytest.mark.parametrize("sd", [0.01, 0.3, 0.999, 1.0, 1.5, 10.0, 1000.7, 4096.0, 1e6 + 0.1, 2.0**40 + 0.5, 2.0**52])
def test_kept_chances(sd: float) -> None:
    rng = np.random.default_rng(2)
    t = math.floor(sd) + 1
    m = np.concatenate([np.floor(rng.laplace(0, t, 700)), np.arange(-5, 5), np.round(sd * rng.normal(size=300))])
    found = kept_chances(m.astype(np.int64), sd, t)
    with mp.workprec(140):
        s = mp.mpf(sd)
        for one, chance in zip(m.astype(np.int64).tolist(), found.tolist(), strict=True):
            exact = mp.exp(-((abs(one) - s * s / t) ** 2) / (2 * s * s))
            assert abs(float(chance - exact)) + 2.0**-53 < comparison.MARGIN / FACTOR
