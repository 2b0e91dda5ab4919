"""No connection to a SQLite file lives through a fork.

SQLite remembers per process which files it has locked, and a forked child inherits that memory without the locks. So
before a fork nobody is let in, those inside are waited for, and what is open is closed; both processes open it again.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from abc import ABC, abstractmethod
from weakref import WeakSet

from unworn.database.database_errors import DatabaseError

_PATIENCE = 10.0
"""Seconds that a fork waits for a transaction under way; after that the child does without the database."""
_all: WeakSet[Pausable] = WeakSet()


class Pausable(ABC):
    """Something with connections that are counted while they are used."""

    def __init__(self) -> None:
        super().__init__()
        self._renew()
        _all.add(self)

    def _renew(self) -> None:
        self._entrance = threading.Condition()
        self._in_use, self._is_forking, self._is_ready = 0, False, False
        self._pid = os.getpid()

    @abstractmethod
    def _close_idle(self) -> None:
        """Close what is open and not in use."""

    @abstractmethod
    def _after_fork(self) -> None:
        """In the child: locks as if nobody had ever waited."""

    @abstractmethod
    def _is_mine(self) -> bool:
        """Whether this very thread uses a connection, and so cannot wait for itself."""

    def _check_process(self) -> None:
        if self._pid != os.getpid():
            raise DatabaseError(
                f"this process was forked from process {self._pid} in the middle of a transaction, or not by Python.\n"
                "  Start the process afresh (spawn), and open the tables there."
            )

    def _wait_for_fork(self) -> None:
        self._entrance.wait_for(lambda: not self._is_forking, timeout=2 * _PATIENCE)

    def _note_use(self, change: int) -> None:
        self._in_use += change
        self._entrance.notify_all()

    def prepare(self) -> None:
        with self._entrance:
            self._is_forking, self._is_ready = True, False
            deadline = time.monotonic() + _PATIENCE
            while self._in_use and not self._is_mine() and time.monotonic() < deadline:
                self._entrance.wait(0.1)
            self._close_idle()
            self._is_ready = not self._in_use

    def resume(self, *, child: bool) -> None:
        if not child:
            with self._entrance:
                self._is_forking = False
                self._entrance.notify_all()
        elif self._is_ready:
            self._renew()
            self._after_fork()


def _before() -> None:
    for each in list(_all):
        with contextlib.suppress(Exception):
            each.prepare()


def _after(*, child: bool) -> None:
    for each in list(_all):
        with contextlib.suppress(Exception):
            each.resume(child=child)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before, after_in_parent=lambda: _after(child=False), after_in_child=lambda: _after(child=True)
    )
