"""Claims: what they allow, and what an event proves about them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from unworn.bounds.privacy import GDP, Homogeneous, Losses, Pure, compose
from unworn.bounds.privacy.pairs import cosine_atoms
from unworn.lab.audit import Claim

CLAIMS = [
    Claim.pure(1.0),
    Claim.approximate(0.5, 0.01),
    Claim.gaussian(1.0),
    Claim(Homogeneous(0.5, 0.0, 3)),
    Claim(compose(cosine_atoms(12), 2), 0.05),
]


def test_the_quoted_number() -> None:
    assert [claim.value for claim in CLAIMS[:4]] == [1.0, 0.5, 1.0, 1.5]
    assert isinstance(CLAIMS[4].profile, Losses)
    assert float(CLAIMS[4].profile.delta(CLAIMS[4].value)) <= 0.05
    assert float(CLAIMS[4].profile.delta(CLAIMS[4].value - 1e-6)) > 0.05
    with pytest.raises(ValueError, match="larger delta"):
        Claim(compose(cosine_atoms(4), 2), 1e-6)
    with pytest.raises(ValueError):
        Claim.pure(math.nan)
    with pytest.raises(ValueError):
        Claim(Pure(1.0), 1.5)


@pytest.mark.parametrize("claim", CLAIMS, ids=str)
def test_randomised_response_and_threshold_tests_are_allowed(claim: Claim) -> None:
    """What is allowed is at least the chance itself, rises with it, and is what the profile says at every epsilon."""
    q = np.linspace(0.0, 1.0, 201)
    most = claim.allowed(q)
    assert np.all(most >= q - 1e-12)
    assert np.all(np.diff(most) >= -1e-12)
    for epsilon in (0.0, 0.3, 1.0):
        assert np.all(most <= np.exp(epsilon) * q + claim.profile.delta(epsilon) + 2e-2)


def test_gaussian_trade_off() -> None:
    q = np.array([0.001, 0.1, 0.5])
    assert Claim.gaussian(1.0).allowed(q) == pytest.approx(norm.cdf(norm.ppf(q) + 1.0))


@settings(derandomize=True, deadline=None)
@given(st.floats(0.05, 4.0), st.floats(1e-5, 0.999))
def test_pure_claims_allow_what_randomised_response_does(epsilon: float, q: float) -> None:
    exact = min(math.exp(epsilon) * q, 1 - math.exp(-epsilon) * (1 - q))
    assert float(Claim.pure(epsilon).allowed(q)) == pytest.approx(exact, rel=1e-9)


@settings(derandomize=True, deadline=None)
@given(st.sampled_from(CLAIMS[:3]), st.floats(1e-4, 0.999), st.floats(1e-4, 0.999))
def test_refuted_exactly_when_the_bound_passes_the_claim(claim: Claim, p: float, q: float) -> None:
    """For claims of one number, both ways to say it agree (up to rounding at the edge)."""
    least = float(claim.least(p, q))
    refuted = p > float(claim.allowed(q)) * (1 + 1e-9)
    if isinstance(claim.profile, GDP | Pure) and abs(least - claim.value) > 1e-6:
        assert refuted is (least > claim.value)
    elif least > claim.value + 1e-6:
        assert refuted


def test_an_impossible_event_proves_everything() -> None:
    assert float(Claim.pure(1.0).least(0.1, 0.0)) == math.inf
    assert float(Claim.pure(1.0).least(0.0, 0.1)) >= 0.0
    assert float(Claim.approximate(1.0, 0.2).least(0.1, 1e-9)) == pytest.approx(0.0, abs=0.2)
