"""A file that has its name when it is whole, and not before: what fails, or is killed, leaves nothing behind.

Linux has files without a name, which are gone with the process that writes them, however that ends. Elsewhere a hidden
one beside the place is written to, which only a kill can leave there.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from unworn.basics.display import show_line
from unworn.basics.output_files import as_path, check_output
from unworn.errors import Unaskable


def check_free(named: str | os.PathLike[str], force: bool) -> Path:
    """The path; refused where its name is taken or lies in no folder, and even by ``force`` where it is a ledger's."""
    try:
        path = as_path(named)
        if path.exists() and not path.is_dir() and not (force and path.is_file()):
            raise Unaskable(f"{path} is there already: choose another name, or say --force (force=True) to replace it")
        return check_output(path, "to be lost even by force", _may_be_lost)
    except OSError as error:
        words = show_line(named)[:200]
        raise Unaskable(f"{words} could not be written: {error.strerror}", path=words) from None


def _may_be_lost(head: bytes) -> bool:
    """By force all is replaced but a database, such as a ledger, rows in Parquet, a card, and a backup of a ledger."""
    return not head.startswith((b"PAR1", b"{"))


@contextmanager
def appearing(named: str | os.PathLike[str], force: bool) -> Iterator[int]:
    """A file to write to, that appears under its name when all went well, and is gone when it did not."""
    path = check_free(named, force)
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        nameless = _nameless(beside)
        file = _opened(beside, nameless)
        try:
            yield file
            os.fsync(file)
            if nameless:
                _link(file, beside if force else path)
            elif not force:
                _name(beside, path)
            if force:
                beside.replace(path)
        finally:
            os.close(file)
            beside.unlink(missing_ok=True)
    except FileExistsError:
        raise Unaskable(f"{path} appeared in the meantime: choose another name, or say --force to replace it") from None
    except OSError as error:
        raise Unaskable(f"{path} could not be written: {error.strerror}. Nothing is left of it") from error


def _opened(beside: Path, nameless: bool) -> int:
    if nameless:
        return os.open(beside.parent, os.O_RDWR | os.O_TMPFILE, 0o600)
    return os.open(beside, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)


def _nameless(beside: Path) -> bool:
    """Whether a file can be written here without a name and be given one later: tried with an empty one."""
    if not hasattr(os, "O_TMPFILE"):
        return False
    with suppress(OSError):
        file = _opened(beside, True)
        try:
            _link(file, beside)
            beside.unlink()
            return True
        finally:
            os.close(file)
    return False


def _link(file: int, path: Path) -> None:
    """Give an open file a name. (A folder to start from is named, or Python would link to the link in /proc.)"""
    os.link(f"/proc/self/fd/{file}", path, src_dir_fd=file, follow_symlinks=True)


def _name(beside: Path, path: Path) -> None:
    """Give a file another name, unless somebody took it meanwhile."""
    try:
        os.link(beside, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without links cannot refuse
        beside.rename(path)
