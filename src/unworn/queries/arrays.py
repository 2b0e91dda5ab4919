"""Arrays with a dtype as columns, and numbers as words that are equal exactly for equal values."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unworn.queries.row_protocol import Bools, Column
from unworn.queries.schema import ColumnKind

KINDS: dict[str, ColumnKind] = {
    **dict.fromkeys("iuf", "number"),
    **dict.fromkeys("UOT", "text"),
    "b": "bool",
    "M": "date",
}
"""What each kind of NumPy dtype is here. Python objects are text, whatever they are: their dtype says no more."""

_RUN = 131_072
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


def typed_column(array: NDArray[Any], missing: Bools | None, copy: bool) -> Column:
    """An array whose dtype has a kind, of whose values these are missing besides what is NaN, None or no date."""
    kind = KINDS[array.dtype.kind]
    if kind == "text":
        return text_column(array.tolist())
    if kind == "date":
        return date_column(array, missing)
    return number_column(array, missing, kind, copy)


def text_column(values: Iterable[object]) -> Column:
    """:func:`encode_text`, read-only."""
    return _frozen(encode_text(values))


def number_column(values: NDArray[Any], null: Bools | None, kind: ColumnKind, copy: bool) -> Column:
    """Numbers or booleans; NaN is missing, infinities are not. ``copy`` is for memory that its owner could change."""
    missing = null
    finite = values.dtype.kind != "f"
    if not finite:
        if values.dtype.itemsize > 8:
            with np.errstate(all="ignore"):  # a warning would tell of rows
                values = values.astype(np.float64)
        finite = _is_finite(values)
        if not finite:
            unknown: Bools = np.isnan(values)
            missing = unknown if null is None else unknown | null
            finite = bool(unknown[~np.isfinite(values)].all())
    if missing is not None and not missing.any():
        missing = None
    if missing is not None:
        values = np.where(missing, np.zeros(1, dtype=values.dtype), values)
    elif copy or not values.flags.contiguous:
        values = np.array(values, order="C")
    return _frozen(Column(kind, values, missing, finite=finite))


def _is_finite(values: NDArray[Any]) -> bool:
    """Whether all are finite; a run at a time, since marks for all of them take longer to write than to make."""
    if len(values) <= _RUN:
        return bool(np.isfinite(values).all())
    return all(bool(np.isfinite(values[start : start + _RUN]).all()) for start in range(0, len(values), _RUN))


def date_column(values: NDArray[Any], null: Bools | None) -> Column:
    """Dates in microseconds, their finer parts cut off."""
    micros = np.array(values, dtype="datetime64[us]")
    missing: Bools = np.isnat(micros) if null is None else np.isnat(micros) | null
    micros[missing] = np.datetime64(0, "us")
    return _frozen(Column("date", micros, missing if missing.any() else None, finite=True))


def _frozen(column: Column) -> Column:
    """The same column, read-only: sealed rows do not change."""
    values = column.values.view()
    values.setflags(write=False)
    if column.missing is not None:
        column.missing.setflags(write=False)
    return Column(column.kind, values, column.missing, column.vocabulary, column.finite)


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
