"""Max-information: the formulas against exact joint laws of tiny mechanisms, how they compose, and how levels follow.

For finite S and Y the worst event at m bits is {(s, y): p(s, y) > 2^m p(s) p(y)}, so the smallest slack with which a
bound of m bits holds is the sum of p(s, y) - 2^m p(s) p(y) over it: every claim here is checked exactly.
"""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unworn.lab.theorems.max_information import (
    compose,
    compose_independent,
    corrected_level,
    log_compressed_level,
    log_corrected_level,
    outputs_bits,
    product_bits,
    pure_bits,
    sharp_product_bits,
)

Table = np.ndarray
exactly = settings(derandomize=True, deadline=None, max_examples=60)


def excess(prior: Table, channel: Table, bits: float) -> float:
    """The smallest slack with which ``bits`` bound the max-information of channel[s, y] = P(y | s)."""
    joint = prior[:, None] * channel
    apart = np.outer(prior, joint.sum(axis=0))
    return float(np.maximum(joint - 2.0**bits * apart, 0.0).sum())


def bits_rows(n: int, p: float) -> tuple[list[tuple[int, ...]], Table]:
    """All samples of n independent bits, with their probabilities."""
    samples = list(product((0, 1), repeat=n))
    return samples, np.array([math.prod(p if bit else 1 - p for bit in sample) for sample in samples])


def noisy_count(samples: list[tuple[int, ...]], epsilon: float) -> Table:
    """The number of ones with two-sided geometric noise, cut to 0..n: eps-differentially private."""
    n = len(samples[0])
    wide = np.arange(-60, 61 + n)
    rows = []
    for sample in samples:
        weights = np.exp(-epsilon * np.abs(wide - sum(sample)))
        told = np.clip(wide, 0, n)
        rows.append(np.bincount(told, weights / weights.sum(), minlength=n + 1))
    return np.array(rows)


def responses(samples: list[tuple[int, ...]], epsilon: float) -> Table:
    """Every bit told, turned over with probability 1 / (1 + e^eps): eps-differentially private."""
    keep = 1 / (1 + math.exp(-epsilon))
    same = [[sum(a == b for a, b in zip(s, y, strict=True)) for y in samples] for s in samples]
    return np.array([[keep**k * (1 - keep) ** (len(samples[0]) - k) for k in row] for row in same])


@pytest.mark.parametrize("mechanism", [noisy_count, responses])
@pytest.mark.parametrize("epsilon", [0.05, 0.3, 1.0])
@pytest.mark.parametrize("p", [0.5, 0.1])
def test_private_mechanisms_keep_their_bounds_exactly(mechanism: object, epsilon: float, p: float) -> None:
    n = 6
    samples, prior = bits_rows(n, p)
    channel = mechanism(samples, epsilon)  # type: ignore[operator]
    assert excess(prior, channel, pure_bits(epsilon, n)) <= 1e-12
    for slack in (0.5, 0.1, 0.01, 1e-4, 1e-8):
        sharp, published = sharp_product_bits(epsilon, n, slack), product_bits(epsilon, n, slack)
        assert excess(prior, channel, published) <= excess(prior, channel, sharp) + 1e-15 <= slack + 1e-12
    assert excess(prior, channel, 0.0) > 1e-3  # there is something to bound


def test_the_pure_bound_holds_for_dependent_rows_and_the_product_bound_does_not() -> None:
    """200 copies of one value of 1,000, and the exponential mechanism for the commonest value."""
    n, values, epsilon, slack = 200, 1_000, 0.1, 0.1
    prior = np.full(values, 1 / values)
    weights = np.exp(epsilon / 2 * n * np.eye(values))  # one row changes two counts by one
    channel = weights / weights.sum(axis=1, keepdims=True)
    assert excess(prior, channel, pure_bits(epsilon, n)) <= 1e-12
    assert excess(prior, channel, product_bits(epsilon, n, slack)) > 5 * slack


@exactly
@given(st.integers(2, 6), st.integers(2, 5), st.integers(0, 2**32 - 1), st.floats(0.001, 0.9))
def test_few_outputs_tell_little_whatever_the_rows(points: int, outputs: int, seed: int, slack: float) -> None:
    rng = np.random.default_rng(seed)
    prior = rng.dirichlet(np.full(points, 0.3))
    channel = rng.dirichlet(np.full(outputs, 0.1), size=points)
    assert excess(prior, channel, outputs_bits(outputs, slack)) <= slack + 1e-12


@exactly
@given(st.integers(0, 2**32 - 1), st.floats(0, 3), st.floats(0, 3))
def test_bounds_for_every_distribution_add_up(seed: int, first_bits: float, later_bits: float) -> None:
    """The later part's slack is the worst over the posteriors it may meet: then bits and slacks add."""
    rng = np.random.default_rng(seed)
    prior = rng.dirichlet(np.full(4, 0.5))
    first = rng.dirichlet(np.full(3, 0.5), size=4)
    later = rng.dirichlet(np.full(3, 0.3), size=(3, 4))  # later[y]: a channel chosen by what the first told
    joint = prior[:, None] * first
    posterior = joint / joint.sum(axis=0)
    slack = max(excess(posterior[:, y], later[y], later_bits) for y in range(3))
    bits, lost = compose((first_bits, excess(prior, first, first_bits)), (later_bits, slack))
    both = np.concatenate([first[:, [y]] * later[y] for y in range(3)], axis=1)
    assert excess(prior, both, bits) <= lost + 1e-12


def test_bounds_for_independent_rows_do_not_add_up() -> None:
    """First the class of the sample is told, then the sample itself if it is in that class.

    For four fair bits and any class fixed in advance, the second part says something with probability 1/8 only: no bits
    to speak of, slack 1/8. Given what the first part told it says everything. The slack must grow by the first's bits.
    """
    points, size = 16, 2
    prior = np.full(points, 1 / points)
    classes = np.arange(points) // size
    first = np.eye(points // size)[classes]
    later = [np.hstack([np.diag((classes == y) * 1.0), (classes != y)[:, None] * 1.0]) for y in range(points // size)]
    three, few = math.log2(points / size), -math.log2(1 - size / points)
    assert excess(prior, first, three) <= 1e-12
    assert all(excess(prior, channel, few) <= size / points + 1e-12 for channel in later)
    both = np.concatenate([first[:, [y]] * later[y] for y in range(points // size)], axis=1)
    added = compose((three, 0.0), (few, size / points))
    assert excess(prior, both, added[0]) > 3 * added[1]  # adding is wrong here
    grown = compose_independent((three, 0.0), (few, size / points))
    assert grown == pytest.approx((three + few, 1.0))
    assert excess(prior, both, grown[0]) <= grown[1]


@exactly
@given(st.integers(0, 2**32 - 1), st.floats(0, 2), st.floats(0, 2), st.floats(0.01, 0.5))
def test_independent_bounds_correct_levels(seed: int, first_bits: float, later_bits: float, level: float) -> None:
    """Hypotheses picked by two parts in turn: rejected falsely with at most 2^bits c + slack, exactly."""
    rng = np.random.default_rng(seed)
    prior = rng.dirichlet(np.full(5, 1.0))
    first = rng.dirichlet(np.full(3, 0.5), size=5)
    later = rng.dirichlet(np.full(3, 0.5), size=(3, 5))
    slack = max(excess(prior, later[y], later_bits) for y in range(3))  # at the prior only
    bits, lost = compose_independent((first_bits, excess(prior, first, first_bits)), (later_bits, slack))
    chance = 0.0
    for y, z in product(range(3), range(3)):
        rejected = np.zeros(5)
        order, total = rng.permutation(5), 0.0
        for s in order:  # any event of prior probability at most c
            if total + prior[s] <= level:
                rejected[s], total = 1.0, total + prior[s]
        chance += float(np.sum(prior * first[:, y] * later[y][:, z] * rejected))
    assert chance <= 2.0**bits * level + lost + 1e-12


@exactly
@given(st.floats(1e-6, 3), st.floats(1, 1e9), st.floats(1e-300, 0.99))
def test_bits_rise_with_what_is_told_and_with_certainty(epsilon: float, n: float, slack: float) -> None:
    sharp, published = sharp_product_bits(epsilon, n, slack), product_bits(epsilon, n, slack)
    assert 0 < sharp <= published * (1 + 1e-12)
    for bits in (product_bits, sharp_product_bits):
        here = bits(epsilon, n, slack)
        assert bits(1.1 * epsilon, n, slack) > here
        assert bits(epsilon, 1.1 * n, slack) > here
        assert bits(epsilon, n, slack / 2) > here
    assert pure_bits(epsilon, 2 * n) == pytest.approx(2 * pure_bits(epsilon, n))
    assert outputs_bits(3, slack) > outputs_bits(2, slack)


@exactly
@given(st.floats(1e-300, 0.999), st.floats(0, 900), st.floats(0, 0.99))
def test_levels_are_corrected_downwards(level: float, bits: float, share: float) -> None:
    slack = share * level
    corrected = log_corrected_level(level, bits, slack)
    assert corrected <= math.log(level)
    assert corrected == pytest.approx(math.log(level - slack) - bits * math.log(2))
    assert corrected_level(level, bits, slack) <= level
    assert log_compressed_level(level, bits) == log_corrected_level(level, bits)


def test_numbers() -> None:
    assert pure_bits(0.0, 100) == 0.0
    assert pure_bits(math.log(2), 10) == pytest.approx(10)
    assert outputs_bits(2**5000, 0.25) == pytest.approx(5002)  # larger than any float
    assert compose() == (0.0, 0.0)
    assert compose((1.0, 0.7), (1.0, 0.7)) == (2.0, 1.0)
    assert compose_independent((5000.0, 0.0), (1.0, 1e-300)) == (5001.0, 1.0)
    assert compose_independent((5000.0, 0.0), (1.0, 0.0)) == (5001.0, 0.0)
    assert corrected_level(0.05, 5000.0) == 0.0


NAN = math.nan


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: pure_bits(-1, 10), "epsilon"),
        (lambda: pure_bits(NAN, 10), "epsilon"),
        (lambda: pure_bits(math.inf, 10), "epsilon"),
        (lambda: pure_bits(0.1, 0), "rows"),
        (lambda: product_bits(0.1, 10, 0.0), "slack"),
        (lambda: product_bits(0.1, 10, 1.0), "slack"),
        (lambda: sharp_product_bits(0.1, NAN, 0.1), "rows"),
        (lambda: outputs_bits(0, 0.1), "outputs"),
        (lambda: outputs_bits(2.5, 0.1), "outputs"),  # type: ignore[arg-type]
        (lambda: outputs_bits(2, NAN), "slack"),
        (lambda: compose((-1.0, 0.0)), "bits"),
        (lambda: compose((1.0, 1.5)), "slack"),
        (lambda: compose_independent((math.inf, 0.0)), "bits"),
        (lambda: corrected_level(0.0, 1.0), "level"),
        (lambda: corrected_level(1.0, 1.0), "level"),
        (lambda: corrected_level(NAN, 1.0), "level"),
        (lambda: corrected_level(0.05, -1.0), "bits"),
        (lambda: corrected_level(0.05, 1.0, 0.05), "slack"),
        (lambda: corrected_level(0.05, 1.0, -0.01), "slack"),
        (lambda: log_compressed_level(0.05, NAN), "bits"),
    ],
)
def test_what_is_out_of_range_is_refused_by_name(call: object, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        call()  # type: ignore[operator]


def test_more_bits_than_a_number_holds_are_refused() -> None:
    for bound in (product_bits, sharp_product_bits):
        for epsilon in (1e160, 1e200, 1e308):
            with pytest.raises(ValueError, match="more bits than a number holds"):
                bound(epsilon, 10, 0.1)
    with pytest.raises(ValueError, match="more bits than a number holds"):
        pure_bits(1e308, 1e9)
    with pytest.raises(ValueError, match="whole number"):
        outputs_bits(True, 0.1)
    with pytest.raises(ValueError, match="number of rows"):
        pure_bits(0.1, True)
