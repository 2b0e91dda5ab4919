"""From answers to excess risk: what the gradients asked for, known within intervals, prove about a point.

F is convex, so F(y) - F(θ) <= g(y)·(y - θ) - μ/2 |y - θ|² for every θ, and g(y) lies in the intervals of its answers.
Whatever the points and however they were found, the largest the right side can be over the region is a certificate; a
weighted mean of points is certified by the weighted mean of theirs. All answers hold together, so the best of several
certificates holds too. Proofs: ``docs/theory/optimisation.md``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from unworn.learn.regions import Floats, Region

SLIP = 1e-9
"""What floats may have rounded away, as a share of the numbers that were added up."""

TINY = 1e-12
STEEPEST = 1e6
"""How many times the curvature a slope may be: beyond it the projection would lose its digits."""


@dataclass(frozen=True)
class Path:
    """Where gradients were asked, what was answered, and how a step changed what is to be certified.

    One row per iteration: ``points`` are the points certified, ``values`` the gradients' answers (whole, with the
    exactly known part of a penalty), ``errors`` how far the population's may be from them, ``extra`` what stepping from
    the point asked to the point certified may have added, ``weights`` those of the mean, which sum to 1.
    """

    points: Floats
    values: Floats
    errors: Floats
    extra: Floats
    weights: Floats

    def only(self, place: int) -> Path:
        rows = slice(place, place + 1)
        return Path(self.points[rows], self.values[rows], self.errors[rows], self.extra[rows], np.ones(1))

    def mean(self) -> Floats:
        return np.asarray(self.weights @ self.points)


def certify_excess(path: Path, over: Region, curvature: float = 0.0) -> tuple[float, float]:
    """(regret, error): their sum bounds the excess risk of the mean point; the best of the ways to split curvature.

    >>> from unworn.learn.regions import Ball
    >>> one, none = np.ones(1), np.zeros(1)
    >>> path = Path(np.zeros((1, 2)), np.array([[0.1, 0.0]]), np.full((1, 2), 0.03), none, one)
    >>> [round(part, 4) for part in certify_excess(path, Ball(1.0))]
    [0.1, 0.0424]
    >>> round(sum(certify_excess(path, Ball(1.0), curvature=1.0)), 4)
    0.0089
    """
    return min(_ways(path, over, curvature), key=sum)


def _ways(path: Path, over: Region, curvature: float) -> Iterator[tuple[float, float]]:
    doubts = np.array([over.doubt(point, error) for point, error in zip(path.points, path.errors, strict=True)])
    linear = float(path.weights @ doubts)
    yield regret(path, over, curvature), linear
    if curvature > TINY:
        for share in (0.5, 0.0):
            left = (1 - share) * curvature
            squares = np.sum(path.errors**2, axis=1)
            yield regret(path, over, share * curvature), float(path.weights @ squares) / (2 * left)
        if len(path.points) == 1:  # coordinate by coordinate: what is asked and what is open, together
            sizes = np.abs(path.values[0])
            alone = float(np.sum(sizes**2)) / (2 * curvature)
            both = float(np.sum((sizes + path.errors[0]) ** 2)) / (2 * curvature)
            yield alone + float(path.extra[0]), both - alone


def regret(path: Path, over: Region, curvature: float) -> float:
    """max over θ of the mean of value·(point - θ) + extra - curvature/2 |point - θ|²: exact, never below 0.

    With curvature the maximum lies at the projection of the unconstrained one: it falls off alike in all directions.
    """
    points, values, weights = path.points, path.values, path.weights
    mean, slope = weights @ points, weights @ values
    fixed = float(weights @ (np.einsum("ij,ij->i", values, points) + path.extra))
    size = float(weights @ (np.abs(values) * np.abs(points)).sum(axis=1)) + abs(over.support(-slope))
    if curvature * STEEPEST <= float(np.abs(slope).max(initial=0.0)):  # leaving curvature out only adds
        return max(0.0, fixed + over.support(-slope)) + SLIP * size
    best = over.project(mean - slope / curvature)
    spread = float(weights @ np.sum((points - best) ** 2, axis=1))
    return max(0.0, fixed - float(slope @ best) - curvature / 2 * spread) + SLIP * (size + curvature * spread)
