"""Runs of Arrow columns as fixed-width values: the same meaning as reading them into memory, a run at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unworn.errors import Unaskable
from unworn.queries.arrays import is_missing
from unworn.queries.row_protocol import Bools
from unworn.queries.schema import ColumnKind
from unworn.rows.reading.arrow_batches import take_entries

_MICROS = {"s": 10**6, "ms": 10**3, "us": 1, "ns": -(10**3)}


@dataclass
class ColumnTarget:
    """One column on its way into the file; of text also the words met so far, in the order they were met."""

    name: str
    kind: ColumnKind
    type: Any
    dtype: np.dtype[Any]
    words: dict[str, int] = field(default_factory=dict)

    def convert(self, chunk: Any) -> tuple[NDArray[Any], Bools | None]:
        """A run of the source as values, and which are missing: None where none is. NaN is missing, as in memory."""
        if self.kind == "text":
            values, missing = self._codes(chunk)
        elif self.kind == "date":
            values, missing = self._micros(chunk)
        else:
            missing = _nulls(chunk)
            chunk = chunk.cast(self.type)
            if chunk.null_count:
                chunk = chunk.fill_null(_zero(chunk.type))
            values = chunk.to_numpy(zero_copy_only=False)
            if values.dtype.kind == "f":
                unknown: Bools = np.isnan(values)
                missing = unknown if missing is None else missing | unknown
        if missing is None or not missing.any():
            return np.ascontiguousarray(values, dtype=self.dtype), None
        return np.where(missing, np.zeros(1, dtype=self.dtype), values).astype(self.dtype, copy=False), missing

    def _codes(self, chunk: Any) -> tuple[NDArray[Any], Bools | None]:
        import pyarrow as pa

        coded = chunk if pa.types.is_dictionary(chunk.type) else chunk.dictionary_encode()
        codes = coded.indices.fill_null(0) if coded.indices.null_count else coded.indices
        missing = _nulls(coded)
        table = np.zeros(max(len(coded.dictionary), 1), dtype=np.int32)
        unknown = np.zeros(len(table), dtype=bool)
        places = codes.to_numpy(zero_copy_only=False).astype(np.int64)
        # In the order of rows, and words that no row has are left out: the same words as when rows are read in memory.
        here = places if missing is None else places[~missing]
        found, first = np.unique(here, return_index=True)
        met = found[np.argsort(first)]
        for place, entry in zip(met.tolist(), take_entries(coded.dictionary, pa.array(met)).to_pylist(), strict=True):
            if is_missing(entry):
                unknown[place] = True
            else:
                word = entry if type(entry) is str else str(entry)
                table[place] = self.words.setdefault(word, len(self.words))
        if len(self.words) >= 2**31:
            raise Unaskable(f"column {self.name!r} has more than {2**31:,} different texts: leave it out")
        if unknown.any():
            missing = unknown[places] if missing is None else missing | unknown[places]
        return table[places], missing

    def _micros(self, chunk: Any) -> tuple[NDArray[Any], Bools | None]:
        import pyarrow as pa

        missing = _nulls(chunk)
        if pa.types.is_date32(chunk.type):
            days = chunk.cast(pa.int32())
            values, factor = _plain(days).astype(np.int64), 86_400 * 10**6
        else:
            unit = "ms" if pa.types.is_date64(chunk.type) else chunk.type.unit
            values, factor = _plain(chunk.cast(pa.int64())), _MICROS[unit]
        if factor < 0:
            return values // -factor, missing  # a moment within a microsecond, earlier dates included
        limit = (2**63 - 1) // factor
        if values.size and (int(values.max()) > limit or int(values.min()) < -limit):
            raise Unaskable(f"column {self.name!r} has dates that no microsecond count of 64 bits holds: leave it out")
        return values * factor, missing

    @property
    def dictionary(self) -> Any:
        """The words as Arrow has them; a text column without any has one empty word, which no row uses."""
        import pyarrow as pa

        return pa.array(list(self.words) or [""], pa.large_string())


def targets(schema: Any) -> tuple[list[ColumnTarget], tuple[str, ...]]:
    """The columns of a source that have a kind, and the names of the others; from types alone."""
    names = list(schema.names)
    if len(set(names)) < len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        raise Unaskable(f"column names must differ; these appear twice: {', '.join(twice[:10])}")
    found = {entry.name: _target(entry.name, entry.type) for entry in schema}
    if not any(found.values()):
        raise Unaskable("no column holds numbers, booleans, text or dates: there is nothing to ask about")
    left_out = tuple(name for name, target in found.items() if target is None)
    return [target for target in found.values() if target is not None], left_out


def _target(name: str, kind: Any) -> ColumnTarget | None:
    import pyarrow as pa

    types = pa.types
    if types.is_boolean(kind):
        return ColumnTarget(name, "bool", pa.bool_(), np.dtype(np.bool_))
    if types.is_decimal(kind):
        return ColumnTarget(name, "number", pa.float64(), np.dtype(np.float64))
    if types.is_integer(kind) or types.is_floating(kind):
        return ColumnTarget(name, "number", kind, np.dtype(kind.to_pandas_dtype()))
    if types.is_date(kind) or types.is_timestamp(kind):
        return ColumnTarget(name, "date", pa.timestamp("us"), np.dtype("<i8"))
    if types.is_dictionary(kind) or types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return ColumnTarget(name, "text", pa.dictionary(pa.int32(), pa.large_string()), np.dtype("<i4"))
    return None


def _nulls(chunk: Any) -> Bools | None:
    if not chunk.null_count:
        return None
    nulls: Bools = chunk.is_null().to_numpy(zero_copy_only=False).astype(bool)
    return nulls


def _plain(chunk: Any) -> NDArray[Any]:
    values: NDArray[Any] = (chunk.fill_null(0) if chunk.null_count else chunk).to_numpy(zero_copy_only=False)
    return values


def _zero(kind: Any) -> Any:
    import pyarrow as pa

    if pa.types.is_boolean(kind):
        return False
    return pa.scalar(np.float16(0)) if pa.types.is_float16(kind) else pa.scalar(0, kind)


def words(columns: Sequence[ColumnTarget]) -> dict[str, Any]:
    """The dictionaries of the text columns by name."""
    return {column.name: column.dictionary for column in columns if column.kind == "text"}
