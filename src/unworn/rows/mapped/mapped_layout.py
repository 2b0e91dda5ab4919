"""Where everything lies in a file of mapped rows: an Arrow file that any tool reads, of one batch of whole columns.

Arrow's own writers want a batch in memory before they write it, and cut what does not fit into many batches. Here the
places of all columns are fixed first, from the number of rows, and rows are put there as they come. The few words that
tell Arrow what lies where are made by Arrow itself for a batch of one row; then its numbers are replaced.

Two things in Arrow are packed eight to a byte, booleans and which values are missing. A draw of single rows wants them
a byte each, so these follow their bits, at the next multiple of 64, where Arrow does not look.

A note in the schema says that rows can be mapped. Notes travel along when another tool reads the file and writes it
again, and places do not; so the note names a random token, and the token itself stands right before the first column,
where no other tool would put it.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

MARK = b"unworn"
"""The key in the file's own notes that says rows can be mapped; its value names the version of this layout."""

END = b"\xff\xff\xff\xff\0\0\0\0"
MAGIC = b"ARROW1"
_BLOCK = struct.Struct("<qixxxxq")
_PAIR = struct.Struct("<qq")


@dataclass(frozen=True)
class Room:
    """One buffer of the batch: where in the body it begins, how long it is, and how many rows of it are missing."""

    start: int
    length: int


NONE = Room(0, 0)


def align_size(size: int) -> int:
    """The next multiple of 64, as Arrow advises.

    >>> align_size(1), align_size(64)
    (64, 64)
    """
    return -(-size // 64) * 64


def bits(rows: int) -> int:
    """How many bytes hold a bit for each row."""
    return -(-rows // 8)


class Skeleton:
    """What Arrow writes around the rows: made for one row, with the places and lengths of the real ones put in."""

    def __init__(self, schema: Any, dictionaries: Mapping[str, Any]) -> None:
        import pyarrow as pa

        def one(field: Any) -> Any:
            if pa.types.is_dictionary(field.type):
                words = dictionaries.get(field.name, pa.array([""], field.type.value_type))
                return pa.DictionaryArray.from_arrays(pa.array([0], pa.int32()), words)
            return pa.array([0], pa.int64()).cast(field.type) if field.type != pa.float16() else _half()

        sink = pa.BufferOutputStream()
        with pa.ipc.new_file(sink, schema) as writer:
            writer.write_batch(pa.RecordBatch.from_arrays([one(field) for field in schema], schema=schema))
        self._bytes = bytes(sink.getvalue())
        length = struct.unpack_from("<i", self._bytes, len(self._bytes) - 10)[0]
        self._footer = self._bytes[-10 - length : -10]
        footer = _root(self._footer, 0)
        self._dictionaries = _vector(self._footer, footer, 2)
        (self._batch,) = _vector(self._footer, footer, 3)
        offset, meta, _ = _BLOCK.unpack_from(self._footer, self._batch)
        first = min([_BLOCK.unpack_from(self._footer, at)[0] for at in self._dictionaries], default=offset)
        self.opening = self._bytes[:first]
        self._message = self._bytes[offset : offset + meta]
        self.body = align_size(first + meta)
        """Where in the file the rows begin."""

    def head(self, rows: int, missing: Sequence[int], rooms: Sequence[Room], body: int) -> bytes:
        """Everything that stands before the rows."""
        message = bytearray(self._message.ljust(self.body - len(self.opening), b"\0"))
        struct.pack_into("<i", message, 4, len(message) - 8)
        root = _root(message, 8)
        struct.pack_into("<q", message, _field(message, root, 3), body)
        batch = _follow(message, _field(message, root, 2))
        struct.pack_into("<q", message, _field(message, batch, 0), rows)
        for at, absent in zip(_vector(message, batch, 1, _PAIR.size), missing, strict=True):
            _PAIR.pack_into(message, at, rows, absent)
        for at, room in zip(_vector(message, batch, 2, _PAIR.size), rooms, strict=True):
            _PAIR.pack_into(message, at, room.start, room.length)
        return self.opening + bytes(message)

    def tail(self, body: int) -> bytes:
        """Everything that stands behind them: the words of text columns, and where all of it is."""
        footer, words, at = bytearray(self._footer), b"", self.body + body
        for place in self._dictionaries:
            offset, meta, length = _BLOCK.unpack_from(footer, place)
            _BLOCK.pack_into(footer, place, at + len(words), meta, length)
            words += self._bytes[offset : offset + meta + length]
        _BLOCK.pack_into(footer, self._batch, len(self.opening), self.body - len(self.opening), body)
        return words + END + bytes(footer) + struct.pack("<i", len(footer)) + MAGIC


def _half() -> Any:
    import numpy as np
    import pyarrow as pa

    return pa.array(np.zeros(1, dtype=np.float16))


# ------------------------------------------------------------------ as much of flatbuffers as is needed


def _follow(data: bytes | bytearray, at: int) -> int:
    return at + int(struct.unpack_from("<I", data, at)[0])


def _root(data: bytes | bytearray, at: int) -> int:
    return _follow(data, at)


def _field(data: bytes | bytearray, table: int, place: int) -> int:
    """Where the field of a table stands; one that is left out has no place, and none here is."""
    known = table - int(struct.unpack_from("<i", data, table)[0])
    size = int(struct.unpack_from("<H", data, known)[0])
    offset = int(struct.unpack_from("<H", data, known + 4 + 2 * place)[0]) if 4 + 2 * place < size else 0
    if offset == 0:
        raise ValueError(f"Arrow left out field {place} of what it wrote: this version writes another form")
    return table + offset


def _vector(data: bytes | bytearray, table: int, place: int, size: int = _BLOCK.size) -> list[int]:
    """Where the items of a list of structures stand."""
    try:
        start = _follow(data, _field(data, table, place))
    except ValueError:
        return []
    return [start + 4 + size * item for item in range(struct.unpack_from("<I", data, start)[0])]
