"""The closed form against dense generalised least squares with the number of rows known."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from unworn.queries.row_protocol import Floats
from unworn.release.methods.least_squares import LeastSquares
from unworn.release.methods.noisy_table import Measured
from unworn.universe.model.model import Axes
from unworn.universe.model.question_blocks import Block, Listed, Marginal, Prefix, Range

SHAPE = (2, 3, 4, 1)
TABLES: tuple[Axes, ...] = ((0, 1), (1, 2), (0, 2, 3), (2,), (0, 1, 2))
SCALES = (3.0, 5.0, 2.0, 7.0, 4.0)


def summing(axes: Axes) -> Floats:
    """The matrix that sums the whole table onto some columns."""
    whole = np.eye(int(np.prod(SHAPE))).reshape(-1, *SHAPE)
    others = tuple(axis + 1 for axis in range(len(SHAPE)) if axis not in axes)
    return np.asarray(whole.sum(axis=others).reshape(whole.shape[0], -1).T)


def blocks() -> list[Block]:
    yes = np.random.default_rng(1).random((5, 12)) < 0.5
    return [
        Marginal((0, 1), (2, 3)),
        Marginal((0, 1, 2), (2, 3, 4)),
        Marginal((0, 3), (2, 1)),
        Prefix((2,), (4,)),
        Range((1,), (3,)),
        Listed((1, 2), (3, 4), yes),
    ]


def dense(block: Block) -> Floats:
    """The coefficients of each answer's estimate on every measured cell, from the pseudo-inverse."""
    cells = int(np.prod(SHAPE))
    centre = np.eye(cells) - 1.0 / cells  # moves that leave the number of rows alone
    stacked = np.concatenate([summing(axes) / scale for axes, scale in zip(TABLES, SCALES, strict=True)])
    asked = np.array([block.question(place).reshape(-1) for place in range(block.size)]) @ summing(block.axes)
    whitened = asked @ centre @ np.linalg.pinv(stacked @ centre)
    scales = np.concatenate([np.full(len(summing(a)), s) for a, s in zip(TABLES, SCALES, strict=True)])
    return np.asarray(whitened / scales)


@pytest.fixture(scope="module")
def solved() -> LeastSquares:
    targets = tuple(dict.fromkeys(block.axes for block in blocks()))
    return LeastSquares(SHAPE, TABLES, np.array([s**-2 for s in SCALES]), targets)


@pytest.mark.parametrize("block", blocks(), ids=lambda block: f"{type(block).__name__}{block.axes}")
def test_variances_and_weights(block: Block, solved: LeastSquares) -> None:
    found = dense(block)
    scales = np.concatenate([np.full(len(summing(a)), s) for a, s in zip(TABLES, SCALES, strict=True)])
    variances = np.square(found * scales).sum(axis=1)
    assert np.broadcast_to(solved.variances(block), variances.shape) == pytest.approx(variances)
    ends = np.cumsum([len(summing(axes)) for axes in TABLES])[:-1]
    tops = np.array([np.abs(part).max(axis=1) for part in np.split(found, ends, axis=1)])
    weights = np.broadcast_to(solved.weights(block), tops.shape)
    assert (tops <= weights + 1e-12).all()
    if isinstance(block, Marginal):
        assert weights == pytest.approx(tops, abs=1e-12)  # here it is the weight of the cell itself


def test_estimates(solved: LeastSquares) -> None:
    rng = np.random.default_rng(0)
    rows = 500
    measured = [
        Measured(axes, rng.integers(-5, 60, tuple(SHAPE[a] for a in axes)), "gaussian", scale)
        for axes, scale in zip(TABLES, SCALES, strict=True)
    ]
    told = np.concatenate([each.counts.reshape(-1) for each in measured])
    even = np.full(int(np.prod(SHAPE)), rows / np.prod(SHAPE))
    expected = np.concatenate([summing(axes) @ even for axes in TABLES])
    estimates = dict(zip(solved.targets, solved.estimates(measured, rows), strict=True))
    for block in blocks():
        asked = np.array([block.question(place).reshape(-1) for place in range(block.size)]) @ summing(block.axes)
        best = asked @ even + dense(block) @ (told - expected)
        assert block.answers(estimates[block.axes]) == pytest.approx(best)
    for first, second in combinations(solved.targets, 2):
        common = tuple(axis for axis in first if axis in second)
        ends = [estimates[a].sum(axis=tuple(i for i, b in enumerate(a) if b not in common)) for a in (first, second)]
        assert ends[0] == pytest.approx(ends[1])
