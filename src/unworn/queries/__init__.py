"""What can be asked, as values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from unworn.errors import Unaskable
from unworn.queries.code.callables import function, function_from_json
from unworn.queries.composite import Composite, average, composite_from_json, ratio
from unworn.queries.hypothesis import Hypothesis, hypothesis, hypothesis_from_json
from unworn.queries.language.expressions import Expression, col, lit
from unworn.queries.language.means import ConditionalShare, Mean, Share, mean, share
from unworn.queries.metrics.composite_metrics import (
    balanced_accuracy,
    cohen_kappa,
    f1,
    f1_macro,
    matthews_corrcoef,
    r2,
    rmse,
    roc_auc_ovr,
)
from unworn.queries.metrics.metric_catalogue import metric
from unworn.queries.metrics.named_metrics import (
    accuracy,
    brier,
    jaccard,
    log_loss,
    mae,
    mape,
    metric_from_json,
    mse,
    pinball,
    precision,
    recall,
    roc_auc,
    specificity,
    top_k,
    values,
)
from unworn.queries.metrics.paired_query import compare, difference_from_json
from unworn.queries.predictions import FromModel, GivenPredictions, NamedPredictions
from unworn.queries.query import Facts, Query
from unworn.queries.row_protocol import Rows
from unworn.queries.schema import ColumnType, Schema
from unworn.queries.statistic import statistic, statistic_from_json

__all__ = [
    "ColumnType",
    "Composite",
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
    "average",
    "balanced_accuracy",
    "brier",
    "cohen_kappa",
    "col",
    "compare",
    "f1",
    "f1_macro",
    "function",
    "hypothesis",
    "jaccard",
    "lit",
    "log_loss",
    "mae",
    "mape",
    "matthews_corrcoef",
    "mean",
    "metric",
    "mse",
    "parse",
    "parse_composite",
    "pinball",
    "precision",
    "r2",
    "ratio",
    "recall",
    "rmse",
    "roc_auc",
    "roc_auc_ovr",
    "share",
    "specificity",
    "statistic",
    "top_k",
    "values",
]

_READERS: dict[str, Callable[[Any], Query]] = {
    "share": Share.from_json,
    "conditional": ConditionalShare.from_json,
    "mean": Mean.from_json,
    "metric": metric_from_json,
    "difference": difference_from_json,
    "callable": function_from_json,
    "statistic": statistic_from_json,
    "gradient": lambda data: _argmin().gradient_from_json(data),
    "risk": lambda data: _argmin().risk_from_json(data),
    "curvature": lambda data: _argmin().curvature_from_json(data),
    "moment": lambda data: _mixture().moment_from_json(data),
    "edge": lambda data: _votes().WeightedEdge.from_json(data),
    "majority": lambda data: _votes().MajorityError.from_json(data),
    "blend": lambda data: _blend().Blend.from_json(data),
    "hypothesis": lambda data: hypothesis_from_json(data, parse),
}


def _argmin() -> Any:
    from unworn.queries.learning import argmin  # loaded by those who optimise

    return argmin


def _votes() -> Any:
    from unworn.queries.learning import votes

    return votes


def _blend() -> Any:
    from unworn.queries.learning import blend

    return blend


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
    unworn.errors.Unaskable: a question's 'ask' is one of share, ..., not 'everything'
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


def parse_composite(data: Any) -> Composite:
    """Read a composite from its JSON; anything that is not one is refused.

    >>> question = share(col("age") > 65) - share(col("age") > 80)
    >>> parse_composite(question.to_json()) == question
    True
    """
    try:
        return composite_from_json(data, parse)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, RecursionError) as error:
        if isinstance(error, Unaskable):
            raise
        raise Unaskable("this is not the JSON of a composite") from None
