"""Code is tried on rows the asker may see before it is shown the holdout's: its mistakes are told in full, for nothing.

What fails on sealed rows is entered, charged and not explained. Most of what fails would have failed anywhere: a model
that was never fitted, a column that is not there, text where a number belongs.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from unworn.errors import Unaskable
from unworn.queries.code.callables import Function
from unworn.queries.code.code_in_query import label_counters, models_of
from unworn.queries.hypothesis import Hypothesis
from unworn.queries.metrics.prediction_types import check_labels, estimator_type
from unworn.queries.predictions import FromModel
from unworn.queries.query import Query
from unworn.queries.row_protocol import Column, Raised, showing_rows
from unworn.queries.statistic import Statistic

if TYPE_CHECKING:
    from unworn.rows import Sample

T = TypeVar("T")
FEW = 5
"""Rows that code is tried on first: enough to fail on, and soon done."""


def few_rows(train: Sample) -> Sample:
    """The first few of the rows."""
    from unworn.rows.memory.row_split import restrict_rows

    return restrict_rows(train, np.arange(min(FEW, train.size)))


def try_code(query: Query, columns: set[str], train: Sample, few: Sample) -> None:
    """Run a question's code on a few rows that may be seen; ``columns`` are those of the holdout.

    A statistic is about all the rows there are, so it is shown all of them. A function that may look at a column which
    ``train`` does not have is not tried.
    """
    bare = query.query if isinstance(query, Hypothesis) else query
    if isinstance(bare, Statistic | Function) and not columns <= set(train.columns):
        return
    if isinstance(bare, Statistic):
        run_on_train(query, train, lambda: train.statistic(bare))
        return
    try:
        query.facts(few.schema, few.length)
    except Unaskable:  # there are no labels to score by, say: then the models alone
        if few.has_features:
            for model in models_of(query):
                run_on_train(query, few, lambda model=model: model.run(few.features, few.rows))  # type: ignore[misc]
        return
    counters, models = label_counters(query), models_of(query)
    if few.has_features and counters and len(counters) == len(models):
        returned = run_on_train(query, few, lambda: [_labels_of(model, few) for _, model in counters])
        for (metric, model), column in zip(counters, returned, strict=True):
            _check_counted(metric, model, column, few)
    elif few.has_features or not models:
        run_on_train(query, few, lambda: few.statistics([query]))


def _labels_of(model: FromModel, few: Sample) -> Column:
    """What a model returns; ``Raised`` where that is nothing that labels of this kind could equal."""
    column = model.run(few.features, few.rows)
    target = few.schema.target
    if column.values.ndim != 1 or (target and (column.kind == "text") != (few.schema.of(target).kind == "text")):
        raise Raised
    return column


def _check_counted(metric: str, model: FromModel, column: Column, few: Sample) -> None:
    """Refuse a model that returns probabilities or numbers where labels are counted: hardly any would be right.

    Estimators say of themselves what they predict, and were judged by it.
    """
    if column.values.dtype.kind != "f" or estimator_type(model.model) is not None:
        return
    told = f"on {few.rows} rows that you may see {model.label} returned"
    try:  # what is missing or infinite is the worst answer, and may be
        check_labels(column.values[np.isfinite(column.values)], metric, told)
    except Unaskable as why:
        raise Unaskable(f"{why}\n{_FREE}", metric=metric) from None


def check_fitted(query: Query) -> None:
    """Refuse a scikit-learn estimator that was never fitted, which can be seen without any rows.

    By scikit-learn's own rule: fitting leaves attributes whose names end in an underscore. Estimators with a rule of
    their own, and those of others, are not judged.
    """
    for model in models_of(query):
        kind = type(model.model)
        if not kind.__module__.startswith("sklearn.") or hasattr(kind, "__sklearn_is_fitted__"):
            continue
        if not any(name.endswith("_") and not name.startswith("__") for name in getattr(model.model, "__dict__", "_")):
            raise Unaskable(f"{kind.__name__} cannot be asked: it is not fitted yet. Fit it first.\n" + _FREE)


def run_on_train(query: Query, train: Sample, run: Callable[[], T]) -> T:
    """What a question gets on rows that may be seen; where its code fails, that error, from where it was raised."""
    try:
        with showing_rows():
            return run()
    except KeyboardInterrupt:
        raise
    except Raised:
        raise Unaskable(
            f"{_called(query)} cannot be asked: on {train.rows} rows that you may see its code returned "
            f"{_returned(query, train)}, which does not fit the labels or the metric.\n"
            "  Numbers go with numbers and text with text; scores have one column for each class.\n" + _FREE
        ) from None
    except BaseException as error:
        raise Unaskable(
            f"{_called(query)} cannot be asked: its code failed on {train.rows} rows that you may see.\n"
            f"  {type(error).__name__}: {error}\n" + _FREE
        ) from error


_FREE = "  The holdout's own rows were not touched, and nothing was charged."


def _called(query: Query) -> str:
    return " − ".join(type(model.model).__name__ for model in models_of(query)) or query.label


def _returned(query: Query, train: Sample) -> str:
    """What the models return, in words."""
    told = []
    for model in models_of(query):
        with showing_rows():
            column = model.run(train.features, train.rows)
        told.append(f"{'text' if column.kind == 'text' else column.values.dtype} of shape {column.values.shape}")
    return " and ".join(told) or "something"


@cache
def say_what_is_withheld() -> None:
    """Once in a process, before any code sees sealed rows: said later, it would tell that there was something."""
    import logging

    logging.getLogger("unworn").warning(
        "What code prints, warns of or logs while it sees a holdout's rows is withheld, because it would tell of them "
        "for nothing. On train=, or on rows of your own, it shows."
    )
