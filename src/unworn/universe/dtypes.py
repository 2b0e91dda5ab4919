"""Domains read off dtypes, where those list their values: booleans, and categories that are public.

No value of any row is looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from unworn.errors import Unaskable
from unworn.universe.axes import Axis
from unworn.universe.declared import read_axis
from unworn.universe.frames import as_frame, chosen
from unworn.universe.values import Values

_FIX = {"number": "Bins([0, 10, 100, None])", "text": "['a', 'b', OTHER]", "date": "['2024-01-01', …] as dates"}


def of_dtypes(data: Any, declared: Mapping[str, Any] | None, columns: Iterable[str] | None) -> dict[str, Axis]:
    """The columns of a frame whose dtypes list their values, and those that are declared.

    >>> of_dtypes({"churned": np.array([True, False])}, {"age": [20, 40]}, None)
    {'churned': [False, True], 'age': [20, 40]}
    """
    axes: dict[str, Axis] = {}
    given = {str(name): read_axis(str(name), axis) for name, axis in (declared or {}).items()}
    kinds: dict[str, str] = {}
    wanted = None if columns is None else set(chosen(columns))
    for name, kind, nullable, categories in _types(data):
        if name in given or (wanted is not None and name not in wanted):
            continue
        if categories is None:
            kinds[name] = kind
        else:
            axes[name] = Values([*categories, None] if nullable else categories, name)
    if kinds:
        shown = ", ".join(f"{name!r} ({kind})" for name, kind in list(kinds.items())[:10])
        name, kind = next(iter(kinds.items()))
        raise Unaskable(
            f"dtypes do not list the values of {shown}{', …' if len(kinds) > 10 else ''}.\n"
            f"  Declare them, as {{{name!r}: {_FIX.get(kind, '[…]')}}}; or read them off train (Domain.of_train); or "
            "name only the columns that matter; or, if their values may be revealed, read them off the rows "
            "(Domain.of_rows).",
            columns=list(kinds),
        )
    for name in sorted((wanted or set()) - set(axes) - set(given)):
        raise Unaskable(f"there is no column {name!r} to read a domain off", column=name)
    return {**axes, **given}


_Type = tuple[str, str, bool, list[Any] | None]
"""Name, kind, whether a value may be missing, and the values there can be, if the dtype tells."""


def _types(data: Any) -> Iterator[_Type]:
    schema = getattr(data, "schema", None)
    if schema is not None and hasattr(data, "features") and hasattr(data, "columns"):  # a sample: its schema is public
        listed = {name: values for name, _, _, values in _frame_types(data.features)}
        for name, column in schema.items():
            values: list[Any] | None = [False, True] if column.kind == "bool" else listed.get(name)
            yield name, column.kind, column.nullable, values
        return
    yield from _frame_types(data)


def _frame_types(data: Any) -> Iterator[_Type]:
    if isinstance(data, Mapping):
        for name, values in data.items():
            kind = np.asarray(values).dtype.kind
            known = {"b": "bool", "i": "number", "u": "number", "f": "number", "M": "date"}.get(kind, "text")
            yield str(name), known, kind not in "biu", [False, True] if kind == "b" else None
        return
    frame = None if data is None else as_frame(data)
    if frame is not None:
        for name, series in zip(map(str, frame.columns), frame.iter_columns(), strict=True):
            yield name, *_series_type(series)
    elif not isinstance(data, np.ndarray | None):
        raise Unaskable(f"dtypes are read off a frame or a dictionary of arrays, not a {type(data).__name__}")


def _series_type(series: Any) -> tuple[str, bool, list[Any] | None]:
    import narwhals as nw

    native, dtype = series.to_native(), series.dtype
    own = getattr(native, "dtype", None) if series.implementation.is_pandas_like() else None
    nullable = not (isinstance(own, np.dtype) and own.kind in "biu")
    if dtype == nw.Boolean:
        return "bool", nullable, [False, True]
    if dtype == nw.Enum:
        return "text", nullable, [str(category) for category in dtype.categories]
    if dtype == nw.Categorical and own is not None:
        return "text", nullable, [str(category) for category in own.categories]
    if dtype == nw.Categorical and series.implementation.is_pyarrow():
        words = [word for chunk in native.chunks for word in chunk.dictionary.to_pylist()]
        return "text", nullable, sorted({str(word) for word in words if word is not None})
    # The categories of a polars Categorical are those that some rows brought along: only an Enum is declared.
    dates = dtype in (nw.Date, nw.Datetime)
    return "number" if dtype.is_numeric() else "date" if dates else "text", nullable, None
