"""Metrics that count hits: accuracy, balanced accuracy, top-k accuracy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from unworn.basics.display import show_value
from unworn.errors import Unaskable
from unworn.queries.metrics.class_labels import MOST_CLASSES, Class, as_class, check_classes, class_index
from unworn.queries.metrics.prediction_types import check_decision_columns, check_label_kind
from unworn.queries.metrics.score_columns import match_columns
from unworn.queries.metrics.scored_query import Metric, check_given
from unworn.queries.predictions import (
    FeatureFrame,
    GivenPredictions,
    Source,
    as_feature_frame,
    predicted_everywhere,
    predictions_on,
)
from unworn.queries.row_protocol import Bools, Column, Floats, Frame, Raised
from unworn.queries.schema import ColumnKind


def hits(source: Source, frame: FeatureFrame) -> Bools:
    """Which rows are predicted right: one comparison on the dtypes as they are."""
    labels = frame.labels
    if labels.vocabulary is not None:
        vocabulary = labels.vocabulary
        hit: Bools = _codes(source, frame, vocabulary) == labels.values
    else:
        # Picked here and not by `predicted`: this is the hot loop of a search over models.
        guesses = predicted_everywhere(source, frame)
        if guesses.vocabulary is not None or guesses.values.ndim != 1:
            raise Raised
        values = guesses.values
        small = values.dtype == np.int8 and isinstance(source, GivenPredictions)
        hit = frame.pick(values) == (frame.small_labels if small else labels.values)
    return hit if labels.missing is None else hit & ~labels.missing


def _codes(source: Source, frame: FeatureFrame, vocabulary: NDArray[np.object_]) -> NDArray[np.int32]:
    """Predicted text in the labels' own codes; -1 for what no label is."""
    whole = predictions_on(source, frame)
    guesses = whole.compact()
    words = guesses.vocabulary
    if words is None:
        raise Raised
    code = frame.once("codes", lambda: {text: position for position, text in enumerate(vocabulary.tolist())})

    def translate() -> NDArray[np.int32]:
        return np.array([code.get(text, -1) for text in words.tolist()], dtype=np.int32)

    # Words of these rows only are not those of the next rows.
    lookup = frame.once((id(source), "codes"), translate) if guesses is whole else translate()
    codes: NDArray[np.int32] = lookup[guesses.values]
    if guesses.missing is not None:
        codes[guesses.missing] = -1
    return codes


class HitMetric(Metric):
    """A metric that counts labels, one predicted for each row: a share, the larger the better."""

    greater_is_better: ClassVar[bool] = True
    zero_one: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_given(self.source, self.metric, sides=(1,), numbers=False)

    @property
    def bounds(self) -> tuple[float, float]:
        return 0.0, 1.0

    def fits(self, kind: ColumnKind) -> None:
        check_label_kind(self.source, kind, self.metric)


@dataclass(frozen=True, eq=False)
class Accuracy(HitMetric):
    """The share of rows predicted right."""

    metric: ClassVar[str] = "accuracy"

    def values(self, frame: Frame) -> Bools:
        return hits(self.source, as_feature_frame(frame))


@dataclass(frozen=True, eq=False)
class BalancedAccuracy(Metric):
    """The mean of w(label)·[predicted right] for declared weights.

    The recall averaged over classes divides by how often each class occurs in the rows, so it is no mean
    over rows. With the classes' shares declared, w = 1/(K·share) makes it one: in a population with those
    shares it is balanced accuracy exactly. A label without a weight counts 0.
    """

    weights: tuple[tuple[Class, float], ...]

    metric: ClassVar[str] = "balanced_accuracy"
    greater_is_better: ClassVar[bool] = True

    @property
    def label(self) -> str:
        return f"{super().label} by declared weights"

    def __post_init__(self) -> None:
        check_given(self.source, self.metric, sides=(1,), numbers=False)

    @classmethod
    def of(
        cls, source: Source, weights: dict[Any, float] | None = None, shares: dict[Any, float] | None = None
    ) -> BalancedAccuracy:
        if (weights is None) == (shares is None):
            raise Unaskable(
                "balanced_accuracy needs either shares={class: its share of the population} or "
                "weights={class: weight}, declared and not computed from the rows"
            )
        declared = shares if shares is not None else weights
        if declared is not None and len(declared) > MOST_CLASSES:
            raise Unaskable(
                f"there are {len(declared):,} classes, and {MOST_CLASSES:,} is the most", limit=MOST_CLASSES
            )
        try:
            table = {as_class(value): float(number) for value, number in (declared or {}).items()}
        except (AttributeError, TypeError, ValueError, OverflowError) as error:
            raise Unaskable(f"weights must be a dictionary from class to number: {error}") from None
        if not table or not all(np.isfinite(number) and number >= 0 for number in table.values()):
            raise Unaskable("weights and shares must be finite and not negative, with at least one class")
        if shares is not None:
            if min(table.values()) <= 0 or abs(sum(table.values()) - 1) > 1e-6:
                raise Unaskable(f"shares must be positive and sum to 1, not {sum(table.values()):g}")
            table = {value: 1 / (len(table) * share) for value, share in table.items()}
        if max(table.values()) <= 0:
            raise Unaskable("at least one weight must be positive")
        ordered = sorted(table.items(), key=lambda item: (isinstance(item[0], str), item[0]))
        return cls(source, tuple(ordered))

    @property
    def bounds(self) -> tuple[float, float]:
        return 0.0, max(weight for _, weight in self.weights)

    def settings(self) -> dict[str, Any]:
        return {"weights": [[value, weight] for value, weight in self.weights]}

    def fits(self, kind: ColumnKind) -> None:
        check_label_kind(self.source, kind, self.metric)
        check_classes((value for value, _ in self.weights), kind, "weights")

    def values(self, frame: Frame) -> Floats:
        rows = as_feature_frame(frame)
        # The last weight is what position -1 finds: the weight of an unknown or missing label.
        table = np.array([*(weight for _, weight in self.weights), 0.0])
        index = class_index(rows, tuple(value for value, _ in self.weights))
        value: Floats = table[index] * hits(self.source, rows)
        return value


@dataclass(frozen=True, eq=False)
class TopK(Metric):
    """The share of rows whose label is among the k classes with the highest scores.

    Ties count against: a label is in the top k only if fewer than k *other* classes score at least as high. A
    constant score would otherwise hit always.
    """

    k: int
    classes: tuple[Class, ...] | None

    metric: ClassVar[str] = "top_k_accuracy"
    greater_is_better: ClassVar[bool] = True
    zero_one: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_given(self.source, self.metric, sides=(2,), numbers=True)
        if isinstance(self.k, bool) or not isinstance(self.k, (int, np.integer)) or self.k < 1:
            raise Unaskable(f"k must be a whole number of at least 1, not {show_value(self.k)}")
        object.__setattr__(self, "k", int(self.k))
        if isinstance(self.source, GivenPredictions) and self.classes and len(self.classes) != self.source.shape[1]:
            raise Unaskable(f"there are {self.source.shape[1]} columns of scores but {len(self.classes)} classes")
        check_decision_columns(self.source, self.metric, one_for_two=False)

    @property
    def bounds(self) -> tuple[float, float]:
        return 0.0, 1.0

    def settings(self) -> dict[str, Any]:
        return {"k": self.k}

    def layout(self) -> dict[str, Any]:
        return {"classes": None if self.classes is None else list(self.classes)}

    def fits(self, kind: ColumnKind) -> None:
        check_classes(self.classes if self.classes is not None else (0,), kind, "classes")

    def values(self, frame: Frame) -> Bools:
        rows = as_feature_frame(frame)
        scores, index, _ = scores_of_label(self.source, rows, self.classes)
        own = scores[np.arange(len(index)), index]
        others = np.count_nonzero(scores >= own[:, None], axis=1) - 1
        hit: Bools = (others < self.k) & (index >= 0) & np.isfinite(scores).all(axis=1)
        return hit


def classes_of_columns(scores: Column, classes: tuple[Class, ...] | None) -> tuple[Class, ...]:
    """The class of each column of scores; ``Raised`` where a model's columns are not those of its classes."""
    named = tuple(range(scores.values.shape[1])) if classes is None else classes
    if len(named) != scores.values.shape[1]:
        raise Raised
    try:
        return match_columns(scores.names, named)
    except Unaskable:
        raise Raised from None


def scores_of_label(
    source: Source, frame: FeatureFrame, classes: tuple[Class, ...] | None
) -> tuple[NDArray[Any], NDArray[np.intp], tuple[Class, ...]]:
    """Scores rows × classes, and the column of each row's label (-1: none of them)."""
    guesses = predictions_on(source, frame)
    if guesses.kind == "text" or guesses.values.ndim != 2:
        raise Raised
    named = classes_of_columns(guesses, classes)
    return guesses.values, class_index(frame, named), named
