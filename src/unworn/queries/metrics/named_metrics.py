"""The metrics that are one question each, by function."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

from unworn.basics.display import show_value
from unworn.errors import Unaskable
from unworn.queries.constant_prediction import ConstantPrediction
from unworn.queries.language.expression_codec import from_json
from unworn.queries.metrics.class_labels import MOST_CLASSES, MOST_COLUMNS, Class, as_class, as_classes
from unworn.queries.metrics.graded_metrics import GradedRows, RecordedGrader, WithinTolerance
from unworn.queries.metrics.hit_metrics import Accuracy, BalancedAccuracy, TopK
from unworn.queries.metrics.loss_metrics import AbsoluteError, Brier, LogLoss, NumberError, SquaredError
from unworn.queries.metrics.positive_class import positive_class
from unworn.queries.metrics.ranking_metrics import RocAuc
from unworn.queries.metrics.row_values import RowValues
from unworn.queries.metrics.scaled_losses import MaskedLoss, PercentageError, PinballLoss
from unworn.queries.metrics.score_columns import match_columns
from unworn.queries.metrics.scored_query import Metric, as_range
from unworn.queries.metrics.subset_metrics import (
    SUBSET_METRICS,
    Jaccard,
    Precision,
    Prevalence,
    Recall,
    Specificity,
    SubsetMetric,
    subgroup_of,
)
from unworn.queries.predictions import (
    FromModel,
    GivenPredictions,
    Source,
    as_source,
)
from unworn.queries.recorded_predictions import RecordedPredictions

T = TypeVar("T", bound=SubsetMetric)
LOG_LOSS_RANGE = (0.0, 7.0)
_CHANCE_METHODS = ("predict_proba",)
_SCORE_METHODS = ("predict_proba", "decision_function")
ERRORS: dict[str, type[NumberError]] = {kind.metric: kind for kind in (AbsoluteError, SquaredError, PercentageError)}


def accuracy(predictions: Any) -> Accuracy:
    """The share of rows predicted right: a 0/1 question.

    ``predictions`` is here and below an array with one prediction per row, a model with ``predict``, or a
    :class:`~unworn.queries.predictions.GivenPredictions` or :class:`~unworn.queries.predictions.FromModel`.

    >>> accuracy([1, 0, 1]).family
    '{"metric":"accuracy"}'
    """
    return Accuracy(as_source(predictions))


def balanced_accuracy(
    predictions: Any, *, shares: Mapping[Any, float] | None = None, weights: Mapping[Any, float] | None = None
) -> BalancedAccuracy:
    """Accuracy in which classes weigh the same, for declared class shares (or weights).

    >>> balanced_accuracy([1, 0, 1], shares={0: 0.9, 1: 0.1}).bounds
    (0.0, 5.0)
    """
    for table in (weights, shares):
        if table is not None and not isinstance(table, Mapping):
            raise Unaskable(f"weights must be a dictionary from class to number, not {show_value(table)}")
    declared = (None if table is None else dict(table) for table in (weights, shares))
    return BalancedAccuracy.of(as_source(predictions), *declared)


def top_k(scores: Any, k: int, classes: Iterable[Any] | None = None) -> TopK:
    """Whether the label is among the k best scored classes; ties count against.

    ``classes`` names the columns of scores: by default a model's ``classes_``, else 0, 1, 2, …

    >>> top_k([[0.2, 0.5, 0.3]], k=2).classes
    (0, 1, 2)
    """
    source = as_source(scores, _SCORE_METHODS)
    return TopK(source, k, _columns(source, classes))


def precision(predictions: Any, positive: Any = None) -> Precision:
    """Of the rows called ``positive``, the share that are: by default class 1, or the second of a model's two.

    >>> precision([1, 0, 1]).family
    '{"metric":"precision","positive":1}'
    """
    return _subset(Precision, predictions, positive)


def recall(predictions: Any, positive: Any = None) -> Recall:
    """Of the rows that are ``positive``, the share that are called so."""
    return _subset(Recall, predictions, positive)


def specificity(predictions: Any, positive: Any = None) -> Specificity:
    """Of the rows that are not ``positive``, the share that are called something else."""
    return _subset(Specificity, predictions, positive)


def jaccard(predictions: Any, positive: Any = None) -> Jaccard:
    """Of the rows that are ``positive`` or are called so, the share that are both."""
    return _subset(Jaccard, predictions, positive)


def _subset(kind: type[T], predictions: Any, positive: Any) -> T:
    source = as_source(predictions)
    return kind(source, positive_class(kind.metric, source, positive))


def roc_auc(scores: Any, positive: Any = None, classes: Iterable[Any] | None = None) -> RocAuc:
    """How often a ``positive`` row is scored above another one; ties count one half.

    Scores of the positive class, one per row; or rows × classes, the columns named as in :func:`top_k`.

    >>> roc_auc([0.9, 0.2]).label[:7]
    'roc_auc'
    """
    source = as_source(scores, _SCORE_METHODS)
    single = isinstance(source, GivenPredictions) and len(source.shape) == 1
    columns = None if single and classes is None else _columns(source, classes)
    named = 1 if single and positive is None else positive_class("roc_auc", source, positive)
    return RocAuc(source, named, None if single else columns)


def brier(predictions: Any, positive: Any = None) -> Brier:
    """The squared error of the probability of the ``positive`` class.

    >>> brier([0.9, 1.2])
    Traceback (most recent call last):
        ...
    unworn.errors.Unaskable: brier needs probabilities; these lie between 0.9 and 1.2
    """
    source = as_source(predictions, _CHANCE_METHODS)
    return Brier(source, positive_class("brier", source, positive))


def log_loss(
    predictions: Any,
    range: Sequence[float] = LOG_LOSS_RANGE,
    classes: Iterable[Any] | None = None,
    positive: Any = 1,
) -> LogLoss:
    """Minus the logarithm of the label's probability, clipped to ``range``.

    Probabilities of the ``positive`` class, one per row; or rows × classes, the columns named as in
    :func:`top_k`.

    >>> log_loss([0.9, 0.2]).bounds
    (0.0, 7.0)
    """
    source = as_source(predictions, _CHANCE_METHODS)
    low, high = as_range("log_loss", range)
    single = isinstance(source, GivenPredictions) and len(source.shape) == 1
    if single and classes is not None:
        raise Unaskable("classes= names the columns of rows × classes; for one probability per row give positive=")
    if single:
        return LogLoss(source, low, high, as_class(positive), None)
    return LogLoss(source, low, high, None, _columns(source, classes))


def mae(predictions: Any, range: Sequence[float] | None = None) -> AbsoluteError:
    """The mean absolute error, each row's clipped to ``range``, which must be given.

    >>> mae([3.0])
    Traceback (most recent call last):
        ...
    unworn.errors.Unaskable: mae has no range of its own, and an interval needs one: give range=(0, \
largest loss that matters); larger losses count as that one
    """
    return AbsoluteError(as_source(predictions), *as_range("mae", range))


def mse(predictions: Any, range: Sequence[float] | None = None) -> SquaredError:
    """The mean squared error, each row's clipped to ``range``, which must be given.

    >>> mse([3.0], range=(0, 100)).family
    '{"metric":"mse","range":[0.0,100.0]}'
    """
    return SquaredError(as_source(predictions), *as_range("mse", range))


def mape(predictions: Any, range: Sequence[float] | None = None) -> PercentageError:
    """The mean of |prediction − label|/|label|, each row's clipped to ``range`` (must be given), a label of 0 included.

    >>> mape([3.0], range=(0, 2)).bounds
    (0.0, 2.0)
    """
    return PercentageError(as_source(predictions), *as_range("mape", range))


def pinball(predictions: Any, range: Sequence[float] | None = None, alpha: float = 0.5) -> PinballLoss:
    """The loss of a predicted quantile ``alpha``, each row's clipped to ``range``, which must be given.

    >>> pinball([3.0], range=(0, 10), alpha=0.9).family
    '{"metric":"pinball","quantile":0.9,"range":[0.0,10.0]}'
    """
    low, high = as_range("pinball", range)
    return PinballLoss(as_source(predictions), low, high, alpha)


def values(array: Any, range: Sequence[float] = (0.0, 1.0)) -> RowValues:
    """The mean of numbers that somebody else computed, one per row in the order of the rows: a judge's, a grader's.

    Truth values, and numbers that are all 0 or 1, are counted.

    >>> values([0.25, 1.0]).bounds, values([True, False]).zero_one
    ((0.0, 1.0), True)
    """
    return RowValues.of(as_source(array), range)


def _columns(source: Source, classes: Iterable[Any] | None) -> tuple[Class, ...] | None:
    """The classes of the columns of scores, in their order: a frame's columns may be named by them."""
    if isinstance(source, GivenPredictions) and len(source.shape) == 2:
        count = source.shape[1]
        declared = tuple(range(count)) if classes is None else as_classes(classes, most=max(count, MOST_CLASSES))
        return match_columns(source.column.names, declared)
    own = source.classes if isinstance(source, FromModel) else None
    if classes is None:
        return own
    declared = as_classes(classes, most=MOST_COLUMNS)
    if own is None:
        return declared
    if len(declared) != len(own):
        raise Unaskable(f"the model has {len(own)} classes, and classes= names {len(declared)}: name all of them")
    return own if set(own) == set(declared) else declared  # its columns are in its own order


def metric_from_json(data: Mapping[str, Any]) -> Metric:
    """A metric as a ledger keeps it: equal to the one asked by fingerprint, but without predictions.

    >>> metric_from_json(accuracy([1, 0]).to_json()) == accuracy([1.0, 0.0])
    True
    """
    kept = dict(data["predictions"])
    source: Source = ConstantPrediction(kept["constant"]) if "constant" in kept else RecordedPredictions(kept)
    made = _recorded(data, source)
    if data.get("masked"):
        return MaskedLoss(made, from_json(data["where"]), data.get("centre"))
    return made if isinstance(made, RocAuc) else subgroup_of(made, data)


def _recorded(data: Mapping[str, Any], source: Source) -> Metric:
    name = data["metric"]
    classes = data.get("classes")
    columns = None if classes is None else tuple(classes)
    if name == "accuracy":
        return Accuracy(source)
    if name == "balanced_accuracy":
        return BalancedAccuracy(source, tuple((value, float(weight)) for value, weight in data["weights"]))
    if name == "top_k_accuracy":
        return TopK(source, data["k"], columns)
    if name in SUBSET_METRICS:
        return SUBSET_METRICS[name](source, data["positive"])
    if name == "prevalence":
        return Prevalence(source, data["positive"])
    if name == "roc_auc":
        return RocAuc(source, data["positive"], columns, from_json(data["where"]) if "where" in data else None)
    if name == "brier":
        return Brier(source, data["positive"])
    if name == "log_loss":
        low, high = map(float, data["range"])
        return LogLoss(source, low, high, data["positive"], columns)
    if name in ERRORS:
        return ERRORS[name](source, *map(float, data["range"]))
    if name == "pinball":
        low, high = map(float, data["range"])
        return PinballLoss(source, low, high, float(data["quantile"]))
    if name == "values":
        low, high = map(float, data["range"])
        return RowValues(source, low, high, bool(data["zero_one"]))
    if name == "within_tolerance":
        return WithinTolerance(source, float(data["tolerance"]), float(data["relative"]))
    if name == "graded":
        return GradedRows(source, RecordedGrader(str(data["grader"])))
    raise Unaskable(f"this record asks the metric {name!r}, which this version does not know", metric=name)
