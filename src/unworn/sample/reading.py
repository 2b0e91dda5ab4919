"""Columns out of anything: pandas, polars, Arrow, DuckDB, dictionaries, matrices.

What kind a column is, and whether it may be missing, follows from its dtype alone. If it followed from
values, a refusal that names the schema would tell something about the rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from unworn.errors import Unaskable
from unworn.queries.arrays import encode_text
from unworn.queries.rows import Bools, Column
from unworn.queries.schema import ColumnKind

_RUN = 131_072


class Watch(Protocol):
    """Rows that are not in memory: still the same? and bring these in, they are wanted next."""

    def held(self) -> AbstractContextManager[None]:
        """While rows are read: raises where they have changed since they were opened, before and after."""

    def ahead(self, values: NDArray[Any], rows: NDArray[np.int64]) -> None:
        """Make ready to pick these rows of a column."""


@dataclass(frozen=True)
class Read:
    """A column with the one public fact its dtype gives beyond the kind."""

    column: Column
    nullable: bool


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
        return _table({str(name): read_column(values, str(name)) for name, values in data.items()}, data)
    frame = _as_frame(data)
    if frame is not None:
        names = [str(name) for name in frame.columns]
        if len(set(names)) < len(names):
            twice = sorted(name for name, times in Counter(names).items() if times > 1)
            raise Unaskable(f"column names must differ; these are there twice: {', '.join(twice[:10])}")
        columns = {name: _from_series(series) for name, series in zip(names, frame.iter_columns(), strict=True)}
        return _table(columns, frame.to_native())
    return _from_matrix(data)


def read_cells(cells: Mapping[str, tuple[NDArray[Any], Bools] | None]) -> Table:
    """The columns of a file that was read cell by cell: values, and which of them are missing.

    As in any file, each may be missing; ``None`` is a column without a kind.
    """
    columns: dict[str, Read | None] = {}
    for name, cell in cells.items():
        read = None if cell is None else _from_array(cell[0], copy=False)
        if cell is None or read is None:
            columns[name] = None
            continue
        column = read.column
        missing = cell[1] if column.missing is None else cell[1] | column.missing
        columns[name] = Read(_frozen(replace(column, missing=missing if missing.any() else None)), nullable=True)
    return _table(columns, {name: _with_gaps(*cell) for name, cell in cells.items() if cell is not None})


def _with_gaps(values: NDArray[Any], missing: Bools) -> NDArray[Any]:
    """What a model is shown of such a column: NaN, or no date, where a value is missing."""
    if values.dtype.kind not in "biufM" or not missing.any():
        return values
    shown = values.astype(values.dtype if values.dtype.kind == "M" else np.float64)
    shown[missing] = np.datetime64("NaT") if values.dtype.kind == "M" else np.nan
    return shown


def _as_frame(data: Any) -> Any | None:
    """A narwhals frame in memory, or None when ``data`` is no frame."""
    if isinstance(data, (np.ndarray, list, tuple)):
        return None
    import narwhals as nw

    try:
        frame = nw.from_native(data, pass_through=True)
        if isinstance(frame, nw.LazyFrame):
            frame = frame.collect()
    except nw.exceptions.DuplicateError:
        raise Unaskable("column names must differ; at least one is there twice") from None
    return frame if isinstance(frame, nw.DataFrame) else None


def _table(columns: Mapping[str, Read | None], native: Any) -> Table:
    known = {name: read for name, read in columns.items() if read is not None}
    left_out = tuple(name for name, read in columns.items() if read is None)
    for name in columns:
        if name != name.encode(errors="ignore").decode():
            raise Unaskable(
                f"the column name {name!r:.80} holds half a surrogate pair, which is no character: rename it"
            )
    if not columns:
        raise Unaskable("the data has no columns; for labels only give data=None and y")
    lengths = {name: len(read.column.values) for name, read in known.items()}
    if len(set(lengths.values())) > 1:
        shown = ", ".join(f"{name}: {length}" for name, length in list(lengths.items())[:10])
        raise Unaskable(f"columns must have equally many values, not {shown}")
    rows = next(iter(lengths.values())) if lengths else len(native)
    return Table(known, left_out, native, rows)


def _from_matrix(data: Any) -> Table:
    try:
        matrix = np.array(data, order="F")
    except (TypeError, ValueError) as error:
        raise Unaskable(f"cannot read a {type(data).__name__} as rows: {type(error).__name__}") from None
    if matrix.ndim not in (1, 2) or matrix.dtype.kind not in "biufUOTM":
        raise Unaskable(
            f"cannot read a {type(data).__name__} of {matrix.dtype} with {matrix.ndim} dimensions "
            "as rows: give a frame, a dictionary of arrays or a matrix; or data=None and labels y, "
            "and ask with predictions"
        )
    matrix.setflags(write=False)
    sides = matrix.reshape(len(matrix), -1) if matrix.ndim == 1 else matrix
    columns = {f"x{place}": _from_array(sides[:, place], copy=False) for place in range(sides.shape[1])}
    return _table(columns, matrix)


def read_column(data: Any, what: str) -> Read | None:
    """One column from a series or array; None for a dtype that has no kind."""
    if not isinstance(data, (np.ndarray, list, tuple)):
        import narwhals as nw

        series = nw.from_native(data, allow_series=True, pass_through=True)
        if isinstance(series, nw.DataFrame) and len(series.columns) == 1:
            series = next(iter(series.iter_columns()))
        if isinstance(series, nw.Series):
            return _from_series(series)
    array = np.asarray(data)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise Unaskable(f"{what} must have one value per row, not the shape {array.shape}")
    if array.dtype.kind == "O" and not isinstance(data, np.ndarray):
        raise Unaskable(f"{what} is a list of mixed or missing values: give an array or a series with a dtype")
    return _from_array(array, copy=True)


def _from_array(array: NDArray[Any], copy: bool) -> Read | None:
    kind = array.dtype.kind
    if kind in "iub":
        return Read(_number(array, None, "bool" if kind == "b" else "number", copy), nullable=False)
    if kind == "f":
        return Read(_number(array, None, "number", copy), nullable=True)
    if kind in "UOT":
        return Read(_frozen(encode_text(array.tolist())), nullable=True)
    if kind == "M":
        return Read(_date(array), nullable=True)
    return None


def _from_series(series: Any) -> Read | None:
    import narwhals as nw

    dtype = series.dtype
    owned = series.implementation.is_pandas_like()
    numpy_dtype = getattr(series.to_native(), "dtype", None) if owned else None
    nullable = not (isinstance(numpy_dtype, np.dtype) and numpy_dtype.kind in "iub")
    if dtype.is_numeric() or dtype == nw.Boolean:
        kind: ColumnKind = "bool" if dtype == nw.Boolean else "number"
        if dtype.is_decimal() or dtype in (nw.Int128, nw.UInt128):
            series = series.cast(nw.Float64())
        null: Bools | None = None
        if nullable:
            null = np.asarray(series.is_null().to_numpy(), dtype=bool)
            if null.any():
                series = series.fill_null(False if kind == "bool" else 0)
        values = series.to_numpy()
        if values.dtype.kind not in "iufb":
            values = values.astype(bool if kind == "bool" else np.float64)
        # Arrow and polars memory cannot be changed by its owner; pandas memory can.
        return Read(_number(values, null, kind, copy=owned), nullable)
    if dtype in (nw.String, nw.Categorical, nw.Enum, nw.Object):
        return Read(_frozen(encode_text(series.to_list())), nullable=True)
    if dtype in (nw.Date, nw.Datetime):
        if dtype == nw.Datetime and dtype.time_zone is not None:
            series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        # By NumPy, which cuts nanoseconds off; casts of the frame libraries refuse some values, and that tells of rows.
        return Read(_date(np.asarray(series.to_numpy(), dtype="datetime64[us]")), nullable=True)
    return None


def _number(values: NDArray[Any], null: Bools | None, kind: ColumnKind, copy: bool) -> Column:
    missing = null
    finite = values.dtype.kind != "f"
    if not finite:
        if values.dtype.itemsize > 8:
            values = values.astype(np.float64)
        finite = _finite(values)
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


def _finite(values: NDArray[Any]) -> bool:
    """Whether all are finite; a run at a time, since marks for all of them take longer to write than to make."""
    if len(values) <= _RUN:
        return bool(np.isfinite(values).all())
    return all(bool(np.isfinite(values[start : start + _RUN]).all()) for start in range(0, len(values), _RUN))


def _date(values: NDArray[Any]) -> Column:
    micros = np.array(values, dtype="datetime64[us]")
    missing: Bools = np.isnat(micros)
    micros[missing] = np.datetime64(0, "us")
    return _frozen(Column("date", micros, missing if missing.any() else None, finite=True))


def _frozen(column: Column) -> Column:
    """The same column, read-only: sealed rows do not change."""
    values = column.values.view()
    values.setflags(write=False)
    if column.missing is not None:
        column.missing.setflags(write=False)
    return Column(column.kind, values, column.missing, column.vocabulary, column.finite)


def series_name(data: Any) -> str | None:
    """The name a series brings along, if any."""
    if isinstance(data, (np.ndarray, list, tuple)):
        return None
    columns = getattr(data, "columns", None)
    if columns is not None and len(columns) == 1:
        return str(columns[0])
    name = getattr(data, "name", None)
    return str(name) if isinstance(name, (str, int)) and name != "" else None
