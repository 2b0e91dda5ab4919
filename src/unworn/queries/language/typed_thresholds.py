"""A column of numbers beside a constant, compared in the column's own type: the same as in float64, without the copy.

Every type of number is in the order of its float64. So a constant that falls between two values of the type may be
moved to the nearer one towards the side that stays: of whole numbers, x > 1.5 is x > 1, and x < 1.5 is x < 2.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unworn.queries.row_protocol import Bools

OPS = {
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "eq": np.equal,
    "ne": np.not_equal,
}
_DOWN = ("gt", "le")
_ROUNDED = 2.0**53
"""From here on a float64 stands for several whole numbers of 64 bits."""


def move_threshold(op: str, dtype: np.dtype[Any], constant: float) -> np.generic | bool | None:
    """The value of this type that stands for the constant; a bool where all values of the type compare alike.

    None where values have to be made float64 to be compared. Values that are not finite are none of its business.

    >>> byte, single = np.dtype(np.int8), np.dtype(np.float32)
    >>> move_threshold("gt", byte, 1.5), move_threshold("lt", byte, 1.5), move_threshold("lt", byte, 1e9)
    (np.int8(1), np.int8(2), True)
    >>> move_threshold("gt", single, 0.1), move_threshold("eq", single, 0.1)
    (np.float32(0.099999994), False)
    """
    if dtype.kind == "f" and dtype.itemsize <= 8:
        return _to_float(op, dtype, constant)
    if dtype.kind not in "iu" or (dtype.itemsize == 8 and abs(constant) >= _ROUNDED):
        return None
    if op in ("eq", "ne") and constant != math.floor(constant):
        return op == "ne"
    bound = math.floor(constant) if op in _DOWN else math.ceil(constant)
    ends = np.iinfo(dtype)
    if not ends.min <= bound <= ends.max:
        below = bound < ends.min
        return {"gt": below, "ge": below, "lt": not below, "le": not below}.get(op, op == "ne")
    found: np.generic = dtype.type(bound)
    return found


def _to_float(op: str, dtype: np.dtype[Any], constant: float) -> np.generic | bool:
    if dtype.itemsize == 8:
        same: np.generic = dtype.type(constant)
        return same
    away = dtype.type(-math.inf if op in _DOWN else math.inf)
    with np.errstate(all="ignore"):  # beyond the largest value there is infinity, which no finite value reaches
        near = dtype.type(constant)
        beyond = float(near) > constant if op in _DOWN else float(near) < constant
        nearest: np.generic = np.nextafter(near, away) if beyond else near
    if float(near) != constant and op in ("eq", "ne"):
        return op == "ne"
    return near if op in ("eq", "ne") else nearest


def compare_values(op: str, values: NDArray[Any], constant: float) -> Bools | None:
    """``values op constant``, as if both were float64; None for what has to be made float64 to be compared.

    >>> compare_values("gt", np.array([1, 2, 3], dtype=np.int8), 1.5).tolist()
    [False, True, True]
    >>> compare_values("eq", np.array([1, 2, 3], dtype=np.uint8), -1).tolist()
    [False, False, False]
    >>> compare_values("gt", np.array([0.1], dtype=np.float32), 0.1).tolist()  # 0.1 in 32 bits is a little more
    [True]
    """
    bound = move_threshold(op, values.dtype, constant)
    if bound is None:
        return None
    if isinstance(bound, bool):
        return np.full(values.shape, bound)
    return np.asarray(OPS[op](values, bound))
