"""A file that nobody shortens while it is read: Linux makes whoever opens it for writing wait for the lease to end.

A lease is to be had for files of one's own that nobody has open for writing. It ends with the reading, or 45 seconds
after somebody began to wait (``/proc/sys/fs/lease-break-time``). Where there is none, on other systems and in some file
systems, reading goes on without.
"""

from __future__ import annotations

import os
import signal
import threading
from contextlib import suppress
from typing import Any

_fcntl: Any = None
with suppress(ImportError):  # not everywhere
    import fcntl

    _fcntl = fcntl


class Lease:
    """Taken by the first who reads, given up by the last.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as file, Lease(file.fileno()):
    ...     pass  # this very file is open for writing, so that no lease is to be had: nothing happens
    """

    def __init__(self, file: int) -> None:
        self._file, self._readers, self._lock = file, 0, threading.Lock()
        self._possible = hasattr(_fcntl, "F_SETLEASE") and hasattr(_fcntl, "F_SETSIG")
        self._pid = os.getpid()

    def __enter__(self) -> None:
        if not self._mine:
            return
        with self._lock:
            self._readers += 1
            # The news that somebody waits would end the process, were it not told by a signal that is ignored; and
            # that has to be said again for every lease.
            if self._readers == 1 and self._done("F_SETSIG", signal.SIGURG):
                self._done("F_SETLEASE", _fcntl.F_RDLCK)

    def __exit__(self, *error: object) -> None:
        if not self._mine:
            return
        with self._lock:
            self._readers -= 1
            if self._readers == 0:
                self._done("F_SETLEASE", _fcntl.F_UNLCK)

    @property
    def _mine(self) -> bool:
        """A fork shares the open file, and must neither end its parent's lease nor wait for a lock from before."""
        return self._possible and self._pid == os.getpid()

    def _done(self, what: str, value: int) -> bool:
        """Whether the system did as it was told."""
        try:
            _fcntl.fcntl(self._file, getattr(_fcntl, what), value)
        except OSError:
            return False
        return True
