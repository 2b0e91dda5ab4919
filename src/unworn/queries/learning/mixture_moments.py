"""The questions of EM: how much of the population a component of a mixture is responsible for, and its moments there.

Given the parameters of a mixture, a row's responsibilities lie in [0, 1] and sum to 1; their means, and their means
times a scaled feature or its square, are all that a step of EM needs (Dempster, Laird and Rubin 1977).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from unworn.errors import Unaskable
from unworn.queries.language import literals
from unworn.queries.learning.argmin import share_work
from unworn.queries.learning.linear_features import Feature, add_terms
from unworn.queries.query import Facts, Query, canonical
from unworn.queries.row_protocol import Floats, Frame
from unworn.queries.schema import Schema

MAX_COMPONENTS = 100
SMALLEST = 1e-6
"""The least weight and variance of a component, so that densities stay finite."""


@dataclass(frozen=True)
class Mixture:
    """Gaussians with a variance for each feature of their own, over features cut and scaled to [-1, 1]."""

    features: tuple[Feature, ...]
    weights: tuple[float, ...]
    means: tuple[tuple[float, ...], ...]
    variances: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        weights, means, variances = _floats(self.weights, 1), _floats(self.means, 2), _floats(self.variances, 2)
        if not isinstance(self.features, tuple):
            raise Unaskable(f"the features of a mixture are a tuple, not a {type(self.features).__name__}")
        size, width = len(weights), len(self.features)
        if not 1 <= size <= MAX_COMPONENTS or not 1 <= width <= 1000:
            raise Unaskable(f"a mixture has from 1 to {MAX_COMPONENTS} components and from 1 to 1000 features")
        if not all(isinstance(feature, Feature) for feature in self.features):
            raise Unaskable("the features of a mixture are columns with bounds")
        if means.shape != (size, width) or variances.shape != (size, width):
            raise Unaskable(f"means and variances need a row of {width} numbers for each of {size} components")
        if not (weights >= SMALLEST).all() or not abs(weights.sum() - 1) < 1e-6:
            raise Unaskable(f"weights are at least {SMALLEST:g} each and sum to 1")
        if not (np.abs(means) <= 1).all() or not ((variances >= SMALLEST) & (variances <= 1e6)).all():
            raise Unaskable(f"means lie in [-1, 1], variances from {SMALLEST:g} to 1e6: features are scaled to [-1, 1]")
        object.__setattr__(self, "weights", tuple(weights.tolist()))
        object.__setattr__(self, "means", tuple(map(tuple, means.tolist())))
        object.__setattr__(self, "variances", tuple(map(tuple, variances.tolist())))

    @property
    def size(self) -> int:
        """How many densities of one feature it is made of."""
        return len(self.weights) * len(self.features)

    def log_parts(self, points: Floats) -> Floats:
        """One row per component: ln(weight · density) of scaled points, one per column."""
        found = np.empty((len(self.weights), points.shape[1]))
        for place, (weight, mean, variance) in enumerate(zip(self.weights, self.means, self.variances, strict=True)):
            squares = (
                (values - middle) ** 2 / spread + np.log(2 * math.pi * spread)
                for values, middle, spread in zip(points, mean, variance, strict=True)
            )
            found[place] = math.log(weight) - 0.5 * add_terms(points.shape[1], squares)
        return found

    def responsibilities(self, points: Floats) -> Floats:
        parts = self.log_parts(points)
        chances = np.exp(parts - parts.max(axis=0))
        return np.asarray(chances / add_terms(points.shape[1], chances))

    def read(self, frame: Frame) -> Floats:
        return np.array([feature.read(frame) for feature in self.features])

    def to_json(self) -> dict[str, Any]:
        return {
            "features": [feature.to_json() for feature in self.features],
            "weights": list(self.weights),
            "means": [list(row) for row in self.means],
            "variances": [list(row) for row in self.variances],
        }

    @classmethod
    def from_json(cls, data: object) -> Mixture:
        if not isinstance(data, Mapping) or set(data) != {"features", "weights", "means", "variances"}:
            raise Unaskable("a mixture is an object with features, weights, means, variances, and no others")
        if not isinstance(data["features"], list):
            raise Unaskable(f"the features of a mixture are a list, not a {type(data['features']).__name__}")
        features: list[Feature] = []
        for part in data["features"]:
            if not isinstance(part, list) or len(part) != 4 or part[0] != "scaled":
                raise Unaskable("a feature of a mixture is ['scaled', name, low, high]")
            features.append(Feature(*part[1:]))
        return cls(tuple(features), data["weights"], data["means"], data["variances"])


@dataclass(frozen=True, eq=False)
class Moment(Query):
    """The mean of a component's responsibility, times a feature to the ``power`` 1 or 2 where one is named.

    >>> mixture = Mixture((Feature("age", 18, 90),), (0.5, 0.5), ((-0.5,), (0.5,)), ((0.1,), (0.1,)))
    >>> [Moment(mixture, 0, 0, power).bounds for power in (0, 1, 2)]
    [(0.0, 1.0), (-1.0, 1.0), (0.0, 1.0)]
    """

    mixture: Mixture
    component: int
    feature: int
    power: int

    def __post_init__(self) -> None:
        if not isinstance(self.mixture, Mixture):
            raise Unaskable(f"a moment is asked of a Mixture, not of {type(self.mixture).__name__}")
        places = {
            "component": len(self.mixture.weights),
            "feature": len(self.mixture.features) if self.power else 1,
            "power": 3,
        }
        for name, count in places.items():
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or not 0 <= value < count:
                raise Unaskable(f"{name} is a whole number from 0 to {count - 1}, not {value!r:.40}")
            object.__setattr__(self, name, int(value))

    @property
    def bounds(self) -> tuple[float, float]:
        return (-1.0, 1.0) if self.power == 1 else (0.0, 1.0)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it reads."""
        return tuple(dict.fromkeys(feature.name for feature in self.mixture.features))

    @cached_property
    def label(self) -> str:
        import hashlib

        short = hashlib.sha256(canonical(self.mixture.to_json()).encode()).hexdigest()[:6]
        what = ("share", "mean", "mean square")[self.power]
        of = f" of {self.mixture.features[self.feature].name}" if self.power else ""
        return f"{what}{of} in component {self.component} of mixture {short}"

    def to_json(self) -> dict[str, Any]:
        places = {"component": self.component, "feature": self.feature, "power": self.power}
        return {"ask": "moment", "mixture": self.mixture.to_json(), **places}

    def _facts(self, schema: Schema, size: int) -> Facts:
        for feature in self.mixture.features:
            kind = schema.of(feature.name).kind
            if kind not in ("number", "bool"):
                raise Unaskable(f"the feature {feature.name!r} is a {kind}: features are numbers or booleans")
        return Facts("unit", *self.bounds)

    def values(self, frame: Frame) -> Floats:
        share = share_work(
            frame, ("moment", self.mixture), lambda: self.mixture.responsibilities(self.mixture.read(frame))
        )
        found = share[self.component]
        if self.power:
            found = found * self.mixture.features[self.feature].read(frame) ** self.power
        return np.asarray(np.clip(found, *self.bounds))

    def __eq__(self, other: object) -> bool:
        return self.fingerprint == other.fingerprint if isinstance(other, Moment) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.fingerprint)


def moment_from_json(data: Mapping[str, Any]) -> Moment:
    """Read the question back; anything else is refused."""
    if set(data) != {"ask", "mixture", "component", "feature", "power"}:
        raise Unaskable(
            'this question has the fields "ask": "moment", mixture, component, feature, power, and no others'
        )
    return Moment(Mixture.from_json(data["mixture"]), data["component"], data["feature"], data["power"])


def _floats(part: Any, depth: int) -> Floats:
    """Numbers in rows, or one row of them; texts and truth values are none, whatever NumPy would make of them."""
    if isinstance(part, np.ndarray):
        part = part.tolist()
    if not isinstance(part, list | tuple):
        raise Unaskable(f"the parameters of a mixture are numbers, row by row, not a {type(part).__name__}")
    if depth > 1:
        rows = [_floats(row, depth - 1) for row in part]
        if len({len(row) for row in rows}) > 1:
            raise Unaskable("the rows of a mixture's parameters are equally long")
        return np.array(rows, dtype=np.float64)
    return np.array([literals.number(value) for value in part], dtype=np.float64)
