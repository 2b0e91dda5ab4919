"""OpenDP as the reference, and the attack on floating point that integer noise withstands.

OpenDP takes its randomness from the operating system and cannot be seeded, so its tests have the lowest alarms.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.noise.support import KEY, agree, fits
from unworn.noise import Stream
from unworn.noise.samplers import discrete_gaussian, discrete_gaussian_log_pmf, laplace, laplace_log_pmf

MANY = 20_000


def opendp(kind: str, scale: float, size: int) -> NDArray[np.int64]:
    dp: Any = pytest.importorskip("opendp.prelude")
    dp.enable_features("contrib")
    domain = dp.vector_domain(dp.atom_domain(T="i64"), size=size)
    if kind == "laplace":
        made = dp.m.make_laplace(domain, dp.l1_distance(T="i64"), scale=scale)
    else:
        made = dp.m.make_gaussian(domain, dp.l2_distance(T="f64"), scale=scale)
    return np.array(made([0] * size), dtype=np.int64)


@pytest.mark.parametrize("scale", [0.8, 12.5])
@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_the_reference_draws_the_same(kind: str, scale: float) -> None:
    # Two samples at 1e-9, and the reference alone against our probabilities at 1e-7 (4e-7 over the four cases).
    draw, log_pmf = (laplace, laplace_log_pmf) if kind == "laplace" else (discrete_gaussian, discrete_gaussian_log_pmf)
    reference = opendp(kind, scale, MANY)
    assert agree(draw(Stream(KEY, "reference"), scale, 10**6), reference, 1e-9)
    assert fits(reference, lambda m: log_pmf(m, scale))
    # The distribution functions of the wider noise are 0.07 away or more: missed with probability e^-80.
    assert not agree(draw(Stream(KEY, "reference"), 1.5 * scale, 10**6), reference, 1e-9)


# ---------------------------------------------------------------- floating point

EPSILON = 0.5
ASKED = 40_000
GRIDS = range(-3, 60)
Release = Callable[[int, int], NDArray[Any]]


def as_float(count: int, run: int) -> NDArray[np.float64]:
    """What is usually done: a float of noise added to the count."""
    return count + np.random.default_rng([count, run]).laplace(0, 1 / EPSILON, ASKED)


def as_integer(count: int, run: int) -> NDArray[np.int64]:
    return count + laplace(Stream(KEY, "attack", count, run), 1 / EPSILON, ASKED)


def on_grid(released: NDArray[Any], g: int) -> float:
    """The share of values y for which y * 2^g is an integer."""
    scaled = released * 2.0**g
    return float(np.mean(scaled == np.floor(scaled)))


def gain(release: Release, one: int, other: int) -> float:
    """How much more often than a private answer allows the best grid tells two counts apart."""
    worst = 0.0
    for g in GRIDS:
        p, q = (on_grid(release(count, 0), g) for count in (one, other))
        chances = ((p, q), (q, p), (1 - p, 1 - q), (1 - q, 1 - p))
        worst = max(worst, *(a - math.exp(EPSILON * abs(one - other)) * b for a, b in chances))
    return worst


def test_low_bits_tell_the_count_of_float_noise() -> None:
    # Every output of a count of 1 lies on the grid of 2^-53, and a fifth of those of a count of 0 does not.
    assert gain(as_float, 0, 1) > 0.1


@pytest.mark.parametrize(("one", "other"), [(0, 1), (7, 8), (1023, 1024)])
def test_low_bits_tell_nothing_of_integer_noise(one: int, other: int) -> None:
    # Beyond the grid of the integers there is nothing: every share is 1. On coarser grids Hoeffding's inequality for
    # six shares of 40,000 at 1e-9 each allows (1 + e^(1/2)) * 0.0164.
    for count in (one, other):
        released = as_integer(count, 1)
        assert released.dtype == np.int64
        assert all(on_grid(released, g) == 1.0 for g in GRIDS if g >= 0)
    assert gain(as_integer, one, other) < (1 + math.exp(EPSILON)) * math.sqrt(math.log(2e9) / (2 * ASKED))


def test_every_integer_within_reach_is_released_whatever_the_count() -> None:
    # The least likely of them has probability 0.0051 of 40,000: absent with probability e^-200.
    for count in (0, 1, 2**40):
        near = set((as_integer(count, 2) - count).tolist())
        assert set(range(-7, 8)) <= near
