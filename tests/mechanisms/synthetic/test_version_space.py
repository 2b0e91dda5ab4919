"""Every small data set once, medians that halve, and one of them near to any distribution."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unworn.mechanisms.synthetic.version_space import GRID, VersionSpace, data_sets, most_wrong, nearness, on_grid

POINTS, SIZES = st.integers(1, 5), st.integers(1, 9)


@given(points=POINTS, size=SIZES)
@settings(derandomize=True, deadline=None)
def test_every_multiset_is_there_once(points, size):
    space = VersionSpace.of(points, size)
    wanted = {
        tuple(Counter(chosen)[point] for point in range(points))
        for chosen in combinations_with_replacement(range(points), size)
    }
    found = [tuple(column) for column in space.histograms.T.tolist()]
    assert len(found) == len(space) == data_sets(points, size)
    assert set(found) == wanted


@given(points=st.integers(2, 5), size=SIZES, seed=st.integers(0, 2**32 - 1))
@settings(derandomize=True, deadline=None)
def test_a_wrong_guess_rules_out_at_least_half(points, size, seed):
    """Whichever side the answer lies on: so no run of wrong guesses is longer than the logarithm of the space."""
    rng = np.random.default_rng(seed)
    space, wrong = VersionSpace.of(points, size), 0
    while len(space):
        weights = on_grid(rng.random(points) if rng.random() < 0.5 else rng.integers(0, 2, points).astype(float))
        median = space.median(weights)
        sums = space.sums(weights)
        assert sums.tolist() == (weights @ space.histograms).tolist()
        assert median == sorted(sums.tolist())[(len(space) - 1) // 2]
        above, below = space.within(weights, median + 1, size * GRID), space.within(weights, 0, median - 1)
        assert 2 * max(len(above), len(below)) <= len(space)
        space = max(above, below, key=len)  # the worst that could happen
        wrong += len(space) > 0
    assert wrong <= most_wrong(points, size) <= size * math.log2(points)


@given(points=st.integers(2, 5), size=SIZES, seed=st.integers(0, 2**32 - 1))
@settings(derandomize=True, deadline=None)
def test_some_data_set_is_near_to_any_distribution(points, size, seed):
    """For all 0/1 questions at once: that is half of the absolute differences."""
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(points, rng.choice([0.2, 1.0, 20.0])))
    space = VersionSpace.of(points, size)
    apart = np.abs(space.histograms / size - shares[:, np.newaxis]).sum(axis=0) / 2
    assert apart.min() <= nearness(points, size) + 1e-12


def test_nearness_cannot_be_promised_better():
    """Remainders all alike: two points, one thing to share out, half of it each."""
    space = VersionSpace.of(2, 1)
    assert np.abs(space.histograms - 0.5).sum(axis=0).min() / 2 == pytest.approx(nearness(2, 1))


def test_a_single_point_has_one_data_set():
    space = VersionSpace.of(1, 7)
    assert space.histograms.tolist() == [[7]]
    assert (most_wrong(1, 7), nearness(1, 7)) == (0, 0.0)
