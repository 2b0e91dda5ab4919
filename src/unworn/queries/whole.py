"""Whole numbers of few bits compared as they are: what is asked of them is the same as of floats, many times faster."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unworn.queries.rows import Bools

_OPS = {
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "eq": np.equal,
    "ne": np.not_equal,
}
_EXACT = 4
"""Bytes: a float64 holds every whole number of so many, and rounds longer ones."""


def compared(op: str, values: NDArray[Any], constant: float) -> Bools | None:
    """``values op constant``, as if both were float64; None for what has to be made float64 to be compared.

    >>> compared("gt", np.array([1, 2, 3], dtype=np.int8), 1.5).tolist()
    [False, True, True]
    >>> compared("eq", np.array([1, 2, 3], dtype=np.uint8), -1).tolist()
    [False, False, False]
    >>> compared("gt", np.array([1.0]), 0.0) is None
    True
    """
    if values.dtype.kind not in "iu" or values.dtype.itemsize > _EXACT:
        return None
    if op in ("eq", "ne") and constant != math.floor(constant):
        return np.full(values.shape, op == "ne")
    # Between two whole numbers the nearer one towards the side that stays: x > 1.5 is x > 1, and x < 1.5 is x < 2.
    bound = math.floor(constant) if op in ("gt", "le") else math.ceil(constant)
    ends = np.iinfo(values.dtype)
    if not ends.min <= bound <= ends.max:
        below = bound < ends.min
        return np.full(values.shape, {"gt": below, "ge": below, "lt": not below, "le": not below}.get(op, op == "ne"))
    return np.asarray(_OPS[op](values, values.dtype.type(bound)))
