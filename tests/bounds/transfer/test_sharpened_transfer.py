from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unworn.bounds.privacy.profiles import GDP, Approximate, Concentrated, Pure
from unworn.bounds.transfer.sharpened_transfer import (
    d1,
    d1_gap,
    d1_gdp,
    d1_plus,
    d1_plus_gap,
    d2,
    d2_gap,
    relative_above,
    relative_below,
)

quiet = settings(derandomize=True, deadline=None, max_examples=60)
losses = st.floats(1e-6, 3.0)
levels = st.floats(-9, math.log10(0.9)).map(lambda power: 10**power)


@pytest.mark.parametrize(
    ("beta", "first", "second"),
    [(0.1, 1.031, 0.584), (0.05, 1.169, 0.647), (0.01, 1.446, 0.776), (0.001, 1.777, 0.933)],
)
def test_constants_for_small_losses(beta: float, first: float, second: float) -> None:
    mu = 1e-5
    assert d1(GDP(mu), beta) / mu == pytest.approx(first, abs=6e-4)
    assert d1_plus(GDP(mu), beta) / mu == pytest.approx(second, abs=6e-4)
    assert d2(GDP(mu), beta) / mu == pytest.approx(second, abs=6e-4)


@pytest.mark.parametrize(("mu", "known"), [(0.02, 0.662), (0.05, 0.685), (0.1, 0.724), (0.2, 0.811)])
def test_constants_of_d1_plus(mu: float, known: float) -> None:
    assert d1_plus(GDP(mu), 0.05) / mu == pytest.approx(known, abs=6e-4)


@quiet
@given(mu=losses, beta=levels)
def test_the_closed_form_of_d1(mu: float, beta: float) -> None:
    assert d1(GDP(mu), beta) == pytest.approx(d1_gdp(mu, beta), rel=1e-6)


@quiet
@given(mu=losses, beta=levels)
def test_iterating_d1_plus_ends_at_its_fixed_point(mu: float, beta: float) -> None:
    eps = np.concatenate([np.linspace(0, 6 * mu, 4001), np.geomspace(1e-7, 30, 4001)])
    tilt, floor = np.tanh(eps / 2), 2 * GDP(mu).delta(eps) / ((1 + np.exp(eps)) * beta)
    stable = float(np.min(tilt + floor))
    for _ in range(200):
        stable = min(stable, float(np.min(tilt * (0.5 + stable) + floor)))
    assert d1_plus(GDP(mu), beta) == pytest.approx(stable, rel=5e-4)


@settings(quiet, max_examples=20)
@given(mu=losses, beta=levels, other=losses)
def test_each_theorem_improves_on_the_one_before(mu: float, beta: float, other: float) -> None:
    for profile in (GDP(mu), Pure(mu), Approximate(mu, other / 1000), Concentrated(mu)):
        first, plus, second = d1(profile, beta), d1_plus(profile, beta), d2(profile, beta)
        assert 0 < second <= plus * (1 + 1e-5)
        assert plus <= first
    assert d2_gap(mu, other / 1000, beta) <= 1e-12 + min(
        d1_gap(mu, other / 1000, beta), d1_plus_gap(mu, other / 1000, beta)
    )


@quiet
@given(mu=losses, beta=levels, up=st.floats(1, 3))
def test_monotone(mu: float, beta: float, up: float) -> None:
    for theorem in (d1, d1_plus, d2):
        here = theorem(GDP(mu), beta)
        assert theorem(GDP(mu * up), beta) >= here * (1 - 1e-6)
        assert theorem(GDP(mu), min(0.95, beta * up)) <= here * (1 + 1e-6)


@quiet
@given(eps=st.floats(1e-4, 5), beta=levels)
def test_pure_privacy_gives_a_quarter(eps: float, beta: float) -> None:
    # Above tanh(eps/4) beta the loss itself is better spent than passed over.
    assert d2(Pure(eps), beta) <= math.tanh(eps / 4) * (1 + 1e-5)
    assert d2(Pure(eps), 1e-9) == pytest.approx(math.tanh(eps / 4), rel=1e-5)
    assert d1(Pure(eps), 1e-9) == pytest.approx(math.tanh(eps / 2), rel=1e-5)
    assert d1_plus_gap(eps, 0.0, beta) == pytest.approx(min(1.0, math.expm1(eps) / 4))


def subset_gap(eps: float, delta: float, beta: float, size: int) -> float:
    """What a mechanism attains that publishes its row with weight delta, and else a random set, on an event of beta.

    The set holds a share of the ``size`` possible rows, its own with the odds e^eps; the question is whether a row is
    in the set. Told its row, the question is that row alone. Other sets are thrown away with a fair coin, so the
    event has probability beta.
    """
    share = round(size / (1 + math.exp(eps / 2))) / size
    posterior = math.exp(eps) * share / (1 + math.expm1(eps) * share)
    return delta * (1 - 1 / size) + (beta - delta) * (posterior - share)


@pytest.mark.parametrize("eps", [0.01, 0.3, 1.0, 4.0])
@pytest.mark.parametrize(("delta", "beta"), [(0.0, 0.05), (0.01, 0.05), (0.04, 0.05), (0.001, 0.9)])
def test_d2_is_attained(eps: float, delta: float, beta: float) -> None:
    bound = beta * d2_gap(eps, delta, beta)
    attained = subset_gap(eps, delta, beta, 10**7)
    assert bound * (1 - 1e-5) < attained <= bound
    assert attained <= beta * min(d1_gap(eps, delta, beta), d1_plus_gap(eps, delta, beta))


def test_relative_forms() -> None:
    assert relative_above(0.001, 0.0, 0.1, 0.0, 0.05) == pytest.approx(0.001 * math.exp(0.1))
    assert relative_below(0.001, 0.0, 0.1, 0.0, 0.05) == pytest.approx(0.001 * math.exp(-0.1))
    assert relative_below(0.001, 0.01, 0.1, 0.0, 0.05) == 0.0
    assert relative_above(0.999, 0.01, 0.1, 0.0, 0.05) == 1.0
    assert relative_above(0.1, 0.01, 0.1, 1e-3, 0.05) > relative_above(0.1, 0.01, 0.1, 1e-4, 0.05)


@pytest.mark.parametrize("beta", [0.0, 1.0, math.nan, -1.0])
def test_refuses_bad_levels(beta: float) -> None:
    for theorem in (d1, d1_plus, d2):
        with pytest.raises(ValueError, match="beta"):
            theorem(GDP(0.1), beta)
    with pytest.raises(ValueError, match="beta"):
        d1_gdp(0.1, beta)


def test_refuses_bad_privacy() -> None:
    for eps in (-0.1, math.nan, math.inf, 1e4):
        with pytest.raises(ValueError, match="epsilon"):
            d2_gap(eps, 0.0, 0.05)
    for delta in (-0.1, 1.1, math.nan):
        with pytest.raises(ValueError, match="delta"):
            d1_gap(0.1, delta, 0.05)
    with pytest.raises(ValueError, match="mu"):
        d1_gdp(-1.0, 0.05)


@pytest.mark.parametrize("relative", [relative_above, relative_below])
def test_relative_forms_refuse_what_is_no_number(relative: Callable[..., float]) -> None:
    for released in (math.nan, math.inf, -math.inf):
        with pytest.raises(ValueError, match="released"):
            relative(released, 0.01, 0.1, 1e-6, 0.05)
    for noise in (math.nan, math.inf, -1e-9):
        with pytest.raises(ValueError, match="noise"):
            relative(0.1, noise, 0.1, 1e-6, 0.05)


@quiet
@given(released=st.floats(-3, 4), noise=st.floats(0, 2), eps=st.floats(0, 3), delta=st.floats(0, 1))
def test_relative_forms_are_shares(released: float, noise: float, eps: float, delta: float) -> None:
    assert 0.0 <= relative_above(released, noise, eps, delta, 0.05) <= 1.0
    assert 0.0 <= relative_below(released, noise, eps, delta, 0.05) <= 1.0


@quiet
@given(theta=st.floats(0, 1), eps=st.floats(1e-3, 5))
def test_the_second_form_is_about_a_mean(theta: float, eps: float) -> None:
    """y - theta <= t + (1-t) b^+ with b = (1 + (a-1) theta) y - a theta, for every mean y; equality at the worst."""
    a, t = math.exp(eps), math.tanh(eps / 4)
    y = np.linspace(0, 1, 101)
    bracket = (1 + (a - 1) * theta) * y - a * theta
    assert (y - theta <= t + (1 - t) * np.maximum(bracket, 0) + 1e-12).all()
    worst = 1 / (1 + math.exp(eps / 2))
    assert a * worst / (1 + (a - 1) * worst) - worst == pytest.approx(t)
