"""Tables of rows out of anything: pandas, polars, Arrow, DuckDB, dictionaries, matrices.

Columns are read by :mod:`unworn.queries.column_reader`, as everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from unworn.errors import Unaskable
from unworn.queries.arrays import typed_column
from unworn.queries.column_reader import Read, read_column
from unworn.queries.row_protocol import Bools
from unworn.queries.table_output import as_frame, series_of

__all__ = ["Read", "Table", "Watch", "as_numpy", "read_cells", "read_column", "read_table", "series_name"]


class Watch(Protocol):
    """Rows that are not in memory: still the same? and bring these in, they are wanted next."""

    def held(self) -> AbstractContextManager[None]:
        """While rows are read: raises where they have changed since they were opened, before and after."""

    def ahead(self, values: NDArray[Any], rows: NDArray[np.int64]) -> None:
        """Make ready to pick these rows of a column."""


@dataclass(frozen=True)
class Table:
    """What was read from one object: columns by name, names of columns without a kind, the object.

    ``watch`` raises where rows are not in memory and have changed since.
    """

    columns: dict[str, Read]
    left_out: tuple[str, ...]
    native: Any
    rows: int
    watch: Watch | None = None


def read_table(data: Any) -> Table:
    """The columns of a frame, a dictionary of arrays or a matrix."""
    if isinstance(data, Mapping):
        return _table({str(name): _read_named(name, values) for name, values in data.items()}, data)
    frame = as_frame(data)
    if frame is not None:
        return _table({name: _read_named(name, each) for name, each in series_of(frame).items()}, frame.to_native())
    return _from_matrix(data)


def _read_named(name: Any, values: Any, copy: bool = True) -> Read | None:
    return read_column(values, f"column {str(name)!r}", copy=copy)


def read_cells(cells: Mapping[str, tuple[NDArray[Any], Bools] | None]) -> Table:
    """The columns of a file that was read cell by cell: values, and which of them are missing.

    As in any file, each may be missing; ``None`` is a column without a kind.
    """
    columns = {
        name: None if cell is None else Read(typed_column(*cell, copy=False), nullable=True)
        for name, cell in cells.items()
    }
    return _table(columns, {name: _with_gaps(*cell) for name, cell in cells.items() if cell is not None})


def _with_gaps(values: NDArray[Any], missing: Bools) -> NDArray[Any]:
    """What a model is shown of such a column: NaN, or no date, where a value is missing."""
    if values.dtype.kind not in "biufM" or not missing.any():
        return values
    shown = values.astype(values.dtype if values.dtype.kind == "M" else np.float64)
    shown[missing] = np.array("NaT", values.dtype) if values.dtype.kind == "M" else np.nan
    return shown


def _table(columns: Mapping[str, Read | None], native: Any) -> Table:
    known = {name: read for name, read in columns.items() if read is not None}
    left_out = tuple(name for name, read in columns.items() if read is None)
    for name in columns:
        if name != name.encode(errors="ignore").decode():
            raise Unaskable(
                f"the column name {name!r:.80} holds half a surrogate pair, which is not a character: rename it"
            )
    if not columns:
        raise Unaskable("the data has no columns; for labels only give data=None and y")
    lengths = {name: len(read.column.values) for name, read in known.items()}
    if len(set(lengths.values())) > 1:
        shown = ", ".join(f"{name}: {length}" for name, length in list(lengths.items())[:10])
        raise Unaskable(f"columns must have equally many values, not {shown}")
    rows = next(iter(lengths.values())) if lengths else _length_of(native)
    return Table(known, left_out, native, rows)


def _length_of(native: Any) -> int:
    """How many rows there are where no column can be read: the length of a dictionary is the number of its columns."""
    return len(next(iter(native.values())) if isinstance(native, Mapping) else native)


def _from_matrix(data: Any) -> Table:
    if isinstance(data, np.ma.MaskedArray):
        raise Unaskable("a masked array is not a matrix of rows here: masks are not read. Give its .filled(…)")
    try:
        matrix = np.array(data, order="F")
    except (TypeError, ValueError) as error:
        raise Unaskable(f"cannot read a {type(data).__name__} as rows: {type(error).__name__}") from None
    if matrix.dtype.kind == "O" and isinstance(data, list | tuple):
        raise Unaskable(
            "the lists hold mixed or missing values: give a frame or a dictionary of arrays, whose columns have dtypes "
            "(an array with dtype=object is read as text)"
        )
    if matrix.ndim not in (1, 2) or matrix.dtype.kind not in "biufUOTM":
        raise Unaskable(
            f"cannot read a {type(data).__name__} of {matrix.dtype} with {matrix.ndim} dimensions "
            "as rows: give a frame, a dictionary of arrays or a matrix; or data=None and labels y, "
            "and ask with predictions"
        )
    matrix.setflags(write=False)
    sides = matrix.reshape(len(matrix), -1) if matrix.ndim == 1 else matrix
    columns = {f"x{place}": _read_named(f"x{place}", sides[:, place], copy=False) for place in range(sides.shape[1])}
    return _table(columns, matrix)


def series_name(data: Any) -> str | None:
    """The name a series brings along, if any."""
    if isinstance(data, (np.ndarray, list, tuple)):
        return None
    columns = getattr(data, "columns", None)
    if columns is not None and len(columns) == 1:
        return str(columns[0])
    name = getattr(data, "name", None)
    return str(name) if isinstance(name, (str, int)) and name != "" else None


def as_numpy(values: Any) -> Any:
    """A column of a dictionary as a model may be shown it: integers of 128 bits, of which NumPy has none, as floats."""
    if isinstance(values, (np.ndarray, list, tuple)):
        return values
    import narwhals as nw

    series = nw.from_native(values, series_only=True, pass_through=True)
    wide = isinstance(series, nw.Series) and series.dtype in (nw.Int128, nw.UInt128)
    return series.cast(nw.Float64()).to_numpy() if wide else values
