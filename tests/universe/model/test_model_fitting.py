"""Fits by least squares: the optimality conditions hold, and both kinds of model come to the same distribution."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unworn.errors import Unaskable
from unworn.queries.row_protocol import Floats
from unworn.universe.model.contraction import spread
from unworn.universe.model.explicit_model import Explicit
from unworn.universe.model.factored_model import Factored
from unworn.universe.model.model import Axes, Model
from unworn.universe.model.model_fitting import Measured, fit_model, tilt_all
from unworn.universe.model.question_blocks import Block, Listed, Marginal, Prefix, Range


def misfit(model: Model, measured: list[Measured]) -> float:
    return sum(
        weight * float(np.sum((block.answers(model.table(block.axes)) - shares) ** 2))
        for block, shares, weight in measured
    )


def gradient(model: Model, measured: list[Measured]) -> Floats:
    """Of half the sum of squares, cell by cell."""
    tables = [
        block.spread(weight * (block.answers(model.table(block.axes)) - shares)) for block, shares, weight in measured
    ]
    return spread(tables, [block.axes for block, _, _ in measured], model.shape)


def gap(model: Model, measured: list[Measured]) -> float:
    """By how much any distribution could at most be better: the sum of squares is convex (Frank and Wolfe 1956)."""
    slopes, cells = gradient(model, measured), model.table(tuple(range(len(model.shape))))
    return float(np.sum(slopes * cells) - slopes.min())


def noisy(shape: tuple[int, ...], scopes: Sequence[Axes], sd: float, seed: int) -> list[Measured]:
    random = np.random.default_rng(seed)
    truth = Explicit(random.dirichlet(np.full(np.prod(shape), 0.3)).reshape(shape))
    found: list[Measured] = []
    for axes in scopes:
        block = Marginal(axes, tuple(shape[axis] for axis in axes))
        found.append((block, block.answers(truth.table(axes)) + sd * random.normal(size=block.size), 1.0 / sd**2))
    return found


@pytest.mark.parametrize("seed", range(3))
def test_a_noisy_fit_is_the_best_there_is(seed: int) -> None:
    """No distribution could lower half the sum of squares, some 50, by more than 1."""
    shape = (3, 4, 2, 3)
    measured = noisy(shape, list(combinations(range(4), 2)), 0.02, seed)
    found = fit_model(Explicit.uniform(shape), measured, 500)
    assert gap(found, measured) < 1.0 < gap(Explicit.uniform(shape), measured)


@given(st.integers(0, 2**32))
@settings(derandomize=True, max_examples=15, deadline=None)
def test_cells_and_factors_come_to_the_same(seed: int) -> None:
    shape, scopes = (2, 3, 3, 2), [(0, 1), (1, 2), (2, 3), (1, 3)]
    measured = noisy(shape, scopes, 0.01, seed)
    one, other = fit_model(Explicit.uniform(shape), measured, 60), fit_model(Factored(shape), measured, 60)
    assert misfit(other, measured) == pytest.approx(misfit(one, measured), rel=0.05, abs=0.05)


def test_answers_of_a_distribution_are_met_exactly() -> None:
    shape, random = (3, 4, 5), np.random.default_rng(2)
    truth = Explicit(random.dirichlet(np.ones(60)).reshape(shape))
    blocks: list[Block] = [
        Marginal((0, 1), (3, 4)),
        Prefix((2,), (5,)),
        Range((1,), (4,)),
        Listed((0, 2), (3, 5), random.random((4, 15)) < 0.5),
        Listed((0, 2), (3, 5), random.random((1, 15)) < 0.5),
    ]
    measured = [(block, block.answers(truth.table(block.axes)), 1.0 + place) for place, block in enumerate(blocks)]
    found = fit_model(Explicit.uniform(shape), measured, 300)
    for block, shares, _ in measured:
        np.testing.assert_allclose(block.answers(found.table(block.axes)), shares, atol=1e-6)


def test_weights_decide_between_answers_that_disagree() -> None:
    block = Marginal((0,), (2,))
    measured = [(block, np.array([0.2, 0.8]), 3.0), (block, np.array([0.6, 0.4]), 1.0)]
    found = fit_model(Explicit.uniform((2, 2)), measured)
    np.testing.assert_allclose(found.table((0,)), [0.3, 0.7], atol=1e-6)


def test_answers_of_no_distribution_are_projected() -> None:
    """The nearest distribution to (1.2, 0.1, -0.3) is (1, 0, 0): a vertex, reached only in the limit."""
    found = fit_model(Explicit.uniform((3,)), [(Marginal((0,), (3,)), np.array([1.2, 0.1, -0.3]), 1.0)])
    np.testing.assert_allclose(found.table((0,)), [1.0, 0.0, 0.0], atol=0.01)


def test_what_was_not_measured_stays_as_it_was() -> None:
    start = Explicit(np.array([[1.0, 2.0], [3.0, 4.0]]))
    found = fit_model(start, [(Marginal((0,), (2,)), np.array([0.5, 0.5]), 1.0)])
    np.testing.assert_allclose(found.table((0, 1)), [[1 / 6, 2 / 6], [3 / 14, 4 / 14]], atol=1e-6)
    np.testing.assert_allclose(start.table((0, 1)), [[0.1, 0.2], [0.3, 0.4]])


def test_more_steps_never_fit_worse() -> None:
    measured = noisy((3, 3, 3, 2), list(combinations(range(4), 3)), 0.005, 7)
    found = [
        misfit(fit_model(Explicit.uniform((3, 3, 3, 2)), measured, steps, 0.0), measured) for steps in range(1, 40)
    ]
    assert all(later <= earlier * (1 + 1e-12) for earlier, later in pairwise(found))
    assert found[-1] < found[0] / 10


def test_twenty_columns_are_fitted_to_a_chain_with_triangles() -> None:
    """5^20 cells; measured without noise along a chain and three triangles, so the far columns must come out right."""
    shape, random = (5,) * 20, np.random.default_rng(4)
    truth = Factored(shape)
    scopes: list[Axes] = [*((at, at + 1) for at in range(19)), (0, 2), (7, 9), (15, 17)]
    truth.tilts(scopes, [random.normal(size=(5, 5)) for _ in scopes])
    measured: list[Measured] = [(Marginal(axes, (5, 5)), truth.table(axes).reshape(-1), 1.0) for axes in scopes]
    found = fit_model(Factored(shape), measured, 300)
    asked = [*scopes, (0, 19), (3, 12), (1, 8, 16)]
    for mine, theirs in zip(found.tables(asked), truth.tables(asked), strict=True):
        np.testing.assert_allclose(mine, theirs, atol=1e-4)


def test_what_does_not_fit_in_the_tables_is_refused() -> None:
    scopes = list(combinations(range(8), 2))
    measured: list[Measured] = [(Marginal(axes, (6, 6)), np.full(36, 1 / 36) + 1e-3, 1.0) for axes in scopes]
    with pytest.raises(Unaskable, match="above the limit of 10,000"):
        fit_model(Factored((6,) * 8, limit=10_000), measured)


def test_progress_is_told_and_nothing_measured_changes_nothing() -> None:
    seen: list[tuple[int, int]] = []
    measured = noisy((2, 3), [(0, 1)], 0.1, 1)
    fit_model(Explicit.uniform((2, 3)), measured, 5, progress=lambda done, steps: seen.append((done, steps)))
    assert seen == [(done, 5) for done in range(1, len(seen) + 1)]
    assert seen
    np.testing.assert_allclose(fit_model(Explicit.uniform((2, 2)), []).table((0,)), [0.5, 0.5])


class Slow:
    """A model of someone else's, with no way to take many tilts at once."""

    def __init__(self, inner: Explicit) -> None:
        self.inner = inner
        self.shape, self.table, self.tables = inner.shape, inner.table, inner.tables
        self.tilt, self.draw = inner.tilt, inner.draw

    def copy(self) -> Slow:
        return Slow(self.inner.copy())


def test_any_model_will_do() -> None:
    measured = noisy((2, 3, 2), [(0, 1), (1, 2)], 0.01, 3)
    slow = fit_model(Slow(Explicit.uniform((2, 3, 2))), measured, 50)
    quick = fit_model(Explicit.uniform((2, 3, 2)), measured, 50)
    np.testing.assert_allclose(slow.table((0, 1, 2)), quick.table((0, 1, 2)), atol=1e-3)


def test_tilting_by_many_tables_is_tilting_by_each() -> None:
    random, shape = np.random.default_rng(0), (2, 3, 4)
    scopes: list[Axes] = [(0, 1), (2,), (0, 2), ()]
    tables = [random.normal(size=[shape[axis] for axis in axes]) for axes in scopes]
    one, other, third = Explicit.uniform(shape), Explicit.uniform(shape), Factored(shape)
    for axes, table in zip(scopes, tables, strict=True):
        one.tilt(axes, table)
    tilt_all(other, scopes, tables)
    tilt_all(third, scopes, tables)
    np.testing.assert_allclose(other.table((0, 1, 2)), one.table((0, 1, 2)), rtol=1e-10)
    np.testing.assert_allclose(third.table((0, 1, 2)), one.table((0, 1, 2)), rtol=1e-10)


@pytest.mark.parametrize(
    ("shares", "weight", "steps", "tolerance", "message"),
    [
        ([0.5], 1.0, 10, 0.0, "as many finite shares"),
        ([0.5, np.nan], 1.0, 10, 0.0, "as many finite shares"),
        ([0.5, 0.5], 0.0, 10, 0.0, "a weight must be positive"),
        ([0.5, 0.5], np.inf, 10, 0.0, "a weight must be positive"),
        ([0.5, 0.5], True, 10, 0.0, "a weight must be positive"),
        ([0.5, 0.5], 1.0, 0, 0.0, "steps must be a whole number"),
        ([0.5, 0.5], 1.0, True, 0.0, "steps must be a whole number"),
        ([0.5, 0.5], 1.0, 10, np.nan, "tolerance must lie in"),
    ],
)
def test_what_makes_no_sense_is_refused(
    shares: list[float], weight: float, steps: int, tolerance: float, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        fit_model(Explicit.uniform((2, 2)), [(Marginal((0,), (2,)), np.array(shares), weight)], steps, tolerance)
