"""Domains read off dtypes, where those list their values: booleans, and categories that are public.

No value of any row is looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

import numpy as np

from unworn.errors import Unaskable
from unworn.queries.column_reader import column_type_of
from unworn.queries.table_output import as_frame, series_of
from unworn.universe.domain.axes import Axis
from unworn.universe.domain.declared_columns import read_axis
from unworn.universe.domain.domain_frames import list_names
from unworn.universe.domain.value_columns import Values

_FIX = {"number": "Bins([0, 10, 100, None])", "text": "['a', 'b', OTHER]", "date": "['2024-01-01', …] as dates"}


def of_dtypes(data: Any, declared: Mapping[str, Any] | None, columns: Iterable[str] | None) -> dict[str, Axis]:
    """The columns of a frame whose dtypes list their values, and those that are declared.

    >>> of_dtypes({"churned": np.array([True, False])}, {"age": [20, 40]}, None)
    {'churned': [False, True], 'age': [20, 40]}
    """
    axes: dict[str, Axis] = {}
    given = {str(name): read_axis(str(name), axis) for name, axis in (declared or {}).items()}
    kinds: dict[str, str] = {}
    wanted = None if columns is None else set(list_names(columns))
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
    frame = None if data is None or isinstance(data, Mapping) else as_frame(data)
    if frame is None and not isinstance(data, Mapping | np.ndarray | None):
        raise Unaskable(f"dtypes are read off a frame or a dictionary of arrays, not a {type(data).__name__}")
    columns = data if isinstance(data, Mapping) else {} if frame is None else series_of(frame)
    for name, column in columns.items():
        known = column_type_of(column, f"column {str(name)!r:.80}")
        if known is None:
            yield str(name), "no kind", True, None
        else:
            yield str(name), known.kind, known.nullable, [False, True] if known.kind == "bool" else _listed(column)


def _listed(column: Any) -> list[str] | None:
    """The categories that a dtype declares.

    Those of a polars Categorical are the ones that some rows brought along: only an Enum declares them.
    """
    import narwhals as nw

    series = nw.from_native(column, series_only=True, pass_through=True)
    if not isinstance(series, nw.Series):
        return None
    native, dtype = series.to_native(), cast(Any, series.dtype)
    if dtype not in (nw.Enum, nw.Categorical):
        return None
    if series.implementation.is_pandas_like():
        categories = getattr(native.dtype, "categories", None)  # which Arrow's own dictionaries in pandas do not tell
        return None if categories is None else [str(category) for category in categories]
    if series.implementation.is_pyarrow():
        words = [word for chunk in native.chunks for word in chunk.dictionary.to_pylist()]
        return sorted({str(word) for word in words if word is not None})
    return [str(category) for category in dtype.categories] if dtype == nw.Enum else None
