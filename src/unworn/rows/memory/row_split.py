"""Rows parted among several uses: a secret order of the units, and a sample of some of them only.

A part is a sample of its own: its columns and features are cut, so that nothing that reads it can come upon a row of
another part. One thing still runs over all rows, the asker's arrays of predictions, because nobody is told which rows
lie in which part; :mod:`unworn.rows.memory.row_runs` picks a part's entries out of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unworn.noise import Stream
from unworn.queries.row_protocol import Column
from unworn.rows.fingerprints.fingerprint import canonical_order
from unworn.rows.memory.shown.shown_features import without_other_rows

if TYPE_CHECKING:
    from unworn.rows.memory.sample import Sample

Places = NDArray[np.intp]


def shuffle_units(sample: Sample, secret: bytes, purpose: str) -> Places:
    """The units in an order that is uniformly random to whoever lacks the secret, and repeated by whoever has it.

    Over a canonical order, so that the same rows in another order fall into the same parts. Which part a row falls into
    does not depend on what is in it: given any rows, each way to part them is as likely as any other.
    """
    return canonical_order(sample, secret)[Stream(secret, purpose).permutation(sample.size)]


def restrict_rows(sample: Sample, units: Places, shown: bool = False) -> Sample:
    """A sample of these units alone, their rows in the order they came in; ``shown`` if they may be seen."""
    from unworn.rows.memory.sample import Sample

    inside = np.zeros(sample.size, dtype=bool)
    inside[units] = True
    rows = np.flatnonzero(inside if sample.unit_of_row is None else inside[sample.unit_of_row])
    origin = rows if sample.origin is None else sample.origin[rows]
    origin.setflags(write=False)
    features = _features(sample.features, rows)
    return Sample(
        {name: _column(column, rows) for name, column in sample.columns.items()},
        sample.schema,
        rows=len(rows),
        groups=None if sample.groups is None else _column(sample.groups, rows),
        features=without_other_rows(features) if shown else features,
        left_out=sample.left_out,
        path=sample.path,
        origin=origin,
        length=sample.length,
    )


def _column(column: Column, rows: Places) -> Column:
    """These rows of a column as if no others had been read: no word and no mark of theirs is left."""
    values, missing, words = column.values.take(rows), None, column.vocabulary
    if column.missing is not None and column.missing[rows].any():
        missing = column.missing[rows]
        missing.setflags(write=False)
    if words is not None:
        used, first = np.unique(values if missing is None else values[~missing], return_index=True)
        used = used[np.argsort(first)]  # words in the order they appear in, as when they are read
        codes = np.zeros(len(words), dtype=np.int32)
        codes[used] = np.arange(len(used), dtype=np.int32)
        values = codes.take(values) if missing is None else np.where(missing, np.int32(0), codes.take(values))
        words = words[used] if len(used) else np.array([""], dtype=object)
    values.setflags(write=False)
    return Column(column.kind, values, missing, words, column.finite)


def _features(native: Any, rows: Places) -> Any:
    """These rows of the owner's own object."""
    if native is None:
        return None
    if isinstance(native, dict):
        return {name: _frozen(values[rows]) for name, values in native.items()}
    if isinstance(native, np.ndarray):
        return _frozen(np.array(native[rows], order="F"))
    import narwhals as nw

    return nw.from_native(native, eager_only=True)[rows].to_native()


def _frozen(values: NDArray[Any]) -> NDArray[Any]:
    values.setflags(write=False)
    return values
