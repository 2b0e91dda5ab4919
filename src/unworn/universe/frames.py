"""Columns out of frames from which a domain may be read: pandas, polars, Arrow, dictionaries of arrays, samples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from unworn.errors import Unaskable
from unworn.queries.arrays import read_array
from unworn.queries.rows import Bools, Column


def read_columns(data: Any, names: Iterable[str] | None = None) -> dict[str, Column]:
    """The columns of a frame, or those named; what has no kind here is refused with its name."""
    wanted = None if names is None else chosen(names)
    held = {name: column for name, column in _columns(data) if wanted is None or name in wanted}
    for name in sorted(set(wanted or ()) - set(held)):
        raise Unaskable(f"there is no column {name!r} to read a domain off", column=name)
    return {name: column if isinstance(column, Column) else read_column(column, name) for name, column in held.items()}


def chosen(names: Iterable[str]) -> list[str]:
    """Some names of columns: a lone text is one, and not its letters."""
    return [names] if isinstance(names, str) else [str(name) for name in names]


def as_frame(data: Any) -> Any | None:
    """A narwhals frame in memory, or None when ``data`` is no frame."""
    import narwhals as nw

    frame = nw.from_native(data, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    return frame if isinstance(frame, nw.DataFrame) else None


def _columns(data: Any) -> Iterator[tuple[str, Any]]:
    held = getattr(data, "columns", None)
    known = held if isinstance(held, Mapping) else data  # a sample holds its columns in a mapping
    if isinstance(known, Mapping):
        yield from ((str(name), column) for name, column in known.items())
        return
    frame = as_frame(data)
    if frame is None:
        raise Unaskable(
            f"a domain is read off a frame, a dictionary of arrays or a sample, not a {type(data).__name__}"
        )
    yield from zip(map(str, frame.columns), frame.iter_columns(), strict=True)


def read_column(data: Any, name: str) -> Column:
    """One column, its missing values marked."""
    import narwhals as nw

    series = nw.from_native(data, series_only=True, pass_through=True)
    try:
        if isinstance(series, nw.Series):
            return _from_series(series)
        array = np.asarray(data)
        if array.dtype.kind == "M":
            return _dates(array)
        return _marked(read_array(array))
    except TypeError:
        raise Unaskable(
            f"column {name!r} holds neither numbers, booleans, text nor dates: leave it out with columns=", column=name
        ) from None


def _from_series(series: Any) -> Column:
    import narwhals as nw

    if series.dtype in (nw.Date, nw.Datetime):
        if series.dtype == nw.Datetime and series.dtype.time_zone is not None:
            series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        return _dates(series.cast(nw.Datetime("us")).to_numpy())
    if series.dtype == nw.Boolean:
        missing: Bools = np.asarray(series.is_null().to_numpy(), dtype=bool)
        values = np.asarray(series.fill_null(False).to_numpy(), dtype=bool)
        return Column("bool", values, missing if missing.any() else None)
    if not (series.dtype.is_numeric() or series.dtype in (nw.String, nw.Categorical, nw.Enum, nw.Object)):
        raise TypeError
    return _marked(read_array(series.to_native()))


def _dates(values: Any) -> Column:
    micros = np.asarray(values, dtype="datetime64[us]")
    missing: Bools = np.isnat(micros)
    return Column("date", np.where(missing, np.datetime64(0, "us"), micros), missing if missing.any() else None)


def _marked(column: Column) -> Column:
    """Numbers with what is no finite one marked as missing."""
    if column.kind != "number" or column.values.dtype.kind != "f":
        return column
    wild: Bools = ~np.isfinite(column.values)
    return Column("number", np.where(wild, 0.0, column.values), wild) if wild.any() else column
