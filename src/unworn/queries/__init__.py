"""What can be asked, as values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from unworn.errors import Unaskable
from unworn.queries.code.callables import function, function_from_json
from unworn.queries.hypothesis import Hypothesis, hypothesis, hypothesis_from_json
from unworn.queries.language.expressions import Expression, col, lit
from unworn.queries.language.means import Mean, Share, mean, share
from unworn.queries.metrics.named_metrics import (
    accuracy,
    balanced_accuracy,
    brier,
    log_loss,
    mae,
    metric,
    metric_from_json,
    mse,
    top_k,
)
from unworn.queries.metrics.paired_query import compare, difference_from_json
from unworn.queries.predictions import FromModel, GivenPredictions, NamedPredictions
from unworn.queries.query import Facts, Query
from unworn.queries.row_protocol import Rows
from unworn.queries.schema import ColumnType, Schema
from unworn.queries.statistic import statistic, statistic_from_json

__all__ = [
    "ColumnType",
    "Expression",
    "Facts",
    "FromModel",
    "GivenPredictions",
    "Hypothesis",
    "NamedPredictions",
    "Query",
    "Rows",
    "Schema",
    "accuracy",
    "balanced_accuracy",
    "brier",
    "col",
    "compare",
    "function",
    "hypothesis",
    "lit",
    "log_loss",
    "mae",
    "mean",
    "metric",
    "mse",
    "parse",
    "share",
    "statistic",
    "top_k",
]

_READERS: dict[str, Callable[[Any], Query]] = {
    "share": Share.from_json,
    "mean": Mean.from_json,
    "metric": metric_from_json,
    "difference": difference_from_json,
    "callable": function_from_json,
    "statistic": statistic_from_json,
    "gradient": lambda data: _argmin().gradient_from_json(data),
    "risk": lambda data: _argmin().risk_from_json(data),
    "curvature": lambda data: _argmin().curvature_from_json(data),
    "moment": lambda data: _mixture().moment_from_json(data),
    "hypothesis": lambda data: hypothesis_from_json(data, parse),
}


def _argmin() -> Any:
    from unworn.queries.learning import argmin  # loaded by those who optimise

    return argmin


def _mixture() -> Any:
    from unworn.queries.learning import mixture_moments

    return mixture_moments


def parse(data: Any) -> Query:
    """Read a question from its JSON; anything that is not one is refused, never evaluated.

    >>> question = share(col("age") > 65)
    >>> parse(question.to_json()) == question
    True
    >>> parse({"ask": "everything"})  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    unworn.errors.Unaskable: a question's 'ask' is one of share, mean, ..., not 'everything'
    """
    tag = data.get("ask") if isinstance(data, dict) else None
    if not isinstance(tag, str) or tag not in _READERS:
        raise Unaskable(f"a question's 'ask' is one of {', '.join(_READERS)}, not {tag!r:.60}")
    try:
        return _READERS[tag](data)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        if isinstance(error, Unaskable):
            raise
        raise Unaskable(f"this is not the JSON of a {tag} question") from None
