"""Files that a user names, for us to write: cards, reports, figures.

A name is soon mistyped, and what is written over is gone: the ledger, which is all the memory there is, or the rows.
So a file that is there already is replaced only if it is of the sort that is written, known by how it begins. Whatever
is refused here is an ``OSError`` whose ``strerror`` says why; whoever writes says what was to be written.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

from unworn.basics.durable_files import write_durably

HEAD = 2**14
"""Bytes of a file that are looked at."""
_OF_A_LEDGER = ("-wal", "-shm", "-journal", ".keys")
_STREAMS = ("/dev/fd/", "/dev/std", "/proc/")
_unclosed: set[tuple[int, int]] = set()

IsOwn = Callable[[bytes], bool]
"""Whether a file that begins so is of the sort that is written."""


def as_path(path: Any) -> Path:
    """A file's name as a path; ``OSError`` where no file can have it, or where it belongs to a ledger.

    >>> as_path("card.json").name
    'card.json'
    >>> as_path("churn.db-wal")
    Traceback (most recent call last):
    OSError: [Errno 22] the name belongs to a ledger (-wal, -shm, -journal, .keys); choose another
    """
    try:
        named = os.fspath(path)
        target = Path(named)
        os.stat(target.parent)
        if target.name:
            os.stat(target)
    except OSError:  # not there, or not to be seen: found out when it is written
        pass
    except (TypeError, ValueError) as error:
        what = f"no file can have this name ({error})" if isinstance(path, str) else f"it is a {type(path).__name__}"
        raise OSError(errno.EINVAL, f"{what[:120]}; name a file by its path") from None
    whole = Path(os.path.realpath(target))
    if whole.name.endswith(_OF_A_LEDGER) or any(part.endswith(".keys") for part in whole.parts):
        raise OSError(errno.EINVAL, f"the name belongs to a ledger ({', '.join(_OF_A_LEDGER)}); choose another")
    return target


def check_output(path: Any, what: str, is_own: IsOwn) -> Path:
    """The path, if ``what`` ("a card") could be written there; ``OSError`` before anything is computed for it."""
    target = as_path(path)
    if target.is_dir() or not target.name:
        raise IsADirectoryError(errno.EISDIR, "it is a folder; name a file in it")
    if not target.absolute().parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, f"there is no folder {target.parent}")
    if _is_stream(target):
        return target
    whole = Path(os.path.realpath(target))
    if not whole.exists():
        if not os.access(whole.parent, os.W_OK):
            raise PermissionError(errno.EACCES, f"the folder {whole.parent} cannot be written to")
        return target
    if not whole.is_file():
        raise OSError(errno.EINVAL, "it is neither a file nor a stream")
    if not _may_replace(whole, is_own):
        raise FileExistsError(
            errno.EEXIST, f"a file that is not {what} has this name, and is kept; choose another name, or move it away"
        )
    if not os.access(whole, os.W_OK):
        raise PermissionError(errno.EACCES, "the file may not be changed")
    return target


def write_output(path: Any, data: bytes, what: str, is_own: IsOwn) -> Path:
    """Write a file whole or not at all, over nothing but its like; returns where. A stream is written to as it is."""
    target = check_output(path, what, is_own)
    if _is_stream(target):
        with open(target, "ab") as stream:
            stream.write(data)
        return target
    whole = Path(os.path.realpath(target))
    try:
        mode = stat.S_IMODE(os.stat(whole).st_mode)
    except FileNotFoundError:
        mode = None
    if not write_durably(whole, data, mode=0o666 if mode is None else mode, replace=mode is not None):
        raise FileExistsError(errno.EEXIST, "a file of this name appeared in the meantime, and is kept")
    return target


def _is_stream(path: Path) -> bool:
    """Whether bytes pass through this name and are not kept under it: a terminal, a pipe, ``/dev/stdout``."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    passing = stat.S_ISCHR(mode) or stat.S_ISFIFO(mode)
    return passing or (stat.S_ISREG(mode) and str(path.absolute()).startswith(_STREAMS))


def _may_replace(path: Path, is_own: IsOwn) -> bool:
    """Whether a file is empty, or of the sort that is written."""
    status = os.stat(path)
    known = (status.st_dev, status.st_ino)
    if known in _unclosed:
        return False
    file = os.open(path, os.O_RDONLY)
    head = os.read(file, HEAD)
    if head.startswith(b"SQLite format 3\0") or head[8:12] == b"DUCK":
        # Never closed: closing any descriptor of a database drops the locks that this process has on it.
        _unclosed.add(known)
        return False
    os.close(file)
    return not head or is_own(head)
