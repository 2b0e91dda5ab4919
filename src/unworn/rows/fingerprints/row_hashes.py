"""Rows as keyed hashes, a run of them at a time: what fingerprints are made of, in memory that rows do not fill."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from unworn.noise import Stream
from unworn.queries.arrays import number_words
from unworn.queries.row_protocol import Column
from unworn.rows.fingerprints.column_blocks import SHORT, block_words, column_blocks, fold_block

Words = NDArray[np.uint64]
RUN = 2**15
_SHIFT = np.uint64(32)
_ONE, _TWO = np.uint64(0xD6E8FEB86659FD93), np.uint64(0xFF51AFD7ED558CCD)


def runs(rows: int) -> Iterator[slice]:
    """The rows, a run after another."""
    return (slice(start, min(start + RUN, rows)) for start in range(0, rows, RUN))


def hashes(size: int, secret: bytes, columns: Iterable[Column]) -> Words:
    """A 128-bit keyed hash for each row, in two lanes."""
    lanes = np.empty((2, size), dtype=np.uint64)
    for rows, part in hash_runs(size, secret, columns):
        lanes[:, rows] = part
    return lanes


def hash_runs(
    size: int, secret: bytes, columns: Iterable[Column], lanes: tuple[int, ...] = (0, 1), coarse: bool = False
) -> Iterator[tuple[slice, Words]]:
    """The same a run at a time, in both lanes or in one; ``coarse``, of numbers as a ``float32`` holds them.

    Each folds in one word after another by multiply, add and mix with secret odd multipliers. Mixing between the words
    matters: a plain sum of products loses the sign bits of two floats.
    """
    columns = list(columns)
    keys = Stream(secret, "rows").words(12 * len(columns)).reshape(-1, 2, 3, 2)[:, lanes] | np.uint64(1)
    if 1 < size <= SHORT:
        yield slice(0, size), _hash_short(size, columns, keys, coarse)
        return
    fields = [Fields(column, coarse) for column in columns]
    for rows in runs(size):
        part = np.zeros((len(lanes), rows.stop - rows.start), dtype=np.uint64)
        for field, key in zip(fields, keys, strict=True):
            _fold_column(part, field, rows, key)
        yield rows, part


def _hash_short(size: int, columns: Sequence[Column], keys: Words, coarse: bool) -> Words:
    """The same for few rows, where columns are taken together."""
    part = np.zeros((keys.shape[1], size), dtype=np.uint64)
    for start, stop, values in column_blocks(columns, size):
        if values is None:
            _fold_column(part, Fields(columns[start], coarse), slice(0, size), keys[start])
            continue
        kind = columns[start].kind
        if coarse and kind == "number":
            with np.errstate(all="ignore"):
                values = values.astype(np.float32)
        fold_block(part, block_words(kind, values), keys[start:stop], _ONE, _TWO)
    return part


def _fold_column(lanes: Words, field: Fields, rows: slice, key: Words) -> None:
    for words, place in field.of(rows):
        _fold(lanes, words, key[:, place, :1], key[:, place, 1:])


class Fields:
    """The words of a column's rows: its value (two words for text), then whether it is missing."""

    def __init__(self, column: Column, coarse: bool = False) -> None:
        self._column, self._coarse, self._table = column, coarse and column.kind == "number", None
        if column.vocabulary is not None:
            joined = b"".join(map(text_digest, column.vocabulary.tolist()))
            self._table = np.frombuffer(joined, dtype="<u8").reshape(-1, 2).T.astype(np.uint64)

    @property
    def places(self) -> tuple[int, ...]:
        """Which words there are."""
        return (0, 2) if self._table is None else (0, 1, 2)

    def of(self, rows: slice) -> Iterator[tuple[Words, int]]:
        """All words of some rows, one field after another."""
        return ((self.word(rows, place), place) for place in self.places)

    def word(self, rows: slice, place: int) -> Words:
        column = self._column[rows]
        if place == 2:
            # A column without missing values still has "not missing", or one with a few could not agree with it.
            return (
                np.zeros(len(column.values), np.uint64) if column.missing is None else column.missing.astype(np.uint64)
            )
        if self._coarse:
            with np.errstate(all="ignore"):
                column = Column("number", column.values.astype(np.float32), column.missing)
        words = value_words(column) if self._table is None else self._table[place].take(column.values)
        return words if column.missing is None else np.where(column.missing, np.uint64(0), words)


def text_digest(text: str) -> bytes:
    """Sixteen bytes for a word, however long."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:16]


def value_words(column: Column) -> Words:
    """One word a value that is not text; equal for equal values."""
    if column.kind == "date":
        return np.ascontiguousarray(column.values).view(np.int64).astype(np.uint64)
    if column.kind == "bool":
        return column.values.astype(np.uint64)
    return number_words(column.values)


def mix_words(words: Words) -> Words:
    """Every bit of a word spread over all of another; nothing is lost."""
    found = words ^ (words >> _SHIFT)
    found *= _ONE
    found ^= found >> _SHIFT
    found *= _TWO
    found ^= found >> _SHIFT
    return found


def _fold(lanes: Words, words: Words, multipliers: Words, offsets: Words) -> None:
    """Fold words into the hashes of every lane, in place."""
    lanes += words
    lanes *= multipliers
    lanes += offsets
    lanes ^= lanes >> _SHIFT
    lanes *= _ONE
    lanes ^= lanes >> _SHIFT
    lanes *= _TWO
    lanes ^= lanes >> _SHIFT
