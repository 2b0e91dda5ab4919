from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unworn.bounds.privacy import (
    GDP,
    Approximate,
    Concentrated,
    Homogeneous,
    Pure,
    advanced,
    basic,
    gaussian_rho,
    pure_rho,
)

quiet = settings(derandomize=True, deadline=None, max_examples=100)
mpmath = pytest.importorskip("mpmath")


def exact(epsilon: float, k: int, at: float) -> float:
    """k-fold randomised response, term by term in fifty digits."""
    with mpmath.workdps(50):
        e, odds = mpmath.mpf(epsilon), mpmath.exp(mpmath.mpf(epsilon))
        total = mpmath.mpf(0)
        for b in range(k + 1):
            loss = (2 * b - k) * e
            if loss > at:
                total += (
                    mpmath.binomial(k, b) * (odds**b - mpmath.exp(mpmath.mpf(at)) * odds ** (k - b)) / (1 + odds) ** k
                )
        return float(total)


@quiet
@given(st.floats(1e-4, 2.0), st.integers(1, 60), st.floats(0, 1.1))
def test_homogeneous_composition_is_exact_for_every_epsilon(epsilon: float, k: int, share: float) -> None:
    at = share * k * epsilon
    truth, found = exact(epsilon, k, at), float(Homogeneous(epsilon, 0.0, k).delta(at))
    assert truth <= found * (1 + 1e-13) + 1e-300
    assert found <= truth * (1 + 2e-12) + 1e-13


@pytest.mark.parametrize(("i", "k"), [(0, 5), (1, 5), (2, 5), (3, 11)])
def test_it_is_the_published_formula(i: int, k: int) -> None:
    e, d = 0.3, 1e-3
    inner = sum(math.comb(k, j) * (math.exp((k - j) * e) - math.exp((k - 2 * i + j) * e)) for j in range(i))
    published = 1 - (1 - d) ** k * (1 - inner / (1 + math.exp(e)) ** k)
    assert float(Homogeneous(e, d, k).delta((k - 2 * i) * e)) == pytest.approx(published, rel=1e-10)


@pytest.mark.parametrize("mu", [0.02, 0.3, 2.0])
@pytest.mark.parametrize("z", [0.0, 1.0, 3.0, 6.0])
def test_a_billion_answers_by_a_sum_over_the_tail(mu: float, z: float) -> None:
    k = 10**9
    epsilon, at = mu / math.sqrt(k), mu * (z + mu / 2)
    b = math.floor((k + at / epsilon) / 2) + 1
    js = np.arange(b, b + 400_000, dtype=float)
    with mpmath.workdps(40):
        first = mpmath.log(mpmath.binomial(k, b)) - k * mpmath.log1p(mpmath.exp(mpmath.mpf(epsilon)))
        first = float(first + b * mpmath.mpf(epsilon))
    ratios = np.concatenate([[0.0], np.cumsum(np.log((k - js[:-1]) / (js[:-1] + 1)) + epsilon)])
    truth = float((np.exp(first + ratios) * -np.expm1(at - (2 * js - k) * epsilon)).sum())
    found = float(Homogeneous(epsilon, 0.0, k).delta(at))
    assert found == pytest.approx(truth, rel=2e-6)
    assert found >= truth * (1 - 1e-9)
    assert found == pytest.approx(float(GDP(mu).delta(at)), rel=2e-3)


@quiet
@given(st.floats(1e-3, 0.5), st.integers(2, 5000), st.floats(1e-12, 0.1))
def test_every_other_theorem_is_wider(epsilon: float, k: int, slack: float) -> None:
    together = Homogeneous(epsilon, 0.0, k)
    for book in (False, True):
        at, delta = advanced(epsilon, 0.0, k, slack, book=book)
        assert float(together.delta(at)) <= delta
    at, delta = basic([(epsilon, 0.0)] * k)
    assert float(together.delta(at * (1 + 1e-9))) <= delta + 1e-15
    grid = np.linspace(0.0, at, 20)
    assert (together.delta(grid) <= Concentrated(k * pure_rho(epsilon)).delta(grid) + 1e-13).all()


@quiet
@given(st.floats(1e-3, 5.0), st.floats(1.001, 200.0))
def test_pure_privacy_is_concentrated_at_epsilon_tanh_half(epsilon: float, order: float) -> None:
    top = np.logaddexp(order * epsilon, epsilon - order * epsilon)
    renyi = (top - math.log1p(math.exp(epsilon))) / (order - 1)
    assert renyi <= order * pure_rho(epsilon) * (1 + 1e-9) + 1e-12


def test_more_answers_and_larger_costs_lose_more() -> None:
    at = np.linspace(0.0, 3.0, 40)
    for small, large in [
        (Homogeneous(0.1, 0.0, 50), Homogeneous(0.1, 0.0, 51)),
        (Homogeneous(0.1, 0.0, 50), Homogeneous(0.11, 0.0, 50)),
        (Homogeneous(0.1, 1e-6, 50), Homogeneous(0.1, 1e-5, 50)),
    ]:
        assert (small.delta(at) <= large.delta(at) + 1e-13).all()
        assert (np.diff(small.delta(at)) <= 1e-13).all()


def test_the_ends() -> None:
    at = np.array([0.0, 0.3, 1.0, np.inf])
    assert np.allclose(Homogeneous(0.5, 0.0, 1).delta(at), Pure(0.5).delta(at), atol=1e-14)
    assert np.allclose(Homogeneous(0.5, 1e-3, 1).delta(at), Approximate(0.5, 1e-3).delta(at), atol=1e-14)
    assert Homogeneous(0.5, 1.0, 3).delta(at).tolist() == [1.0] * 4
    assert Homogeneous(0.5, 0.1, 0).delta(at).tolist() == [0.0] * 4
    assert Homogeneous(0.0, 0.0, 9).delta(at).tolist() == [0.0] * 4
    assert float(Homogeneous(900.0, 0.0, 2).delta(10.0)) == 1.0
    assert 0.0 < float(Homogeneous(0.01, 0.0, 10**6).delta(400.0)) < 1e-200  # deeper than betainc can be trusted
    assert float(Homogeneous(0.01, 0.0, 100).delta(1.0 + 1e-9)) == 0.0


def test_mistakes_are_refused() -> None:
    for bad in (-1.0, math.nan, math.inf):
        with pytest.raises(ValueError):
            Homogeneous(bad, 0.0, 3)
        with pytest.raises(ValueError):
            Homogeneous(0.1, bad, 3)
        with pytest.raises(ValueError):
            Homogeneous(0.1, 0.0, bad)  # type: ignore[arg-type]
        with pytest.raises(ValueError):
            gaussian_rho(bad)
        with pytest.raises(ValueError):
            advanced(bad, 0.0, 3, 0.1)
    with pytest.raises(ValueError, match="whole"):
        Homogeneous(0.1, 0.0, 2.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="slack"):
        advanced(0.1, 0.0, 3, 0.0)
    for huge in (800.0, 1e300):
        with pytest.raises(ValueError, match="epsilon above 700"):
            advanced(huge, 0.0, 3, 0.1, book=True)
    with pytest.raises(ValueError, match="promise nothing"):
        advanced(600.0, 0.0, 10**299, 0.1, book=True)
    for sd in (1e-200, 1e200, 5e-324):
        with pytest.raises(ValueError, match="standard deviation"):
            gaussian_rho(sd)
    with pytest.raises(ValueError, match="number of answers"):
        Homogeneous(0.1, 0.0, True)


@pytest.mark.parametrize("k", [1, 2, 3, 7, 10, 50, 100])
@pytest.mark.parametrize("epsilon", [0.01, 0.1, 0.3, 1 / 3, 0.7, 1.1])
def test_never_below_the_truth_next_to_a_tie(epsilon: float, k: int) -> None:
    """At j epsilon and a few floats below: whether the tie counts must not be a matter of rounding.

    k = 50 and epsilon = 0.1 (whose 50-fold is a little above 5.0) has delta(5.0) = 2.8e-30, not 0.
    """
    for j in range(k, 0, -2 * (1 + k // 20)):  # all ties, or one in 3 or 6 of many
        at = j * epsilon
        for _ in range(4):
            truth = exact(epsilon, k, at)
            assert truth * (1 - 1e-12) <= float(Homogeneous(epsilon, 0.0, k).delta(at)) <= truth * (1 + 1e-11) + 1e-14
            at = math.nextafter(at, 0.0)
