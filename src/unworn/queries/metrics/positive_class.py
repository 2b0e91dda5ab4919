"""Which class a metric of one class against the rest is about, where nobody says so: only where there are two."""

from __future__ import annotations

from typing import Any

import numpy as np

from unworn.errors import Unaskable
from unworn.queries.metrics.class_labels import Class, as_class
from unworn.queries.predictions import GivenPredictions, Source

INSTEAD = {
    "roc_auc": "roc_auc_ovr",
    "brier": "log_loss",
    "f1": "f1_macro",
    "matthews_corrcoef": "f1_macro",
    "cohen_kappa": "f1_macro",
    **{name: f"{name}_macro" for name in ("precision", "recall", "specificity", "jaccard")},
}
"""The metrics of one class against the rest, and what to ask of many classes."""


def positive_class(metric: str, source: Source, positive: Any) -> Class:
    """The class that was named; else 1, or the second of two classes without a 1, as scikit-learn has it.

    >>> positive_class("f1", GivenPredictions(["a", "b"]), "b"), positive_class("f1", GivenPredictions([0, 1]), None)
    ('b', 1)
    >>> positive_class("f1", GivenPredictions([0, 1, 2]), None)
    Traceback (most recent call last):
        ...
    unworn.errors.Unaskable: f1 is about one class against the rest, and these predictions have more than two: \
say which by positive=, or ask f1_macro
    """
    if positive is not None:
        return as_class(positive)
    classes = getattr(source, "classes", None)
    if (classes is not None and len(classes) > 2) or has_many_columns(source) or names_many(source):
        raise refuse_many(metric, "these predictions have more than two")
    if names_others(source):
        raise Unaskable(
            f"{metric} is taken to be about the class 1, and these predictions name two others: say which by positive=",
            metric=metric,
        )
    return 1 if classes is None or len(classes) < 2 or 1 in classes else as_class(classes[1])


MANY = 100
"""Labels with more values than these are hardly classes."""


def refuse_many(metric: str, found: str, count: int = 0) -> Unaskable:
    """The refusal, where so many classes (if anybody counted) were ``found``.

    >>> print(refuse_many("f1", "there are 750", 750))
    f1 is about one class against the rest, and there are 750: these labels look like numbers to predict, so ask r2, \
mae or rmse; else say which class by positive=
    """
    if count > MANY:
        return Unaskable(
            f"{metric} is about one class against the rest, and {found}: these labels look like numbers to predict, so "
            "ask r2, mae or rmse; else say which class by positive=",
            metric=metric,
        )
    return Unaskable(
        f"{metric} is about one class against the rest, and {found}: say which by positive=, or ask {INSTEAD[metric]}",
        metric=metric,
    )


def has_many_columns(source: Source) -> bool:
    return isinstance(source, GivenPredictions) and len(source.shape) == 2 and source.shape[1] > 2


def names_many(source: Source) -> bool:
    """Whether an array names more than two classes; numbers with a fraction name none."""
    if not isinstance(source, GivenPredictions) or len(source.shape) != 1:
        return False
    named = source.column.values
    if not named.size or (named.dtype.kind == "f" and bool(np.any(named != np.floor(named)))):
        return False
    least, most = named.min(), named.max()
    return bool(most - least > 1) and bool(np.any((named != least) & (named != most)))


def names_others(source: Source) -> bool:
    """Whether an array names two classes, and neither is 1."""
    if not isinstance(source, GivenPredictions) or len(source.shape) != 1 or source.column.kind == "text":
        return False
    named = source.column.values
    if not named.size or (named.dtype.kind == "f" and bool(np.any(named != np.floor(named)))):
        return False
    return bool(named.min() != named.max()) and not bool(np.any(named == 1))
