from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unworn.bounds import privacy
from unworn.bounds.extremes import largest_laplace
from unworn.bounds.transfer import THEOREMS, best_scale, most_asks, stability, widths
from unworn.bounds.transfer.parameter_search import closer, least, lowest
from unworn.events import Noised

quiet = settings(derandomize=True, deadline=None, max_examples=5)


def test_known_widths() -> None:
    found = widths(10**6, 10**4)
    known = {"splitting, Hoeffding": 0.254, "BNSSSU16 Gaussian": 0.147, "JLNRSS20 Gaussian": 0.096}
    known |= {"JLNRSS20 Gaussian, exact profile": 0.0785, "Rogers20 Gaussian": 0.082, "D1 Gaussian": 0.0472}
    known |= {"D1 bounded": 0.0383}
    for theorem, width in known.items():
        assert found[theorem] == pytest.approx(width, abs=6e-4), theorem
    assert set(found) == set(THEOREMS)


def test_known_widths_at_high_confidence() -> None:
    found = widths(10**6, 10**4, 0.999)
    assert found["D1 Gaussian"] == pytest.approx(0.0625, abs=2e-4)
    # The central limit theorem alone would say .0473; bounded noise has rare large losses, which count at this level
    # (dp_accounting agrees with the profile to three digits).
    assert found["D1 bounded"] == pytest.approx(0.0491, abs=3e-4)


@pytest.mark.parametrize(
    ("theorem", "n", "alpha", "known"),
    [
        ("D1 Gaussian", 10**4, 0.1, 37),
        ("D1 Gaussian", 10**5, 0.1, 2303),
        ("D1+ Gaussian", 10**4, 0.1, 92),
        ("D1+ Gaussian", 10**5, 0.1, 5880),
        ("D1+ Gaussian", 10**6, 0.05, 34_240),
        ("D1 bounded", 10**4, 0.1, 40),
        ("D1 bounded", 10**5, 0.1, 4530),
        ("D1+ bounded", 10**4, 0.1, 111),
        ("D1+ bounded", 10**5, 0.1, 12_687),
        ("D1+ bounded", 10**5, 0.05, 818),
        ("splitting, exact", 10**4, 0.1, 38),
        ("rounding", 10**4, 0.1, 41),
    ],
)
def test_known_numbers_of_asks(theorem: str, n: int, alpha: float, known: int) -> None:
    found = most_asks(theorem, n, alpha, 0.05)
    assert abs(found - known) <= max(1, 0.02 * known)


def test_most_asks_is_the_last_that_fits() -> None:
    for theorem in ("D2 Gaussian", "D2 bounded", "JLNRSS20 Gaussian"):
        k = most_asks(theorem, 10**5, 0.1, 0.05)
        assert best_scale(theorem, 10**5, k, 0.05)[1] <= 0.1
        assert best_scale(theorem, 10**5, math.ceil(1.001 * k) + 1, 0.05)[1] > 0.1
    assert most_asks("D2 Gaussian", 100, 0.01, 0.05) == 0


def test_the_best_scale_is_priced_as_the_mechanism_prices_it() -> None:
    n, k, beta = 10**5, 3000, 0.05
    scale, width = best_scale("D2 bounded", n, k, beta)
    assert scale == int(scale)
    stable = stability(privacy.profile(Noised("cosine", scale), n, k), beta)
    assert width == pytest.approx((scale - 1) / n + stable.width, rel=1e-12)
    scale, width = best_scale("D2 Laplace", n, k, beta)
    stable = stability(privacy.profile(Noised("laplace", scale), n, k), beta)
    assert width == pytest.approx(largest_laplace(scale, k, beta) / n + stable.width, rel=1e-12)


@pytest.mark.parametrize("noise", ["bounded", "Laplace"])
@pytest.mark.parametrize(("n", "k"), [(3000, 20), (10**5, 4000)])
def test_no_other_scale_is_much_better(noise: str, n: int, k: int) -> None:
    scale, width = best_scale(f"D2 {noise}", n, k, 0.05)
    for factor in (0.8, 0.9, 1.1, 1.25):
        other = max(2.0, round(scale * factor))
        stable = stability(privacy.profile(Noised("cosine" if noise == "bounded" else "laplace", other), n, k), 0.05)
        most = other - 1 if noise == "bounded" else largest_laplace(other, k, 0.05)
        assert most / n + stable.width > width * 0.999


@quiet
@given(n=st.integers(100, 10**7), k=st.integers(1, 10**5), beta=st.floats(1e-6, 0.5), more=st.floats(1.05, 5))
def test_monotone(n: int, k: int, beta: float, more: float) -> None:
    for theorem in ("D2 Gaussian", "D1+ Gaussian", "D1 Gaussian", "D2 Laplace"):
        here = best_scale(theorem, n, k, beta)[1]
        assert best_scale(theorem, math.ceil(n * more), k, beta)[1] <= here * 1.002
        assert best_scale(theorem, n, math.ceil(k * more), beta)[1] >= here * 0.998
        assert best_scale(theorem, n, k, min(beta * more, 0.6))[1] <= here * 1.002


def test_hopeless_plans_promise_nothing() -> None:
    found = widths(20, 10**5)
    assert max(found.values()) == 1.0
    assert found["D2 Gaussian"] == 1.0


def test_refuses_unknown_theorems() -> None:
    for name in ("D3 Gaussian", "D2 uniform", "rounding", ""):
        with pytest.raises(ValueError, match="no theorem"):
            best_scale(name, 1000, 10, 0.05)
    with pytest.raises(ValueError, match="no theorem"):
        most_asks("D3 Gaussian", 1000, 0.1, 0.05)
    with pytest.raises(ValueError, match="width"):
        most_asks("D2 Gaussian", 1000, 1.5, 0.05)
    with pytest.raises(ValueError, match="confidence"):
        widths(1000, 10, 95)


def test_searches() -> None:
    assert lowest(lambda x: (math.log(x) - 3) ** 2, 1e-6) == pytest.approx(math.exp(3), rel=1e-3)
    assert lowest(lambda x: x, 1.0) < 1e-20  # falls for ever: left far away
    eps, delta, cost = least(privacy.Pure(0.3), lambda eps, delta: eps + 1e6 * delta)
    assert eps == pytest.approx(0.3, rel=1e-5)
    assert cost == pytest.approx(eps + 1e6 * delta)
    grid = closer(least.__globals__["_COARSE"], 5, 33)
    assert least.__globals__["_COARSE"][5] in grid


@pytest.mark.parametrize("noise", ["Laplace", "Gaussian"])
def test_a_plan_beyond_all_noise_still_names_one_that_can_be_drawn(noise: str) -> None:
    for n, k, beta in ((12_000, 10**7, 0.05), (100, 1, 1e-6), (1, 1, 0.5), (2, 10**12, 1e-9)):
        scale, width = best_scale(f"D2 {noise}", n, k, beta)
        assert 1e-6 < scale < 2**52
        assert largest_laplace(scale / n * n, k, beta) + scale > 0
        assert 0 < width <= 1
