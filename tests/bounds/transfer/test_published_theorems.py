from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from unworn.bounds.privacy.profiles import GDP
from unworn.bounds.transfer import (
    best_scale,
    bnsssu16,
    bnsssu16_tail,
    dfhprr15,
    dfhprr15_pure,
    expectation,
    jlnrss20,
    jlnrss20_gaussian,
    jlnrss20_minimisation,
    jlnrss20_profile,
    jlnrss20_sensitive,
    minimisation_width,
    rogers20,
    sensitive_width,
    sharp_expectation,
    tanh_expectation,
)

quiet = settings(derandomize=True, deadline=None, max_examples=15)
GAUSSIAN = (dfhprr15, bnsssu16, rogers20, jlnrss20_gaussian, jlnrss20_profile)
rows = st.integers(10**4, 10**8)
asks = st.integers(1, 10**6)
levels = st.floats(1e-6, 0.3)


@pytest.mark.parametrize(
    ("beta", "known"),
    [(0.05, (0.147, 0.082, 0.096, 0.0785)), (1e-3, (None, 0.239, 0.114, 0.1005))],
)
def test_known_widths(beta: float, known: tuple[float | None, ...]) -> None:
    for theorem, width in zip(GAUSSIAN[1:], known, strict=True):
        if width is not None:
            assert theorem(10**6, 10**4, beta).width == pytest.approx(width, abs=6e-4)


@pytest.mark.parametrize(
    ("n", "alpha", "known"),
    [
        (10**4, 0.1, (None, 2, 2, 4)),
        (10**5, 0.1, (29, 263, 153, 323)),
        (10**6, 0.1, (2270, 21_200, 11_636, 25_232)),
        (10**7, 0.05, (12_704, 119_936, 65_504, 143_744)),
    ],
)
def test_known_numbers_of_asks(n: int, alpha: float, known: tuple[int | None, ...]) -> None:
    for theorem, k in zip(GAUSSIAN[1:], known, strict=True):
        if k is not None:
            assert theorem(n, max(1, math.floor(0.98 * k) - 1), 0.05).width <= alpha
            assert theorem(n, math.ceil(1.02 * k) + 1, 0.05).width > alpha


def test_a_tighter_profile_is_narrower() -> None:
    by_zcdp, exact = jlnrss20_profile(10**6, 10**4, 0.05, False), jlnrss20_profile(10**6, 10**4, 0.05)
    assert exact.width < by_zcdp.width < jlnrss20_gaussian(10**6, 10**4, 0.05).width
    assert by_zcdp.width == pytest.approx(0.0844, abs=1e-4)


@quiet
@given(n=rows, k=asks, beta=levels, more=st.floats(1.05, 20.0))
def test_monotone(n: int, k: int, beta: float, more: float) -> None:
    for theorem in GAUSSIAN:
        here = theorem(n, k, beta).width
        assert theorem(math.ceil(n * more), k, beta).width <= here * 1.0005
        assert theorem(n, math.ceil(k * more), beta).width >= here * 0.9995
        if theorem is not bnsssu16:  # the number of a monitor's copies is whole: its width jumps where 1/beta is
            assert theorem(n, k, min(0.5, beta * more)).width <= here * 1.0005


@quiet
@given(n=rows, k=asks, beta=levels)
def test_d1_is_below_every_published_theorem(n: int, k: int, beta: float) -> None:
    first = best_scale("D1 Gaussian", n, k, beta)[1]
    best = min(theorem(n, k, beta).width for theorem in (bnsssu16, jlnrss20_gaussian, jlnrss20_profile))
    assert first < best or best > 1
    assert best_scale("D1+ Gaussian", n, k, beta)[1] <= first * 1.0001
    assert best_scale("D2 Gaussian", n, k, beta)[1] <= best_scale("D1+ Gaussian", n, k, beta)[1] * 1.0001 or first > 0.5


def test_the_split_of_beta_is_the_best() -> None:
    accuracy, chance, eps, delta, beta = 0.02, 3e-5, 0.03, 2e-6, 0.05
    for weight, ours in (
        ((1.0, 2.0), jlnrss20(accuracy, chance, eps, delta, beta)),
        ((0.7, 2.8), jlnrss20_sensitive(accuracy, chance, eps, delta, beta, 0.7)),
        ((1.4, 5.6), jlnrss20_minimisation(accuracy, chance, eps, delta, beta, 0.7)),
    ):
        grown, charged = weight
        c = np.geomspace(chance / beta * 1.0001, 1, 200_001)
        d = delta / (beta - chance / c)
        best = float(np.min(accuracy + grown * math.expm1(eps) + c + charged * d))
        assert ours == pytest.approx(best, rel=1e-6)


def test_mutual_information_is_minimised() -> None:
    n, k, beta = 10**5, 300, 0.05
    found = rogers20(n, k, beta)

    def width(log_rho: float) -> float:
        rho = math.exp(log_rho)
        inner = optimize.minimize_scalar(
            lambda share: (2 * rho * k * n - math.log1p(-share)) / share, bounds=(1e-9, 1 - 1e-9), method="bounded"
        )
        return math.sqrt(inner.fun / (2 * n * beta)) + math.sqrt(math.log(4 * k / beta) / rho) / n

    best = optimize.minimize_scalar(width, bounds=(-25, -5), method="bounded", options={"xatol": 1e-6})
    assert found.width == pytest.approx(best.fun, rel=1e-6)
    assert found.sigma == pytest.approx(1 / (n * math.sqrt(2 * math.exp(best.x))), rel=1e-2)


def test_expectations() -> None:
    for eps, delta in itertools.product((0.0, 0.1, 1.0), (0.0, 0.01)):
        assert sharp_expectation(eps, delta) <= tanh_expectation(eps, delta) <= expectation(eps, delta)
    assert expectation(0.0, 0.01) == sharp_expectation(0.0, 0.01) == 0.01
    for theorem in (expectation, tanh_expectation, sharp_expectation):
        with pytest.raises(ValueError, match="epsilon above 700"):
            theorem(800.0, 0.1)
        assert theorem(700.0, 0.1) >= 1.0


def test_theorems_with_conditions() -> None:
    assert dfhprr15_pure(10**4, 0.1, 0.05) == 0.2
    assert dfhprr15_pure(10**4, 0.001, 0.05) == pytest.approx(math.sqrt(12 * math.log(80) / 10**4))
    assert bnsssu16_tail(10**6, 0.01, 1e-6).width == 0.18
    with pytest.raises(ValueError, match="rows"):
        bnsssu16_tail(10**4, 0.01, 1e-6)
    with pytest.raises(ValueError, match="1/3"):
        bnsssu16_tail(10**6, 0.4, 1e-6)


def test_other_questions_scale_with_their_reach() -> None:
    profile = GDP(0.05)
    share = sensitive_width(0.0, profile, 0.05, 1.0)
    assert sensitive_width(0.01, profile, 0.05, 3.0) == pytest.approx(0.01 + 3 * share)
    assert minimisation_width(0.01, profile, 0.05, 3.0) == pytest.approx(0.01 + 6 * share)
    for bad in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(ValueError, match="reach"):
            sensitive_width(0.01, profile, 0.05, bad)


@pytest.mark.parametrize("theorem", GAUSSIAN)
def test_refuses_bad_plans(theorem: object) -> None:
    assert callable(theorem)
    for n, k, beta in ((0, 1, 0.05), (10, 0, 0.05), (10, 1, 0.0), (10, 1, 1.0), (math.nan, 1, 0.05), (10, 1, math.nan)):
        with pytest.raises(ValueError):
            theorem(n, k, beta)
