"""Many columns over few rows, some hundred at a time: NumPy takes as long for one short column as for all of these.

What comes out is what comes out column by column, to the last bit: ledgers keep it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unworn.queries.arrays import number_words
from unworn.queries.row_protocol import Column

Words = NDArray[np.uint64]
SHORT = 1024
"""Columns of up to so many rows are taken together."""
_CELLS = 2**16
_LOW = 0 if sys.byteorder == "little" else 1


def column_blocks(columns: Sequence[Column], rows: int) -> Iterator[tuple[int, int, NDArray[Any] | None]]:
    """The columns from one place to another and their values, a column per line; None for one that stands alone.

    Together are numbers, or booleans, of one type that stand side by side, none of them missing.
    """
    start, most = 0, _CELLS // rows if 1 < rows <= SHORT else 1
    while start < len(columns):
        first, stop = columns[start], start + 1
        if _is_plain(first):
            kind, dtype = first.kind, first.values.dtype
            while stop < min(len(columns), start + most):
                column = columns[stop]
                if column.kind != kind or column.values.dtype != dtype or not _is_plain(column):
                    break
                stop += 1
        if stop - start > 1:
            values = np.concatenate([column.values for column in columns[start:stop]]).reshape(stop - start, rows)
            yield start, stop, values
        else:
            yield start, stop, None
        start = stop


def _is_plain(column: Column) -> bool:
    return column.missing is None and column.kind in ("number", "bool") and column.values.ndim == 1


def block_words(kind: str, values: NDArray[Any]) -> Words:
    """One word per value."""
    return values.astype(np.uint64) if kind == "bool" else number_words(values)


def fold_block(lanes: Words, words: Words, keys: Words, one: np.uint64, two: np.uint64) -> None:
    """Fold columns of words into the hashes of rows, one after another, and after each that none of them is missing.

    ``keys`` has a multiplier and an offset per column, lane and word. A word is added before it is multiplied; here its
    product is added after, which is the same and done for all columns at once.
    """
    count, (several, rows) = len(words), lanes.shape
    multiply, add, xor = np.multiply, np.add, np.bitwise_xor
    hashes = np.ascontiguousarray(lanes).reshape(-1)
    halves = hashes.view(np.uint32)
    low, high = halves[_LOW::2], halves[1 - _LOW :: 2]  # xor of the one with the other: with itself, shifted by 32
    first, second = np.full_like(hashes, one), np.full_like(hashes, two)
    wide = np.repeat(keys.transpose(0, 2, 3, 1)[:, (0, 2)], rows, axis=-1)  # columns, words, (multiplier, offset), rows
    wide[:, 0, 1] += np.tile(words, (1, several)) * wide[:, 0, 0]
    for steps in wide.reshape(2 * count, 2, several * rows):
        multiply(hashes, steps[0], hashes)
        add(hashes, steps[1], hashes)
        xor(low, high, low)
        multiply(hashes, first, hashes)
        xor(low, high, low)
        multiply(hashes, second, hashes)
        xor(low, high, low)
    lanes[:] = hashes.reshape(several, rows)
