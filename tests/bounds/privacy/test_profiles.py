from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unworn.bounds.privacy import GDP, Approximate, Concentrated, Homogeneous, Profile, Pure, bun_steinke

quiet = settings(derandomize=True, deadline=None, max_examples=100)
mpmath = pytest.importorskip("mpmath")
ALL: list[Profile] = [
    Pure(0.3),
    Approximate(0.3, 1e-5),
    GDP(0.05),
    GDP(0.7),
    GDP(6.0),
    Concentrated(1e-4),
    Concentrated(2),
]


@pytest.mark.parametrize("mu", [1e-8, 1e-3, 0.3, 0.4999, 0.5, 1.0, 8.0, 60.0])
@pytest.mark.parametrize("z", [-0.4, 0.0, 0.3, 4.0, 20.0, 36.0])
def test_gaussian_dp_is_exact_to_twelve_digits_and_never_below(mu: float, z: float) -> None:
    epsilon = max(0.0, mu * (z + mu / 2))
    with mpmath.workdps(400):
        a = mpmath.mpf(epsilon) / mu - mpmath.mpf(mu) / 2
        root = mpmath.sqrt(2)
        truth = mpmath.erfc(a / root) / 2 - mpmath.exp(mpmath.mpf(epsilon)) * mpmath.erfc((a + mu) / root) / 2
        excess = float(mpmath.mpf(float(GDP(mu).delta(epsilon))) / truth - 1)
    assert truth > 1e-300
    assert 0.0 <= excess < 3e-12


@quiet
@given(st.floats(-9, 2), st.floats(0, 1), st.floats(0, 20))
def test_zcdp_is_the_minimum_over_orders(log_rho: float, share: float, z: float) -> None:
    rho = 10.0**log_rho
    epsilon = z * math.sqrt(rho) + share * rho
    found = float(Concentrated(rho).delta(epsilon))
    t = np.geomspace(1e-8, 1e8, 4001)
    by_order = np.exp(np.minimum(t * ((t + 1) * rho - epsilon) + t * np.log(t) - (t + 1) * np.log1p(t), 0.0))
    assert found <= by_order.min() * (1 + 1e-8)
    assert found >= by_order.min() * 0.98  # the grid of orders is that fine


@quiet
@given(st.floats(-6, 1), st.floats(0, 12))
def test_the_three_conversions_are_in_order(log_mu: float, z: float) -> None:
    mu = 10.0**log_mu
    epsilon = mu * (z + mu / 2)
    exact, middle = float(GDP(mu).delta(epsilon)), float(Concentrated(mu * mu / 2).delta(epsilon))
    assert exact <= middle <= float(bun_steinke(mu * mu / 2, epsilon)) * (1 + 1e-9)


@pytest.mark.parametrize("profile", ALL)
def test_a_profile_falls_from_at_most_one_to_nothing(profile: Profile) -> None:
    epsilon = np.concatenate([[0.0], np.geomspace(1e-9, 1e3, 300), [np.inf]])
    delta = profile.delta(epsilon)
    assert delta.shape == epsilon.shape
    assert (np.diff(delta) <= 1e-15).all()
    assert delta.min() >= 0.0
    assert delta.max() <= 1.0
    assert profile.delta(0.5).shape == ()
    assert profile.delta([[0.5], [1.0]]).shape == (2, 1)
    assert hash(profile) == hash(profile)
    # convex in e^eps, as every profile is
    y = np.linspace(1.0, 3.0, 200)
    assert (np.diff(profile.delta(np.log(y)), 2) >= -1e-11).all()


@pytest.mark.parametrize("profile", ALL)
@pytest.mark.parametrize("epsilon", [-0.1, math.nan, [0.1, math.nan]])
def test_an_epsilon_that_is_none_is_refused(profile: Profile, epsilon: object) -> None:
    with pytest.raises(ValueError, match="epsilon must be at least 0"):
        profile.delta(epsilon)  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", [-1.0, math.nan, math.inf])
def test_parameters_are_checked(bad: float) -> None:
    for kind in (Pure, GDP, Concentrated):
        with pytest.raises(ValueError, match="finite and at least 0"):
            kind(bad)
    with pytest.raises(ValueError, match="floor"):
        Approximate(0.1, bad)


def test_nothing_spent_is_nothing_lost() -> None:
    for profile in (Pure(0.0), GDP(0.0), Concentrated(0.0)):
        assert profile.delta([0.0, 1.0]).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("size", [1e-320, 1e-308, 1e-200, 1e200, 1e308])
def test_no_size_is_too_extreme(size: float) -> None:
    """Warnings are errors here: nothing overflows on the way to 0 or 1."""
    epsilon = np.array([0.0, 1e-250, 1e-3, 1.0, 700.0, 1e5, np.inf])
    for profile in (Pure(size), GDP(size), Concentrated(size), Homogeneous(size, 0.0, 5)):
        delta = profile.delta(epsilon)
        assert (delta >= 0.0).all()
        assert (np.diff(delta) <= 0.0).all()
        assert delta[3] == (size > 1)
    assert bun_steinke(size, 1.0) == (size > 1)
