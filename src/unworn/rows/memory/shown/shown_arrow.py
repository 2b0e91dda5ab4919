"""Rows of an Arrow table that may be seen: dictionaries hold the words of these rows only, however deep they lie."""

from __future__ import annotations

from typing import Any

import pyarrow
from pyarrow import types


def shown_table(table: Any) -> Any:
    """The same columns without the notes of their schema; one that cannot be made anew is left out."""
    columns = {place: shown_column(column) for place, column in enumerate(table.columns)}
    kept = {place: column for place, column in columns.items() if column is not None}
    return pyarrow.table(list(kept.values()), names=[table.column_names[place] for place in kept])


def shown_column(column: Any) -> Any:
    """The column itself where picking rows left nothing else in it; else made anew; None where that fails."""
    kind = column.type
    if _is_own(kind):
        return column
    if types.is_dictionary(kind) and _is_own(kind.value_type):
        return pyarrow.chunked_array([_encoded(part, kind) for part in column.cast(kind.value_type).chunks], kind)
    try:
        if isinstance(kind, pyarrow.BaseExtensionType):
            stored = [shown_column(pyarrow.chunked_array([part.storage])) for part in column.chunks]
            parts = [pyarrow.ExtensionArray.from_storage(kind, each.combine_chunks()) for each in stored]
            return pyarrow.chunked_array(parts, kind)
        return pyarrow.chunked_array([pyarrow.array(column.to_pylist(), type=kind)], kind)
    except (pyarrow.ArrowException, TypeError, ValueError, AttributeError):
        return None


def _encoded(part: Any, kind: Any) -> Any:
    coded = part.dictionary_encode()
    codes = coded.indices.cast(kind.index_type)
    return pyarrow.DictionaryArray.from_arrays(codes, coded.dictionary, ordered=kind.ordered)


def _is_own(kind: Any) -> bool:
    """Whether picked rows of this type share nothing with the others: no dictionary, no view into common bytes."""
    if isinstance(kind, pyarrow.BaseExtensionType):
        return _is_own(kind.storage_type)
    if types.is_struct(kind) or types.is_map(kind) or types.is_list(kind) or types.is_large_list(kind):
        return all(_is_own(kind.field(place).type) for place in range(kind.num_fields))
    if types.is_fixed_size_list(kind):
        return _is_own(kind.value_type)
    texts = types.is_string, types.is_large_string, types.is_binary, types.is_large_binary, types.is_fixed_size_binary
    plain = types.is_primitive, types.is_decimal, types.is_null
    return any(is_kind(kind) for is_kind in (*plain, *texts))
