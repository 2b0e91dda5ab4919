"""Files are looked at before they are read: how wide, how long, and how much they would become."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path
from typing import Final

from unworn.server.requests.request_body import UploadedFile
from unworn.server.server_errors import BodyTooLarge, Malformed
from unworn.server.settings import ServerSettings

LONGEST_LINE: Final = 2**20
"""Bytes of a line of CSV or JSON lines."""
_CHUNK: Final = 2**18
_CHILD: Final = Path(__file__).with_name("parquet_child.py")
_children = threading.BoundedSemaphore(4)
"""Files that are unpacked at the same time: each may take gigabytes meanwhile."""
_WORDS: Final = {
    3: "it has more columns, rows or row groups than this server takes, or would become too large when it is unpacked",
    4: "it cannot be read as Parquet",
}


def check_upload(upload: UploadedFile, settings: ServerSettings) -> None:
    """Refuse a file that would take too much to read."""
    if upload.size == 0:
        raise Malformed("the body is empty: send a file")
    if upload.format == "parquet":
        check_parquet(upload.path, settings)
    elif upload.format in ("csv", "jsonl"):
        check_lines(upload.path, settings.max_columns if upload.format == "csv" else None)


def check_lines(path: Path, most_columns: int | None) -> None:
    """Refuse lines that are too long, and a head with too many columns, without reading a whole line."""
    with path.open("rb") as file:
        head = file.read(LONGEST_LINE + 1).partition(b"\n")[0]
        columns = head.count(b",") + 1
        if most_columns is not None and (len(head) > LONGEST_LINE or columns > most_columns):
            raise BodyTooLarge(f"the file has more than {most_columns:,} columns", columns=most_columns)
        file.seek(0)
        length, number = 0, 1
        while piece := file.read(_CHUNK):
            first, *others = piece.split(b"\n")
            length += len(first)
            if max(length, *map(len, others), 0) > LONGEST_LINE:
                raise BodyTooLarge(f"a line near line {number} has more than {LONGEST_LINE:,} bytes", line=number)
            number += len(others)
            length = len(others[-1]) if others else length


def check_parquet(path: Path, settings: ServerSettings) -> None:
    """Refuse Parquet that says, or turns out, to be more than it seems: unpacked in a process of its own first.

    What is in its footer is the sender's word. So it is unpacked once, batch by batch, where too much memory or time
    ends that process and nothing else.
    """
    most = (settings.max_columns, settings.max_rows, settings.max_unpacked)
    command = [sys.executable, "-I", str(_CHILD), str(path), *map(str, most)]
    try:
        with _children:
            done = subprocess.run(
                command, capture_output=True, timeout=60, env={}, check=False, stdin=subprocess.DEVNULL
            )
        code = done.returncode
    except subprocess.TimeoutExpired:
        code = 3
    if code == 0:
        return
    if code == 4:
        raise Malformed(f"the file was not taken: {_WORDS[4]}")
    raise BodyTooLarge(f"the file was not taken: {_WORDS[3]}")
