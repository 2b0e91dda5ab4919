"""Rows in a file, seen through memory: opening it reads nothing, and a draw touches the pages of its own rows only.

``unworn import`` writes such files. A column of one is an array whose memory is the file's: the operating system brings
in what is touched and drops what is not, so that memory stays the same whatever the number of rows. The words of text
columns are the one thing that is held.

A file that shrinks under a map ends the process that touches what is gone (SIGBUS), and no Python code can catch that.
So a file's size and date are looked at before its rows are read, and again after; and in between whoever wants to write
to it is kept waiting, where the system can do that (:mod:`~unworn.rows.mapped.mapped_lease`). A process that dies all
the same has entered nothing: an entry is durable before its answer leaves, and none was made.
"""

from __future__ import annotations

import json
import mmap
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unworn.errors import MissingExtra, Unaskable, Unavailable
from unworn.queries.row_protocol import Bools, Column
from unworn.queries.schema import ColumnKind
from unworn.rows.mapped.mapped_layout import MARK, align_size, bits
from unworn.rows.mapped.mapped_lease import Lease

_HEAD = 2**24
"""Within so many bytes a file says what it is, however many columns it names."""

_PROBED = 64


@dataclass(frozen=True)
class MappedRows:
    """What a file of mapped rows holds. ``table`` is the same as an Arrow table, for models, and copies nothing."""

    columns: dict[str, Column]
    left_out: tuple[str, ...]
    table: Any
    rows: int
    watch: FileWatch
    """Says whether the file is still what it was, and brings pages in."""


class FileWatch:
    """Whether a file is still the one that was opened. Called before rows are read, and after."""

    def __init__(self, path: Path, file: int, memory: mmap.mmap) -> None:
        self.path, self.memory = path, memory
        self._file, self._lease = file, Lease(file)
        self._seen = self._look()

    @contextmanager
    def held(self) -> Iterator[None]:
        """While rows are read: the file is what it was before, stays so, and is so when all is read."""
        with self._lease:
            self()
            yield
            self()

    def __call__(self) -> None:
        if self._look() != self._seen:
            raise Unavailable(
                f"{self.path} was cut or changed after its rows were opened, so nothing more is read from it.\n"
                "  Nothing was charged. Bring the file back as it was, or import it again; then open it again.",
                path=str(self.path),
            )

    def ahead(self, values: NDArray[Any], rows: NDArray[np.int64]) -> None:
        """Ask for the pages of some rows all at once, if they are not in memory.

        One after another, each page that is not there makes the process wait for the disk, and brings its neighbours
        along, which nobody asked for. A few rows tell whether it is worth asking: that takes longer than a warm draw.
        """
        if len(rows) <= _PROBED or not hasattr(self.memory, "madvise"):
            return
        before = _waits()
        values.take(rows[:_PROBED], mode="clip")
        if _waits() - before < _PROBED // 8:
            return
        start = values.__array_interface__["data"][0] - np.frombuffer(self.memory, dtype=np.uint8).ctypes.data
        if not 0 <= start < len(self.memory):  # not a column of the file
            return
        places = start + rows[_PROBED:] * values.itemsize
        for page in np.unique(places // mmap.PAGESIZE).tolist():
            self.memory.madvise(mmap.MADV_WILLNEED, page * mmap.PAGESIZE, mmap.PAGESIZE)

    def _look(self) -> tuple[int, int]:
        found = os.fstat(self._file)  # of the file that is mapped, whatever has its name by now
        return found.st_size, found.st_mtime_ns

    def __del__(self) -> None:
        os.close(self._file)


def _waits() -> int:
    """How often this process has waited for a page from the disk."""
    try:
        import resource
    except ImportError:  # no such count on this system
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_majflt


def open_mapped(path: Path) -> MappedRows | None:
    """The rows of a file that ``unworn import`` wrote; None for any other, which is for others to read."""
    if not path.is_file() or path.stat().st_size < len(MARK):
        return None
    file = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
    try:
        memory = mmap.mmap(file, 0, access=mmap.ACCESS_READ)
    except BaseException:
        os.close(file)
        raise
    watch = FileWatch(path, file, memory)
    if memory.find(MARK, 0, _HEAD) < 0:
        return None
    try:
        import pyarrow as pa
    except ImportError as error:
        raise MissingExtra.of("sql", f"mapping {path.name}") from error
    whole = pa.py_buffer(memory)
    try:
        reader = pa.ipc.open_file(pa.BufferReader(whole))
        note = (reader.schema.metadata or {}).get(MARK)
        alone = note is not None and reader.num_record_batches == 1
        batch = reader.get_batch(0) if alone else None
        if batch is not None:
            batch.validate()  # lengths and counts, without reading rows
    except (pa.ArrowException, OSError, ValueError, MemoryError) as error:
        raise _damaged(path, "is cut off or damaged") from error
    if note is None or batch is None:
        return None
    try:
        told = json.loads(note)
        if not _ours(whole, batch, bytes.fromhex(str(told.get("token", "")))):
            return None  # another tool has read such a file and written what it read: an Arrow file like any other
        if told.get("layout") != 1:
            raise _damaged(path, f"has layout {told.get('layout')!r}, and this version of unworn knows layout 1")
        columns = {name: _column(path, whole, batch.column(place)) for place, name in enumerate(batch.schema.names)}
        left_out = tuple(str(name) for name in told["left_out"])
    except (AttributeError, LookupError, TypeError, ValueError, pa.ArrowException, SystemError, MemoryError) as error:
        if isinstance(error, Unaskable):
            raise
        raise _damaged(path, "is damaged") from error
    return MappedRows(columns, left_out, pa.Table.from_batches([batch]), batch.num_rows, watch)


def check_values(path: Path | None, columns: Mapping[str, Column]) -> None:
    """Refuse a file with values that no import writes: words that are not there, and truths that are neither.

    Opening reads no row, so that this is for whoever reads all of them for the first time, when they are sealed.
    """
    for column in columns.values():
        marks = [each for each in (column.values, column.missing) if each is not None and each.dtype == np.bool_]
        if any(int(each.view(np.uint8).max(initial=0)) > 1 for each in marks):
            raise _damaged(path, "is damaged")
        if column.vocabulary is not None and column.values.size:
            low, high = int(column.values.min()), int(column.values.max())
            if low < 0 or high >= len(column.vocabulary):
                raise _damaged(path, "is damaged")


def _ours(whole: Any, batch: Any, token: bytes) -> bool:
    """Whether the file is the very one that was imported: its token stands right before the first column."""
    if len(token) != 32 or not batch.num_columns or not batch.num_rows:
        return False
    data = batch.column(0).buffers()[1]
    start = (0 if data is None else data.address - whole.address) - 64
    return 0 < start < whole.size and bytes(whole.slice(start, 32)) == token


def _damaged(path: Path | None, how: str) -> Unaskable:
    return Unaskable(f"{path} {how}: write it again with unworn import", path=str(path))


def _column(path: Path, whole: Any, array: Any) -> Column:
    import pyarrow as pa

    rows, kind = len(array), array.type
    validity, data = array.buffers()[:2]
    missing: Bools | None = None
    if array.null_count:
        missing = _marks(path, whole, validity, rows)
    if pa.types.is_boolean(kind):
        return Column("bool", _marks(path, whole, data, rows), missing)
    if pa.types.is_dictionary(kind):
        array.dictionary.validate(full=True)
        words = np.empty(len(array.dictionary), dtype=object)
        words[:] = array.dictionary.to_pylist()
        return Column("text", _view(data, np.dtype("<i4"), rows), missing, words)
    if pa.types.is_timestamp(kind):
        return Column("date", _view(data, np.dtype("<M8[us]"), rows), missing)
    number: ColumnKind = "number"
    return Column(number, _view(data, np.dtype(kind.to_pandas_dtype()), rows), missing)


def _view(data: Any, dtype: np.dtype[Any], rows: int) -> NDArray[Any]:
    return np.frombuffer(data, dtype=dtype, count=rows)


def _marks(path: Path, whole: Any, packed: Any, rows: int) -> Bools:
    """The bytes behind these bits."""
    start = packed.address - whole.address + align_size(bits(rows))
    if start + rows > whole.size:
        raise _damaged(path, "is damaged")
    return np.frombuffer(whole, dtype=np.bool_, count=rows, offset=start)
