"""Where the minimiser is looked for: a ball, a box, a simplex or an L1 ball.

A region knows four things: the nearest of its points, the furthest it goes in a direction, how far a box of gradients
can matter (``doubt``), and the sum of sizes its points can have, which fixes the range of every question.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Region(ABC):
    """A convex, bounded set of coefficients."""

    @abstractmethod
    def start(self, dimension: int) -> Floats:
        """Its middle, where descent begins."""

    @abstractmethod
    def reach(self, dimension: int) -> float:
        """The largest distance from the start to a point of the region."""

    @abstractmethod
    def largest(self, dimension: int) -> float:
        """The largest sum of sizes of the coefficients of a point."""

    @abstractmethod
    def project(self, point: Floats) -> Floats:
        """The nearest point of the region."""

    @abstractmethod
    def support(self, direction: Floats) -> float:
        """max direction·θ over the region."""

    @abstractmethod
    def doubt(self, point: Floats, errors: Floats) -> float:
        """At least max Σ errors|point - θ| over the region: what gradients known within ``errors`` leave open."""

    def to_json(self) -> dict[str, Any]:
        return {"region": type(self).__name__, **{name: _plain(value) for name, value in vars(self).items()}}


@dataclass(frozen=True)
class Ball(Region):
    """Coefficients of Euclidean norm at most ``radius``.

    >>> Ball(1.0).project(np.array([3.0, 4.0])).round(9).tolist()
    [0.6, 0.8]
    """

    radius: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", positive("radius", self.radius))

    def start(self, dimension: int) -> Floats:
        return np.zeros(dimension)

    def reach(self, dimension: int) -> float:
        return self.radius

    def largest(self, dimension: int) -> float:
        return self.radius * math.sqrt(dimension)

    def project(self, point: Floats) -> Floats:
        norm = float(np.linalg.norm(point))
        return point if norm <= self.radius else point * (self.radius / norm)

    def support(self, direction: Floats) -> float:
        return self.radius * float(np.linalg.norm(direction))

    def doubt(self, point: Floats, errors: Floats) -> float:
        far = float(errors @ np.abs(point)) + self.radius * float(np.linalg.norm(errors))
        return min(far, float(np.linalg.norm(errors)) * (float(np.linalg.norm(point)) + self.radius))


@dataclass(frozen=True)
class Box(Region):
    """Every coefficient between ``low`` and ``high``.

    >>> Box(-1.0, 1.0).project(np.array([3.0, 0.5])).tolist()
    [1.0, 0.5]
    """

    low: float
    high: float

    def __post_init__(self) -> None:
        low, high = finite("low", self.low), finite("high", self.high)
        if not low < high:
            raise ValueError(f"a box goes from low to high with low < high, not from {low:g} to {high:g}")
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    def start(self, dimension: int) -> Floats:
        return np.full(dimension, (self.low + self.high) / 2)

    def reach(self, dimension: int) -> float:
        return (self.high - self.low) / 2 * math.sqrt(dimension)

    def largest(self, dimension: int) -> float:
        return dimension * max(abs(self.low), abs(self.high))

    def project(self, point: Floats) -> Floats:
        return np.clip(point, self.low, self.high)

    def support(self, direction: Floats) -> float:
        return float(np.sum(np.maximum(direction * self.low, direction * self.high)))

    def doubt(self, point: Floats, errors: Floats) -> float:
        return float(errors @ np.maximum(point - self.low, self.high - point))


@dataclass(frozen=True)
class Simplex(Region):
    """Coefficients of at least 0 that sum to ``total``: weights, mixtures, portfolios.

    >>> Simplex().project(np.array([0.5, 1.5])).tolist()
    [0.0, 1.0]
    """

    total: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "total", positive("total", self.total))

    def start(self, dimension: int) -> Floats:
        return np.full(dimension, self.total / dimension)

    def reach(self, dimension: int) -> float:
        return self.total * math.sqrt(1 - 1 / dimension)

    def largest(self, dimension: int) -> float:
        return self.total

    def project(self, point: Floats) -> Floats:
        ordered = -np.sort(-point)
        level = (np.cumsum(ordered) - self.total) / np.arange(1, point.size + 1)
        last = int(np.flatnonzero(ordered > level)[-1]) if (ordered > level).any() else 0
        return np.asarray(np.maximum(point - level[last], 0.0))

    def support(self, direction: Floats) -> float:
        return self.total * float(direction.max())

    def doubt(self, point: Floats, errors: Floats) -> float:
        # Convex, so it is largest at a corner.
        corners = errors @ np.abs(point) + errors * (np.abs(point - self.total) - np.abs(point))
        return float(corners.max())


@dataclass(frozen=True)
class L1Ball(Region):
    """Coefficients whose sizes sum to at most ``radius``: few of them matter, and many features cost little.

    >>> L1Ball(1.0).project(np.array([3.0, -1.0])).tolist()
    [1.0, 0.0]
    """

    radius: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", positive("radius", self.radius))

    def start(self, dimension: int) -> Floats:
        return np.zeros(dimension)

    def reach(self, dimension: int) -> float:
        return self.radius

    def largest(self, dimension: int) -> float:
        return self.radius

    def project(self, point: Floats) -> Floats:
        if float(np.abs(point).sum()) <= self.radius:
            return point
        return np.sign(point) * Simplex(self.radius).project(np.abs(point)) + 0.0

    def support(self, direction: Floats) -> float:
        return self.radius * float(np.abs(direction).max())

    def doubt(self, point: Floats, errors: Floats) -> float:
        corners = errors @ np.abs(point) + errors * (np.abs(np.abs(point) + self.radius) - np.abs(point))
        return float(corners.max())


def positive(name: str, value: object) -> float:
    number = finite(name, value)
    if not number > 0:
        raise ValueError(f"{name} must be above 0, not {value!r}")
    return number


def finite(name: str, value: object) -> float:
    sound = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool | np.bool_)
    if not sound or not math.isfinite(value):  # type: ignore[arg-type]
        raise ValueError(f"{name} must be a finite number, not {value!r}")
    return float(value)  # type: ignore[arg-type]


def _plain(value: Any) -> Any:
    return float(value)
