"""Curvature that was asked for: how fast the population's risk rises around a point, and what that proves of the point.

Intervals of second derivatives leave a least curvature in every direction. Where a gradient is small and the risk
curves up, the minimiser cannot be far, so that what the intervals of the gradient leave open counts squared, without
any penalty. A squared loss curves alike everywhere; the curvature of a logistic one falls off no faster than
exp(-change of the score), which is enough (Bach 2010). Proofs: ``docs/theory/optimisation.md``.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from unworn.learn.regions import Floats
from unworn.queries.learning.argmin import Curvature
from unworn.queries.learning.linear_features import Feature
from unworn.queries.learning.linear_losses import LinearLoss

if TYPE_CHECKING:
    from unworn.record.answer import Answer

SLIP = 1e-9
"""What floats may have rounded away, as a share of the numbers at hand."""


def questions(loss: LinearLoss, at: tuple[float, ...]) -> dict[tuple[int, int], Curvature]:
    """The entries on and above the diagonal, but for those that are known: a feature of size 1 has a mean square of 1.

    >>> from unworn.queries.learning.linear_losses import least_squares
    >>> list(questions(least_squares({"x": (0, 1)}, range=(0, 1)), (0.0, 0.0)))
    [(0, 1), (1, 1)]
    """
    places = ((row, column) for row in range(loss.dimension) for column in range(row, loss.dimension))
    return {place: Curvature(loss, at, *place) for place in places if not _known(loss, *place)}


def how_many(loss: LinearLoss) -> int:
    """The number of :func:`questions`, without making them: of many features they would take minutes to make.

    >>> from unworn.queries.learning.linear_losses import least_squares
    >>> how_many(least_squares({"x": (0, 1)}, range=(0, 1)))
    2
    """
    dimension = loss.dimension
    return dimension * (dimension + 1) // 2 - sum(_known(loss, place, place) for place in range(dimension))


def _known(loss: LinearLoss, row: int, column: int) -> bool:
    place = row - int(loss.intercept)
    return loss.kind == "squared" and row == column and (place < 0 or not isinstance(loss.features[place], Feature))


def least(dimension: int, told: dict[tuple[int, int], Answer]) -> Floats:
    """A matrix that lies below every matrix of second derivatives that the answers allow.

    For |E| <= H entry by entry, x·Ex >= -(largest eigenvalue of H) |x|².
    """
    middle, open_ = np.eye(dimension), np.zeros((dimension, dimension))
    for (row, column), answer in told.items():
        middle[row, column] = middle[column, row] = (answer.low + answer.high) / 2
        open_[row, column] = open_[column, row] = (answer.high - answer.low) / 2
    room = float(np.linalg.eigvalsh(open_)[-1])
    return np.asarray(middle - (room + SLIP * float(np.abs(middle).sum() + room)) * np.eye(dimension))


def everywhere(loss: LinearLoss, lowest: float, furthest: float) -> float:
    """How strongly convex the risk is over a region, if it curves by ``lowest`` at a point, from which scores change by
    at most ``furthest``."""
    if loss.bends_alike:
        return max(0.0, lowest)
    return max(0.0, 2 * lowest * _share(furthest))


def rise(loss: LinearLoss, below: Floats, slopes: Floats) -> float:
    """The most that the risk can fall from a point whose gradient is at most ``slopes`` in size, coordinate by
    coordinate, and whose second derivatives are at least ``below``; infinite where these do not hold it up.

    >>> from unworn.queries.learning.linear_losses import least_squares, logistic
    >>> slopes, below = np.array([0.1, 0.1]), np.diag([1.0, 0.5])
    >>> round(rise(least_squares({"x": (0, 1)}, range=(0, 1)), below, slopes), 6)
    0.015
    >>> round(rise(logistic({"x": (0, 1)}), below, slopes), 6)
    0.016776
    """
    lowest = float(np.linalg.eigvalsh(below)[0])
    if not lowest > SLIP:
        return math.inf
    return min(_rise(loss, matrix, slopes) for matrix in (below, lowest * np.eye(len(slopes))))


def _rise(loss: LinearLoss, below: Floats, slopes: Floats) -> float:
    inverse = np.abs(np.linalg.inv(below))
    steep = float(slopes @ inverse @ slopes) * (1 + SLIP)
    if loss.bends_alike:
        return steep / 2
    stretch = float(inverse.sum()) * (1 + SLIP)
    part = math.sqrt(steep * stretch)
    if part >= 1:
        return math.inf
    # (t + (1 - t) ln(1 - t))/κ², by its series where t is small: the difference would lose its digits.
    told = part**2 * (0.5 + part / 6 + part**2 / 6) if part < 0.01 else part + (1 - part) * math.log1p(-part)
    return told * (1 + SLIP) / stretch


def _share(change: float) -> float:
    """(exp(-s) + s - 1)/s², which is 1/2 at 0 and falls."""
    if change < 0.01:
        return 0.5 - change / 6
    return (math.exp(-change) + change - 1) / change**2
