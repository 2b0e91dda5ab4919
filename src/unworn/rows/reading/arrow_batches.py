"""Batches of Arrow as columns of NumPy, whole batches at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unworn.queries.row_protocol import Bools, Column
from unworn.queries.schema import ColumnKind


def column_of(array: Any, kind: ColumnKind) -> Column:
    """An Arrow array as a column of this kind; dates come as whole microseconds.

    >>> import pyarrow as pa
    >>> column = column_of(pa.array(["b", None, "b"]), "text")
    >>> column.values.tolist(), column.missing.tolist(), column.vocabulary.tolist()
    ([0, 0, 0], [False, True, False], ['b'])
    """
    missing: Bools | None = None
    if array.null_count:
        missing = np.asarray(array.is_null().to_numpy(zero_copy_only=False), dtype=np.bool_)
    if kind == "text":
        return _text(array, missing)
    if missing is not None:
        array = array.fill_null(False if kind == "bool" else 0)
    values: NDArray[Any] = array.to_numpy(zero_copy_only=False)
    if kind == "date":
        values = values.astype(np.int64, copy=False).view("datetime64[us]")
    elif values.dtype.kind == "f":
        unknown: Bools = np.isnan(values)
        if unknown.any():
            values = np.where(unknown, 0.0, values)
            missing = unknown if missing is None else missing | unknown
    return Column(kind, values, missing)


def take_entries(array: Any, places: Any) -> Any:
    """The entries at these places. Texts come in the long form, whose length has no limit of 2 GiB; of short texts in
    place (string views) Arrow takes none, so they are written out first.

    >>> import pyarrow as pa
    >>> take_entries(pa.array(["a", "b"], pa.string_view()), pa.array([1])).to_pylist()
    ['b']
    """
    import pyarrow as pa

    if pa.types.is_string_view(array.type):
        array = array.cast(pa.large_string())
    found = array.take(places)
    return found.cast(pa.large_string()) if pa.types.is_string(found.type) else found


def _text(array: Any, missing: Bools | None) -> Column:
    encoded = array.dictionary_encode()
    codes = encoded.indices if missing is None else encoded.indices.fill_null(0)
    words = np.empty(max(len(encoded.dictionary), 1), dtype=object)
    words[:] = encoded.dictionary.to_pylist() or [""]
    return Column("text", codes.to_numpy(zero_copy_only=False).astype(np.int32, copy=False), missing, words)
