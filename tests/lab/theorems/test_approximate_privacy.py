"""Max-information of approximate privacy: the theorem against exact joint laws of all sorts of tiny mechanisms.

For finite S and Y the smallest slack with which m bits hold is the sum of (p(s, y) - 2^m p(s) p(y))^+, so the bound is
checked exactly, event by event, and with the smallest delta that a mechanism has at an epsilon.
"""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unworn.bounds.privacy.profiles import GDP
from unworn.lab.theorems.approximate_privacy import private_bits, profile_bits, published_shape
from unworn.lab.theorems.max_information import pure_bits, sharp_product_bits

Table = np.ndarray
exactly = settings(derandomize=True, deadline=None, max_examples=60)


def excess(prior: Table, channel: Table, bits: float) -> float:
    """The smallest slack with which ``bits`` bound the max-information of channel[s, y] = P(y | s)."""
    joint = prior[:, None] * channel
    apart = np.outer(prior, joint.sum(axis=0))
    return float(np.maximum(joint - 2.0**bits * apart, 0.0).sum())


def least_delta(samples: list[tuple[int, ...]], channel: Table, epsilon: float) -> float:
    """The smallest delta of a channel: over all pairs of samples that differ in one row."""
    worst = 0.0
    for first, second in product(range(len(samples)), repeat=2):
        if sum(a != b for a, b in zip(samples[first], samples[second], strict=True)) == 1:
            worst = max(worst, float(np.maximum(channel[first] - math.exp(epsilon) * channel[second], 0.0).sum()))
    return worst


def rows(n: int, chances: tuple[float, ...]) -> tuple[list[tuple[int, ...]], Table]:
    samples = list(product(range(len(chances)), repeat=n))
    return samples, np.array([math.prod(chances[row] for row in sample) for sample in samples])


@exactly
@given(
    st.integers(1, 4),
    st.sampled_from([(0.5, 0.5), (0.9, 0.1), (0.2, 0.3, 0.5)]),
    st.floats(0.02, 2.0),
    st.floats(0.0, 1.0),
    st.integers(0, 2**32 - 1),
)
def test_no_channel_exceeds_the_bound(
    n: int, chances: tuple[float, ...], epsilon: float, mixed: float, seed: int
) -> None:
    """Random channels, nearer to or further from one that says nothing: epsilon is given, delta is what they have."""
    samples, prior = rows(min(n, 3 if len(chances) > 2 else 4), chances)
    rng = np.random.default_rng(seed)
    loud = rng.dirichlet(np.full(5, 0.3), len(samples))
    channel = mixed**3 * loud + (1 - mixed**3) * rng.dirichlet(np.ones(5))
    size = len(samples[0])
    delta = least_delta(samples, channel, epsilon)
    for slack in (0.9, 0.5, 0.1, 0.01):
        bits = private_bits(epsilon, delta, size, slack)
        if math.isfinite(bits):
            assert excess(prior, channel, bits) <= slack + 1e-12


@pytest.mark.parametrize("n", [1, 2, 4])
def test_whoever_tells_all_with_a_small_chance_needs_the_slack(n: int) -> None:
    """With chance delta all rows are told: no bits will do with less slack than nearly delta."""
    samples, prior = rows(n, (0.25, 0.25, 0.25, 0.25))
    delta = 0.02
    channel = np.column_stack([np.eye(len(samples)) * delta, np.full(len(samples), 1 - delta)])
    assert least_delta(samples, channel, 0.3) == pytest.approx(delta)
    assert excess(prior, channel, 2 * n - 0.1) > 0
    assert excess(prior, channel, 0.0) == pytest.approx(delta * (1 - 4.0**-n))
    assert private_bits(0.3, delta, n, n * delta) == math.inf
    assert math.isfinite(private_bits(0.3, delta, n, n * delta + 0.01))


@settings(exactly, max_examples=25)
@given(st.floats(1e-4, 2.0), st.floats(1.0, 1e6), st.floats(1e-6, 0.5), st.floats(0.0, 1.0))
def test_more_is_more(epsilon: float, n: float, slack: float, share: float) -> None:
    delta = share * slack / (2 * n)
    """To within what its search over lambda and the division of the slack leaves open."""
    bits, close = private_bits(epsilon, delta, n, slack), 1.02
    assert bits >= 0
    assert bits <= private_bits(epsilon, delta, 2 * n, slack) * close or delta == 0
    assert bits <= private_bits(epsilon, delta, n, slack / 2) * close
    assert bits <= private_bits(epsilon, delta + slack / (4 * n), n, slack) * close
    assert private_bits(epsilon, 0.0, n, slack) <= bits * close
    assert private_bits(epsilon, 0.0, n, slack) <= min(pure_bits(epsilon, n), sharp_product_bits(epsilon, n, slack))


def test_a_little_delta_costs_a_factor_and_no_more() -> None:
    """Where delta is tiny the bound is within twice and a bit of what pure privacy gives."""
    for epsilon, n in ((1e-3, 1e4), (0.05, 1e3), (1e-2, 1e6)):
        pure = sharp_product_bits(epsilon, n, 0.01)
        assert private_bits(epsilon, 1e-30, n, 0.01) <= 2.2 * pure
        assert private_bits(epsilon, 1e-15 / n, n, 0.01) <= 2.2 * pure


def test_a_profile_chooses_its_epsilon() -> None:
    chosen = profile_bits(GDP(0.05), 1_000, 0.01)
    for epsilon in (0.2, 0.3, 0.4):
        assert chosen <= private_bits(epsilon, float(GDP(0.05).delta(epsilon)), 1_000, 0.01) + 1e-6
    assert profile_bits(GDP(0.02), 1_000, 0.01) < chosen < profile_bits(GDP(0.05), 1_000, 1e-6)


@pytest.mark.parametrize(
    "wrong", [(0.0, 1e-9, 10, 0.1), (math.nan, 0.0, 10, 0.1), (0.1, -1e-9, 10, 0.1), (0.1, 1.1, 10, 0.1)]
)
def test_nonsense_is_refused(wrong: tuple[float, float, float, float]) -> None:
    with pytest.raises(ValueError, match="must"):
        private_bits(*wrong)
    for given_ in ((0.1, 0.0, 0, 0.1), (0.1, 0.0, 10, 0.0), (0.1, 0.0, 10, math.nan)):
        with pytest.raises(ValueError, match="must"):
            private_bits(*given_)
    for shape in ((0.6, 0.1, 10), (0.1, 0.1, 10)):
        with pytest.raises(ValueError, match="published theorem"):
            published_shape(*shape)
