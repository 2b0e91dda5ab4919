from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from tests.two_sizes import reseeded
from unworn.bounds.questions.rank_moments import (
    RankMoments,
    hanley_mcneil,
    rank_difference_moments,
    rank_moments,
    ranking_error,
)


def pairs(positives: Any, negatives: Any) -> Any:
    """φ for every pair, with ties counted one half."""
    above = positives[:, None] > negatives[None, :]
    return above + 0.5 * (positives[:, None] == negatives[None, :])


@pytest.mark.parametrize("seed", range(4))
def test_moments_are_those_of_all_pairs(seed: int) -> None:
    rng = np.random.default_rng(reseeded(seed))
    up, down = rng.integers(0, 7, 31), rng.integers(-2, 5, 17)
    phi, moments = pairs(up, down), rank_moments(up, down)
    assert moments.value == pytest.approx(phi.mean(), abs=1e-14)
    assert moments.value == pytest.approx(
        roc_auc_score([1] * up.size + [0] * down.size, np.concatenate([up, down])), abs=1e-12
    )
    assert moments.pair_variance == pytest.approx(phi.var(), abs=1e-13)
    assert moments.positive_variance == pytest.approx(phi.mean(axis=1).var(), abs=1e-13)
    assert moments.negative_variance == pytest.approx(phi.mean(axis=0).var(), abs=1e-13)


@pytest.mark.parametrize(("p", "k"), [(1, 1), (2, 1), (1, 3), (2, 2), (3, 2), (5, 4), (4, 4)])
def test_block_variance_is_the_average_over_all_blocks(p: int, k: int) -> None:
    rng = np.random.default_rng(reseeded(5))
    up, down = rng.integers(0, 6, 5), rng.integers(0, 5, 4)
    phi = pairs(up, down)
    every = [
        (phi[np.ix_(rows, columns)].mean() - phi.mean()) ** 2
        for rows in combinations(range(5), p)
        for columns in combinations(range(4), k)
    ]
    assert rank_moments(up, down).block_variance(p, k) == pytest.approx(np.mean(every), abs=1e-14)


@pytest.mark.parametrize("seed", range(4))
def test_the_difference_of_two_rankings(seed: int) -> None:
    rng = np.random.default_rng(reseeded(seed))
    first = rng.integers(0, 9, 23) + 2, rng.integers(0, 9, 12)
    second = first[0] + rng.integers(0, 2, 23), first[1] + rng.integers(0, 3, 12)
    difference = pairs(*first) - pairs(*second)
    moments = rank_difference_moments(first, second)
    assert moments.value == pytest.approx(difference.mean(), abs=1e-14)
    assert moments.pair_variance >= difference.var()
    assert moments.positive_variance == pytest.approx(difference.mean(axis=1).var(), abs=1e-13)
    assert moments.negative_variance == pytest.approx(difference.mean(axis=0).var(), abs=1e-13)


def test_delong_on_exponential_scores_is_what_hanley_and_mcneil_say() -> None:
    """For exponential scores of scales 9 and 1 the area is .9, and their formula is exact."""
    rng = np.random.default_rng(reseeded(8))
    n = 40_000
    moments = rank_moments(9 * rng.exponential(size=n), rng.exponential(size=n))
    error = ranking_error(0.9, hanley_mcneil(0.9), n, n)
    assert abs(moments.value - 0.9) < 6 * error  # false alarm: 2e-9
    assert moments.delong_error() == pytest.approx(error, rel=0.1)
    assert moments.covariances == pytest.approx(hanley_mcneil(0.9), rel=0.15)


def test_classes_without_rows() -> None:
    empty = rank_moments([], [1.0, 2.0])
    assert (empty.positives, empty.value) == (0, 0.5)
    assert rank_difference_moments(([], [1.0]), ([], [2.0])).value == 0.0
    assert rank_moments([1.0], [0.0]).delong_error() == 0.5


def test_what_is_no_ranking_is_refused() -> None:
    with pytest.raises(ValueError, match="not a number"):
        rank_moments([math.nan], [1.0])
    with pytest.raises(ValueError, match="same rows"):
        rank_difference_moments(([1.0], [1.0]), ([1.0, 2.0], [1.0]))
    with pytest.raises(ValueError, match="value"):
        RankMoments(1, 1, math.nan, 0.1, 0.1, 0.1)
    with pytest.raises(ValueError, match="pair_variance"):
        RankMoments(1, 1, 0.5, -0.1, 0.1, 0.1)
    with pytest.raises(ValueError, match="positives"):
        RankMoments(3, 3, 0.5, 0.1, 0.1, 0.1).block_variance(4, 1)
