"""Tails of integer noise: against the probabilities themselves, summed and convolved."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.two_sizes import reseeded
from unworn.bounds.noise_tails import Noise, largest_draw, largest_sum, middle_of_largest, rounding
from unworn.noise.samplers import gaussian_log_pmf, laplace_log_pmf

NOISES: tuple[Noise, ...] = ("gaussian", "laplace")


def pmf(noise: Noise, scale: float, reach: int) -> np.ndarray:
    log_pmf = gaussian_log_pmf if noise == "gaussian" else laplace_log_pmf
    return np.exp(log_pmf(np.arange(-reach, reach + 1), scale))


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("scale", [0.2, 0.7, 3.0, 40.0])
@pytest.mark.parametrize("chance", [0.3, 1e-2, 1e-7])
def test_one_draw_is_exact(noise: Noise, scale: float, chance: float) -> None:
    found = int(largest_draw(noise, scale, chance))
    reach = int(60 * scale) + 60
    chances, away = pmf(noise, scale, reach), np.abs(np.arange(-reach, reach + 1))
    assert chances[away > found].sum() <= chance * (1 + 1e-9)
    assert found == 0 or chances[away > found - 1].sum() > chance * (1 - 1e-9)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("scales", [(3.0,) * 6, (0.4, 0.4, 0.4), (1.0, 5.0, 20.0), (8.0,), (2.0,) * 30])
@pytest.mark.parametrize("chance", [0.5, 1e-3, 1e-8])
def test_a_sum_stays_within_its_bound(noise: Noise, scales: tuple[float, ...], chance: float) -> None:
    """The exact distribution of a sum with weights 1 and 2, by convolution."""
    total, weights = np.ones(1), [1 + place % 2 for place in range(len(scales))]
    for weight, scale in zip(weights, scales, strict=True):
        reach = int(45 * scale) + 20
        wide = np.zeros(2 * weight * reach + 1)
        wide[::weight] = pmf(noise, scale, reach)
        total = np.convolve(total, wide)
    sized = np.array(weights) * np.array(scales)
    bound = float(largest_sum(noise, float((sized**2).sum()), float(sized.max()), min(scales), chance))
    away = np.abs(np.arange(len(total)) - len(total) // 2)
    assert total[away > bound].sum() <= chance
    # No empty promise either: beyond a half of the bound there is more than the chance.
    if len(scales) > 1 and chance < 0.1:
        assert total[away > 0.5 * bound].sum() > chance


@pytest.mark.parametrize("scale", [0.01, 0.049, 0.051, 0.1, 0.25, 0.5, 1.0, 4.0])
def test_rounding_bounds_exponential_moments(scale: float) -> None:
    m = np.arange(-400, 401)
    logs = gaussian_log_pmf(m, scale)
    for t in np.logspace(-3, 1, 60):
        moment = float(np.logaddexp.reduce(logs + t * m))
        assert moment <= 0.5 * t * t * (scale**2 + rounding(scale)) + 1e-12


@given(st.sampled_from(NOISES), st.floats(0.1, 1e4), st.floats(1.0, 1e3), st.floats(1e-9, 0.4), st.floats(1.01, 3.0))
@settings(max_examples=80, deadline=None)
def test_bounds_are_monotone(noise: Noise, scale: float, count: float, chance: float, more: float) -> None:
    squares = count * scale**2
    bound = float(largest_sum(noise, squares, scale, scale, chance))
    assert float(largest_sum(noise, squares * more, scale, scale, chance)) >= bound
    assert float(largest_sum(noise, squares, scale, scale, chance / more)) >= bound
    assert largest_draw(noise, scale * more, chance) >= largest_draw(noise, scale, chance)
    assert largest_draw(noise, scale, chance / more) >= largest_draw(noise, scale, chance)
    assert middle_of_largest(noise, squares, scale, 10 * more) >= middle_of_largest(noise, squares, scale, 10.0)


@pytest.mark.parametrize("noise", NOISES)
def test_the_middle_is_about_the_median(noise: Noise) -> None:
    rng = np.random.default_rng(0)
    draws = rng.normal(size=(4000, 500)) if noise == "gaussian" else rng.laplace(size=(4000, 500))
    median = float(np.median(np.abs(draws).max(axis=1)))
    assert middle_of_largest(noise, 1.0, 1.0, 500) == pytest.approx(median, rel=0.02)


def test_the_middle_of_sums_is_chernoffs_and_not_far_above_the_median() -> None:
    """Sums of thirty draws of Laplace noise: a median of 1,000 is off by 10 % in fewer than one run in 1e9."""
    draws = np.random.default_rng(reseeded(1)).laplace(size=(1_000, 100, 30)).sum(axis=2)
    median = float(np.median(np.abs(draws).max(axis=1)))
    middle = middle_of_largest("laplace", 30.0, 1.0, 100)
    assert 0.95 * median < middle < 1.3 * median
    assert middle > 1.5 * middle_of_largest("laplace", 1.0, 1.0, 100)


@pytest.mark.parametrize(("scale", "chance"), [(0.0, 0.1), (math.nan, 0.1), (1.0, 0.0), (1.0, 1.0), (math.inf, 0.1)])
def test_what_is_no_scale_or_chance_is_refused(scale: float, chance: float) -> None:
    with pytest.raises(ValueError, match=r"scale|chance"):
        largest_draw("laplace", scale, chance)
    with pytest.raises(ValueError, match=r"scale|chance"):
        largest_sum("gaussian", 1.0, 1.0, scale, chance)


def test_sums_of_nothing_finite_are_refused() -> None:
    with pytest.raises(ValueError, match="finite"):
        largest_sum("laplace", math.inf, 1.0, 1.0, 0.1)
