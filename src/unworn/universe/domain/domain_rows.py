"""Places in a domain turned back into values, in the frame library that the rows came in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unworn.errors import MissingExtra
from unworn.noise import Stream
from unworn.queries.code.callables import plain
from unworn.queries.row_protocol import Column
from unworn.universe.domain.domain import Domain


def decode_places(domain: Domain, codes: NDArray[Any], stream: Stream) -> dict[str, Column]:
    """A value for every place: of a bin, one drawn uniformly by the stream; of an open bin, what is next to its edge.

    Columns whose numbers are all whole come out as integers.

    >>> domain = Domain({"plan": ["basic", None], "visits": [1, 2]})
    >>> columns = decode_places(domain, np.array([[0, 1], [1, 0]]), Stream(bytes(32)))
    >>> {name: values.tolist() for name, values in as_frame(columns, "dict").items()}
    {'plan': ['basic', None], 'visits': [2, 1]}
    """
    places = np.asarray(codes)
    if places.ndim != 2 or places.shape[1] != len(domain.names) or places.dtype.kind not in "iu":
        raise ValueError(f"rows of this domain are whole numbers, {len(domain.names)} a line, not {places.shape}")
    if places.size and (places.min() < 0 or np.any(places.max(axis=0) >= np.array(domain.shape))):
        raise ValueError("some places lie outside the domain")
    return {name: axis.drawn(places[:, place], stream) for place, (name, axis) in enumerate(domain.columns)}


def as_frame(columns: Mapping[str, Column], backend: str) -> Any:
    """Columns as a frame of ``pandas``, ``polars`` or ``pyarrow``; as a dictionary of arrays for any other name.

    >>> as_frame({"age": Column("number", np.array([31, 18]))}, "polars")["age"].to_list()
    [31, 18]
    """
    make = {"pandas": _pandas, "polars": _polars, "pyarrow": _pyarrow}.get(backend)
    if make is None:
        return {name: _array(column) for name, column in columns.items()}
    try:
        return make(columns)
    except ModuleNotFoundError:
        raise MissingExtra(
            f"these rows came in {backend}, which is not installed here: pip install {backend}"
        ) from None


def _array(column: Column) -> NDArray[Any]:
    """As NumPy users know it: NaN, None or NaT where it is missing."""
    if column.missing is None and column.vocabulary is None:
        return column.values
    return np.array(plain(column))


def _pandas(columns: Mapping[str, Column]) -> Any:
    import pandas

    def series(column: Column) -> Any:
        if column.kind == "bool" and column.missing is not None:
            return pandas.arrays.BooleanArray(column.values, column.missing)
        return _array(column)

    return pandas.DataFrame({name: series(column) for name, column in columns.items()})


def _polars(columns: Mapping[str, Column]) -> Any:
    import polars

    def series(name: str, column: Column) -> Any:
        if column.vocabulary is not None:
            found = polars.Series(name, column.vocabulary.tolist(), dtype=polars.String).gather(column.values)
        else:
            found = polars.Series(name, column.values)
        if column.missing is None:
            return found
        known = polars.Series(~column.missing)
        return polars.select(polars.when(known).then(found).alias(name)).to_series()

    return polars.DataFrame([series(name, column) for name, column in columns.items()])


def _pyarrow(columns: Mapping[str, Column]) -> Any:
    import pyarrow

    def array(column: Column) -> Any:
        if column.vocabulary is None:
            return pyarrow.array(column.values, mask=column.missing)
        words = pyarrow.array(column.vocabulary.tolist(), type=pyarrow.string())
        places = pyarrow.array(column.values, mask=column.missing)
        return pyarrow.DictionaryArray.from_arrays(places, words).cast(pyarrow.string())

    return pyarrow.table({name: array(column) for name, column in columns.items()})
