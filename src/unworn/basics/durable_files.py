"""A file that has its name when it is whole and on the disk, and not before."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path


def write_durably(path: Path, data: bytes, *, mode: int, replace: bool = False) -> bool:
    """Write a file that appears whole and durable, or not at all; ``False`` if the name is taken, unless ``replace``.

    ``OSError`` where it cannot be written; then nothing is left of it.
    """
    draft = path.with_name(f".unworn-{os.urandom(8).hex()}")  # as short for a name that is as long as one can be
    try:
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if replace:
            draft.replace(path)
        elif not _name(draft, path):
            return False
        sync_folder(path.parent)
    finally:
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)
    return True


def _name(draft: Path, path: Path) -> bool:
    try:
        os.link(draft, path)  # unlike rename, it never replaces a file another process made just now
    except FileExistsError:
        return False
    except OSError:  # a file system without hard links
        if path.exists():
            return False
        draft.rename(path)
    return True


def sync_folder(folder: Path) -> None:
    """Make a new name durable, where the system can sync a directory."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
