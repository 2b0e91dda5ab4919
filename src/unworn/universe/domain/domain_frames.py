"""Columns out of frames from which a domain may be read: pandas, polars, Arrow, dictionaries of arrays, samples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from unworn.errors import Unaskable
from unworn.queries.column_reader import read_column
from unworn.queries.row_protocol import Column
from unworn.queries.table_output import as_frame, series_of


def read_columns(data: Any, names: Iterable[str] | None = None) -> dict[str, Column]:
    """The columns of a frame, or those named; what has no kind here is refused with its name.

    A column that rows can have is read as it is there. A list without a dtype, which rows cannot have, is read by its
    values: whoever gives it declares them.
    """
    wanted = None if names is None else list_names(names)
    held = {name: column for name, column in _columns(data).items() if wanted is None or name in wanted}
    for name in sorted(set(wanted or ()) - set(held)):
        raise Unaskable(f"there is no column {name!r} to read a domain off", column=name)
    return {name: column if isinstance(column, Column) else _read_named(name, column) for name, column in held.items()}


def list_names(names: Iterable[str]) -> list[str]:
    """Some names of columns: a lone text is one, and not its letters."""
    return [names] if isinstance(names, str) else [str(name) for name in names]


def _columns(data: Any) -> dict[str, Any]:
    held = getattr(data, "columns", None)
    known = held if isinstance(held, Mapping) else data  # a sample holds its columns in a mapping
    if isinstance(known, Mapping):
        return {str(name): column for name, column in known.items()}
    frame = as_frame(data)
    if frame is None:
        raise Unaskable(
            f"a domain is read off a frame, a dictionary of arrays or a sample, not a {type(data).__name__}"
        )
    return series_of(frame)


def _read_named(name: str, data: Any) -> Column:
    read = read_column(data, f"column {name!r:.80}", by_value=True, copy=False)
    if read is None:
        raise Unaskable(
            f"column {name!r} holds neither numbers, booleans, text nor dates: leave it out with columns=", column=name
        )
    return read.column
