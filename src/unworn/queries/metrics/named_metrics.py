"""The metrics there are, by function and by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from unworn.basics.display import show_value
from unworn.errors import Unaskable
from unworn.queries.metrics.class_labels import Class, as_class, as_classes
from unworn.queries.metrics.hit_metrics import Accuracy, BalancedAccuracy, TopK
from unworn.queries.metrics.loss_metrics import AbsoluteError, Brier, LogLoss, SquaredError
from unworn.queries.metrics.refused_metrics import refuse
from unworn.queries.metrics.scored_query import Metric, as_range
from unworn.queries.predictions import FromModel, GivenPredictions, RecordedPredictions, Source, as_source

LOG_LOSS_RANGE = (0.0, 7.0)
_CHANCE_METHODS = ("predict_proba",)
_SCORE_METHODS = ("predict_proba", "decision_function")


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


def brier(predictions: Any, positive: Any = 1) -> Brier:
    """The squared error of the probability of the ``positive`` class.

    >>> brier([0.9, 1.2])
    Traceback (most recent call last):
        ...
    unworn.errors.Unaskable: brier needs probabilities; these lie between 0.9 and 1.2
    """
    return Brier(as_source(predictions, _CHANCE_METHODS), as_class(positive))


def log_loss(
    predictions: Any,
    range: Sequence[float] = LOG_LOSS_RANGE,
    classes: Iterable[Any] | None = None,
    positive: Any = 1,
) -> LogLoss:
    """Minus the logarithm of the label's probability, cut to ``range``.

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
    """The mean absolute error, each row's cut to ``range``, which must be given.

    >>> mae([3.0])
    Traceback (most recent call last):
        ...
    unworn.errors.Unaskable: mae has no range of its own, and an interval needs one: give range=(0, \
largest loss that matters); larger losses count as that one
    """
    return AbsoluteError(as_source(predictions), *as_range("mae", range))


def mse(predictions: Any, range: Sequence[float] | None = None) -> SquaredError:
    """The mean squared error, each row's cut to ``range``, which must be given.

    >>> mse([3.0], range=(0, 100)).family
    '{"metric":"mse","range":[0.0,100.0]}'
    """
    return SquaredError(as_source(predictions), *as_range("mse", range))


def _columns(source: Source, classes: Iterable[Any] | None) -> tuple[Class, ...] | None:
    if classes is not None:
        return as_classes(classes)
    if isinstance(source, FromModel):
        return source.classes
    return tuple(range(source.shape[1])) if isinstance(source, GivenPredictions) and len(source.shape) == 2 else None


_MAKERS: dict[str, Callable[..., Metric]] = {
    "accuracy": accuracy,
    "balanced_accuracy": balanced_accuracy,
    "top_k_accuracy": top_k,
    "brier": brier,
    "log_loss": log_loss,
    "mae": mae,
    "mse": mse,
}
_TYPES: dict[str, type[Metric]] = {
    kind.metric: kind for kind in (Accuracy, BalancedAccuracy, TopK, Brier, LogLoss, AbsoluteError, SquaredError)
}
_ALIASES = {
    "accuracy_score": "accuracy",
    "balanced_accuracy_score": "balanced_accuracy",
    "top_k": "top_k_accuracy",
    "top_k_accuracy_score": "top_k_accuracy",
    "brier_score": "brier",
    "brier_score_loss": "brier",
    "neg_brier_score": "brier",
    "neg_log_loss": "log_loss",
    "mean_absolute_error": "mae",
    "neg_mean_absolute_error": "mae",
    "mean_squared_error": "mse",
    "neg_mean_squared_error": "mse",
}


def metric_name(name: str) -> str:
    """The one name of an askable metric, or a refusal that says why and what to ask instead.

    >>> metric_name("neg_log_loss")
    'log_loss'
    >>> metric_name("acuracy")
    Traceback (most recent call last):
        ...
    unworn.errors.Unaskable: there is no metric 'acuracy'; did you mean accuracy? The metrics are: accuracy, \
balanced_accuracy, top_k_accuracy, brier, log_loss, mae, mse
    """
    if not isinstance(name, str):
        raise Unaskable(f"a metric is given by its name, such as 'accuracy', not by a {type(name).__name__}")
    own = _ALIASES.get(name, name)
    if own in _MAKERS:
        return own
    refuse(name)
    import difflib  # only when a name is wrong

    close = difflib.get_close_matches(name[:100], [*_MAKERS, *_ALIASES], n=1)
    hint = f"did you mean {close[0]}? The" if close else "the"
    raise Unaskable(f"there is no metric {name!r:.80}; {hint} metrics are: {', '.join(_MAKERS)}", metric=name)


def metric(name: str, predictions: Any, **options: Any) -> Metric:
    """A metric by the name scikit-learn gives it. ``neg_…`` names are the loss itself, not its negative.

    >>> metric("neg_brier_score", [0.5]) == brier([0.5])
    True
    """
    own = metric_name(name)
    try:
        return _MAKERS[own](predictions, **options)
    except TypeError as error:
        raise Unaskable(f"{own}: {str(error).removeprefix(_MAKERS[own].__name__ + '() ')}", metric=own) from None


def greater_is_better(name: str) -> bool:
    """Whether a larger value of what :func:`metric` answers is better; losses are answered as losses.

    >>> greater_is_better("accuracy"), greater_is_better("neg_log_loss")
    (True, False)
    """
    return _TYPES[metric_name(name)].greater_is_better


def metric_from_json(data: Mapping[str, Any]) -> Metric:
    """A metric as a ledger keeps it: equal to the one asked by fingerprint, but without predictions.

    >>> metric_from_json(accuracy([1, 0]).to_json()) == accuracy([1.0, 0.0])
    True
    """
    source = RecordedPredictions(dict(data["predictions"]))
    name = data["metric"]
    classes = data.get("classes")
    columns = None if classes is None else tuple(classes)
    if name == "accuracy":
        return Accuracy(source)
    if name == "balanced_accuracy":
        return BalancedAccuracy(source, tuple((value, float(weight)) for value, weight in data["weights"]))
    if name == "top_k_accuracy":
        return TopK(source, data["k"], columns)
    if name == "brier":
        return Brier(source, data["positive"])
    if name == "log_loss":
        low, high = map(float, data["range"])
        return LogLoss(source, low, high, data["positive"], columns)
    if name in ("mae", "mse"):
        return (AbsoluteError if name == "mae" else SquaredError)(source, *map(float, data["range"]))
    raise Unaskable(f"this record asks the metric {name!r}, which this version does not know", metric=name)
