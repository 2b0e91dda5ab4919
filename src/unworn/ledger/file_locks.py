"""Locks on files of our own beside a ledger.

SQLite locks a ledger by POSIX locks, and a process loses all of those on a file as soon as it closes *any* descriptor
of it: whoever copies or hashes ``x.db`` unlocks it. These locks belong to one descriptor, which nobody else closes.
"""

from __future__ import annotations

import contextlib
import errno
import os
import time
from pathlib import Path

from unworn.errors import LedgerError

try:
    import fcntl
except ImportError:  # Windows, where SQLite's own locks belong to one descriptor too
    fcntl = None  # type: ignore[assignment]

Identity = tuple[int, int]


def identity(path: str | os.PathLike[str]) -> Identity:
    """Which file stands at this path just now: its device and number; zeros if there is none."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):  # a ValueError where no file can have such a name
        return (0, 0)
    return (status.st_dev, status.st_ino)


class FileLock:
    """A lock that several hold together or one alone, for as long as a file is held open.

    The file is made when it is first needed. Whoever holds it alone may remove it: those who wait notice that their
    file has lost its name, and begin again with the new one. Where a file system has no such locks (``available`` is
    false) every call succeeds, and SQLite's own locks are all there is.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.available = fcntl is not None
        self._name = str(path)
        self._file: Identity = (0, 0)
        self._descriptor: int | None = None

    def acquire(self, *, alone: bool, patience: float = 0.0, by_name: bool = True) -> bool:
        """Whether the lock is ours, after at most ``patience`` seconds. A lock that is ours already may be changed.

        Without ``by_name`` the file that is open already is locked, whether or not it still has its name.
        """
        deadline, pause = None, 0.0001
        while self.available:
            descriptor = self._open()
            try:
                fcntl.flock(descriptor, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
            except BlockingIOError:
                deadline = time.monotonic() + patience if deadline is None else deadline
                if time.monotonic() >= deadline:
                    return False
                time.sleep(pause)
                pause = min(2 * pause, 0.005)
                continue
            except OSError as error:
                if error.errno not in (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP):
                    raise LedgerError(f"{self.path} cannot be locked: {error.strerror}") from error
                self.available = False  # a file system without such locks
            if not by_name or identity(self._name) == self._file:
                return True
            self.close()  # whoever held it alone has removed it
        return True

    def release(self) -> None:
        if self._descriptor is not None:
            fcntl.flock(self._descriptor, fcntl.LOCK_UN)

    def close(self, *, unlock: bool = True) -> None:
        """Let go of the lock and of the file. A forked child must not unlock: its descriptor is the parent's too."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            if unlock:  # in so many words: a program that is just being started may have a copy of the descriptor
                fcntl.flock(descriptor, fcntl.LOCK_UN)
            os.close(descriptor)

    def remove(self) -> None:
        """Remove the file. Only for whoever holds the lock alone."""
        if self._descriptor is not None:
            with contextlib.suppress(OSError):
                os.unlink(self.path)
            self.close()

    def _open(self) -> int:
        if self._descriptor is None:
            try:
                try:
                    self._descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o666)
                except PermissionError:  # another user's: to lock it, reading is enough
                    self._descriptor = os.open(self.path, os.O_RDONLY)
            except OSError as error:
                raise LedgerError(
                    f"{self.path} cannot be made, to lock the ledger: {error.strerror}\n"
                    "  Check the permissions of its directory."
                ) from error
            status = os.fstat(self._descriptor)
            self._file = (status.st_dev, status.st_ino)
        return self._descriptor
