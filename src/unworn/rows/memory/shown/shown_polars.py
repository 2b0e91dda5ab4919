"""Rows of a Polars frame that may be seen: an Enum has the words of these rows only, and text lies in bytes of its own.

The categories of categorical columns belong to the process: ``polars.Categories`` tells them without any frame.
"""

from __future__ import annotations

from typing import Any

import polars


def shown_polars(frame: Any) -> Any:
    """The same columns, each made of nothing but these rows."""
    return frame.with_columns([_shown_series(column) for column in frame.get_columns()])


def _shown_series(column: Any) -> Any:
    if column.dtype == polars.String:
        return column + ""  # picked rows are views into the text of all of them, which this copies
    if not _has_words(column.dtype):
        return column
    return column.cast(_as_text(column.dtype)).cast(_with_own_words(column))


def _has_words(dtype: Any) -> bool:
    if isinstance(dtype, polars.List | polars.Array):
        return _has_words(dtype.inner)
    if isinstance(dtype, polars.Struct):
        return any(_has_words(field.dtype) for field in dtype.fields)
    return isinstance(dtype, polars.Enum | polars.Categorical)


def _as_text(dtype: Any) -> Any:
    """The same type with text where it had words."""
    if isinstance(dtype, polars.List):
        return polars.List(_as_text(dtype.inner))
    if isinstance(dtype, polars.Array):
        return polars.Array(_as_text(dtype.inner), dtype.size)
    if isinstance(dtype, polars.Struct):
        return polars.Struct({field.name: _as_text(field.dtype) for field in dtype.fields})
    return polars.String() if _has_words(dtype) else dtype


def _with_own_words(column: Any) -> Any:
    """The type of a column with no word that is not in it, the others in their order."""
    dtype = column.dtype
    if isinstance(dtype, polars.List):
        return polars.List(_with_own_words(column.explode()))
    if isinstance(dtype, polars.Array):
        return polars.Array(_with_own_words(column.explode()), dtype.size)
    if isinstance(dtype, polars.Struct):
        return polars.Struct({field.name: _with_own_words(column.struct.field(field.name)) for field in dtype.fields})
    if isinstance(dtype, polars.Enum):
        used = set(column.drop_nulls().cast(polars.String).to_list())
        return polars.Enum([word for word in dtype.categories.to_list() if word in used])
    return dtype
