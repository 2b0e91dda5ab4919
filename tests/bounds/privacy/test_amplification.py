from __future__ import annotations

import itertools
import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unworn.bounds.privacy import GDP, Pure, amplified, compose
from unworn.bounds.privacy.amplification import (
    claimed_with_replacement,
    poisson,
    with_replacement,
    with_replacement_pure,
    without_replacement,
)
from unworn.bounds.privacy.pairs import cosine_atoms, dots, response_atoms

quiet = settings(derandomize=True, deadline=None, max_examples=100)


def laplace_mean_log_ratio(n: int, drawn: int, epsilon: float) -> float:
    """How far replacing a row moves the odds of the talk's own mechanism, exactly.

    One row of n has the value 1, or none has. The mean of l draws with replacement, plus Laplace noise of scale
    1/(l epsilon), is asked to lie far out: there each draw of that row is worth exactly e^epsilon.
    """
    chances = [math.comb(drawn, j) * (1 / n) ** j * (1 - 1 / n) ** (drawn - j) for j in range(drawn + 1)]
    return math.log(sum(chance * math.exp(j * epsilon) for j, chance in enumerate(chances)))


def test_the_claim_for_sampling_with_replacement_is_false() -> None:
    truth, claim = laplace_mean_log_ratio(10, 10, 1.0), claimed_with_replacement(1.0, 10, 10)
    assert (round(truth, 3), round(claim, 3)) == (1.586, 0.751)
    assert truth == pytest.approx(with_replacement_pure(1.0, 10, 10), rel=1e-12)
    assert round(with_replacement_pure(1.0, 500, 10_000), 4) == 0.0859
    assert round(claimed_with_replacement(1.0, 500, 10_000), 4) == 0.0805


@quiet
@given(st.integers(1, 60), st.integers(1, 30), st.floats(0.01, 4))
def test_the_true_cost_is_attained_and_never_below_the_claim(n: int, drawn: int, epsilon: float) -> None:
    truth = with_replacement_pure(epsilon, drawn, n)
    assert truth == pytest.approx(laplace_mean_log_ratio(n, drawn, epsilon), rel=1e-9)
    assert truth >= claimed_with_replacement(epsilon, drawn, n) * (1 - 1e-12)
    if drawn == 1:
        assert truth == pytest.approx(claimed_with_replacement(epsilon, 1, n), rel=1e-9)


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0])
def test_the_approximate_form_holds_for_noise_on_a_count(epsilon: float) -> None:
    n, drawn, base = 5, 4, 0.7  # the changed row has a 1, or a 0; m is discrete Laplace of parameter 0.7
    m = np.arange(-80, 81)
    noise = np.exp(-base * np.abs(m)) * math.tanh(base / 2)
    law = np.zeros(len(m) + drawn)
    for j in range(drawn + 1):
        law[j : j + len(m)] += math.comb(drawn, j) * (1 / n) ** j * (1 - 1 / n) ** (drawn - j) * noise
    plain = np.append(noise, np.zeros(drawn))
    at, bound = with_replacement(lambda j: Pure(j * base), epsilon, drawn, n)
    for p, q in ((law, plain), (plain, law)):
        assert np.maximum(p - math.exp(at) * q, 0.0).sum() <= bound + 1e-12


@pytest.mark.parametrize("epsilon", [12.0, 14.0, 16.0, 18.0])
def test_draws_that_are_not_added_up_any_more_are_charged(epsilon: float) -> None:
    """A row drawn twenty times of fifty is rarer than 1e-19, and delta is no smaller than what it then costs."""
    n = drawn = 50
    chances = [math.comb(drawn, j) * (n - 1) ** (drawn - j) / n**drawn for j in range(drawn + 1)]
    exact = math.fsum(chance * float(Pure(float(j)).delta(epsilon)) for j, chance in enumerate(chances))
    found = with_replacement(lambda j: Pure(float(j)), epsilon, drawn, n)[1]
    assert exact <= found * (1 + 1e-12)
    assert found <= exact + 2e-15


def test_the_share_of_draws_without_replacement() -> None:
    """Every sample of l of n rows, written out: the count's law with one 1 among the rows, or none."""
    n, drawn, base = 6, 2, 1.2
    hits = [sum(0 in s for s in itertools.combinations(range(n), drawn)), math.comb(n, drawn)]
    share = hits[0] / hits[1]
    assert share == pytest.approx(drawn / n)
    m = np.arange(-60, 62)
    noise = np.exp(-base * np.abs(m)) * math.tanh(base / 2)
    moved = np.exp(-base * np.abs(m - 1)) * math.tanh(base / 2)
    mixed = (1 - share) * noise + share * moved
    atoms = response_atoms(base, share)
    grid = np.linspace(0.0, 0.6, 30)
    for p, q in ((mixed, noise), (noise, mixed)):
        exact = np.array([np.maximum(p - math.exp(e) * q, 0.0).sum() for e in grid])
        priced = compose(atoms, 1, step=atoms.top).delta(grid)
        assert (priced >= exact - 1e-15).all()
    assert without_replacement(base, 0.0, drawn, n)[0] == pytest.approx(atoms.top, rel=1e-12)
    exact_forward = np.array([np.maximum(mixed - math.exp(e) * noise, 0.0).sum() for e in grid])
    assert np.allclose(compose(atoms, 1, step=atoms.top).delta(grid), exact_forward, atol=1e-12)  # and attained


@pytest.mark.parametrize("share", [0.01, 0.3, 1.0])
def test_amplified_losses_have_the_stretched_profile(share: float) -> None:
    for atoms, base in (
        (cosine_atoms(40), compose(cosine_atoms(40), 1)),
        (dots(GDP(0.5), np.arange(1, 2400) / 128), GDP(0.5)),
    ):
        grid = np.linspace(0.0, 1.2, 30)
        stretched = np.log1p(share * np.expm1(grid))
        thinner = amplified(atoms, share)
        found = (
            np.maximum(-np.expm1(stretched[:, np.newaxis] - thinner.losses), 0.0) @ thinner.masses + thinner.infinite
        )
        assert np.allclose(found, share * base.delta(grid), rtol=2e-3, atol=1e-9)
        assert thinner.masses.sum() + thinner.infinite == pytest.approx(1.0, abs=1e-12)


def test_poisson_and_its_ends() -> None:
    assert poisson(1.0, 1e-5, 1.0) == pytest.approx((1.0, 1e-5))
    assert poisson(1.0, 1e-5, 0.0) == (0.0, 0.0)
    assert poisson(1000.0, 0.0, 0.5)[0] == pytest.approx(1000 - math.log(2))


def test_mistakes_are_refused() -> None:
    with pytest.raises(ValueError, match="cannot be drawn"):
        without_replacement(1.0, 0.0, 11, 10)
    for bad in (math.nan, -1.0, math.inf):
        with pytest.raises(ValueError):
            poisson(bad, 0.0, 0.5)
        with pytest.raises(ValueError):
            poisson(1.0, 0.0, bad)
        with pytest.raises(ValueError):
            with_replacement_pure(1.0, bad, 10)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("drawn", "rows", "epsilon"), [(1000, 1000, 16.0), (1000, 1000, 14.0), (10, 10, 1.0), (10, 1000, 9.0), (5, 1, 1.0)]
)
def test_deltas_with_replacement_are_never_below_the_exact_sum(drawn: int, rows: int, epsilon: float) -> None:
    with mpmath.workdps(60):
        chance, odds = mpmath.mpf(1) / rows, mpmath.exp(epsilon)
        chances = [
            mpmath.binomial(drawn, j) * chance**j * (1 - chance) ** (drawn - j) for j in range(min(drawn, 150) + 1)
        ]
        terms = [each * (mpmath.exp(j) - odds) / (1 + mpmath.exp(j)) for j, each in enumerate(chances)]
        exact = float(mpmath.fsum(max(term, 0) for term in terms[1:]))
    told = with_replacement(lambda j: Pure(float(j)), epsilon, drawn, rows)[1]
    assert exact <= told <= exact * (1 + 1e-10)
