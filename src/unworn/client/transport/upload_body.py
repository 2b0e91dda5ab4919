"""What is sent as a file: predictions from a path, bytes, a frame or an array, and how far it has come."""

from __future__ import annotations

import csv
import io
import os
import secrets
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from unworn.basics.display import show_line, show_value
from unworn.errors import Unaskable

CSV, LINES, PARQUET, ONNX = "text/csv", "application/x-ndjson", "application/vnd.apache.parquet", "application/onnx"
_TYPES = {
    "csv": CSV,
    "txt": CSV,
    "jsonl": LINES,
    "ndjson": LINES,
    "parquet": PARQUET,
    "onnx": ONNX,
}
_CHUNK = 2**18
SHOWN_FROM = 8 * 2**20
"""Bytes from which on an upload shows how far it has come."""


@dataclass(frozen=True)
class Upload:
    """A body that can be sent again from its beginning: bytes, or a file that is read while it is sent."""

    content_type: str
    data: bytes | None = field(default=None, repr=False)
    path: Path | None = None

    @property
    def size(self) -> int:
        return len(self.data) if self.data is not None else os.stat(self._file).st_size

    def chunks(self, tick: Callable[[int], None] = lambda size: None) -> Iterator[bytes]:
        """The body, piece by piece; ``tick`` is told the size of each."""
        if self.data is not None:
            for start in range(0, len(self.data), _CHUNK):
                tick(len(piece := self.data[start : start + _CHUNK]))
                yield piece
            return
        with open(self._file, "rb") as file:
            while piece := file.read(_CHUNK):
                tick(len(piece))
                yield piece

    def read(self) -> bytes:
        """All of it: for a part of a form."""
        return b"".join(self.chunks())

    @property
    def _file(self) -> Path:
        if self.path is None:
            raise TypeError("an upload has bytes or a path")
        return self.path


def make_upload(source: Any, format: str | None = None) -> Upload:
    """A body from what was given: a path, bytes (``format`` says of what kind), a frame, a dict of columns, an array.

    >>> make_upload({"id": [1, 2], "prediction": ["a", "b"]}).data
    b'id,prediction\\r\\n1,a\\r\\n2,b\\r\\n'
    >>> make_upload(np.array([0, 1])).data
    b'prediction\\r\\n0\\r\\n1\\r\\n'
    """
    if isinstance(source, Upload):
        return source
    if isinstance(source, bytes | bytearray | memoryview):
        return Upload(content_type_of(format or "csv"), bytes(source))
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        if not path.is_file():
            raise Unaskable(f"there is no file {show_line(path)[:200]}")
        return Upload(content_type_of(format or path.suffix.lstrip(".")), None, path)
    serialise = getattr(source, "SerializeToString", None)  # an ONNX model in memory
    if callable(serialise):
        return Upload(ONNX, bytes(serialise()))
    return Upload(CSV, write_columns(_columns_of(source)))


_COMPRESSED = ("gz", "bz2", "xz", "zst", "zip")


def content_type_of(format: str) -> str:
    """The content type of a format, by the ending of its files.

    >>> content_type_of("jsonl")
    'application/x-ndjson'
    """
    if format.lower() in _COMPRESSED:
        raise Unaskable(
            f"predictions come as CSV, JSON lines or Parquet, not as {show_value(format)}: unpack them first"
        )
    if format.lower() not in _TYPES:
        raise Unaskable(
            f"predictions come as CSV, JSON lines or Parquet, not as {show_value(format)}.\n"
            "  Name the file .csv, .jsonl or .parquet, or say format='csv'."
        )
    return _TYPES[format.lower()]


def write_columns(columns: Mapping[str, Any]) -> bytes:
    """Columns as CSV; a number is written so that the same number is read."""
    lists = {name: _plain_list(values) for name, values in columns.items()}
    lengths = {len(values) for values in lists.values()}
    if len(lengths) > 1:
        raise Unaskable(f"the columns of predictions have different lengths: {sorted(lengths)[:5]}")
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(lists)
    writer.writerows(zip(*lists.values(), strict=True))
    return text.getvalue().encode()


def _columns_of(source: Any) -> Mapping[str, Any]:
    if isinstance(source, Mapping):
        return {str(name): values for name, values in source.items()}
    from unworn.queries.table_output import as_frame, series_of

    frame = as_frame(source)
    if frame is not None:
        return {name: series.to_list() for name, series in series_of(frame).items()}
    array = np.asarray(getattr(source, "to_numpy", lambda: source)())
    if array.ndim == 1 and array.dtype.kind in "biufUO":
        return {"prediction": array}
    if array.ndim == 2 and array.dtype.kind in "biuf":
        return {f"p{place}": array[:, place] for place in range(array.shape[1])}
    raise Unaskable(
        f"a {type(source).__name__} is not predictions: give a path, bytes, a frame, a dict of columns or an array"
    )


def _plain_list(values: Any) -> list[Any]:
    array = np.asarray(values, dtype=object) if isinstance(values, list | tuple) else np.asarray(values)
    plain = array.tolist()
    if not isinstance(plain, list):
        raise Unaskable("predictions come as columns: one list or array under each name")
    return [int(value) if isinstance(value, bool) else repr(value) if isinstance(value, float) else value
            for value in plain]  # fmt: skip


@contextmanager
def upload_progress(what: str, size: int) -> Iterator[Callable[[int], None]]:
    """A bar on standard error while a large file travels; silent where nobody is looking. Yields what counts bytes."""
    if size < SHOWN_FROM or not sys.stderr.isatty():
        yield lambda sent: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=Console(file=sys.stderr), transient=True) as shown:
        task = shown.add_task(show_line(what), total=size)
        yield lambda sent: shown.advance(task, sent)


def make_form(parts: Mapping[str, Upload]) -> Upload:
    """Several files in one body, each under its name."""
    boundary = secrets.token_hex(16)
    pieces = []
    for name, part in parts.items():
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"; filename="{name}"\r\n'
        pieces += [f"{head}Content-Type: {part.content_type}\r\n\r\n".encode(), part.read(), b"\r\n"]
    pieces.append(f"--{boundary}--\r\n".encode())
    return Upload(f"multipart/form-data; boundary={boundary}", b"".join(pieces))
