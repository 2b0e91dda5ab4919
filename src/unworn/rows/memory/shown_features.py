"""Rows that may be seen, as a model is shown them: no word of other rows is left in their dtypes.

A categorical column keeps the list of all its categories when rows are picked, and what user code says about rows that
may be seen is shown in full: so it would tell which words the sealed rows have. Polars keeps the categories of all its
frames together, and shows them with none.
"""

from __future__ import annotations

from typing import Any


def without_other_words(native: Any) -> Any:
    """The same rows, their categories only those that occur among them; other objects as they are."""
    library = type(native).__module__.partition(".")[0]
    if library == "pandas":
        import pandas

        kept = native.copy()
        for place, dtype in enumerate(native.dtypes):
            if isinstance(dtype, pandas.CategoricalDtype):
                kept.isetitem(place, native.iloc[:, place].cat.remove_unused_categories())
        return kept
    if library == "pyarrow":
        import pyarrow

        coded = pyarrow.types.is_dictionary
        columns = [each.cast(each.type.value_type).dictionary_encode() if coded(each.type) else each for each in native]
        return pyarrow.table(columns, names=native.column_names)
    return native
