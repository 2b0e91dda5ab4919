"""Many marginals with the work shared, and their transpose: the same as summing each from the whole."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unworn.universe.model import contraction
from unworn.universe.model.contraction import ContractionPlan, plan_contraction, spread, tables
from unworn.universe.model.walsh_transform import Walsh

ADULT = (2, 5, 7, 6, 2, 8, 5, 3)


def summed(whole, axes):
    return whole.sum(axis=tuple(axis for axis in range(whole.ndim) if axis not in axes))


def repeated(given, many, shape):
    wide = ([size if axis in axes else 1 for axis, size in enumerate(shape)] for axes in many)
    return sum((np.reshape(table, wanted) for table, wanted in zip(given, wide, strict=True)), np.zeros(shape))


@st.composite
def problems(draw, sizes=(1, 5), columns=(1, 6)):
    shape = tuple(draw(st.integers(*sizes)) for _ in range(draw(st.integers(*columns))))
    places = st.lists(st.integers(0, len(shape) - 1), unique=True).map(lambda axes: tuple(sorted(axes)))
    return shape, draw(st.lists(places, min_size=1, max_size=12)), draw(st.integers(0, 2**32))


def check(shape, many, seed, way):
    rng = np.random.default_rng(seed)
    whole = rng.normal(size=shape)
    for found, axes in zip(way.tables(whole), many, strict=True):
        assert found.shape == tuple(shape[axis] for axis in axes)
        np.testing.assert_allclose(found, summed(whole, axes), rtol=1e-12, atol=1e-12)
    counts = rng.integers(-(2**40), 2**40, size=shape)
    for found, axes in zip(way.tables(counts), many, strict=True):
        assert found.dtype == np.int64
        assert np.array_equal(found, summed(counts, axes))
    small = [rng.normal(size=[shape[axis] for axis in axes]) for axes in many]
    before = [table.copy() for table in small]
    np.testing.assert_allclose(way.spread(small), repeated(small, many, shape), rtol=1e-12, atol=1e-12)
    assert all(np.array_equal(now, then) for now, then in zip(small, before, strict=True))


@given(problems())
@settings(deadline=None)
def test_every_tree_sums_what_is_wanted(problem):
    shape, many, seed = problem
    for order in (tuple(range(len(shape))), tuple(reversed(range(len(shape))))):
        for halve in (False, True):
            tree = ContractionPlan(shape, tuple(many)).grown(tuple(range(len(shape))), frozenset(many), order, halve)
            check(shape, many, seed, tree)
    check(shape, many, seed, plan_contraction(shape, tuple(many)))


@given(problems(sizes=(2, 2), columns=(1, 9)))
@settings(deadline=None)
def test_the_transform_sums_what_is_wanted(problem):
    shape, many, seed = problem
    check(shape, many, seed, Walsh(len(shape), tuple(many)))


@given(problems(sizes=(2, 2), columns=(6, 9)))
@settings(max_examples=30, deadline=None)
def test_the_transform_in_many_runs(problem):
    shape, many, seed = problem
    walsh = Walsh(len(shape), tuple(many))
    walsh._runs = [slice(at, at + 3) for at in range(0, 2 ** (len(shape) - walsh._turn), 3)]
    check(shape, many, seed, walsh)


def test_all_marginals_of_ten_binary_columns():
    for ways in (1, 2, 3, 10):
        many = list(combinations(range(10), ways))
        check((2,) * 10, many, ways, Walsh(10, tuple(many)))
        check((2,) * 10, many, ways, plan_contraction((2,) * 10, tuple(many)))


def test_the_work_is_shared():
    # 84 sums of the whole would read 8.5 million cells.
    many = tuple(axes for ways in (2, 3) for axes in combinations(range(8), ways))
    tree = plan_contraction(ADULT, many)
    read = sum(math.prod(cells) for _, *cells in tree.steps)
    assert read < 12 * math.prod(ADULT)
    assert len(tree.steps) < 2 * len(many)
    check(ADULT, many, 5, tree)
    assert plan_contraction(ADULT, many) is tree


def test_tables_that_are_done_with_are_let_go():
    kept = []
    tree = plan_contraction((6,) * 6, tuple(combinations(range(6), 2)))
    alive = {0: 6**6}
    for at, (parent, before, _, after) in enumerate(tree.steps):
        alive[at + 1] = before * after
        kept.append(sum(alive.values()))
        if tree._last.get(parent) == at:
            del alive[parent]
    assert max(kept) < 2 * 6**6
    assert sum(before * after for _, before, _, after in tree.steps) > max(kept) - 6**6  # and it mattered


def test_yes_no_columns_are_transformed_where_that_is_cheaper():
    assert isinstance(plan_contraction((2,) * 16, tuple(combinations(range(16), 3))), Walsh)
    assert isinstance(plan_contraction((2,) * 16, tuple(combinations(range(16), 1))), ContractionPlan)
    assert isinstance(plan_contraction((2,) * 16, ((0, 1),)), ContractionPlan)
    # A transform grows with the columns it keeps; half of the cost is the first column.
    few, many = (Walsh(16, tuple(combinations(range(16), ways))).cost / 2**16 for ways in (1, 3))
    assert few < 6 < many < 15


def test_transpose_is_transpose():
    rng = np.random.default_rng(1)
    shape, many = (3, 2, 4, 2), [(0, 2), (1, 3), (2,), (0, 1, 2, 3), ()]
    whole = rng.normal(size=shape)
    small = [rng.normal(size=[shape[axis] for axis in axes]) for axes in many]
    one = sum(float(np.sum(a * b)) for a, b in zip(tables(whole, many), small, strict=True))
    assert one == pytest.approx(float(np.sum(whole * spread(small, many, shape))), rel=1e-12)


def test_what_is_no_set_of_columns_is_refused():
    for wrong in ((1, 0), (0, 0), (3,), (-1,)):
        with pytest.raises(ValueError, match="increasing places of the 3 columns"):
            tables(np.ones((2, 2, 2)), [wrong])
    for shape in ((3, 2), (2, 2)):
        with pytest.raises(ValueError, match="has shape"):
            spread([np.ones(4), np.ones(2)], [(0,), (1,)], shape)
    with pytest.raises(ValueError):
        spread([np.ones(3)], [(0,), (1,)], (3, 2))


def test_nothing_wanted_is_nothing_done():
    assert tables(np.ones((2, 3)), []) == []
    assert spread([], [], (2, 3)).tolist() == [[0.0] * 3] * 2
    assert contraction.tables(np.ones((2, 3)), [()])[0] == 6.0
