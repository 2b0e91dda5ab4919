"""The regrets are promises about sequences: they are put to sequences chosen to break them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unworn.bounds import optimisation as bound

sizes = st.floats(0.01, 100)
counts = st.integers(1, 10_000)


@given(sizes, sizes, st.floats(1e-3, 10))
def test_iterations_are_the_fewest(lipschitz, reach, excess):
    for fewest, regret in (
        (bound.convex_iterations(excess, lipschitz, reach), lambda t: bound.convex_regret(lipschitz, reach, t)),
        (
            bound.strongly_convex_iterations(excess, lipschitz, reach),
            lambda t: bound.strongly_convex_regret(lipschitz, reach, t),
        ),
        (bound.smooth_iterations(excess, lipschitz, reach), lambda t: bound.smooth_regret(lipschitz, reach, t)),
        (
            bound.smooth_iterations(excess, lipschitz, reach, 0.5),
            lambda t: bound.smooth_regret(lipschitz, reach, t, 0.5),
        ),
        (bound.corner_iterations(excess, reach), lambda t: bound.corner_regret(reach, t)),
    ):
        assert regret(fewest) <= excess * (1 + 1e-6)
        assert fewest == 1 or regret(fewest - 1) > excess * (1 - 1e-6)


@given(sizes, sizes, counts)
def test_more_iterations_leave_less(lipschitz, reach, count):
    assert bound.convex_regret(lipschitz, reach, count + 1) < bound.convex_regret(lipschitz, reach, count)
    assert bound.smooth_regret(lipschitz, reach, count, 0.1) <= bound.smooth_regret(lipschitz, reach, count) * (
        1 + 1e-9
    )


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 60), st.floats(0.05, 5))
def test_no_sequence_of_gradients_beats_the_regret(seed, count, curvature):
    """Linear losses that are chosen as they come, worst signs included: the regret is a theorem about sequences."""
    rng = np.random.default_rng(seed)
    gradients = rng.normal(size=(count, 3)) * rng.choice([0.1, 1, 1], size=(count, 1))
    gradients /= np.maximum(np.linalg.norm(gradients, axis=1, keepdims=True), 1.0)
    reach, plain, strong = 2.0, np.zeros(3), np.zeros(3)
    total = loss = weighted = 0.0
    slope, squares, centre, norm = np.zeros(3), 0.0, np.zeros(3), 0.0
    for place, g in enumerate(gradients):
        loss += g @ plain
        slope += g
        plain = _ball(plain - reach / math.sqrt(count) * g, reach)
        weight = (place + 1) * 2 / (count * (count + 1))
        weighted += weight * (g @ strong)
        centre, squares = centre + weight * strong, squares + weight * (strong @ strong)
        total += weight
        norm = norm + weight * g
        strong = _ball(strong - 2 / (curvature * (place + 2)) * g, reach)
    assert (loss + reach * np.linalg.norm(slope)) / count <= bound.convex_regret(1.0, reach, count) + 1e-9
    best = _ball(centre - norm / curvature, reach)
    gap = weighted - norm @ best - curvature / 2 * (squares - 2 * centre @ best + best @ best)
    assert total == pytest.approx(1)
    assert gap <= bound.strongly_convex_regret(1.0, curvature, count) + 1e-9


@given(st.floats(1e-3, 1), st.integers(10, 10**6), st.floats(1e-6, 0.5))
def test_within_the_published_shape(excess, queries, beta):
    """In units of G·reach and of G²/λ, as soon as ln(k/β) is 2 or more; rounding up adds at most one."""
    assert bound.convex_iterations(excess, 1.0, 1.0) <= bound.published_iterations(excess, queries, beta) + 1
    strongly = bound.published_iterations(excess, queries, beta, strongly=True)
    assert bound.strongly_convex_iterations(excess, 1.0, 1.0) <= strongly + 1


def test_blocks_deviate_no_further():
    """A walk of ±1 steps, 20,000 times: Azuma's bound at 1 % is passed by far less than 1 % of them."""
    signs = np.random.default_rng(3).choice([-1.0, 1.0], size=(20_000, 100))
    passed = np.mean(signs.mean(axis=1) > bound.block_deviation(1.0, 1 / 100, 0.01))
    assert passed < 0.01


@pytest.mark.parametrize(
    "call",
    [
        lambda: bound.convex_regret(math.nan, 1, 1),
        lambda: bound.convex_regret(1, math.inf, 1),
        lambda: bound.convex_regret(1, 1, 0),
        lambda: bound.convex_regret(1, 1, 1.5),
        lambda: bound.strongly_convex_regret(1, 0, 1),
        lambda: bound.smooth_regret(1, 1, 1, -1),
        lambda: bound.convex_iterations(0, 1, 1),
        lambda: bound.convex_iterations(1e-12, 1, 1),
        lambda: bound.block_deviation(1, 2, 0.1),
        lambda: bound.published_iterations(0.1, 0, 0.1),
        lambda: bound.corner_regret(True, 1),
    ],
)
def test_what_is_no_number_is_refused(call):
    with pytest.raises(ValueError):
        call()


def _ball(point, radius):
    norm = np.linalg.norm(point)
    return point if norm <= radius else point * (radius / norm)
