"""Predictions made here, to be sent: a model stays with its owner, and so do the features it needs."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from unworn.client.transport.upload_body import ONNX, Upload, make_upload
from unworn.errors import Unaskable
from unworn.queries import Composite, GivenPredictions
from unworn.queries import metric as metric_query
from unworn.queries.code.code_in_query import models_of
from unworn.queries.metrics.metric_catalogue import metric_name, needs_classes
from unworn.queries.metrics.prediction_types import default_metric
from unworn.queries.predictions import NamedPredictions

_NO_ROWS = (
    "a model cannot be scored over a connection without rows to predict on: it does not travel, and the rows of the "
    "server do not either.\n"
    "  If you have the holdout's features (without labels, in its order), give X=: the predictions are made here and "
    "sent.\n  Else send predictions made elsewhere, or the model as ONNX, where the server takes such: "
    "score('model.onnx')."
)


@dataclass(frozen=True)
class Sent:
    """What goes to the server for one model: a file, the metric's name and, of an array, what it is known by."""

    upload: Upload
    metric: str
    digest: str | None


def predictions_to_send(predictions: Any, metric: str | None, X: Any, options: dict[str, Any]) -> Sent:
    """The file to send for a model, an array or a file; what is wrong with an array is said here, before it travels."""
    given = predictions.predictions if isinstance(predictions, NamedPredictions) else predictions
    if isinstance(given, str | bytes | os.PathLike | Upload) or hasattr(given, "SerializeToString"):
        if metric is None:
            raise Unaskable("say which metric a file is scored by, as in metric='accuracy'")
        return Sent(make_upload(given), metric, None)
    wanted = default_metric(given) if metric is None else metric
    if _is_model(given):
        if X is None:
            raise Unaskable(_NO_ROWS)
        given = predict_here(given, wanted, X, options)
    known = given if isinstance(given, GivenPredictions) else GivenPredictions(given)
    return Sent(make_upload(_columns(known, given)), wanted, known.digest)


def predict_here(model: Any, metric: str, X: Any, options: dict[str, Any]) -> Any:
    """What a model says about rows of its owner, by the method that the metric needs."""
    method = method_for(model, metric, options)
    told = model(X) if method == "__call__" else getattr(model, method)(X)
    array = np.asarray(getattr(told, "to_numpy", lambda: told)())
    if array.ndim != 2 or array.shape[1] == 1:
        return array.reshape(len(array))
    classes = [getattr(each, "item", lambda each=each: each)() for each in getattr(model, "classes_", ())]
    if len(classes) != array.shape[1]:
        return array
    if len(classes) == 2:  # one number says both: that of 1, or of the second where none is 1
        positive = options.get("positive", 1 if 1 in classes else classes[1])
        return array[:, classes.index(positive)] if positive in classes else array[:, 1]
    return {str(name): array[:, place] for place, name in enumerate(classes)}


def method_for(model: Any, metric: str, options: dict[str, Any]) -> str:
    """``predict``, ``predict_proba``, …: whichever the metric asks a model for.

    >>> class Coin:
    ...     def predict(self, X): ...
    ...     def predict_proba(self, X): ...
    >>> method_for(Coin(), "accuracy", {}), method_for(Coin(), "log_loss", {"range": (0, 5)})
    ('predict', 'predict_proba')
    """
    known = {name: value for name, value in options.items() if name != "where"}
    if metric_name(metric) == "r2":  # what the server's practice rows tell it
        known.setdefault("baseline", 0.0)
    if needs_classes(metric) and not {"weights", "shares", "classes"} & set(known):
        known["classes"] = [0, 1]
    question = metric_query(metric, NamedPredictions(model, "here", watch=False), **known)
    parts = question.questions if isinstance(question, Composite) else (question,)
    methods = [source.method for part in parts for source in models_of(part)]
    return methods[0] if methods else "predict"


def _is_model(given: Any) -> bool:
    return not hasattr(given, "__array__") and (callable(getattr(given, "predict", None)) or callable(given))


def _columns(known: GivenPredictions, given: Any) -> Any:
    """An array as columns to write: text as text, a frame or dict of columns under its own names."""
    if isinstance(given, dict) or hasattr(given, "columns"):
        return given
    column = known.column
    return column.values if column.vocabulary is None else column.vocabulary[column.values]


__all__ = ["ONNX", "Sent", "method_for", "predict_here", "predictions_to_send"]
