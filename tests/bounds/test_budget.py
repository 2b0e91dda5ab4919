"""Budgets: the parameter found keeps its delta, and hardly more would not."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unworn.bounds.budget import check_budget, concentrated_rho, gaussian_mu, pure_share
from unworn.bounds.privacy import GDP, Concentrated, Homogeneous, advanced

EPSILONS = st.floats(1e-6, 100.0)
DELTAS = st.floats(-300.0, -0.01).map(lambda power: 10.0**power)
CLOSE = 1.0 + 1e-9


@given(EPSILONS, DELTAS)
@settings(derandomize=True, deadline=None, max_examples=100)
def test_the_largest_mu(epsilon: float, delta: float) -> None:
    mu = gaussian_mu(epsilon, delta)
    assert float(GDP(mu).delta(epsilon)) <= delta < float(GDP(mu * CLOSE).delta(epsilon))


@given(EPSILONS, DELTAS)
@settings(derandomize=True, deadline=None, max_examples=100)
def test_the_largest_rho(epsilon: float, delta: float) -> None:
    rho = concentrated_rho(epsilon, delta)
    assert float(Concentrated(rho).delta(epsilon)) <= delta < float(Concentrated(rho * CLOSE).delta(epsilon))
    # mu-GDP is mu^2/2-zCDP, so that route never has less.
    assert rho <= gaussian_mu(epsilon, delta) ** 2 / 2 * CLOSE


@given(st.floats(1e-3, 20.0), st.floats(-100.0, -0.5).map(lambda power: 10.0**power), st.integers(1, 10_000))
@settings(derandomize=True, deadline=None, max_examples=100)
def test_the_largest_share(epsilon: float, delta: float, answers: int) -> None:
    each = pure_share(epsilon, delta, answers)
    if each > pure_share(epsilon, 0.0, answers):
        assert float(Homogeneous(each, 0.0, answers).delta(epsilon)) <= delta
    assert float(Homogeneous(each * CLOSE, 0.0, answers).delta(epsilon)) > delta
    assert advanced(each * CLOSE, 0.0, answers, delta)[0] >= epsilon  # which is a theorem, and not the best one


@given(st.floats(1e-6, 700.0), st.integers(1, 10**9))
@settings(derandomize=True, deadline=None)
def test_equal_parts_never_add_up_to_more(epsilon: float, answers: int) -> None:
    each = pure_share(epsilon, 0.0, answers)
    assert Fraction(each) * answers <= Fraction(epsilon)
    assert each == pytest.approx(epsilon / answers)


@pytest.mark.parametrize("find", [gaussian_mu, concentrated_rho, lambda *budget: pure_share(*budget, 30)])
def test_more_budget_buys_more(find: Any) -> None:
    for epsilons in ([1e-6, 1e-3, 0.1, 1.0, 10.0, 100.0],):
        for delta in (1e-300, 1e-9, 0.3):
            found = [find(epsilon, delta) for epsilon in epsilons]
            assert found == sorted(found)
    found = [find(1.0, 10.0**-power) for power in (300, 100, 30, 9, 5, 1)]
    assert found == sorted(found)


def test_against_a_search_in_fifty_digits() -> None:
    mp = pytest.importorskip("mpmath")
    with mp.workdps(60):
        for epsilon, delta in ((1.0, 1e-5), (1e-6, 1e-300), (100.0, 1e-9), (0.3, 0.2)):

            def excess(mu: Any, epsilon: float = epsilon, delta: float = delta) -> Any:
                a = mp.mpf(epsilon) / mu - mu / 2
                return (mp.erfc(a / mp.sqrt(2)) - mp.exp(epsilon) * mp.erfc((a + mu) / mp.sqrt(2))) / 2 - mp.mpf(delta)

            found = gaussian_mu(epsilon, delta)
            assert excess(mp.mpf(found)) <= 0 < excess(mp.mpf(found * (1 + 1e-8)))


@pytest.mark.parametrize("find", [gaussian_mu, concentrated_rho])
def test_pure_privacy_is_refused_with_the_reason(find: Any) -> None:
    with pytest.raises(ValueError, match="Laplace noise"):
        find(1.0, 0.0)
    with pytest.raises(ValueError, match="Laplace noise"):
        find(1, 0)


@pytest.mark.parametrize(
    ("epsilon", "delta"),
    [
        (0.0, 1e-9),
        (-1.0, 1e-9),
        (math.nan, 1e-9),
        (math.inf, 1e-9),
        (True, 1e-9),
        (1.0, True),
        (1.0, -1e-9),
        (1.0, 1.0),
        (1.0, math.nan),
        (1.0, 1e-310),
        ("1", 1e-9),
        (None, 1e-9),
    ],
)
def test_what_is_no_budget_is_refused(epsilon: Any, delta: Any) -> None:
    for find in (gaussian_mu, concentrated_rho, check_budget, lambda *budget: pure_share(*budget, 3)):
        with pytest.raises(ValueError, match=r"epsilon|delta"):
            find(epsilon, delta)


def test_a_budget_of_next_to_nothing_says_so() -> None:
    with pytest.raises(ValueError, match="nothing that could be spent"):
        concentrated_rho(1e-200, 1e-300)
    with pytest.raises(ValueError, match="answers"):
        pure_share(1.0, 1e-9, 0)
