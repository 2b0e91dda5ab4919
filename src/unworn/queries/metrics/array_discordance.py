"""How much two arrays of predictions can differ in a metric, from the arrays alone.

Two submitted arrays are the asker's own, so how often they differ is too, and free. It bounds the mean absolute
difference of the metric, whatever the labels are: the discordance of their comparison.
"""

from __future__ import annotations

import math

import numpy as np

from unworn.queries.metrics.hit_metrics import Accuracy
from unworn.queries.metrics.loss_metrics import AbsoluteError, Brier, LogLoss
from unworn.queries.metrics.paired_query import Difference
from unworn.queries.metrics.row_values import RowValues
from unworn.queries.metrics.scaled_losses import MaskedLoss
from unworn.queries.predictions import GivenPredictions
from unworn.queries.query import Query
from unworn.queries.row_protocol import Column, Floats

_SLACK = 1e-12
"""Of the range: what adding up floats in another order may change."""


def array_discordance(query: Query) -> float | None:
    """The largest mean of |difference| over all rows that two arrays allow, in the metric's units; None if unknown.

    >>> from unworn.queries.metrics.named_metrics import accuracy
    >>> from unworn.queries.metrics.paired_query import compare
    >>> round(array_discordance(compare(accuracy([0, 1, 1, 0]), accuracy([0, 1, 0, 0]))), 9)
    0.25
    """
    if not isinstance(query, Difference):
        return None
    a, b = (each.inner if isinstance(each, MaskedLoss) else each for each in (query.a, query.b))
    if not isinstance(a.source, GivenPredictions) or not isinstance(b.source, GivenPredictions):
        return None
    one, other = a.source.column, b.source.column
    sides = (1, 2) if isinstance(a, LogLoss) else (1,)
    if one.values.shape != other.values.shape or one.values.ndim not in sides or not one.values.size:
        return None
    span = a.bounds[1] - a.bounds[0]
    if isinstance(a, Accuracy):
        bound = float(np.mean(_differ(one, other)))
    elif isinstance(a, RowValues | AbsoluteError):
        bound = float(np.mean(np.minimum(np.abs(_floats(one) - _floats(other)), span)))
    elif isinstance(a, Brier):
        p, q = _floats(one), _floats(other)
        bound = float(np.mean(np.abs(p - q) * np.maximum(p + q, 2 - p - q)))  # |(p−y)² − (q−y)²| at the worse y
    elif isinstance(a, LogLoss) and a.layout() == b.layout():
        bound = float(np.mean(np.abs(_log_losses(a, one) - _log_losses(a, other)).max(axis=1)))  # at the worst label
    else:
        return None
    return min(bound + _SLACK * span, span)


def sealed_discordance(bound: float, span: float, sealed: int, rows: int) -> float:
    """The same for a random part of the rows: exact where it is all of them, else with four standard errors to spare.

    Even if all the difference fell into the part, its mean is at most bound·rows/sealed.
    """
    spread = math.sqrt(bound * span * (1 - sealed / rows) / sealed)
    return min(bound + 4 * spread, bound * rows / sealed, span)


def _differ(one: Column, other: Column) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    if one.vocabulary is None or other.vocabulary is None:
        return np.asarray(one.values != other.values)
    code = {word: place for place, word in enumerate(one.vocabulary.tolist())}
    lookup = np.array([code.get(word, -1) for word in other.vocabulary.tolist()])
    return np.asarray(one.values != lookup[other.values])


def _log_losses(metric: LogLoss, column: Column) -> Floats:
    """What each row would lose for each of the labels that it could have."""
    chances = _floats(column)
    of_labels = np.column_stack([chances, 1 - chances]) if chances.ndim == 1 else chances
    with np.errstate(all="ignore"):
        losses = -np.log(of_labels / of_labels.sum(axis=1, keepdims=True))
    return np.asarray(np.clip(losses, *metric.bounds))


def _floats(column: Column) -> Floats:
    return column.values.astype(np.float64, copy=False)
