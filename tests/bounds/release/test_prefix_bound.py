"""Thresholds: the closed forms against the matrices they stand for."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from unworn.bounds.release import sqrt_sd, tree_sd


@pytest.mark.parametrize("bins", [1, 2, 3, 8, 37, 64])
def test_the_tree(bins: int) -> None:
    levels = (bins - 1).bit_length()
    depth = levels + 1  # nodes that hold a row
    most = max(bin(prefix).count("1") for prefix in range(1, bins + 1))  # nodes that make up a prefix
    assert tree_sd(bins) >= math.sqrt(depth * most) * (1 - 1e-12)
    if bins == 2**levels > 1:
        assert tree_sd(bins) == pytest.approx(math.sqrt(depth * most))


@pytest.mark.parametrize("bins", [1, 2, 5, 60])
def test_the_square_root(bins: int) -> None:
    factors = np.cumprod([1.0, *(1 - 1 / (2 * j) for j in range(1, bins))])
    root = np.array([[factors[i - j] if i >= j else 0.0 for j in range(bins)] for i in range(bins)])
    assert np.allclose(root @ root, np.tril(np.ones((bins, bins))))
    longest = np.linalg.norm(root, axis=1).max() * np.linalg.norm(root, axis=0).max()
    assert sqrt_sd(bins) == pytest.approx(longest)


def test_beyond_what_is_summed_the_formula_goes_on() -> None:
    for bins in (2**20 - 1, 2**20, 2**20 + 1, 2**21, 2**40):
        assert sqrt_sd(bins) == pytest.approx((math.log(bins) + np.euler_gamma + 4 * math.log(2)) / math.pi, abs=1e-6)
    more = float(np.square(np.cumprod(np.append(1.0, 1 - 0.5 / np.arange(1.0, 2**21)))).sum())
    assert more <= sqrt_sd(2**21) * (1 + 1e-12) <= more * (1 + 1e-9)


def test_both_grow_and_the_square_root_is_less_noisy() -> None:
    sizes = [2**power for power in range(1, 31)]
    trees, roots = [tree_sd(size) for size in sizes], [sqrt_sd(size) for size in sizes]
    assert trees == sorted(trees)
    assert roots == sorted(roots)
    assert all(root < tree for root, tree in zip(roots, trees, strict=True))


@pytest.mark.parametrize("wrong", [0, -1, 2.5, math.nan, True])
def test_wrong_numbers_are_refused(wrong: Any) -> None:
    for sd in (tree_sd, sqrt_sd):
        with pytest.raises(ValueError, match="bins"):
            sd(wrong)
