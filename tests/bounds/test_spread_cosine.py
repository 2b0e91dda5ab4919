"""The cosine that covers bounded noise, spread by a normal: against plain integrals, inside and far beyond its ends."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import quad

from unworn.bounds.spread_cosine import log_spread_cosine

ENDS = [(30.0, 31.0), (30.0, 30.0), (4.0, 5.25), (4.5, 4.5), (4.1, 6.0), (12.0, 13.25), (100.0, 101.25)]


def plainly(end: float, zero: float, x: float) -> float:
    """ln of the integral: of what is divided by its largest term, which may be too small for a float."""
    top = max(0.0, x - end) ** 2 / 2
    points = sorted({min(max(x + step, -end), end) for step in (-6, -2, -0.5, 0, 0.5, 2, 6)} | {end - 0.1, end - 1.0})
    found = 0.0
    for low, high in zip([-end, *points], [*points, end], strict=True):
        found += quad(lambda z: (1 + math.cos(math.pi * z / zero)) * math.exp(top - (x - z) ** 2 / 2), low, high)[0]
    return math.log(found / math.sqrt(math.tau)) - top


@pytest.mark.parametrize(("end", "zero"), ENDS)
def test_it_is_the_integral(end: float, zero: float) -> None:
    places = [0.0, 1.0, end / 2, end - 1.3, end - 0.01, end, end + 0.3, end + 2, end + 7, end + 12]
    found = log_spread_cosine(end, zero, np.array(places))
    np.testing.assert_allclose(found, [plainly(end, zero, x) for x in places], atol=1e-9)


@pytest.mark.parametrize(("end", "zero"), [(3.0, 4.25), (0.5, 1.75), (3.9, 3.9)])
def test_it_is_the_integral_but_for_a_constant_where_both_ends_are_near(end: float, zero: float) -> None:
    places = [0.0, 1.0, end, end + 3, end + 9]
    found = log_spread_cosine(end, zero, np.array(places))
    expected = np.array([plainly(end, zero, x) for x in places])
    np.testing.assert_allclose(found - found[0], expected - expected[0], atol=1e-9)
