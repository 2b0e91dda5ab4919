"""A product of factors against the same distribution kept cell by cell, and at sizes where no cells can be kept."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unworn.errors import Unaskable
from unworn.noise import Stream
from unworn.queries.row_protocol import Floats
from unworn.universe.model.factored_model import Factored
from unworn.universe.model.model import Axes

Tilts = list[tuple[Axes, Floats]]


@st.composite
def products(draw: st.DrawFn, scale: float = 3.0) -> tuple[tuple[int, ...], Tilts]:
    shape = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=6)))
    axes = st.frozensets(st.integers(0, len(shape) - 1), max_size=3).map(lambda some: tuple(sorted(some)))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    scopes = draw(st.lists(axes, max_size=8))
    return shape, [(some, random.normal(scale=scale, size=[shape[axis] for axis in some])) for some in scopes]


def by_cells(shape: tuple[int, ...], tilts: Tilts) -> Floats:
    """The same distribution, one number a cell: independent of everything that is tested here."""
    logs = np.zeros(shape)
    for axes, table in tilts:
        logs = logs + table.reshape([size if axis in axes else 1 for axis, size in enumerate(shape)])
    cells = np.exp(logs - logs.max())
    return np.asarray(cells / cells.sum())


def marginal(cells: Floats, axes: Axes) -> Floats:
    return np.asarray(cells.sum(axis=tuple(axis for axis in range(cells.ndim) if axis not in axes)))


def every(columns: int) -> list[Axes]:
    return [axes for size in range(columns + 1) for axes in combinations(range(columns), size)]


def chain(columns: int, values: int, seed: int) -> tuple[Factored, Floats, list[Floats]]:
    """A chain of columns with known steps, told to a model by its conditional probabilities."""
    random = np.random.default_rng(seed)
    first = random.dirichlet(np.ones(values))
    steps = [random.dirichlet(np.ones(values), size=values) for _ in range(columns - 1)]
    model = Factored((values,) * columns)
    model.tilt((0,), np.log(first))
    model.tilts([(at, at + 1) for at in range(columns - 1)], [np.log(step) for step in steps])
    return model, first, steps


@given(products())
@settings(derandomize=True, deadline=None)
def test_every_table_is_that_of_the_cells(product: tuple[tuple[int, ...], Tilts]) -> None:
    shape, tilts = product
    model, cells, asked = Factored(shape), by_cells(shape, tilts), every(len(shape))
    for axes, table in tilts:
        model.tilt(axes, table)
    for axes, table in zip(asked, model.tables(asked), strict=True):
        np.testing.assert_allclose(table, marginal(cells, axes), rtol=1e-9, atol=1e-14)


@given(products())
@settings(derandomize=True, deadline=None)
def test_many_tilts_at_once_are_the_same_as_one_by_one(product: tuple[tuple[int, ...], Tilts]) -> None:
    shape, tilts = product
    one, other = Factored(shape), Factored(shape)
    for axes, table in tilts:
        one.tilt(axes, table)
        one.table((0,))  # a reading in between changes nothing
    other.tilts([axes for axes, _ in tilts], [table for _, table in tilts])
    for axes in every(len(shape)):
        np.testing.assert_allclose(one.table(axes), other.table(axes), rtol=1e-9, atol=1e-14)


@given(products())
@settings(derandomize=True, deadline=None)
def test_what_fits_is_known_before_and_is_what_it_becomes(product: tuple[tuple[int, ...], Tilts]) -> None:
    shape, tilts = product
    model = Factored(shape, limit=60) if math.prod(shape) > 60 and max(shape) * len(shape) <= 60 else Factored(shape)
    for axes, table in tilts:
        told = model.cells_with(axes)
        if model.fits(axes):
            model.tilt(axes, table)
            assert model.tree.cells == told <= model.limit
        else:
            with pytest.raises(Unaskable):
                model.tilt(axes, table)


@given(products(), st.integers(1, 200))
@settings(derandomize=True, max_examples=40, deadline=None)
def test_slices_give_the_same_table(product: tuple[tuple[int, ...], Tilts], narrow: int) -> None:
    """With little room between cliques a table is put together slice by slice."""
    shape, tilts = product
    model = Factored(shape)
    model.tilts([axes for axes, _ in tilts], [table for _, table in tilts])
    cells = by_cells(shape, tilts)
    model._calibrate()._limit = narrow
    for axes in every(len(shape)):
        np.testing.assert_allclose(model.table(axes), marginal(cells, axes), rtol=1e-9, atol=1e-14)


def test_exponents_of_five_hundred_either_way_do_no_harm() -> None:
    random, shape = np.random.default_rng(5), (3, 3, 3, 3, 3)
    scopes: list[Axes] = [(0, 1), (1, 2), (2, 3), (3, 4), (0, 4)]
    for _ in range(50):
        tilts: Tilts = [(axes, random.choice([-500.0, 0.0, 500.0], size=(3, 3))) for axes in scopes]
        model, cells = Factored(shape), by_cells(shape, tilts)
        model.tilts([axes for axes, _ in tilts], [table for _, table in tilts])
        for axes in every(5):
            np.testing.assert_allclose(model.table(axes), marginal(cells, axes), atol=1e-9)
        assert (cells[tuple(model.draw(Stream(bytes(32)), 50).T)] > 0.0).all()


def test_what_one_tilt_takes_away_another_brings_back() -> None:
    """No probability is lost for being small: e^-2000 is far below what a float can hold."""
    model = Factored((2, 3, 2))
    table = np.array([[0.0, -2000.0, 1.0], [-2000.0, 0.0, 2.0]])
    model.tilt((0, 1), table)
    assert model.table((0, 1))[0, 1] == 0.0
    model.tilt((0, 1), -table)
    np.testing.assert_allclose(model.table((0, 1, 2)), np.full((2, 3, 2), 1 / 12), rtol=1e-12)


def test_thousands_of_steps_do_not_wander_off() -> None:
    model, table = Factored((4, 4, 4)), np.arange(16.0).reshape(4, 4)
    for _ in range(2000):
        model.tilt((0, 1), table * 10.0)
        model.tilt((1, 2), table * 10.0)
    for _ in range(2000):
        model.tilt((0, 1), -table * 10.0)
        model.tilt((1, 2), -table * 10.0)
    np.testing.assert_allclose(model.table((0, 1, 2)), np.full((4, 4, 4), 1 / 64), rtol=1e-9)


def test_a_constant_changes_nothing_however_large() -> None:
    model = Factored((2, 3))
    model.tilt((0, 1), np.full((2, 3), 1e15))
    model.tilt((0, 1), np.log([[0.1, 0.1, 0.2], [0.2, 0.3, 0.1]]))
    np.testing.assert_allclose(model.table((0, 1)), [[0.1, 0.1, 0.2], [0.2, 0.3, 0.1]], rtol=1e-12)


def test_a_copy_goes_its_own_way() -> None:
    model = Factored((2, 2, 2))
    model.tilt((0, 1), np.log([[1.0, 2.0], [3.0, 4.0]]))
    before, twin = model.table((0, 1)), model.copy()
    twin.tilt((1, 2), np.log([[1.0, 2.0], [3.0, 4.0]]))
    twin.tilt((0, 1), np.zeros((2, 2)) + np.array([0.0, 3.0]))
    assert twin.shape == model.shape
    np.testing.assert_array_equal(model.table((0, 1)), before)
    assert not np.allclose(twin.table((0, 1)), before)


def test_writing_into_a_table_changes_nothing() -> None:
    model = Factored((2, 3))
    model.tilt((0, 1), np.arange(6.0).reshape(2, 3))
    given_out = model.table((0, 1))
    before = given_out.copy()
    given_out[:] = 7.0
    np.testing.assert_array_equal(model.table((0, 1)), before)


@pytest.mark.parametrize("seed", range(4))
def test_rows_are_drawn_from_it(seed: int) -> None:
    """Pearson's statistic against the exact cells, at its 1 - 1e-8 quantile: four tests, a false alarm in 2.5e7."""
    from scipy.special import chdtri

    random, shape, rows = np.random.default_rng(seed), (3, 2, 3, 2, 1, 3), 40_000
    scopes: list[Axes] = [(0, 1), (1, 2), (0, 2), (2, 3), (3,), (1, 4)]
    tilts: Tilts = [(axes, random.normal(scale=0.7, size=[shape[axis] for axis in axes])) for axes in scopes]
    model, cells = Factored(shape), by_cells(shape, tilts)
    model.tilts([axes for axes, _ in tilts], [table for _, table in tilts])
    codes = model.draw(Stream(bytes(32), "rows", seed), rows)
    assert codes.shape == (rows, 6)
    assert codes.dtype == np.int32
    counts = np.bincount(np.ravel_multi_index(tuple(codes.T), shape), minlength=cells.size)
    expected = cells.reshape(-1) * rows
    assert expected.min() > 5.0
    assert float(np.sum((counts - expected) ** 2 / expected)) < chdtri(cells.size - 1, 1e-8)


def test_cells_without_weight_are_never_drawn() -> None:
    model = Factored((3, 4, 3))
    model.tilt((0, 1), np.where(np.eye(3, 4) > 0, 0.0, -1e6))
    model.tilt((1, 2), np.where(np.eye(4, 3) > 0, 0.0, -1e6))
    codes = model.draw(Stream(bytes(32), "rows"), 2000)
    assert (codes[:, 0] == codes[:, 1]).all()
    assert (codes[:, 1] == codes[:, 2]).all()


def test_no_rows_can_be_drawn_too() -> None:
    assert Factored((2, 3)).draw(Stream(bytes(32)), 0).shape == (0, 2)


def test_twenty_columns_of_a_chain_are_exact() -> None:
    """6^20 cells, three and a half quadrillion: marginals near and far are products of the steps."""
    model, first, steps = chain(20, 6, seed=1)
    singles = [first]
    for step in steps:
        singles.append(singles[-1] @ step)
    for at, table in enumerate(model.tables([(at,) for at in range(20)])):
        np.testing.assert_allclose(table, singles[at], rtol=1e-10)
    for near, far in combinations((0, 3, 4, 11, 19), 2):
        path = np.linalg.multi_dot([np.eye(6), *steps[near:far], np.eye(6)])
        np.testing.assert_allclose(model.table((near, far)), singles[near][:, None] * path, rtol=1e-9)
    triple = model.table((2, 9, 17))
    early, late = np.linalg.multi_dot(steps[2:9]), np.linalg.multi_dot(steps[9:17])
    np.testing.assert_allclose(triple, np.einsum("i,ij,jk->ijk", singles[2], early, late), rtol=1e-9)


def test_too_many_columns_together_are_refused_with_the_numbers() -> None:
    model = Factored((10,) * 12, limit=10**6)
    model.tilts([(at, at + 1) for at in range(11)], [np.zeros((10, 10))] * 11)
    before, tree = model.table((0, 5)), model.tree
    assert not model.fits((0, 2, 4, 6, 8, 10))
    with pytest.raises(Unaskable, match="above the limit of 1,000,000") as refusal:
        model.tilt((0, 2, 4, 6, 8, 10), np.zeros((10,) * 6))
    assert refusal.value.numbers["cells"] == model.cells_with((0, 2, 4, 6, 8, 10)) > 10**6
    assert refusal.value.numbers["largest"] >= 10**6
    assert model.tree is tree
    np.testing.assert_array_equal(model.table((0, 5)), before)


def test_nothing_is_tilted_where_one_of_many_is_refused() -> None:
    model = Factored((10,) * 4, limit=500)
    with pytest.raises(Unaskable):
        model.tilts([(0, 1), (0, 1, 2)], [np.arange(100.0).reshape(10, 10), np.zeros((10,) * 3)])
    np.testing.assert_allclose(model.table((0, 1)), np.full((10, 10), 0.01))


def test_a_table_larger_than_the_limit_is_refused() -> None:
    with pytest.raises(Unaskable, match="1,000 cells, above the limit of 500"):
        Factored((10,) * 4, limit=500).table((0, 1, 2))


def test_a_domain_whose_columns_alone_pass_the_limit_is_refused() -> None:
    with pytest.raises(Unaskable, match="need 30 cells"):
        Factored((10, 10, 10), limit=29)


def test_columns_of_one_value_tie_nothing_together() -> None:
    model = Factored((1,) * 70 + (2, 2))
    model.tilt(tuple(range(30)), np.zeros((1,) * 30))
    model.tilt((5, 70, 71), np.log([[[1.0, 2.0], [3.0, 4.0]]]))
    assert model.tree.cells == 74
    np.testing.assert_allclose(model.table((3, 70, 71)), [[[0.1, 0.2], [0.3, 0.4]]])


@pytest.mark.parametrize("shape", [(), (2, 0), (2, True), (2, 2.5), (-1,)])
def test_a_shape_is_of_whole_numbers(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="a shape has a whole number"):
        Factored(shape)


@pytest.mark.parametrize("limit", [0, True, 2.0, -1])
def test_a_limit_is_a_whole_number(limit: int) -> None:
    with pytest.raises(ValueError, match="limit is how many cells"):
        Factored((2,), limit=limit)


@pytest.mark.parametrize("axes", [(1, 0), (0, 0), (0, 3), (-1, 0)])
def test_columns_are_places_in_increasing_order(axes: Axes) -> None:
    model = Factored((2, 2, 2))
    for ask in (model.table, model.fits, lambda some: model.tilt(some, np.zeros((2, 2)))):
        with pytest.raises(ValueError, match="in increasing order"):
            ask(axes)


@pytest.mark.parametrize("wrong", [np.zeros((2, 2)), np.full((2, 3), np.nan), np.full((2, 3), -np.inf)])
def test_exponents_that_make_no_sense_are_refused(wrong: Floats) -> None:
    with pytest.raises(ValueError, match=r"have shape|is infinite or not a number"):
        Factored((2, 3)).tilt((0, 1), wrong)
