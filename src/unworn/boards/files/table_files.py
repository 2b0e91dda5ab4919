"""Tables out of files that strangers sent: CSV, JSON lines and Parquet, within limits, each row with its line.

Whatever is read here is data: no types are guessed, nothing is run, and the size of a file is looked at before it is
parsed. CSV and JSON lines need no library.
"""

from __future__ import annotations

import contextlib
import csv
import io
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import Any

from unworn.basics.display import show_line, show_value
from unworn.boards.board_errors import InvalidSubmission, TooLarge
from unworn.boards.files.json_objects import read_json_objects
from unworn.errors import MissingExtra
from unworn.ledger.collector_pause import pause_collection
from unworn.queries.table_output import as_frame, series_of

FORMATS = ("csv", "jsonl", "parquet")
_SUFFIXES = {".csv": "csv", ".txt": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}
_MOST_CELLS = 20_000_000
_MOST_NAMES = 10_000
_LONGEST_HEADER = 2**20
_MOST_UNPACKED = 2**30
_OTHER_FILES = {
    b"\x1f\x8b": "this is a gzip file: send it unpacked",
    b"BZh": "this is a bzip2 file: send it unpacked",
    b"\xfd7zXZ": "this is an xz file: send it unpacked",
    b"(\xb5/\xfd": "this is a Zstandard file: send it unpacked",
    b"PK\x03\x04": "this is a zip archive, or a spreadsheet: send CSV, JSON lines or Parquet",
    b"\xff\xfe": "line 1: this is UTF-16 text; save the file as UTF-8",
    b"\xfe\xff": "line 1: this is UTF-16 text; save the file as UTF-8",
    b"\x80\x04\x95": "this is a pickle, which is a program and is never read: send CSV, JSON lines or Parquet",
}
"""What is sent instead of a table, by how it begins."""
_LISTED = re.compile(rb"(?:\xef\xbb\xbf)?\s*\[\s*\{").match


@dataclass(frozen=True)
class FileTable:
    """Columns by name, as lists of texts (CSV) or of plain values; and where each row stands."""

    columns: Mapping[str, Sequence[Any]]
    rows: int
    place: Callable[[int], str]
    """``line 7`` for the row at index 5 of a CSV file."""
    order: Callable[[int], int]
    """The same as a number, to sort by."""


def read_table_file(source: Any, format: str | None = None, *, max_bytes: int, max_rows: int) -> FileTable:
    """A table from a path, bytes, a frame or a dictionary of columns; ``InvalidSubmission`` for what is none."""
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        try:
            if path.stat().st_size > max_bytes:
                raise _too_large(max_bytes)
            with path.open("rb") as file:
                data = file.read(max_bytes + 1)
        except OSError as error:
            raise InvalidSubmission.of([f"{show_line(path)} cannot be read: {error.strerror}"]) from None
        format = format or _SUFFIXES.get(path.suffix.lower())
    elif isinstance(source, bytes | bytearray | memoryview):
        data = bytes(source)
    else:
        return _from_frame(source, max_rows)
    if len(data) > max_bytes:
        raise _too_large(max_bytes)
    form = format or _sniff(data)
    if form not in FORMATS:
        raise InvalidSubmission.of([f"there is no format {show_value(form)}: send csv, jsonl or parquet"])
    if form != "parquet":
        for start, words in _OTHER_FILES.items():
            if data.startswith(start):
                raise InvalidSubmission.of([words])
    if form != "parquet" and _LISTED(data):
        raise InvalidSubmission.of(["line 1: this is one JSON list; JSON lines have an object each, without brackets"])
    if not data.strip():
        raise InvalidSubmission.of(["the file is empty"])
    return {"csv": _read_csv, "jsonl": _read_json_lines, "parquet": _read_parquet}[form](data, max_rows)


def _sniff(data: bytes) -> str:
    if data[:4] == b"PAR1":
        return "parquet"
    return "jsonl" if data[:1000].lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"{" else "csv"


def _too_large(limit: int) -> TooLarge:
    return TooLarge.of([f"the file is larger than the {limit:,} bytes that this board takes (max_bytes)"])


def _too_many(max_rows: int) -> TooLarge:
    return TooLarge.of([f"the file has more than {max_rows:,} rows: one for each id is enough"])


def _text_of(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InvalidSubmission.of([f"line {line}: this is not UTF-8 text; save the file as UTF-8"]) from None


# ---- CSV


def _read_csv(data: bytes, max_rows: int) -> FileTable:
    text = _text_of(data)
    head = text[:_LONGEST_HEADER]
    if "\n" not in head and "\r" not in head and len(text) > _LONGEST_HEADER:
        raise TooLarge.of([f"line 1: the column names alone are longer than {_LONGEST_HEADER:,} characters"])
    if text.count(",") + text.count("\n") > _MOST_CELLS:
        raise TooLarge.of([f"the file has more than {_MOST_CELLS:,} cells: send Parquet, and only the columns needed"])
    try:
        reader = csv.reader(io.StringIO(text, newline=""), strict=True)
        with pause_collection():
            lines = list(islice(reader, 2 * max_rows + 2))  # some lines may be blank
    except csv.Error as error:
        raise InvalidSubmission.of([_csv_problem(text, str(error))]) from None
    if not all(lines):
        lines = [line for line in lines if line]
    if not lines:  # a byte order mark is no row
        raise InvalidSubmission.of(["the file is empty"])
    names, rows = lines[0], lines[1:]
    if len(rows) > max_rows:
        raise _too_many(max_rows)
    _check_names(names)
    starts: list[int] = []

    def order(index: int) -> int:
        if not starts:
            starts.extend(_csv_starts(text))
        return starts[index + 1]

    widths = set(map(len, rows))
    if widths - {len(names)}:
        wrong = [index for index, row in enumerate(rows) if len(row) != len(names)]
        counts = [(index, len(rows[index])) for index in wrong[:20]]
        told = [
            f"line {order(index)}: {'1 value' if count == 1 else f'{count} values'} for {len(names)} columns"
            for index, count in counts
        ]
        raise InvalidSubmission.of(told, len(wrong))
    values = zip(*rows, strict=True) if rows else [()] * len(names)
    columns = {name.strip(): column for name, column in zip(names, values, strict=True)}
    return FileTable(columns, len(rows), lambda index: f"line {order(index)}", order)


def _csv_problem(text: str, error: str) -> str:
    """What is wrong with the first row that is none, and the line it begins on."""
    reader, before = csv.reader(io.StringIO(text, newline=""), strict=True), 0
    with contextlib.suppress(csv.Error):
        for _ in reader:
            before = reader.line_num
    if reader.line_num > before + 1 or "end of data" in error:
        return f"line {before + 1}: a quotation mark opens a value here, and none closes it"
    return f"line {before + 1}: {error}"


def _csv_starts(text: str) -> list[int]:
    """The first line of every row: only looked for where something is wrong."""
    reader, starts, before = csv.reader(io.StringIO(text, newline=""), strict=True), [], 0
    for row in reader:
        if row:
            starts.append(before + 1)
        before = reader.line_num
    return starts


def _check_names(names: Sequence[str]) -> None:
    bare = [name.strip() for name in names]
    if len(bare) == 1 and (";" in bare[0] or "\t" in bare[0]):
        mark = "';'" if ";" in bare[0] else "tabs"
        raise InvalidSubmission.of([f"line 1: the columns are separated by {mark}; a CSV file has commas"])
    if len(set(bare)) < len(bare):
        twice = Counter(bare).most_common(1)[0][0]
        raise InvalidSubmission.of([f"line 1: the column {show_value(twice)} appears twice"])


# ---- JSON lines


def _read_json_lines(data: bytes, max_rows: int) -> FileTable:
    text = _text_of(data)
    if text.count("\n") > 2 * max_rows + 2:  # some lines may be blank
        raise _too_many(max_rows)
    places = [number for number, line in enumerate(text.split("\n"), 1) if line and not line.isspace()]
    if len(places) > max_rows:
        raise _too_many(max_rows)
    lines = [line for line in text.split("\n") if line and not line.isspace()]
    rows = read_json_objects(lines, places)
    names = dict.fromkeys(name for keys in {tuple(row) for row in rows} for name in keys)
    if len(names) > _MOST_NAMES or len(names) * len(rows) > _MOST_CELLS:  # a name that one line has is a column for all
        raise TooLarge.of([f"the lines have {len(names):,} different names between them: send only the columns needed"])
    columns: dict[str, Sequence[Any]] = {}
    for name in names:
        try:
            columns[name] = list(map(itemgetter(name), rows))
        except KeyError:
            columns[name] = [row.get(name) for row in rows]
    return FileTable(columns, len(rows), lambda index: f"line {places[index]}", places.__getitem__)


# ---- Parquet and frames


def _read_parquet(data: bytes, max_rows: int) -> FileTable:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise MissingExtra.of("sql", "reading Parquet") from None
    try:
        file = parquet.ParquetFile(io.BytesIO(data))
        if file.metadata.num_rows > max_rows:
            raise _too_many(max_rows)
        if file.metadata.num_rows * file.metadata.num_columns > _MOST_CELLS * 5:
            raise TooLarge.of([f"the file has more than {_MOST_CELLS * 5:,} cells: send only the columns needed"])
        groups = range(file.metadata.num_row_groups)
        if sum(file.metadata.row_group(group).total_byte_size for group in groups) > _MOST_UNPACKED:
            raise TooLarge.of([f"the file unpacks to more than {_MOST_UNPACKED:,} bytes: send only the columns needed"])
        nested = [each.name for each in file.schema_arrow if pyarrow.types.is_nested(each.type)]
        if nested:  # as Python's values a list of a million zeros, a few bytes here, would be a million of them
            raise InvalidSubmission.of(
                [f"the column {show_value(nested[0])} has lists or records: send one value per row"]
            )
        # What repeats is kept once, as it is in the file: a small file cannot become a large table.
        texts = [each.name for each in file.schema_arrow if _is_text(pyarrow, each.type)]
        table = parquet.ParquetFile(io.BytesIO(data), read_dictionary=texts).read()
    except (pyarrow.ArrowException, OSError, ValueError, OverflowError) as error:
        raise InvalidSubmission.of([f"this is not a Parquet file that can be read ({type(error).__name__})"]) from None
    columns = {str(name): _arrow_values(column) for name, column in zip(table.column_names, table.columns, strict=True)}
    return FileTable(columns, table.num_rows, lambda index: f"row {index + 1}", lambda index: index + 1)


def _is_text(pyarrow: Any, kind: Any) -> bool:
    kinds = pyarrow.types
    return any(
        is_one(kind) for is_one in (kinds.is_string, kinds.is_large_string, kinds.is_binary, kinds.is_large_binary)
    )


def _arrow_values(column: Any) -> list[Any]:
    import pyarrow

    if pyarrow.types.is_dictionary(column.type):
        values: list[Any] = []
        for chunk in column.chunks:
            words = chunk.dictionary.to_pylist()
            codes = chunk.indices.fill_null(-1).to_numpy(zero_copy_only=False).tolist()
            values += [None if code < 0 else words[code] for code in codes]
        return values
    if column.null_count == 0 and (pyarrow.types.is_integer(column.type) or pyarrow.types.is_floating(column.type)):
        told: list[Any] = column.to_numpy().tolist()
        return told
    return list(column.to_pylist())


def _from_frame(source: Any, max_rows: int) -> FileTable:
    if isinstance(source, Mapping):
        columns = {str(name): _plain_list(values, str(name)) for name, values in source.items()}
        if len(columns) < len(source):
            raise InvalidSubmission.of(["two columns have the same name, once as a text and once as a number"])
    else:
        frame = as_frame(source)
        if frame is None:
            raise InvalidSubmission.of(
                [f"predictions come as a file, a frame or a dictionary of columns, not as a {type(source).__name__}"]
            )
        columns = {name: _plain_list(series, name) for name, series in series_of(frame).items()}
    lengths = set(map(len, columns.values()))
    if len(lengths) != 1:
        raise InvalidSubmission.of([f"all columns must be equally long, not {sorted(lengths)[:5]}"])
    rows = lengths.pop()
    if rows > max_rows:
        raise _too_many(max_rows)
    return FileTable(columns, rows, lambda index: f"row {index + 1}", lambda index: index + 1)


def _plain_list(values: Any, name: str) -> list[Any]:
    for method in ("to_list", "tolist"):
        if hasattr(values, method):
            values = getattr(values, method)()
            break
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise InvalidSubmission.of([f"the column {show_value(name)} is not a list of values but {show_value(values)}"])
    return list(values)
