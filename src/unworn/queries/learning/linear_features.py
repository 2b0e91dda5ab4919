"""Features of a linear score: columns cut and scaled to [-1, 1], or cut in two; and sums of them in one fixed order.

What is missing or no number counts as the middle of a feature, and as below the cut of a stump: so every feature has a
value for every row, whatever stands there.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from unworn.errors import Unaskable
from unworn.queries.language import literals
from unworn.queries.row_protocol import Column, Floats, Frame

RUN = 32
"""Terms of a score are added in runs of so many, and then the runs: a text of nested sums stays shallow."""


@dataclass(frozen=True, slots=True)
class Feature:
    """A column cut to [low, high] and scaled to [-1, 1]; missing is 0."""

    name: str
    low: float
    high: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", column_name(self.name))
        low, high = ends((self.low, self.high), f"the bounds of {self.name!r}")
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    def read(self, frame: Frame) -> Floats:
        return scale_column(frame.column(self.name), self.low, self.high)

    def to_json(self) -> list[Any]:
        return ["scaled", self.name, literals.plain(self.low), literals.plain(self.high)]


@dataclass(frozen=True, slots=True)
class Stump:
    """+1 where a column lies above ``cut``, else -1, missing included: the weak learner of boosting."""

    name: str
    cut: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", column_name(self.name))
        object.__setattr__(self, "cut", literals.number(self.cut))

    def read(self, frame: Frame) -> Floats:
        values, missing = numbers(frame.column(self.name))
        above = values > self.cut
        return np.where(above if missing is None else above & ~missing, 1.0, -1.0)

    def to_json(self) -> list[Any]:
        return ["stump", self.name, literals.plain(self.cut)]


Features = Mapping[str, tuple[float, float]] | Iterable[Feature | Stump]


def features_of(features: Features) -> tuple[Feature | Stump, ...]:
    """The features as values, from names with bounds or from values."""
    if isinstance(features, Mapping):
        return tuple(Feature(name, *ends(bounds, f"the bounds of {name!r:.60}")) for name, bounds in features.items())
    listed = tuple(features)
    for feature in listed:
        if not isinstance(feature, Feature | Stump):
            raise Unaskable(f"features are {{name: (low, high)}} or Feature and Stump values, not {feature!r:.60}")
    return listed


def ends(bounds: object, what: str) -> tuple[float, float]:
    if not isinstance(bounds, tuple | list) or len(bounds) != 2:
        raise Unaskable(f"{what} are two numbers (low, high), not {bounds!r:.60}")
    low, high = literals.number(bounds[0]), literals.number(bounds[1])
    length = high - low
    narrow = not length / 2 >= sys.float_info.min  # half of it is what values are divided by
    if narrow or not math.isfinite(length) or max(abs(low), abs(high)) > 1e12 * length:
        raise Unaskable(f"{what} are (low, high) with low well below high, not ({low:g}, {high:g})", low=low, high=high)
    return low, high


def add_terms(size: int, terms: Iterable[Floats | float]) -> Floats:
    """The sum of terms, each a number or an array, in one fixed order that engines follow too: it has the same bits.

    >>> add_terms(2, [np.array([0.1, 0.2]), 0.3]).tolist()
    [0.4, 0.5]
    """
    total, run = np.zeros(size), np.zeros(size)
    for place, term in enumerate(terms):
        run += term
        if place % RUN == RUN - 1:
            total += run
            run = np.zeros(size)
    total += run
    return total


def numbers(column: Column) -> tuple[Floats, Any]:
    """A column's values as floats, and which are missing or no numbers."""
    values = column.values.astype(np.float64)
    wild = ~np.isfinite(values)
    if column.missing is not None:
        return values, wild | column.missing
    return values, wild if wild.any() else None


def scale_column(column: Column, low: float, high: float) -> Floats:
    """The values cut to [low, high] and scaled to [-1, 1]; 0 where they are missing.

    >>> scale_column(Column("number", np.array([0.0, 5.0, 99.0, np.nan])), 0.0, 10.0).tolist()
    [-1.0, 0.0, 1.0, 0.0]
    """
    values, missing = numbers(column)
    half = (high - low) / 2
    with np.errstate(all="ignore"):
        result: Floats = np.clip((values - (low + half)) / half, -1.0, 1.0)
    if missing is not None:
        result[missing] = 0.0
    return result


def feature_from_json(data: Any) -> Feature | Stump:
    match data:
        case ["scaled", name, low, high]:
            return Feature(name, low, high)
        case ["stump", name, cut]:
            return Stump(name, cut)
    raise Unaskable("a feature is ['scaled', name, low, high] or ['stump', name, cut]")


def column_name(name: object) -> str:
    if not isinstance(name, str):
        raise Unaskable(f"a column is named by a text, not by a {type(name).__name__}")
    return literals.text(name)
