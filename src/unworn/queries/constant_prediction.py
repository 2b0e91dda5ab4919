"""One prediction for every row: the constant that a model is measured against, or the class whose share is asked."""

from __future__ import annotations

from typing import Any

import numpy as np

from unworn.queries.metrics.class_labels import as_class
from unworn.queries.row_protocol import Column

_SHORT = 10
"""Characters of a number that are shown as they are; its record has all of them."""


class ConstantPrediction:
    """The same number or class predicted for every row: what a model is measured against.

    >>> ConstantPrediction(2.5).label
    'the constant 2.5'
    >>> ConstantPrediction(0.09319199988813948).label
    'the constant 0.093192'
    """

    runs_code = False

    def __init__(self, value: Any) -> None:
        self.value = as_class(value)

    @property
    def label(self) -> str:
        exact = repr(self.value)
        rounded = isinstance(self.value, float) and len(exact) > _SHORT
        return f"the constant {self.value:.6g}" if rounded else f"the constant {exact}"

    def to_json(self) -> dict[str, Any]:
        return {"constant": self.value}

    def column(self, rows: int) -> Column:
        """The prediction for so many rows, held once."""
        if isinstance(self.value, str):
            return Column("text", np.broadcast_to(np.int32(0), (rows,)), None, np.array([self.value], dtype=object))
        return Column("number", np.broadcast_to(np.float64(self.value), (rows,)), finite=True)
