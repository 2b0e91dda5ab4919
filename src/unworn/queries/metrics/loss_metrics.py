"""Metrics that are losses: Brier score, log-loss, absolute and squared error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from unworn.errors import Unaskable
from unworn.queries.metrics.class_labels import Class, check_classes, is_class
from unworn.queries.metrics.hit_metrics import classes_of_columns, scores_of_label
from unworn.queries.metrics.score_columns import are_positions, class_finder
from unworn.queries.metrics.scored_query import Metric, check_given, check_probabilities
from unworn.queries.predictions import FeatureFrame, FromModel, GivenPredictions, as_feature_frame, predictions_on
from unworn.queries.row_protocol import Column, Floats, Frame, Raised
from unworn.queries.schema import ColumnKind

SUM_TOLERANCE = 1e-3  # float32 softmax over thousands of classes sums to 1 within this


@dataclass(frozen=True, eq=False)
class Brier(Metric):
    """The mean of (p − [label is ``positive``])²: a proper score whose range needs no declaring."""

    positive: Class

    metric: ClassVar[str] = "brier"
    greater_is_better: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_given(self.source, self.metric, sides=(1,), numbers=True)
        check_probabilities(self.source, self.metric, SUM_TOLERANCE)
        _check_positive(self)

    @property
    def bounds(self) -> tuple[float, float]:
        return 0.0, 1.0

    def settings(self) -> dict[str, Any]:
        return {"positive": self.positive}

    def fits(self, kind: ColumnKind) -> None:
        check_classes((self.positive,), kind, "positive")

    def values(self, frame: Frame) -> Floats:
        rows = as_feature_frame(frame)
        chance = _positive_chance(self, rows)
        loss: Floats = (chance - is_class(rows.labels, self.positive)) ** 2
        # Written so that NaN is not inside.
        return np.where(_labelled((chance >= 0) & (chance <= 1), rows), loss, 1.0)


@dataclass(frozen=True, eq=False)
class LogLoss(Metric):
    """The mean of −ln(probability of the label), cut to a declared range.

    Log-loss is unbounded, and one row could move an unbounded mean anywhere: the range is what makes an
    interval possible. The default (0, 7) lets a probability go down to 0.0009 before it is cut.
    """

    low: float
    high: float
    positive: Class | None
    classes: tuple[Class, ...] | None

    metric: ClassVar[str] = "log_loss"
    greater_is_better: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_given(self.source, self.metric, sides=(1, 2), numbers=True)
        check_probabilities(self.source, self.metric, SUM_TOLERANCE)
        if isinstance(self.source, GivenPredictions) and self.classes and len(self.classes) != self.source.shape[1]:
            raise Unaskable(f"there are {self.source.shape[1]} columns of scores but {len(self.classes)} classes")

    @property
    def bounds(self) -> tuple[float, float]:
        return self.low, self.high

    def settings(self) -> dict[str, Any]:
        return {"range": [self.low, self.high]}

    def layout(self) -> dict[str, Any]:
        return {"positive": self.positive, "classes": None if self.classes is None else list(self.classes)}

    def fits(self, kind: ColumnKind) -> None:
        if self.positive is not None:
            check_classes((self.positive,), kind, "positive")
        else:
            check_classes(self.classes if self.classes is not None else (0,), kind, "classes")

    def values(self, frame: Frame) -> Floats:
        rows = as_feature_frame(frame)
        if self.positive is not None:
            chance = _positive_chance(self, rows)
            own = np.where(is_class(rows.labels, self.positive), chance, 1 - chance)
            sound = _labelled((chance >= 0) & (chance <= 1), rows)
        else:
            scores, index, _ = scores_of_label(self.source, rows, self.classes)
            scores = scores.astype(np.float64, copy=False)
            total = scores.sum(axis=1)
            sound = ((scores >= 0) & (scores <= 1)).all(axis=1) & (np.abs(total - 1) <= SUM_TOLERANCE) & (index >= 0)
            own = scores[np.arange(len(index)), index] / total
        with np.errstate(all="ignore"):
            return np.where(sound, np.clip(-np.log(own), self.low, self.high), self.high)


@dataclass(frozen=True, eq=False)
class NumberError(Metric):
    """An error of predicted numbers, cut to a declared range."""

    low: float
    high: float

    greater_is_better: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_given(self.source, self.metric, sides=(1,), numbers=True)

    @property
    def bounds(self) -> tuple[float, float]:
        return self.low, self.high

    def settings(self) -> dict[str, Any]:
        return {"range": [self.low, self.high]}

    def fits(self, kind: ColumnKind) -> None:
        if kind != "number":
            raise Unaskable(f"{self.metric} needs numbers as labels; the target is of kind {kind}")

    def error(self, frame: Frame) -> tuple[Floats, FeatureFrame]:
        rows = as_feature_frame(frame)
        guesses = predictions_on(self.source, rows)
        if guesses.kind == "text" or guesses.values.ndim != 1:
            raise Raised
        # As floats before subtracting: unsigned and 8-bit integers would wrap.
        wide = guesses.values.astype(np.float64, copy=False)
        return wide - rows.labels.values.astype(np.float64, copy=False), rows

    def cut(self, loss: Floats, rows: FeatureFrame) -> Floats:
        return np.where(_labelled(np.isfinite(loss), rows), np.clip(loss, self.low, self.high), self.high)


@dataclass(frozen=True, eq=False)
class AbsoluteError(NumberError):
    """The mean of |prediction − label|, each cut to the declared range."""

    metric: ClassVar[str] = "mae"

    def values(self, frame: Frame) -> Floats:
        with np.errstate(all="ignore"):
            error, rows = self.error(frame)
            return self.cut(np.abs(error), rows)


@dataclass(frozen=True, eq=False)
class SquaredError(NumberError):
    """The mean of (prediction − label)², each cut to the declared range."""

    metric: ClassVar[str] = "mse"

    def values(self, frame: Frame) -> Floats:
        with np.errstate(all="ignore"):
            error, rows = self.error(frame)
            return self.cut(error * error, rows)


def _check_positive(metric: Brier) -> None:
    source = metric.source
    if isinstance(source, FromModel) and source.classes is not None and metric.positive not in source.classes:
        raise Unaskable(f"positive={metric.positive!r} is not one of the model's classes {list(source.classes)[:10]}")


def _positive_chance(metric: Brier | LogLoss, frame: FeatureFrame) -> Floats:
    """The predicted probability of the positive class, from one column or from a model's several."""
    guesses = predictions_on(metric.source, frame)
    values = guesses.values
    if guesses.kind == "text":
        raise Raised
    if values.ndim == 2:
        classes = metric.source.classes if isinstance(metric.source, FromModel) else None
        if classes is not None and metric.positive in classes:
            values = values[:, classes_of_columns(guesses, classes).index(metric.positive)]
        elif classes is None and values.shape[1] == 2:
            values = values[:, _named_column(guesses, metric.positive)]
        else:
            raise Raised
    return values.astype(np.float64, copy=False)


def _named_column(scores: Column, positive: Class | None) -> int:
    """The one of two columns that is named by the positive class; the second where none is."""
    names = scores.names or ()
    find = class_finder(() if positive is None else (positive,))
    by_name = [place for place, name in enumerate(names) if find(name) is not None]
    return by_name[0] if len(by_name) == 1 and not are_positions(names) else 1


def _labelled(sound: np.ndarray[Any, Any], frame: FeatureFrame) -> np.ndarray[Any, Any]:
    """Rows that are sound and have a label."""
    missing = frame.labels.missing
    return sound if missing is None else sound & ~missing
