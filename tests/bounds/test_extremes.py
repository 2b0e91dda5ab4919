from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from unworn.bounds.extremes import _rounded_up, cvar, largest_deviation, largest_gaussian, largest_laplace

quiet = settings(derandomize=True, deadline=None, max_examples=60)
asks = st.integers(1, 10**12)
levels = st.floats(-12, math.log10(0.999)).map(lambda power: 10**power)


@pytest.mark.parametrize(
    ("k", "beta", "known"),
    [
        (1, 1e-12, 7.265708447250797),
        (10, 0.999, 1.8819903752822578),
        (1000, 0.05, 4.275775535019887),
        (10**6, 0.05, 5.621865895936296),
        (10**12, 1e-12, 10.361906610505963),
        (10**12, 0.999, 7.207901303011163),
    ],
)
def test_largest_gaussian_against_sixty_digits(k: int, beta: float, known: float) -> None:
    assert largest_gaussian(k, beta) == pytest.approx(known, rel=1e-12)  # from arithmetic with sixty digits


@pytest.mark.parametrize(("k", "beta"), [(1, 0.5), (7, 0.05), (300, 0.2)])
def test_largest_gaussian_is_the_mean_of_the_worst(k: int, beta: float) -> None:
    mean, _ = integrate.quad(lambda u: -stats.norm.ppf(-np.expm1(np.log1p(-u) / k) / 2), 0, beta)
    assert largest_gaussian(k, beta) == pytest.approx(mean / beta, rel=1e-7)


@pytest.mark.parametrize(
    ("scale", "k", "beta"), [(0.4, 3, 0.05), (5.0, 1, 0.9), (37.5, 1000, 0.01), (300.0, 50, 0.999)]
)
def test_largest_laplace_is_the_sum_over_whole_numbers(scale: float, k: int, beta: float) -> None:
    q = math.exp(-1 / scale)
    j = np.arange(1, math.ceil(120 * scale + 50))
    tails = -np.expm1(k * np.log1p(-2 * q**j / (1 + q)))
    assert largest_laplace(scale, k, beta) == pytest.approx(np.minimum(1, tails / beta).sum(), rel=1e-10)


def test_wide_laplace_joins_on() -> None:
    below, above = largest_laplace(1999.999, 1000, 0.05), largest_laplace(2000.001, 1000, 0.05)
    assert below < above < below + 1.1
    assert largest_laplace(1e9, 1, 0.05) / 1e9 == pytest.approx(1 - math.log(0.05), rel=1e-8)


def exact_deviation(rows: int, ones: int, drawn: int, scale: float, beta: float, replaced: bool) -> float:
    """CVaR of one deviation, by adding up all cases."""
    counts = np.arange(drawn + 1)
    law = stats.binom(drawn, ones / rows) if replaced else stats.hypergeom(rows, ones, drawn)
    noise = np.arange(-math.ceil(60 * scale), math.ceil(60 * scale) + 1)
    masses = np.exp(-np.abs(noise) / scale)
    masses /= masses.sum()
    far = np.abs(counts[:, None] + noise - drawn * ones / rows).ravel() / drawn
    weights = np.outer(law.pmf(counts), masses).ravel()
    order = np.argsort(-far)
    taken = np.minimum(np.cumsum(weights[order]), beta)
    return float(far[order] @ np.diff(taken, prepend=0.0)) / beta


@pytest.mark.parametrize("replaced", [True, False])
@pytest.mark.parametrize(("rows", "drawn"), [(100, 20), (60, 45), (1000, 200), (50, 50)])
@pytest.mark.parametrize("scale", [0.3, 2.0, 15.0])
def test_deviation_covers_the_exact_one(rows: int, drawn: int, scale: float, replaced: bool) -> None:
    for beta, share in itertools.product((0.9, 0.2, 0.01), (0.02, 0.5, 0.9)):
        exact = exact_deviation(rows, round(share * rows), drawn, scale, beta, replaced)
        bound = largest_deviation(rows, drawn, scale, 1, beta, replaced)
        assert exact <= bound + 1e-12
        if share == 0.5 and beta == 0.01:
            assert bound < 1.35 * exact + 0.6 / drawn


@pytest.mark.parametrize(
    ("rows", "drawn", "replaced", "remaining"),
    [
        (100, 20, True, 1.0),
        (100, 20, False, 1 - 19 / 100),
        (100, 50, False, 1 - 49 / 100),
        (3, 2, False, 1 / 3 * 3 / 2),
        (10, 9, False, 1 / 10 * 10 / 9),
        (60, 45, False, 1 / 4 * 46 / 45),
    ],
)
@pytest.mark.parametrize("beta", [0.9, 0.05, 1e-6])
def test_without_noise_it_is_the_cvar_of_hoeffding_serfling_or_bardenet(
    rows: int, drawn: int, replaced: bool, remaining: float, beta: float
) -> None:
    """P(|H| > x) = 2 exp(-2 l x^2/r): its CVaR has a closed form. Noise of scale 1e-6 is 0, and is charged one row."""
    rate = 2 * drawn / remaining
    start = math.sqrt(math.log(2 / beta) / rate)
    beyond = math.sqrt(math.pi / rate) * math.erfc(start * math.sqrt(rate)) / beta
    found = largest_deviation(rows, drawn, 1e-6, 1, beta, replaced)
    assert found - 1 / drawn == pytest.approx(start + beyond, abs=2e-6)


def test_deviation_of_all_rows_is_the_noise() -> None:
    assert largest_deviation(500, 500, 7.0, 10, 0.05) == largest_laplace(7.0, 10, 0.05) / 500


@quiet
@given(k=asks, beta=levels, more=st.integers(1, 10**6), up=st.floats(1.0, 10.0))
def test_monotone(k: int, beta: float, more: int, up: float) -> None:
    higher = min(beta * up, 0.9995)
    scale = 40.0
    for largest in (
        largest_gaussian,
        lambda k, beta: largest_laplace(scale, k, beta),
        lambda k, beta: largest_deviation(10**6, 10**4, scale, k, beta),
    ):
        here = largest(k, beta)
        assert 0 < here < math.inf
        assert largest(k + more, beta) >= here * (1 - 1e-12)
        assert largest(k, higher) <= here * (1 + 1e-12)
    assert largest_laplace(scale * up, k, beta) >= largest_laplace(scale, k, beta) * (1 - 1e-12)
    assert largest_deviation(10**6, 10**4, scale * up, k, beta) >= largest_deviation(10**6, 10**4, scale, k, beta) * (
        1 - 1e-12
    )


def test_cvar_of_what_is_known() -> None:
    assert cvar(lambda x: -3.0 * x, 0.3) == pytest.approx((1 - math.log(0.3)) / 3, rel=1e-12)
    assert cvar(lambda x: math.log(0.01) - x, 0.05) == pytest.approx(0.2, rel=1e-12)  # mostly 0: no VaR to start from
    # Uniform on [0, 1]: the mean of the worst beta is 1 - beta/2.
    with np.errstate(divide="ignore"):
        assert cvar(lambda x: np.log(np.clip(1 - x, 0, 1)), 0.2) == pytest.approx(0.9, rel=1e-3)


@pytest.mark.parametrize("bad", [0.0, 1.0, -0.1, math.nan, math.inf])
def test_refuses_bad_levels(bad: float) -> None:
    for call in (largest_gaussian, lambda k, beta: largest_laplace(1.0, k, beta)):
        with pytest.raises(ValueError, match="strictly between 0 and 1"):
            call(10, bad)


def test_refuses_bad_numbers() -> None:
    for k in (0, 1.5, math.nan, math.inf):
        with pytest.raises(ValueError, match="whole number"):
            largest_gaussian(k, 0.05)  # type: ignore[arg-type]
    for scale in (0.0, -1.0, math.nan, math.inf, 1e-310, 1e-7, 5e15, 1e300):
        with pytest.raises(ValueError, match=r"scale of the noise must lie in \[1e-6, 2\*\*52\]"):
            largest_laplace(scale, 10, 0.05)
        with pytest.raises(ValueError, match="scale"):
            largest_deviation(100, 10, scale, 10, 0.05)
    with pytest.raises(ValueError, match="rows drawn"):
        largest_deviation(100, 101, 1.0, 10, 0.05)
    assert largest_deviation(100, 101, 1.0, 10, 0.05, replaced=True) > 0
    with pytest.raises(ValueError, match="does not fall"):
        cvar(lambda x: np.zeros(x.shape), 0.05)


@pytest.mark.parametrize("scale", [1e-6, 1e-3, 1e3, 2.0**52])
def test_every_scale_that_is_allowed_works(scale: float) -> None:
    """Warnings are errors here."""
    for k, beta in itertools.product((1, 10**12), (1e-12, 0.05, 0.999)):
        noise = largest_laplace(scale, k, beta)
        assert 0 <= noise < math.inf
        for rows, drawn in ((10, 1), (10, 9), (10, 10), (10**9, 10**6), (10**15, 10**15 - 1)):
            for replaced in (False, True):
                assert noise / drawn * (1 - 1e-9) - 0.5 / drawn <= largest_deviation(
                    rows, drawn, scale, k, beta, replaced
                )


@quiet
@given(scale=st.floats(-6, 12).map(lambda power: 10**power))
def test_discrete_noise_is_below_the_continuous_and_its_shift(scale: float) -> None:
    """P(m >= j) <= P(Y + c >= j) for all whole j, in exact tails, and for no smaller c; half a row is not enough."""
    shift, log_q = _rounded_up(scale), -1 / scale
    assert 0.5 <= shift <= 1.0
    j = np.concatenate([np.arange(1.0, 40.0), np.geomspace(40, max(41.0, 30 * scale), 30).round()])
    log_front = -math.log1p(math.exp(log_q))
    # Upwards, in logarithms: P(m >= j) = q^j/(1+q), P(Y >= j - c) = q^(j-c)/2.
    assert (j * log_q + log_front <= np.log(0.5) + (j - shift) * log_q + 1e-12).all()

    def spare(c: float) -> np.ndarray:
        """Downwards, P(m < j) - P(Y + c < j) at 1 - j = i: q^i/(1+q) - q^(i-1+c)/2, relative to q^i."""
        return np.exp(log_front) - 0.5 * np.exp(np.full(len(j), (c - 1) * log_q))

    assert (spare(shift) >= -1e-9).all()
    if 0.05 < scale < 1e3:
        assert (spare(0.5) < 0).all()
        assert (spare(shift - 0.01) < 0).all()


def test_a_draw_that_always_strays_needs_more_than_half_a_row() -> None:
    """Where a count is off by ten rows for sure, one in P(m >= -9) of the cases shows it: too many for half a row."""
    scale = 1.0
    q = math.exp(-1)
    below = q**10 / (1 + q)  # P(m <= -10)
    assert 1 - below > 1 - 0.5 * q**9.5  # P(Y + 1/2 >= -9)
    assert 1 - below <= 1 - 0.5 * q ** (9 + _rounded_up(scale)) + 1e-15
