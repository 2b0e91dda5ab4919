"""Files as streams of Arrow batches: what they hold, how many rows, and then the rows, a few at a time."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from unworn.errors import MissingExtra, Unaskable

_ROWS = 2**16


@dataclass(frozen=True)
class BatchSource:
    """A file that can be read from its beginning, again and again."""

    schema: Any
    rows: int
    batches: Callable[[], Iterator[Any]]


def open_source(path: Path) -> BatchSource:
    """The rows of a Parquet, CSV, Arrow or Feather file. A CSV file is read twice: it says neither types nor rows."""
    if find_spec("pyarrow") is None:
        raise MissingExtra.of("sql", f"importing {path.name}")
    opener = _OPENERS.get(path.suffix.lower())
    if opener is None:
        raise Unaskable(f"cannot import {path.name}: give one of {', '.join(_OPENERS)}")
    if not path.is_file():
        raise Unaskable(f"there is no file {path}", path=str(path))
    with _reading(path):
        source = opener(path)

    def batches() -> Iterator[Any]:
        with _reading(path):
            yield from source.batches()

    return replace(source, batches=batches)


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """A reader's own message may quote a cell, so only its type is kept."""
    import pyarrow as pa

    try:
        yield
        return
    except (pa.ArrowException, OSError) as error:
        name = type(error).__name__
    raise Unaskable(f"{path} could not be read as {path.suffix[1:].lower()} ({name})", path=str(path)) from None


def _parquet(path: Path) -> BatchSource:
    from pyarrow import parquet

    def batches() -> Iterator[Any]:
        with parquet.ParquetFile(path, pre_buffer=False) as file:
            # Text is asked for as Parquet keeps it; a row group at a time, since one is the least that can be read.
            yield from file.iter_batches(batch_size=_ROWS, use_threads=False)

    with parquet.ParquetFile(path) as file:
        return BatchSource(file.schema_arrow, file.metadata.num_rows, batches)


def _arrow(path: Path) -> BatchSource:
    import pyarrow as pa

    def batches() -> Iterator[Any]:
        with pa.memory_map(str(path)) as file:
            reader = pa.ipc.open_file(file)
            for place in range(reader.num_record_batches):
                batch = reader.get_batch(place)
                batch.validate(full=True)  # Arrow believes what a file says of itself
                yield batch

    with pa.memory_map(str(path)) as file:
        reader = pa.ipc.open_file(file)
        rows = sum(reader.get_batch(place).num_rows for place in range(reader.num_record_batches))
        return BatchSource(reader.schema, rows, batches)


def _csv(path: Path) -> BatchSource:
    """Types as the whole-file reader of Arrow would choose them: the first in its order that every value is one of."""
    import pyarrow as pa
    from pyarrow import csv

    ladder = [
        pa.null(),
        pa.int64(),
        pa.bool_(),
        pa.date32(),
        pa.time32("s"),
        pa.timestamp("s"),
        pa.timestamp("s", "UTC"),
        pa.timestamp("ns"),
        pa.timestamp("ns", "UTC"),
        pa.float64(),
        pa.string(),
        pa.binary(),
    ]
    with csv.open_csv(path) as reader:
        names, guessed = list(reader.schema.names), list(reader.schema.types)
    if len(set(names)) < len(names):
        raise Unaskable("column names must differ; at least one appears twice")
    steps = {name: ladder.index(kind) for name, kind in zip(names, guessed, strict=True)}  # by the first rows

    def batches() -> Iterator[Any]:
        types = {name: ladder[step] for name, step in steps.items()}
        with csv.open_csv(path, convert_options=csv.ConvertOptions(column_types=types)) as reader:
            yield from reader

    rows = -1
    while rows < 0:
        try:
            rows = sum(batch.num_rows for batch in batches())
        except pa.ArrowInvalid as error:
            failed = re.search(r"CSV column #(\d+)", str(error))
            if failed is None or steps[names[int(failed[1])]] + 1 == len(ladder):
                raise
            steps[names[int(failed[1])]] += 1
    return BatchSource(pa.schema([(name, ladder[step]) for name, step in steps.items()]), rows, batches)


_OPENERS: dict[str, Callable[[Path], BatchSource]] = {
    ".parquet": _parquet,
    ".csv": _csv,
    ".arrow": _arrow,
    ".feather": _arrow,
}
