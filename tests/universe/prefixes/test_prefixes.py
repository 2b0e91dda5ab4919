"""Strategies for prefix sums, against their matrices written out and against published numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unworn.universe.prefixes import ConsistentTree, CountTree, Direct, SquareRoot, lowest, monotone
from unworn.universe.prefixes.power_series import exact_product, reciprocal

WAYS = {
    "direct": Direct,
    "tree": CountTree,
    "tree of 3": lambda m: CountTree(m, 3),
    "tree of all": lambda m: CountTree(m, m),
    "consistent": ConsistentTree,
    "consistent of 3": lambda m: ConsistentTree(m, 3),
    "consistent of 7": lambda m: ConsistentTree(m, 7),
    "consistent of all": lambda m: ConsistentTree(m, m),
    "square root": SquareRoot,
}
SIZES = [2, 3, 4, 5, 6, 7, 8, 9, 13, 16, 17, 27, 31, 33, 50, 64]


def matrices(way):
    """C, the estimates' matrix, what they make of n, and the prefixes: all as the strategy itself computes them."""
    m = way.cells
    c = np.array([way.measure(row) for row in np.eye(m, dtype=np.int64)]).T / way.grid
    nothing = np.zeros(len(c))
    b = np.array([way.prefixes(one, 0) for one in np.eye(len(c))]).T
    return c, b, way.prefixes(nothing, 1), np.tril(np.ones((m, m)))[:-1]


@pytest.mark.parametrize("name", WAYS)
def test_what_a_strategy_says_of_itself_is_what_its_matrices_are(name):
    for m in SIZES:
        way = WAYS[name](m)
        c, b, from_rows, a = matrices(way)
        assert np.allclose(b @ c + from_rows[:, None], a, atol=1e-9), "unbiased"
        apart = c[:, :, None] - c[:, None, :]
        assert way.l2 == pytest.approx(math.sqrt((apart**2).sum(axis=0).max()), rel=1e-9)
        assert way.l2 >= math.sqrt((apart**2).sum(axis=0).max()) * (1 - 1e-15)
        assert way.norm == pytest.approx(np.linalg.norm(c, axis=0).max(), rel=1e-9)
        assert np.allclose(way.spread, np.linalg.norm(b, axis=1), atol=1e-9)
        assert (way.reach >= np.abs(b).sum(axis=1) - 1e-9).all()
        if way.grid == 1:
            assert way.l1 == np.abs(apart).sum(axis=0).max()
            assert way.heaviest >= np.abs(b).max() - 1e-12


@pytest.mark.parametrize(
    "name", ["consistent", "consistent of 3", "consistent of 7", "consistent of all", "square root"]
)
def test_estimates_are_least_squares_given_the_number_of_rows(name):
    for m in SIZES:
        way = WAYS[name](m)
        c, _, _, a = matrices(way)
        centred = c - c.mean(axis=1, keepdims=True)
        best = np.einsum("ij,jk,ik->i", a, np.linalg.pinv(centred.T @ centred, rtol=1e-10, hermitian=True), a)
        assert np.allclose(way.spread**2, best, atol=1e-8)


@pytest.mark.parametrize("fan", [2, 3, 16])
def test_the_consistent_tree_is_nowhere_worse_than_the_tree(fan):
    for m in [*SIZES, 1000, 1024, 5000]:
        plain, fitted = CountTree(m, fan), ConsistentTree(m, fan)
        assert (fitted.spread <= plain.spread + 1e-12).all()
        assert fitted.l2 == plain.l2
    assert (CountTree(1024).spread ** 2).mean() / (ConsistentTree(1024).spread ** 2).mean() == pytest.approx(
        4.68, abs=0.01
    )


def test_no_count_is_measured_twice():
    for m in SIZES:
        c, *_ = matrices(CountTree(m))
        assert len(np.unique(c, axis=0)) == len(c) == 2 * m - 2


# ---------------------------------------------------------------------- published numbers, and what replacing changes

PUBLISHED = [(2**10, 10.5, 3.27), (2**16, 16.5, 4.60), (2**20, 20.5, 5.48)]
REPLACED = [(2**10, 14.14, 5.53, 4.02), (2**16, 22.63, 8.38, 5.93), (2**20, 28.28, 10.27, 7.19)]


@pytest.mark.parametrize(("m", "tree", "root"), PUBLISHED)
def test_published_largest_deviations_for_a_row_added_or_removed(m, tree, root):
    plain, factored = CountTree(m), SquareRoot(m)
    with_root = math.sqrt(plain.norm**2 + 1.0) * plain.spread.max()
    assert with_root == pytest.approx(tree, abs=0.05)
    assert factored.norm * np.linalg.norm(factored.back) == pytest.approx(root, abs=0.005)
    assert factored.norm**2 == pytest.approx(math.log(m) / math.pi + 1.066, abs=0.002)


@pytest.mark.parametrize(("m", "tree", "fitted", "root"), REPLACED)
def test_largest_deviations_for_a_row_replaced(m, tree, fitted, root):
    ways = [CountTree(m), ConsistentTree(m), SquareRoot(m)]
    assert [way.l2 * way.spread.max() for way in ways] == pytest.approx([tree, fitted, root], abs=0.005)
    assert lowest(m) < ways[2].l2 * ways[2].spread.max() < 1.16 * lowest(m)


def test_nothing_is_below_the_lowest_and_two_values_attain_it():
    for m in SIZES:
        found = [way.l2 * way.spread.max() for way in (make(m) for make in WAYS.values())]
        assert min(found) >= lowest(m) - 1e-9
    assert Direct(2).l2 == pytest.approx(lowest(2))
    assert [lowest(m) for m in SIZES] == sorted(lowest(m) for m in SIZES)


def test_the_lowest_is_the_sum_of_singular_values():
    m = 40
    a = np.tril(np.ones((m, m)))[:-1]
    singular = np.linalg.svd(a - a.mean(axis=1, keepdims=True), compute_uv=False)
    assert lowest(m) == pytest.approx(math.sqrt(2.0) * singular.sum() / (m - 1))


def test_columns_made_equally_long_are_worse_where_a_row_is_replaced():
    m = 256
    c, _, _, a = matrices(SquareRoot(m))
    equal = c / np.linalg.norm(c, axis=0)
    gram, centred = equal.T @ equal, equal - equal.mean(axis=1, keepdims=True)
    apart = math.sqrt(2.0 - 2.0 * gram.min())
    variance = np.einsum("ij,jk,ik->i", a, np.linalg.pinv(centred.T @ centred, rtol=1e-10, hermitian=True), a)
    ours = SquareRoot(m).l2 * SquareRoot(m).spread.max()
    assert apart * math.sqrt(variance.max()) == pytest.approx(3.57, abs=0.01)
    assert ours == pytest.approx(3.38, abs=0.01)


def test_rounding_the_coefficients_costs_nothing_one_could_see():
    for m in (64, 4096, 2**16):
        way = SquareRoot(m)
        f = np.cumprod(np.concatenate([[1.0], 1.0 - 0.5 / np.arange(1, m)]))
        assert np.linalg.norm(way.back) == pytest.approx(np.linalg.norm(f), rel=1e-4)
        assert np.abs(way.coefficients - way.grid * f).max() <= 0.5 + 1e-6


# ---------------------------------------------------------------------- exact products


@pytest.mark.parametrize("total", [0, 1, 1000, 10**7, 10**9, 10**12, 2**40])
@pytest.mark.parametrize("m", [2, 37, 1000])
def test_products_of_whole_numbers_are_exact(m, total):
    rng = np.random.default_rng(m)
    way = SquareRoot(m)
    for weights in (rng.dirichlet(np.ones(m)), np.eye(m)[0], np.eye(m)[-1]):
        counts = rng.multinomial(total, weights)
        told = [int(x) for x in way.coefficients]
        kept = [int(x) for x in counts]
        expected = [sum(told[k - j] * kept[j] for j in range(k + 1)) for k in range(0, m, max(1, m // 40))]
        assert exact_product(way.coefficients, counts, total)[:: max(1, m // 40)].tolist() == expected


def test_a_long_product_is_exact_at_its_end():
    m, total = 2**18, 10**10
    way, counts = SquareRoot(m), np.random.default_rng(3).multinomial(10**10, np.full(2**18, 2.0**-18))
    for k in (m - 1, m // 2, 12345):
        expected = int(np.dot(way.coefficients[: k + 1][::-1].astype(object), counts[: k + 1].astype(object)))
        assert int(exact_product(way.coefficients, counts, total)[k]) == expected
    exact = np.cumsum(counts)[:-1]
    told = way.measure(counts) / way.grid
    assert np.abs(way.prefixes(told, total) - exact).max() <= way.rounding(told, total) < 0.1


def test_reciprocals_multiply_to_one():
    a = np.random.default_rng(1).normal(size=200) / np.arange(1, 201) ** 2
    a[0] = 1.0
    assert np.allclose(np.convolve(a, reciprocal(a))[:200], np.eye(200)[0], atol=1e-9)


# ---------------------------------------------------------------------- rising sequences


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 40), st.integers(0, 2**32), st.floats(0.0, 30.0), st.booleans())
def test_rising_sequences_keep_every_bound(k, seed, size, flat):
    rng = np.random.default_rng(seed)
    truth = np.sort(rng.integers(0, 3 if flat else 101, k)).astype(float)
    widths = size * rng.uniform(0.1, 1.0, k)
    noisy = truth + widths * rng.uniform(-1.0, 1.0, k)
    values, errors = monotone(noisy, widths, 100.0)
    assert (np.diff(values) >= 0).all()
    assert values.min() >= 0.0
    assert values.max() <= 100.0
    assert (np.abs(values - truth) <= errors + 1e-9).all()
    assert (errors <= widths.max()).all()
    assert np.abs(values - truth).max() <= np.abs(noisy - truth).max() + 1e-9 or not np.allclose(widths, widths[0])


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 40), st.integers(0, 2**32))
def test_regression_never_makes_the_largest_error_larger(k, seed):
    from scipy.optimize import isotonic_regression

    rng = np.random.default_rng(seed)
    truth, noise = np.sort(rng.normal(size=k)), rng.standard_t(2, size=k)
    assert np.abs(isotonic_regression(truth + noise).x - truth).max() <= np.abs(noise).max() + 1e-12


def test_where_widths_failed_the_result_still_rises():
    values, errors = monotone(np.array([90.0, 10.0, 50.0, -5.0]), np.full(4, 1.0), 100.0)
    assert (np.diff(values) >= 0).all()
    assert (values >= 0).all()
    assert (errors >= 0).all()


# ---------------------------------------------------------------------- what is refused


@pytest.mark.parametrize("cells", [1, 0, -3, True, 2.0, float("nan")])
@pytest.mark.parametrize("make", [Direct, CountTree, ConsistentTree, SquareRoot])
def test_fewer_than_two_values_have_no_prefixes(make, cells):
    with pytest.raises(ValueError, match="at least 2 values"):
        make(cells)


@pytest.mark.parametrize("fan", [1, 0, True, 2.5])
def test_a_fan_is_at_least_two(fan):
    with pytest.raises(ValueError, match="fan"):
        CountTree(8, fan)
