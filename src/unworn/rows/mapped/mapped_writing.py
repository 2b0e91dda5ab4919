"""Writing rows to be mapped: a run at a time, each to its own place, in memory that does not grow with the rows."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from unworn.errors import Unaskable
from unworn.queries.row_protocol import Bools
from unworn.rows.mapped.mapped_columns import ColumnTarget, targets, words
from unworn.rows.mapped.mapped_layout import MARK, NONE, Room, Skeleton, align_size, bits
from unworn.rows.mapped.mapped_naming import appearing

_RUN = 2**20


def write_mapped(
    path: str | os.PathLike[str],
    schema: Any,
    rows: int,
    batches: Iterable[Any],
    *,
    force: bool = False,
    tick: Callable[[int], None] = lambda rows: None,
) -> tuple[str, ...]:
    """Write Arrow record batches as one file of mapped rows, and say which columns have no kind and were left out.

    The number of rows is given first, because it decides where each column lies. The file appears under its name when
    it is whole, and not before; another that has the name already is kept unless ``force`` says to replace it.

    >>> import pyarrow as pa, tempfile
    >>> from pathlib import Path
    >>> batch = pa.record_batch({"age": [31, None, 40]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     left_out = write_mapped(Path(folder) / "people.arrow", batch.schema, 3, [batch])
    ...     pa.ipc.open_file(Path(folder) / "people.arrow").read_all()["age"].to_pylist()
    [31, None, 40]
    """
    columns, left_out = targets(schema)
    if rows < 1:
        raise Unaskable("the data has no rows")
    with appearing(path, force) as file:
        writer = _Writer(file, columns, left_out, rows)
        for batch in batches:
            for start in range(0, batch.num_rows, _RUN):
                writer.append(batch.slice(start, _RUN))
            tick(batch.num_rows)
        writer.finish()
    return left_out


class _Writer:
    """The places of a file's columns, and how far they are filled."""

    def __init__(self, file: int, columns: list[ColumnTarget], left_out: tuple[str, ...], rows: int) -> None:
        import pyarrow as pa

        self._file, self._columns, self._rows, self._written = file, columns, rows, 0
        self._token = secrets.token_bytes(32)
        note = json.dumps({"layout": 1, "left_out": left_out, "token": self._token.hex()})
        fields = [pa.field(column.name, column.type) for column in columns]
        self._schema = pa.schema(fields, metadata={MARK: note.encode()})
        self._start = Skeleton(self._schema, {}).body
        self._body = 0
        self._taken(len(self._token))  # right before the first column: see mapped_layout
        self._values = [self._room(column) for column in columns]
        self._masks: list[Room] = [NONE] * len(columns)
        self._missing = [0] * len(columns)

    def _room(self, column: ColumnTarget) -> Room:
        return self._bits() if column.kind == "bool" else self._taken(self._rows * column.dtype.itemsize)

    def _bits(self) -> Room:
        """Bits, and behind them a byte for each."""
        room = self._taken(bits(self._rows))
        self._taken(self._rows)
        return room

    def _taken(self, length: int) -> Room:
        room = Room(self._body, length)
        self._body += align_size(length)
        return room

    def append(self, batch: Any) -> None:
        """The next rows, column by column."""
        first, stop = self._written, self._written + batch.num_rows
        if stop > self._rows:
            raise Unaskable(f"there are more rows than the {self._rows:,} counted first: did the file grow? Try again")
        for place, column in enumerate(self._columns):
            values, missing = column.convert(_array(batch, column.name))
            room = self._values[place]
            width = column.dtype.itemsize
            self._put((_bytes(room) if column.kind == "bool" else room.start) + first * width, values)
            if missing is not None:
                if self._masks[place] is NONE:
                    self._masks[place] = self._bits()  # all rows before are present, and a file's unwritten bytes are 0
                self._put(_bytes(self._masks[place]) + first, missing)
                self._missing[place] += int(np.count_nonzero(missing))
        self._written = stop

    def finish(self) -> None:
        """What can be known only now: packed bits, the words of text columns, and where everything lies."""
        if self._written != self._rows:
            raise Unaskable(f"there are {self._written:,} rows, and {self._rows:,} were counted first: try again")
        for place, column in enumerate(self._columns):
            if column.kind == "bool":
                self._pack(self._values[place], turned=False)
            if self._masks[place] is not NONE:
                self._pack(self._masks[place], turned=True)
        whole = Skeleton(self._schema, words(self._columns))
        rooms = [room for pair in zip(self._masks, self._values, strict=True) for room in pair]
        _put(self._file, 0, whole.head(self._rows, self._missing, rooms, self._body))
        _put(self._file, self._start, self._token)
        _put(self._file, self._start + self._body, whole.tail(self._body))

    def _pack(self, room: Room, turned: bool) -> None:
        """The bits of bytes that are written; ``turned`` over for what is missing, since Arrow marks what is there."""
        start = self._start + _bytes(room)
        for first in range(0, self._rows, 8 * _RUN):
            run = os.pread(self._file, min(8 * _RUN, self._rows - first), start + first)
            marks: Bools = np.frombuffer(run.ljust(min(8 * _RUN, self._rows - first), b"\0"), dtype=np.bool_)
            packed = np.packbits(~marks if turned else marks, bitorder="little")
            _put(self._file, self._start + room.start + first // 8, packed)

    def _put(self, place: int, values: np.ndarray[Any, Any]) -> None:
        _put(self._file, self._start + place, values)


def _bytes(room: Room) -> int:
    return room.start + align_size(room.length)


def _array(batch: Any, name: str) -> Any:
    column = batch.column(name)
    return column.combine_chunks() if hasattr(column, "combine_chunks") else column


def _put(file: int, place: int, data: Any) -> None:
    view = memoryview(data).cast("B")
    while view:
        done = os.pwrite(file, view, place)
        view, place = view[done:], place + done
