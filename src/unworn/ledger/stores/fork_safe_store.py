"""The lock of a store that has files open, and what becomes of both when the process is forked."""

from __future__ import annotations

import os
import threading
from abc import ABC, abstractmethod

from unworn.errors import LedgerError
from unworn.ledger import forks
from unworn.ledger.file_locks import Identity
from unworn.ledger.store import check_reentry

_PATIENCE = 60.0
"""Seconds that a fork waits for a commit under way; after that the child does without the ledger."""


class ForkSafeStore(ABC):
    """One lock for all that a store reads and writes through; take it by ``with self._mine():``.

    Whoever holds it has the store to themselves: several holdouts and threads that share a store commit one after the
    other. Before a fork the files are closed, and both processes open them again when they next need them.
    """

    def __init__(self) -> None:
        self._start()
        forks.register(self)

    def _start(self) -> None:
        self._lock = threading.RLock()  # of C, so that whatever interrupt comes, ``with`` lets it go
        self._pid = os.getpid()
        self._is_forking = self._ready_for_fork = False

    @property
    @abstractmethod
    def file(self) -> Identity | None:
        """The file that the store has open."""

    @abstractmethod
    def _let_go(self) -> None:
        """Close whatever a forked child must not inherit. Called under the lock."""

    @abstractmethod
    def _disown(self) -> None:
        """In a child that inherited it all the same: forget what belongs to the parent, without touching it."""

    def _mine(self) -> threading.RLock:
        """The lock of this process; an error in a child that was not told that it is one, or in a signal's handler."""
        if self._pid != os.getpid():
            self._disown()
            raise LedgerError(
                f"this process was forked from process {self._pid} in the middle of its work on the ledger, or not by "
                "Python, and cannot share it safely.\n"
                "  Nothing was charged. Start the process afresh (spawn), and open the holdout there."
            )
        check_reentry(self._lock)
        return self._lock

    def prepare_fork(self) -> None:
        """Take the lock, and close the files. An interrupt may come between any two steps, and a fork goes on all the
        same: so what is held is asked of the lock itself, and the flag says only that it is held for the fork."""
        self._is_forking = self._ready_for_fork = False
        if self._pid != os.getpid() or self._lock._is_owned():  # type: ignore[attr-defined]
            return  # a signal handler forks in the middle of our work: the parent goes on, the child does without
        self._is_forking = True
        if self._lock.acquire(timeout=_PATIENCE):
            self._let_go()
            self._ready_for_fork = True

    def resume_after_fork(self, *, child: bool) -> None:
        if child and self._ready_for_fork:
            self._start()
        elif child:
            self._disown()
        elif self._is_forking and self._lock._is_owned():  # type: ignore[attr-defined]
            self._lock.release()
            self._is_forking = False

    def notice_fork(self) -> None:
        if self._pid != os.getpid():
            self._disown()
