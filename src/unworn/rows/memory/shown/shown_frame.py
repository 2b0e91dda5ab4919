"""Rows of a pandas frame that may be seen: columns and index with their own words only, and no notes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas

from unworn.rows.memory.shown.shown_features import bare_dtype, has_notes, own_values


def shown_frame(frame: Any) -> Any:
    """The same frame, made of nothing but these rows."""
    kept = frame.copy()
    kept.attrs = {}
    kept.index = _shown_index(frame.index)
    for place, dtype in enumerate(frame.dtypes):
        column = frame.iloc[:, place]
        shown = _shown_values(column.array, dtype)
        if shown is not None:
            kept.isetitem(place, pandas.Series(shown, index=kept.index, name=column.name, dtype=shown.dtype))
    return kept


def _shown_values(values: Any, dtype: Any) -> Any:
    """The values of a column or an index anew; None where they are their own already, as numbers and text are."""
    if isinstance(dtype, pandas.CategoricalDtype):
        return values.remove_unused_categories()
    if isinstance(dtype, pandas.ArrowDtype):
        from unworn.rows.memory.shown.shown_arrow import shown_column

        words = values.__arrow_array__()
        shown = shown_column(words)
        if shown is None:
            return pandas.array(words.to_pylist(), dtype="object")
        return None if shown is words else pandas.arrays.ArrowExtensionArray(shown)
    if isinstance(dtype, np.dtype) and (dtype.kind == "O" or has_notes(dtype)):
        plain = np.asarray(values)
        own = own_values(plain)
        return None if own is plain else own.astype(bare_dtype(own.dtype))  # a copy that may be written to
    return None


def _shown_index(index: Any) -> Any:
    """An index keeps its names, and of its words those of its own rows."""
    if isinstance(index, pandas.MultiIndex):
        levels = [_shown_index(index.get_level_values(place)) for place in range(index.nlevels)]
        return pandas.MultiIndex.from_arrays(levels, names=index.names)
    shown = _shown_values(index.array, index.dtype)
    return index if shown is None else pandas.Index(shown, name=index.name, dtype=shown.dtype)
