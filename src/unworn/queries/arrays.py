"""Arrays of any maker, read as one column: kinds follow the dtype, equal values get equal words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unworn.queries.rows import Bools, Column

_MIX = np.uint64(0x9E3779B97F4A7C15)


def is_missing(value: object) -> bool:
    """Whether one Python object stands for a missing value: None, NaN, NaT or pandas' NA.

    >>> [is_missing(v) for v in (None, float("nan"), "", 0)]
    [True, True, False, False]
    """
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    # NaN is the only number that differs from itself.
    return isinstance(value, (float, np.floating)) and bool(value != value)


def encode_text(values: Iterable[object]) -> Column:
    """Text as codes into a vocabulary in order of first appearance; what is not text already is ``str``-ed.

    >>> encode_text(["b", None, "a", "b"]).values.tolist()
    [0, 0, 1, 0]
    """
    index: dict[str, int] = {}
    codes: list[int] = []
    for value in values:
        if type(value) is str:
            codes.append(index.setdefault(value, len(index)))
        elif is_missing(value):
            codes.append(-1)
        else:
            codes.append(index.setdefault(str(value), len(index)))
    array = np.array(codes, dtype=np.int32)
    missing: Bools = array < 0
    array[missing] = 0
    vocabulary = np.empty(max(len(index), 1), dtype=object)
    vocabulary[:] = list(index) or [""]
    return Column("text", array, missing if missing.any() else None, vocabulary)


def read_array(data: Any) -> Column:
    """One-dimensional values or two-dimensional scores as a column; a ``TypeError`` for other dtypes.

    Missing numbers stay NaN here, because a prediction that is missing takes a metric's worst value anyway.

    >>> read_array([True, False]).kind, read_array(["a"]).kind, read_array([[0.5, 0.5]]).values.shape
    ('bool', 'text', (1, 2))
    """
    if hasattr(data, "is_null") or hasattr(data, "isna") or hasattr(data, "null_count"):
        data = _from_series(data)
    array = np.asarray(data)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.dtype.kind == "f" and array.dtype.itemsize > 8:
        with np.errstate(all="ignore"):
            array = array.astype(np.float64)  # what a question is known by, it is
    if array.dtype.kind in "iuf":
        return Column("number", array)
    if array.dtype.kind == "b":
        return Column("bool", array)
    if array.dtype.kind in "UOT" and array.ndim == 1:
        return encode_text(array.tolist())
    raise TypeError(f"cannot read an array of {array.dtype} with {array.ndim} dimensions")


def _from_series(data: Any) -> Any:
    """Nullable numbers of pandas, polars or Arrow as floats with NaN; text and frames as they are."""
    import narwhals as nw

    series = nw.from_native(data, series_only=True, pass_through=True)
    if not isinstance(series, nw.Series):
        return data
    if series.dtype.is_numeric() or series.dtype == nw.Boolean:
        if series.is_null().any():
            return series.cast(nw.Float64()).to_numpy().astype(np.float64)
        number = series.to_numpy()
        return number.astype(np.float64) if number.dtype.kind == "O" else number
    values = np.empty(len(series), dtype=object)
    values[:] = series.to_list()
    return values


def number_words(values: NDArray[Any]) -> NDArray[np.uint64]:
    """One 64-bit word a number, equal exactly for equal values whatever their dtype.

    The bits of the float64 where that is exact; an integer that no float64 holds keeps its own bits, mixed so
    that they do not look like a float's.

    >>> bool((number_words(np.int8([1, -2])) == number_words(np.float32([1, -2]))).all())
    True
    >>> big = np.array([2**60, 2**60 + 1])
    >>> len(set(number_words(big).tolist()))
    2
    """
    with np.errstate(all="ignore"):
        floats = np.ascontiguousarray(values, dtype=np.float64) + 0.0  # minus zero becomes zero
        words: NDArray[np.uint64] = floats.view(np.uint64)
        exact = _exact(values, floats)
        if exact is not None:
            own = np.ascontiguousarray(values).view(np.uint64) * _MIX + _MIX
            words = np.where(exact, words, own)
    return words


def are_floats(values: NDArray[Any]) -> bool:
    """Whether a float64 holds each of these numbers exactly.

    >>> are_floats(np.array([2**60, 1])), are_floats(np.array([2**60 + 1, 1]))
    (True, False)
    """
    with np.errstate(all="ignore"):
        exact = _exact(values, np.ascontiguousarray(values, dtype=np.float64))
    return exact is None or bool(exact.all())


def _exact(values: NDArray[Any], floats: NDArray[np.float64]) -> Bools | None:
    """Which numbers their float64 is equal to; None where all are."""
    if values.dtype.kind not in "iu" or values.dtype.itemsize < 8 or not values.size:
        return None
    if int(values.max()) <= 2**53 and int(values.min()) >= -(2**53):
        return None
    inside = floats < (2.0**64 if values.dtype.kind == "u" else 2.0**63)
    exact: Bools = inside & (np.where(inside, floats, 0.0).astype(values.dtype) == values)
    return exact
