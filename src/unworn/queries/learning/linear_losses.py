"""Losses of a linear score, total and bounded by declaration: what optimisation asks the gradient of.

Every feature is cut to its declared bounds and scaled to [-1, 1], the target of a regression likewise; what is missing
counts as the middle, and a missing label as not ``positive``. So the score is at most the sum of the coefficients'
sizes, the gradient and the loss stay within ranges that are known before rows are read, nothing is ever clipped
afterwards, and what is minimised is the risk of exactly this cut and scaled problem.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from unworn.errors import Unaskable
from unworn.queries.language import literals
from unworn.queries.learning.linear_features import (
    Feature,
    Features,
    Stump,
    add_terms,
    column_name,
    ends,
    feature_from_json,
    features_of,
    scale_column,
)
from unworn.queries.learning.slope_table import SlopeTable
from unworn.queries.metrics.class_labels import Class, as_class, check_classes, is_class
from unworn.queries.row_protocol import Floats, Frame
from unworn.queries.schema import Schema

LossKind = Literal["logistic", "hinge", "squared", "pinball", "own"]
KINDS: tuple[LossKind, ...] = ("logistic", "hinge", "squared", "pinball", "own")
MAX_FEATURES = 2_000


@dataclass(frozen=True)
class LinearLoss:
    """The loss of a row as a function of coefficients; make one with :func:`logistic` and its neighbours.

    With an intercept it is the first coefficient, of a feature that is always 1.
    """

    kind: LossKind
    features: tuple[Feature | Stump, ...]
    target: str
    positive: Class | None = None
    range: tuple[float, float] | None = None
    quantile: float | None = None
    intercept: bool = True
    table: SlopeTable | None = None

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise Unaskable(f"a loss is one of {', '.join(KINDS)}, not {self.kind!r:.40}")
        if not isinstance(self.intercept, bool):
            raise Unaskable(f"intercept is True or False, not {self.intercept!r:.40}")
        if (self.table is not None) != (self.kind == "own") or not isinstance(self.table, SlopeTable | None):
            raise Unaskable("a loss of your own has a table, and no other has one: make it by convex_loss(...)")
        object.__setattr__(self, "target", column_name(self.target))
        if not 1 <= self.dimension <= MAX_FEATURES:
            raise Unaskable(f"a loss has from 1 to {MAX_FEATURES} coefficients, not {self.dimension}")
        if any(feature.name == self.target for feature in self.features):
            raise Unaskable(f"{self.target!r} is the target and cannot be a feature too")
        if self.classifies:
            if self.positive is None or self.range is not None:
                raise Unaskable(f"a {self.kind} loss needs positive=, the label that counts as +1, and no range")
            object.__setattr__(self, "positive", _positive(self.positive))
        else:
            if self.range is None or self.positive is not None:
                raise Unaskable(f"a {self.kind} loss needs range=(low, high) of its target, and no positive=")
            object.__setattr__(self, "range", ends(self.range, "the range of the target"))
        if (self.quantile is not None) != (self.kind == "pinball"):
            raise Unaskable("a pinball loss needs quantile=, and no other loss has one")
        if self.quantile is not None:
            quantile = literals.number(self.quantile)
            if not 0 < quantile < 1:
                raise Unaskable(f"quantile is a number between 0 and 1, such as 0.5, not {self.quantile!r:.40}")
            object.__setattr__(self, "quantile", quantile)

    @property
    def classifies(self) -> bool:
        return self.kind in ("logistic", "hinge") or (self.table is not None and self.table.form == "margin")

    @property
    def called(self) -> str:
        """Its name in labels."""
        return self.kind if self.table is None else self.table.name

    @property
    def dimension(self) -> int:
        return len(self.features) + int(self.intercept)

    @property
    def names(self) -> tuple[str, ...]:
        """What each coefficient belongs to."""
        told = tuple(f.name if isinstance(f, Feature) else f"{f.name} > {f.cut:g}" for f in self.features)
        return ("intercept", *told) if self.intercept else told

    def steepest(self, largest: float) -> float:
        """How large the derivative by the score can be where the score is at most ``largest``, either way."""
        if self.table is not None:
            return self.table.steepest(largest)
        match self.kind:
            case "logistic":
                return float(_sigmoid(np.array(largest)))
            case "hinge":
                return 1.0
            case "squared":
                return largest + 1.0
            case _:
                return max(self.quantile or 0.0, 1.0 - (self.quantile or 0.0))

    def worst(self, largest: float) -> float:
        """How large the loss itself can be there."""
        if self.table is not None:
            return self.table.worst(largest)
        match self.kind:
            case "logistic":
                return float(np.logaddexp(0.0, largest))
            case "squared":
                return 0.5 * (largest + 1.0) ** 2
            case _:
                return self.steepest(largest) * (largest + 1.0)

    def lowest(self, largest: float) -> float:
        """How small it can be there."""
        return 0.0 if self.table is None else self.table.lowest(largest)

    @property
    def bend(self) -> float | None:
        """The largest second derivative by the score; None where the loss has kinks."""
        if self.table is not None:
            return None if self.table.smoothness is None else self.table.bends[1]
        return {"logistic": 0.25, "squared": 1.0}.get(self.kind)

    @property
    def bend_asked(self) -> float | None:
        """The largest value of :meth:`bending`; None where nothing is known of how the loss bends at least."""
        return self.bend if self.table is None else self.table.strongly or None

    @property
    def bends_alike(self) -> bool:
        """Whether :meth:`bending` is a number, the same for every row and everywhere."""
        return self.kind == "squared" or self.table is not None

    def check(self, schema: Schema) -> None:
        """Refuse columns that are not there, or not of the kind."""
        for feature in self.features:
            kind = schema.of(feature.name).kind
            if kind not in ("number", "bool"):
                raise Unaskable(f"the feature {feature.name!r} is a {kind}: features are numbers or booleans")
        kind = schema.of(self.target).kind
        if self.positive is not None:
            if kind == "date":
                raise Unaskable(f"the target {self.target!r} is a date: a class is a number, a bool or a text")
            check_classes((self.positive,), kind, "positive")
        elif kind not in ("number", "bool"):
            raise Unaskable(f"the target {self.target!r} is a {kind}, and a {self.kind} loss needs a number")

    def feature(self, place: int, frame: Frame) -> Floats | float:
        """The scaled feature that a coefficient belongs to."""
        if self.intercept:
            return 1.0 if place == 0 else self.features[place - 1].read(frame)
        return self.features[place].read(frame)

    def score(self, at: Floats, frame: Frame) -> Floats:
        places = np.flatnonzero(at).tolist()
        return add_terms(frame.size, (at[place] * self.feature(place, frame) for place in places))

    def truth(self, frame: Frame) -> Floats:
        """+1 and -1 for classes, else the scaled target."""
        column = frame.column(self.target)
        if self.positive is not None:
            if column.kind == "number":  # as everywhere: 0.1 is no float32
                column = replace(column, values=column.values.astype(np.float64, copy=False))
            return np.where(is_class(column, self.positive), 1.0, -1.0)
        low, high = self.range or (0.0, 1.0)
        return scale_column(column, low, high)

    def slope(self, at: Floats, frame: Frame) -> Floats:
        """The derivative of each row's loss by its score."""
        score, truth = self.score(at, frame), self.truth(frame)
        if self.table is not None:
            return self.table.by_score(score, truth)
        match self.kind:
            case "logistic":
                return -truth * _sigmoid(-truth * score)
            case "hinge":
                return np.where(truth * score < 1, -truth, 0.0)
            case "squared":
                return score - truth
            case _:
                return np.where(truth <= score, 1.0, 0.0) - (self.quantile or 0.0)

    def bending(self, at: Floats, frame: Frame) -> Floats:
        """The second derivative of each row's loss by its score where the loss is smooth; or the least there is."""
        if self.bends_alike:
            return np.full(frame.size, self.bend_asked)
        small = np.exp(-np.abs(self.score(at, frame)))
        both: Floats = 1.0 + small
        return np.asarray(small / (both * both))

    def loss(self, at: Floats, frame: Frame) -> Floats:
        score, truth = self.score(at, frame), self.truth(frame)
        if self.table is not None:
            return self.table.loss(score, truth)
        match self.kind:
            case "logistic":
                return np.logaddexp(0.0, -truth * score)
            case "hinge":
                return np.maximum(0.0, 1 - truth * score)
            case "squared":
                return 0.5 * (score - truth) ** 2
            case _:
                quantile, above = self.quantile or 0.0, truth - score
                return np.maximum(quantile * above, (quantile - 1) * above)

    def to_json(self) -> dict[str, Any]:
        told: dict[str, Any] = {
            "kind": self.kind,
            "features": [feature.to_json() for feature in self.features],
            "target": self.target,
            "intercept": self.intercept,
        }
        own = {
            "positive": self.positive,
            "range": None if self.range is None else [literals.plain(end) for end in self.range],
            "quantile": self.quantile,
            "table": None if self.table is None else self.table.to_json(),
        }
        return told | {name: setting for name, setting in own.items() if setting is not None}

    @classmethod
    def from_json(cls, data: object) -> LinearLoss:
        fields = {"kind", "features", "target", "intercept"}
        extra = {"positive", "range", "quantile", "table"}
        if not isinstance(data, Mapping) or not fields <= set(data) <= fields | extra:
            raise Unaskable(f"a loss is an object with {', '.join(sorted(fields))} and its own settings, and no others")
        if not isinstance(data["features"], list) or len(data["features"]) > MAX_FEATURES:
            raise Unaskable(f"features are a list of at most {MAX_FEATURES}")
        features = tuple(feature_from_json(part) for part in data["features"])
        span, table = data.get("range"), data.get("table")
        return cls(
            data["kind"], features, data["target"], data.get("positive"),
            None if span is None else ends(span, "the range of the target"), data.get("quantile"), data["intercept"],
            None if table is None else SlopeTable.from_json(table),
        )  # fmt: skip


def logistic(features: Features, target: str = "y", *, positive: Class = 1, intercept: bool = True) -> LinearLoss:
    """ln(1 + exp(-s·score)), s = +1 where the target is ``positive``.

    >>> logistic({"age": (18, 90)}, "churned").names
    ('intercept', 'age')
    """
    return LinearLoss("logistic", features_of(features), target, positive=positive, intercept=intercept)


def hinge(features: Features, target: str = "y", *, positive: Class = 1, intercept: bool = True) -> LinearLoss:
    """max(0, 1 - s·score): the loss of a linear support vector machine."""
    return LinearLoss("hinge", features_of(features), target, positive=positive, intercept=intercept)


def least_squares(
    features: Features, target: str = "y", *, range: tuple[float, float], intercept: bool = True
) -> LinearLoss:
    """(score - target)²/2, the target scaled to [-1, 1] by its declared range."""
    return LinearLoss("squared", features_of(features), target, range=range, intercept=intercept)


def pinball(
    features: Features = (),
    target: str = "y",
    *,
    range: tuple[float, float],
    quantile: float = 0.5,
    intercept: bool = True,
) -> LinearLoss:
    """The loss that a quantile minimises; without features, the quantile of the target itself."""
    return LinearLoss("pinball", features_of(features), target, range=range, quantile=quantile, intercept=intercept)


def _sigmoid(score: Floats) -> Floats:
    small = np.exp(-np.abs(score))
    return np.asarray(np.where(score >= 0, 1.0, small) / (1.0 + small))


def _positive(value: object) -> Class:
    label = as_class(value)
    if isinstance(label, str):
        return literals.text(label, "a label")
    if not abs(label) < literals.MAX_EXACT:
        raise Unaskable(
            "a label beyond ±2**53 cannot be told from its neighbours as a float64: use smaller ones, or texts"
        )
    return label
