"""Lists of Python values that NumPy has no dtype for: a kind by the values themselves.

Only for what is declared or supplied by the asker. Rows have dtypes.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unworn.errors import Unaskable
from unworn.queries.arrays import is_missing
from unworn.queries.row_protocol import Bools
from unworn.queries.schema import ColumnKind


def read_by_value(values: Sequence[Any], what: str) -> tuple[NDArray[Any], Bools | None]:
    """The values as an array with a dtype, and which are missing; refused unless all others are of one kind.

    Text keeps its missing values where they are. Whole numbers too large for 64 bits, and decimals, become floats;
    dates with a time zone are read on the clock of UTC, as in frames.

    >>> array, missing = read_by_value([2**70, None, 2], "a")
    >>> array.tolist(), missing.tolist()
    ([1.1805916207174113e+21, 0.0, 2.0], [False, True, False])
    """
    missing: Bools = np.fromiter(map(is_missing, values), dtype=bool, count=len(values))
    known = [value for value, absent in zip(values, missing.tolist(), strict=True) if not absent]
    kinds = {_kind_of(value) for value in known}
    if None in kinds or len(kinds - {"bool"} if "number" in kinds else kinds) > 1:
        raise Unaskable(
            f"{what} is a list whose values are not all numbers, all booleans, all text or all dates: give one kind, "
            "or an array or a series with a dtype"
        )
    if kinds <= {"text"}:
        array = np.empty(len(values), dtype=object)
        array[:] = values
        return array, None
    if kinds == {"date"}:
        found = np.array([_in_utc(value) for value in known], dtype="datetime64[us]")
    else:
        found = np.array(known)
        if found.dtype.kind == "O":
            found = np.array([float(value) for value in known])
    array = np.zeros(len(values), dtype=found.dtype)
    array[~missing] = found
    return array, missing


def _kind_of(value: object) -> ColumnKind | None:
    if isinstance(value, str):
        return "text"
    if isinstance(value, bool | np.bool_):
        return "bool"
    if isinstance(value, int | float | Decimal | np.integer | np.floating):
        return "number"
    return "date" if isinstance(value, date | np.datetime64) else None


def _in_utc(value: Any) -> Any:
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.astimezone(UTC).replace(tzinfo=None)
    return value
