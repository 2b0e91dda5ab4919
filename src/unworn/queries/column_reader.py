"""One column out of anything that holds one: a series of pandas, polars or Arrow, an array, a list.

Rows, domains and predictions are all read here, so that the same column is the same values wherever it is given. What
differs is said by arguments: see :func:`read_column`.

What kind a column is, and whether it may be missing, follows from its dtype alone (:func:`column_type_of`). If it
followed from values, a refusal that names the schema would tell something about the rows. For the same reason no error
of another library leaves this file: it might quote a value.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unworn.errors import Unaskable, UnwornError
from unworn.queries.arrays import KINDS, date_column, number_column, text_column, typed_column
from unworn.queries.listed_values import read_by_value
from unworn.queries.row_protocol import Bools, Column
from unworn.queries.schema import ColumnType, column_type


@dataclass(frozen=True)
class Read:
    """A column with the one public fact its dtype gives beyond the kind."""

    column: Column
    nullable: bool


def read_column(
    data: Any, what: str, *, by_value: bool = False, scores: bool = False, copy: bool = True
) -> Read | None:
    """One column; None for a dtype that has no kind. ``what`` names it in errors.

    Parameters
    ----------
    by_value
        How to read a list for which NumPy finds no dtype, as ``[1, None, 2]``: by its values, if they are of one kind.
        For what the asker declares or supplies. Rows are never read so: their schema would follow from values.
    scores
        Whether numbers may have further dimensions, as the scores of several classes do.
    copy
        Whether to copy memory that its owner could still change.

    >>> read_column(np.array([1.5, np.nan]), "a").column.missing.tolist()
    [False, True]
    >>> read_column([1, None, 2], "a", by_value=True).column.kind
    'number'
    >>> read_column([1, None, 2], "a")
    Traceback (most recent call last):
    unworn.errors.Unaskable: a is a list of mixed or missing values: give an array or a series with a dtype
    """
    if type(data) is np.ndarray and data.ndim == 1 and data.dtype.kind in "biuf":  # soon done: there may be 100,000
        kind = data.dtype.kind
        return Read(number_column(data, None, KINDS[kind], copy), nullable=kind == "f")
    try:
        series = _as_series(data)
        return _from_values(data, what, by_value, scores, copy) if series is None else _from_series(series, copy)
    except (UnwornError, MemoryError):
        raise
    except Exception as error:
        name = type(error).__name__
    # Outside the handler, or the library's error would be this one's context, and a traceback would quote it.
    raise _unread(what, name)


def read_predictions(data: Any) -> Column:
    """Predictions, one per row, or scores, rows × classes; ``Unaskable`` for what is neither number, boolean nor text.

    A missing number is NaN here and has no mark: it is not a finite number, and so takes a metric's worst value.

    >>> read_predictions([True, False]).kind, read_predictions([[0.5, 0.5]]).values.shape
    ('bool', (1, 2))
    >>> read_predictions([1, None]).values.tolist()
    [1.0, nan]
    """
    read = read_column(data, "the array of predictions", by_value=True, scores=True, copy=False)
    if read is None or read.column.kind == "date":
        held = getattr(data, "dtype", None) or getattr(data, "type", None) or f"a {type(data).__name__}"
        raise Unaskable(f"predictions must be numbers, booleans or text, one per row, and not {held!s:.80}")
    column = read.column
    if column.values.ndim == 2 and hasattr(data, "columns"):
        column = replace(column, names=_column_names(data))
    if column.vocabulary is not None or column.missing is None:
        return column
    values = column.values.astype(np.float64)
    values[column.missing] = np.nan
    return Column("number", values, names=column.names)


def column_type_of(data: Any, what: str) -> ColumnType | None:
    """The type that :func:`read_column` gives a column, told by its dtype; None for a dtype that has no kind.

    >>> column_type_of(np.array([True]), "a"), column_type_of(np.array([b"x"]), "b")
    (ColumnType(kind='bool', nullable=False), None)
    """
    try:
        series = _as_series(data)
        if series is not None:
            return _series_type(series, series.dtype, series.implementation.is_pandas_like())
        array = np.asarray(data)
        untyped = array.dtype.kind == "O" and not isinstance(data, np.ndarray)
        return None if untyped else _array_type(array.dtype, data)
    except Exception as error:
        name = type(error).__name__
    raise _unread(what, name)


def _unread(what: str, name: str) -> Unaskable:
    return Unaskable(f"{what} cannot be read ({name}): give an array or a series of numbers, booleans, text or dates")


def _array_type(dtype: np.dtype[Any], given: Any) -> ColumnType | None:
    kind = KINDS.get(dtype.kind)
    if kind is None:
        return None
    # An array of pandas or Arrow becomes one of integers where nothing is missing: its own dtype is asked instead.
    foreign = not isinstance(given, np.ndarray) and (hasattr(given, "isna") or hasattr(given, "null_count"))
    plain = not foreign or isinstance(getattr(given, "dtype", None), np.dtype)
    return column_type(kind, not (plain and dtype.kind in "iub"))


def _series_type(series: Any, dtype: Any, owned: bool) -> ColumnType | None:
    import narwhals as nw

    if dtype.is_numeric() or dtype == nw.Boolean:
        own = getattr(series.to_native(), "dtype", None) if owned else None
        nullable = not (isinstance(own, np.dtype) and own.kind in "iub")
        return column_type("bool" if dtype == nw.Boolean else "number", nullable)
    if dtype in (nw.String, nw.Categorical, nw.Enum, nw.Object):
        return column_type("text", True)
    return column_type("date", True) if dtype in (nw.Date, nw.Datetime) else None


def _as_series(data: Any) -> Any | None:
    """A narwhals series, also out of a frame of one column, or out of an array that only a library can read."""
    if isinstance(data, (np.ndarray, list, tuple)):
        return None
    import narwhals as nw

    series = data if isinstance(data, nw.Series) else nw.from_native(data, allow_series=True, pass_through=True)
    if isinstance(series, nw.DataFrame):
        return next(iter(series.iter_columns())) if len(series.columns) == 1 else None
    if isinstance(series, nw.Series):
        return series
    library = type(data).__module__.partition(".")[0]
    if library == "pyarrow" and hasattr(data, "null_count") and np.asarray(data).dtype.kind == "O":
        import pyarrow

        return nw.from_native(pyarrow.chunked_array([data]), series_only=True)
    if library == "pandas" and hasattr(data, "isna") and getattr(data, "nlevels", 1) == 1:
        import pandas

        # Categories that are no text are read as their values: text where one is missing would be a kind by value.
        by_values = hasattr(data, "categories") and np.asarray(data[:0]).dtype.kind != "O"
        if np.asarray(data).dtype.kind == "O" and not by_values:
            return nw.from_native(pandas.Series(data), series_only=True)
    return None


def _from_values(data: Any, what: str, by_value: bool, scores: bool, copy: bool) -> Read | None:
    if isinstance(data, np.ma.MaskedArray):
        raise Unaskable(f"{what} is a masked array, and masks are not read: give its .filled(…), or .data without mask")
    array = _scores_of(data) if scores and hasattr(data, "columns") else np.asarray(data)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1 and not scores:
        raise Unaskable(f"{what} must have one value per row, not the shape {array.shape}")
    if array.ndim == 1 and array.dtype.kind == "O" and not isinstance(data, np.ndarray):
        if not by_value:
            raise Unaskable(f"{what} is a list of mixed or missing values: give an array or a series with a dtype")
        values, missing = read_by_value(array.tolist(), what)
        return Read(typed_column(values, missing, copy=False), nullable=True)
    known = _array_type(array.dtype, data)
    if known is None or array.ndim == 0 or (array.ndim != 1 and known.kind not in ("number", "bool")):
        return None
    return Read(typed_column(array, None, copy), known.nullable)


def _column_names(frame: Any) -> tuple[object, ...] | None:
    """What a frame calls its columns; None for what is no frame."""
    import narwhals as nw

    known = nw.from_native(frame, eager_only=True, pass_through=True)
    return tuple(known.columns) if isinstance(known, nw.DataFrame) else None


def _scores_of(frame: Any) -> NDArray[Any]:
    """A frame of several columns as one array: of numbers, NaN where one is missing, or of objects."""
    import narwhals as nw

    known = nw.from_native(frame, eager_only=True, pass_through=True)
    if not isinstance(known, nw.DataFrame):
        return np.asarray(frame)
    series = list(known.iter_columns())
    if all(dtype.is_float() for dtype in {each.dtype for each in series}):
        table = np.asarray(frame)
        if table.dtype.kind == "f":
            return table  # as it is, without a copy
    read = [_from_series(each, copy=False) for each in series]
    columns = [each.column for each in read if each is not None and each.column.kind in ("number", "bool")]
    if len(columns) < len(read):
        return np.asarray(frame)
    table = np.stack([column.values for column in columns], axis=1)
    if any(column.missing is not None for column in columns):
        table = table.astype(np.float64)
        for place, column in enumerate(columns):
            if column.missing is not None:
                table[column.missing, place] = np.nan
    return table


def _from_series(series: Any, copy: bool) -> Read | None:
    import narwhals as nw

    dtype, owned = series.dtype, series.implementation.is_pandas_like()
    known = _series_type(series, dtype, owned)
    if known is None:
        return None
    if known.kind == "text":
        return Read(text_column(series.to_list()), nullable=True)
    if known.kind == "date":
        if dtype == nw.Date and owned:
            import pyarrow  # whose dates they are: pandas has none of its own, and hands them out as objects

            series = nw.from_native(pyarrow.table({"": series.to_native()})[0], series_only=True)
        if dtype == nw.Datetime and dtype.time_zone is not None:
            series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        # By NumPy, which cuts nanoseconds off; casts of the frame libraries refuse some values, and that tells of rows.
        return Read(date_column(np.asarray(series.to_numpy(), dtype="datetime64[us]"), None), nullable=True)
    if dtype.is_decimal() or dtype in (nw.Int128, nw.UInt128):
        series = series.cast(nw.Float64())
    null: Bools | None = None
    if known.nullable:
        null = np.asarray(series.is_null().to_numpy(), dtype=bool)
        if null.any():
            series = series.fill_null(False if known.kind == "bool" else 0)
    values = series.to_numpy()
    if values.dtype.kind not in "iufb":
        values = values.astype(bool if known.kind == "bool" else np.float64)
    # Arrow and polars memory cannot be changed by its owner; pandas memory can.
    return Read(number_column(values, null, known.kind, copy and owned), known.nullable)
