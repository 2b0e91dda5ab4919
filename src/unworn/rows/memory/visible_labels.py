"""What the labels of rows that may be seen say of a metric: its classes, or the constant that a model has to beat.

Never of a holdout: ``train`` and practice rows are asked here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from unworn.errors import Unaskable
from unworn.queries.language.evaluation import truth
from unworn.queries.language.expressions import Expression
from unworn.queries.language.means import share
from unworn.queries.row_protocol import Bools, Column
from unworn.rows.memory.row_runs import Chunk
from unworn.rows.memory.sample import Sample
from unworn.rows.reading.given_data import find_classes


def label_classes(visible: Sample) -> tuple[Any, ...]:
    """Which labels occur.

    >>> label_classes(Sample.read(None, np.array([2.0, np.nan, 0.0, 2.0])))
    (0.0, 2.0)
    """
    labels = _labels(visible)
    if labels is None:
        raise Unaskable("these rows have no labels to take classes from")
    return find_classes(labels)


def label_mean(visible: Sample, where: Expression | None = None) -> float:
    """The mean of the labels, where a predicate holds if one is given.

    >>> label_mean(Sample.read(None, np.array([1.0, np.nan, 3.0])))
    2.0
    """
    labels = _labels(visible)
    if labels is None or labels.kind not in ("number", "bool"):
        raise Unaskable("these rows have no numbers as labels to take a mean of")
    kept: Bools = np.isfinite(labels.values)
    if labels.missing is not None:
        kept &= ~labels.missing
    if where is not None:
        visible.check(share(where))
        kept &= truth(where, Chunk(visible, 0, visible.rows, {}))
    if not kept.any():
        raise Unaskable("of the rows that may be seen none has a label to take the mean of: give baseline=")
    return float(np.mean(labels.values[kept], dtype=np.float64))


def _labels(visible: Sample) -> Column | None:
    return None if visible.schema.target is None else visible.columns[visible.schema.target]
