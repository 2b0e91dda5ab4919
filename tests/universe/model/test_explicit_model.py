"""A distribution kept cell by cell: the same as multiplying, summing and dividing the whole."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unworn.noise import Stream
from unworn.universe.model import explicit_model, table_kernel
from unworn.universe.model.explicit_model import Explicit


class Naive:
    """What a tilt and a marginal are, in full, with every step over all cells."""

    def __init__(self, weights):
        self.logs = np.log(weights)

    def tilt(self, axes, exponents):
        wide = [size if axis in axes else 1 for axis, size in enumerate(self.logs.shape)]
        self.logs = self.logs + np.reshape(exponents, wide)

    @property
    def weights(self):
        raised = np.exp(self.logs - self.logs.max())
        return raised / raised.sum()

    def table(self, axes):
        return self.weights.sum(axis=tuple(axis for axis in range(self.logs.ndim) if axis not in axes))


def some_axes(shape, rng):
    return tuple(axis for axis in range(len(shape)) if rng.random() < 0.4)


def walk(shape, seed, steps, scale=1.0):
    """The same random tilts (none of more than 100 nats) and readings on both; every reading must agree."""
    rng = np.random.default_rng(seed)
    start = rng.random(shape) + 0.01
    fast, slow = Explicit(start), Naive(start)
    for _ in range(steps):
        axes = some_axes(shape, rng)
        table = np.clip(rng.normal(size=[shape[axis] for axis in axes]) * scale, -100.0, 100.0)
        if rng.random() < 0.5:  # one cell only, or none
            keep = rng.integers(0, max(table.size, 1))
            table = np.where(np.arange(table.size) == keep, table.reshape(-1), 0.0).reshape(table.shape)
        fast.tilt(axes, table)
        slow.tilt(axes, table)
        if rng.random() < 0.6:
            many = [some_axes(shape, rng) for _ in range(int(rng.integers(1, 4)))]
            twin = fast.copy()
            for model in (fast, twin):
                for found, wanted in zip(model.tables(many), many, strict=True):
                    np.testing.assert_allclose(found, slow.table(wanted), rtol=1e-9, atol=1e-13)
    np.testing.assert_allclose(fast.weights, slow.weights, rtol=1e-9, atol=1e-275)
    assert fast.weights.sum() == pytest.approx(1.0, abs=1e-12)


@given(st.lists(st.integers(1, 6), min_size=1, max_size=6).map(tuple), st.integers(0, 2**32))
@settings(deadline=None)
def test_small_domains(shape, seed):
    walk(shape, seed, steps=6)


@given(st.lists(st.sampled_from([3, 4, 5]), min_size=6, max_size=6).map(tuple), st.integers(0, 2**32))
@settings(max_examples=50, deadline=None)
def test_tilts_that_wait_for_the_next_reading(shape, seed):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(explicit_model, "FUSED", 1)
        patched.setattr(table_kernel, "sweep", lambda size: (table_kernel.row_by_row, 16))
        walk(shape, seed, steps=5)


def test_the_fused_pass_was_taken_and_left_no_factor_behind():
    taken = []

    def counted(*given):
        taken.append(len(given[3]))
        table_kernel.row_by_row(*given)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(explicit_model, "FUSED", 1)
        patched.setattr(table_kernel, "sweep", lambda size: (counted, 16))
        model = Explicit.uniform((2,) * 10)
        model.tilt((1, 9), np.array([[0.3, 0.0], [0.1, -0.2]]))
        assert not taken
        model.tables([(0,), (9,)])
        model.tilt((1,), np.array([0.3, 0.1]))
        model.table((0, 1))
        model.tilt((1,), np.array([0.3, 0.1]))
        model.table((2, 9))
        model.table((2, 8))
        model.tilt((1,), np.array([0.3, 0.1]))
        model.tables([(a, 9) for a in range(9)])  # too many sums of rows: two passes
    assert taken == [1, 0, 2]
    tilted = np.exp([[0.3, 0.0], [0.1, -0.2]]) * np.exp([[0.9], [0.3]])
    np.testing.assert_allclose(model.table((1, 9)), tilted / tilted.sum(), rtol=1e-12)


def test_a_factor_over_most_of_the_cells():
    shape, rng = (3, 7, 5, 50, 3), np.random.default_rng(3)
    for axes in ((0, 1, 2, 3), (1, 2, 3, 4), (0, 1, 2, 3, 4), (3,), (4,), ()):
        cells, factor = rng.random(shape), rng.random([shape[axis] for axis in axes])
        wide = [size if axis in axes else 1 for axis, size in enumerate(shape)]
        wanted = cells * factor.reshape(wide)
        table_kernel.multiply(cells, axes, factor)
        np.testing.assert_allclose(cells, wanted, rtol=1e-15)


@pytest.mark.parametrize("way", ["numpy", "plain", "numba"])
def test_each_kernel_multiplies_and_adds(way):
    if way == "numba":
        pytest.importorskip("numba")
    kernels = {
        "numpy": lambda: table_kernel.row_by_row,
        "plain": lambda: table_kernel._cell_by_cell,
        "numba": table_kernel._compiled,
    }
    sweep = kernels[way]()
    rng = np.random.default_rng(7)
    for groups in (0, 1, 3):
        rows, tiles = rng.random((12, 9)), rng.random((4, 9))
        which, where = rng.integers(0, 4, 12), rng.integers(0, max(groups, 1), 12)
        into, sums = np.zeros((groups, 9)), np.empty(12)
        wanted = rows * tiles[which]
        sweep(rows, tiles, which, into, where, sums)
        np.testing.assert_allclose(rows, wanted, rtol=1e-15)
        np.testing.assert_allclose(sums, wanted.sum(axis=1), rtol=1e-14)
        for group in range(groups):
            np.testing.assert_allclose(into[group], wanted[where == group].sum(axis=0), rtol=1e-14)


def test_without_numba_numpy_takes_over(monkeypatch):
    def missing(name):
        raise ImportError(name)

    table_kernel._compiled.cache_clear()
    monkeypatch.setattr(table_kernel.importlib, "import_module", missing)
    try:
        assert table_kernel.sweep(2**30) == (table_kernel.row_by_row, 2**15)
    finally:
        table_kernel._compiled.cache_clear()
    assert table_kernel.sweep(table_kernel.COMPILED - 1)[0] is table_kernel.row_by_row


@given(st.integers(0, 2**32))
@settings(max_examples=20, deadline=None)
def test_exponents_beyond_the_reach_of_one_step(seed):
    walk((3, 4, 2), seed, steps=3, scale=120.0)  # a fourth could take a cell below 1e-280, where it is lost


def test_thousands_of_tilts_neither_overflow_nor_vanish():
    model, slow = Explicit.uniform((4, 3)), Naive(np.ones((4, 3)))
    rng = np.random.default_rng(0)
    one = np.zeros(4)
    one[1] = 0.4
    for turn in range(3_000):
        everywhere = rng.normal(size=3) + (5.0 if turn < 1_500 else -5.0)  # the total alone would pass e^7500
        for axes, table in (((1,), everywhere), ((0,), one if turn < 1_000 else -one)):
            model.tilt(axes, table)
            slow.tilt(axes, table)
        if turn % 700 == 0:
            assert abs(math.log(model._cells.sum())) <= 2 * explicit_model.REACH
    np.testing.assert_allclose(model.weights, slow.weights, rtol=1e-9, atol=1e-270)
    model.tilt((0,), np.array([1e6, 0.0, 0.0, -1e6]))
    assert model.table((0,)).tolist() == [1.0, 0.0, 0.0, 0.0]
    model.tilt((0,), np.full(4, 1e300))
    assert model.table((0,)).tolist() == [1.0, 0.0, 0.0, 0.0]
    model.tilt((0,), np.array([-1e308, 1e308, 0.0, 1e308]))  # what weighs nothing is not brought back
    assert model.table((0,)).tolist() == [1.0, 0.0, 0.0, 0.0]
    model.tilt((), np.array(-500.0))
    assert model.weights.sum() == pytest.approx(1.0)


def test_a_cell_of_a_conjunction_is_all_that_is_touched(monkeypatch):
    monkeypatch.setattr(table_kernel, "multiply", None)
    model = Explicit.uniform((2, 2, 64))
    table = np.zeros((2, 2))
    table[1, 0] = math.log(5.0)
    model.tilt((0, 1), table)
    model.tilt((0, 1), np.zeros((2, 2)))
    np.testing.assert_allclose(model.table((0, 1)), [[0.125, 0.125], [0.625, 0.125]], rtol=1e-12)


def test_a_copy_is_its_own():
    model = Explicit.uniform((2, 3))
    given_weights = np.ones((2, 3))
    other = Explicit(given_weights)
    other.tilt((0,), np.array([1.0, -1.0]))
    assert given_weights.tolist() == np.ones((2, 3)).tolist()
    twin = model.copy()
    twin.tilt((0,), np.array([2.0, 0.0]))
    twin.weights[:] = 0.0
    assert model.table((0,)).tolist() == [0.5, 0.5]
    np.testing.assert_allclose(twin.table((0,)), np.exp([2.0, 0.0]) / (1.0 + math.exp(2.0)))


def test_rows_are_drawn_as_the_cells_weigh():
    weights = np.array([[0.0, 3.0, 1.0], [0.0, 0.0, 4.0]])
    model = Explicit(weights)
    model.tilt((0,), np.log([1.0, 2.0]))
    rows = model.draw(Stream(bytes(32), "rows"), 100_000)
    assert rows.shape == (100_000, 2)
    assert rows.dtype == np.int32
    counts = np.zeros((2, 3), dtype=int)
    np.add.at(counts, tuple(rows.T), 1)
    assert (counts[weights == 0.0] == 0).all()
    # Six standard deviations on each of three shares: 6e-9. Seeded, so it either always holds or never.
    shares = np.array([[0.0, 0.25, 1 / 12], [0.0, 0.0, 2 / 3]])
    assert (np.abs(counts / 1e5 - shares) <= 6 * np.sqrt(shares * (1 - shares) / 1e5)).all()
    again = model.draw(Stream(bytes(32), "rows"), 100_000)
    assert np.array_equal(rows, again)
    assert model.draw(Stream(bytes(32), "rows"), 0).shape == (0, 2)


class Highest:
    """A stream of the largest words there are."""

    def words(self, count):
        return np.full(count, 2**64 - 1, dtype=np.uint64)


def test_the_largest_uniform_draws_the_last_cell_that_weighs_anything():
    rng = np.random.default_rng(2)
    for _ in range(200):
        weights = rng.random(9)
        weights[-2:] = 0.0
        model = Explicit(weights)
        model.tilt((0,), rng.normal(size=9))
        assert model.draw(Highest(), 1).tolist() == [[6]]


def test_divergence_is_that_of_kullback_and_leibler():
    rng = np.random.default_rng(4)
    p, q = rng.random((3, 4)), rng.random((3, 4))
    p[0, 0] = 0.0
    one, two = Explicit(p), Explicit(q)
    two.tilt((0,), np.array([3.0, 0.0, -1.0]))
    p, q = one.weights.reshape(-1)[1:], two.weights.reshape(-1)[1:]
    assert one.divergence(two) == pytest.approx(float(np.sum(p * np.log(p / q))), rel=1e-12)
    assert two.divergence(one) == math.inf
    assert one.divergence(one) == pytest.approx(0.0, abs=1e-15)
    with pytest.raises(ValueError, match="cannot be compared"):
        one.divergence(Explicit.uniform((4, 3)))


@pytest.mark.parametrize("wrong", [[1.0, -1.0], [0.0, 0.0], [1.0, math.nan], [1.0, math.inf], [], 1.0])
def test_what_is_no_distribution_is_refused(wrong):
    with pytest.raises(ValueError, match=r"weights must be|needs at least one"):
        Explicit(np.array(wrong))


def test_what_is_no_tilt_is_refused_and_changes_nothing():
    model = Explicit.uniform((2, 3))
    for axes, table in (((0,), [1.0, 2.0, 3.0]), ((0,), [1.0, math.nan]), ((1,), [0.0, 0.0, -math.inf]), ((0, 1), 1.0)):
        with pytest.raises(ValueError, match="finite numbers"):
            model.tilt(axes, np.array(table))
    for axes in ((1, 0), (0, 0), (2,), (-1,)):
        with pytest.raises(ValueError, match="increasing places of the 2 columns"):
            model.tilt(axes, np.ones((2,) * len(axes)))
        with pytest.raises(ValueError, match="increasing places of the 2 columns"):
            model.table(axes)
    assert model.tables([]) == []
    np.testing.assert_allclose(model.weights, np.full((2, 3), 1 / 6))
