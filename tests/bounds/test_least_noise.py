"""No noise within the same reach costs less than 96 % of ours: the least cost is enclosed, by a certificate.

A noise f on |z| < radius and its cover h cost kappa where ln f(z) <= kappa + E ln h(z - Y) at every z. For a given h
the cheapest f is proportional to G(z) = exp E ln h(z - Y), and costs -ln sum G. So the least cost of all is -ln of the
largest sum of geometric means of h, a concave function of h, homogeneous of degree 1: over laws it is at most its
largest derivative at any h > 0, the largest (G * law of -Y)(x) / h(x). That is a lower bound, whatever h is; what G and
h themselves cost is an upper one. Nothing here is taken from the code that prices: a fixed number of rows are kept, the
count among them has SciPy's hypergeometric law, and is rounded to one of the two whole numbers beside it.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.signal import fftconvolve
from scipy.stats import hypergeom

from unworn.bounds.covers import cosine_nats
from unworn.bounds.noisy_means import best_cosine, best_zero
from unworn.bounds.numerics import Floats


def _stretched_law(n: int, m: int) -> Floats:
    """The law of Y, about 0, where n/2 rows count and m of n are kept."""
    spread = math.sqrt(m * (n - m) / (4 * n))
    kept = np.arange(max(0, math.floor(m / 2 - 10 * spread)), min(n // 2, math.ceil(m / 2 + 10 * spread)) + 1)
    places, chances = kept * n / m - n / 2, hypergeom.pmf(kept, n, n // 2, m)
    below = np.floor(places).astype(int)
    reach = int(np.abs(below).max()) + 1
    law = np.zeros(2 * reach + 1)
    np.add.at(law, below + reach, chances * (below + 1 - places))
    np.add.at(law, below + 1 + reach, chances * (places - below))
    return law / law.sum()


def _enclosed(law: Floats, radius: int, start: float, rounds: int) -> tuple[float, float]:
    """The largest lower and the least upper bound for the least cost, while noise and cover are chosen in turn.

    Begun with a cosine that would be 0 at ``start``. A pinch of 1e-10 over all places keeps what a transform loses far
    below the cover; it is a part of the cover, and so of the proof.
    """
    noise = 1 + np.cos(np.pi * np.arange(1 - radius, radius) / start)
    least, most = 0.0, math.inf
    for _ in range(rounds):
        noise /= noise.sum()
        cover = np.maximum(fftconvolve(noise, law[::-1]), 0.0) + 1e-10 / (len(noise) + len(law))
        means = fftconvolve(np.log(cover), law, mode="valid")
        most = min(most, float((np.log(noise) - means).max()) + math.log(cover.sum()))
        noise = np.exp(means)
        least = max(least, -math.log(float((fftconvolve(noise, law[::-1]) / cover).max())))
    return least, most


@pytest.mark.parametrize(
    ("n", "asks", "start", "rounds", "share"),
    [(10_000, 735, 1.5, 200, 0.97), (100_000, 89_000, 1.5, 100, 0.99), (1_000_000, 9_600_000, 5.0, 40, 0.96)],
)
def test_no_noise_costs_much_less_than_ours(n: int, asks: int, start: float, rounds: int, share: float) -> None:
    plan = best_cosine(n, asks, 0.05)
    radius = round(plan.noise)
    ours = cosine_nats(n, plan.kept, radius, best_zero(n, asks, 0.05, radius))
    law = _stretched_law(n, round(plan.kept * n))
    spread = math.sqrt(float(law @ (np.arange(len(law)) - len(law) // 2) ** 2))
    least, most = _enclosed(law, radius, radius + start * spread, rounds)
    assert least <= most
    assert share * ours < least < ours
    if n == 10_000:  # there the two bounds meet, and a cosine that is not cut off costs 18 % more
        assert most < 1.001 * least
        assert cosine_nats(n, plan.kept, radius) > 1.15 * most


def test_a_case_that_can_be_worked_out_by_hand() -> None:
    """Three places, Y = -1 or 1: h(1) + 2 sqrt(h(0) h(2)) is largest where h(0) is a half and h(2), h(-2) a quarter."""
    least, most = _enclosed(np.array([0.5, 0.0, 0.5]), 2, 2.5, 500)
    assert least == pytest.approx(math.log(2) / 2, abs=1e-9)
    assert most == pytest.approx(math.log(2) / 2, abs=1e-3)
