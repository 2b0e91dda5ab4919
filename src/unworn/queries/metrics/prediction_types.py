"""What predictions are, from their types alone: labels, probabilities or numbers; a classifier's or a regressor's.

A metric that is put to the wrong kind of predictions has a value all the same, and a misleading one. What shows without
rows (the asker's own array, what an estimator says of itself) is refused before anything is charged.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from unworn.errors import Unaskable
from unworn.queries.constant_prediction import ConstantPrediction
from unworn.queries.predictions import FromModel, GivenPredictions, NamedPredictions, Source
from unworn.queries.schema import ColumnKind

_GRADES = 4
"""Labels may be halves or quarters, as ratings are; predicted numbers hardly ever are all of that form."""


def estimator_type(model: Any) -> str | None:
    """What a scikit-learn estimator says of itself: classifier, regressor, or nothing.

    >>> estimator_type(object()) is None
    True
    """
    try:
        said = model.__sklearn_tags__().estimator_type
    except Exception:  # no estimator, or one of an older version
        said = getattr(model, "_estimator_type", None)
    return said if said in ("classifier", "regressor") else None


def default_metric(predictions: Any) -> str:
    """The metric of whoever names none, as in scikit-learn: R² for a regressor, else accuracy.

    >>> default_metric([0, 1, 1])
    'accuracy'
    """
    given = predictions.predictions if isinstance(predictions, NamedPredictions) else predictions
    model = given.model if isinstance(given, FromModel) else given
    return "r2" if estimator_type(model) == "regressor" else "accuracy"


def check_label_kind(source: Source, kind: ColumnKind, metric: str) -> None:
    """Refuse predictions that are no labels, or labels of another kind than the target's."""
    if isinstance(source, ConstantPrediction) and isinstance(source.value, str) != (kind == "text"):
        raise _unlike(kind, metric)
    if isinstance(source, FromModel):
        if source.method == "predict" and estimator_type(source.model) == "regressor":
            raise Unaskable(
                f"{type(source.model).__name__} is a regressor, whose numbers hardly ever equal a label, and {metric} "
                "counts labels predicted exactly: ask r2, rmse, mae or mse, or give labels made of its numbers"
            )
        text = {isinstance(name, str) for name in source.classes or ()}
        if source.method == "predict" and len(text) == 1 and text != {kind == "text"}:
            raise _unlike(kind, metric)
    if isinstance(source, GivenPredictions):
        if (source.column.kind == "text") != (kind == "text"):
            raise _unlike(kind, metric)
        check_labels(source.column.values, metric, "these are")


def check_labels(values: np.ndarray[Any, Any], metric: str, told: str) -> None:
    """Refuse numbers that are no labels, in words that begin with what was ``told``.

    >>> check_labels(np.array([0.0, 1.0, 2.5]), "accuracy", "these are")
    >>> check_labels(np.array([0.0, 1.0, 0.3]), "accuracy", "these are")
    Traceback (most recent call last):
    ...
    unworn.errors.Unaskable: accuracy counts labels predicted exactly, and these are probabilities: ask brier, \
log_loss or roc_auc, or give (probabilities > 0.5) as the labels
    """
    if values.dtype.kind != "f" or values.ndim != 1 or not _are_no_labels(values):
        return
    inside = bool(values.min(initial=0.0) >= 0 and values.max(initial=0.0) <= 1)
    looks, instead = (
        ("probabilities", "ask brier, log_loss or roc_auc, or give (probabilities > 0.5) as the labels")
        if inside
        else ("predicted numbers", "ask r2, rmse, mae or mse, or round them to labels")
    )
    raise Unaskable(f"{metric} counts labels predicted exactly, and {told} {looks}: {instead}")


def check_decision_columns(source: Source, metric: str, *, one_for_two: bool) -> None:
    """Refuse a classifier whose scores are not a column per class, by what it says of itself.

    ``one_for_two``: the single column that there is for two classes will do.
    """
    if not isinstance(source, FromModel) or source.method != "decision_function" or source.classes is None:
        return
    if estimator_type(source.model) != "classifier":
        return
    name, count = type(source.model).__name__, len(source.classes)
    if count == 2 and not one_for_two:
        raise Unaskable(
            f"{name} has two classes, and its decision_function one column for both, where {metric} needs one per "
            "class: ask accuracy or roc_auc, or give a model with predict_proba"
        )
    if count > 2 and getattr(source.model, "decision_function_shape", None) == "ovo":
        raise Unaskable(
            f"the decision_function of {name} has a column per pair of classes, where {metric} needs one per class: "
            "make it with decision_function_shape='ovr'"
        )


def _are_no_labels(values: np.ndarray[Any, Any]) -> bool:
    """Whether floats are neither whole numbers nor grades in halves or quarters outside of [0, 1]."""
    if bool((values == np.trunc(values)).all()):
        return False
    steps = values * _GRADES
    return bool((steps != np.trunc(steps)).any()) or bool(values.min() >= 0 and values.max() <= 1)


def _unlike(kind: ColumnKind, metric: str) -> Unaskable:
    labels, guesses = ("text", "numbers") if kind == "text" else ("numbers", "text")
    return Unaskable(f"the labels are {labels} but the predictions are {guesses}: {metric} compares like with like")
