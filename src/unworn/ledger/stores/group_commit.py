"""Group commit: those who wait commit for each other, so that one sync serves many."""

from __future__ import annotations

import os
import threading
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Sequence

from unworn.errors import LedgerError
from unworn.ledger import forks
from unworn.ledger.entry import Entry
from unworn.ledger.file_locks import Identity
from unworn.ledger.store import Ticket, check_run
from unworn.ledger.waiting_line import Line

_PATIENCE = 60.0
"""Seconds that a fork waits for a commit under way; after that the child does without the ledger."""


class GroupCommit(ABC):
    """The queue, the lock and what happens to them at a fork. A store adds ``_commit`` and the rest.

    The lock also guards whatever the store reads and writes through; take it by ``with self._mine():``.
    """

    def __init__(self) -> None:
        self._start()
        forks.register(self)

    def _start(self) -> None:
        self._lock = threading.RLock()
        self._line = Line(self._lead)
        self._queue: deque[Ticket] = deque()
        self._pid = os.getpid()
        self._held_for_fork = self._ready_for_fork = False

    @abstractmethod
    def _commit(self, batch: list[Ticket]) -> None:
        """Settle every ticket: all that fit in one durable transaction. Called under the lock."""

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
        """The lock of this process; an error in a child that was not told that it is one."""
        if self._pid != os.getpid():
            self._disown()
            raise LedgerError(
                f"this process was forked from process {self._pid} in the midst of its work on the ledger, or not by "
                "Python, and cannot share it safely.\n"
                "  Nothing was charged. Start the process afresh (spawn), and open the holdout there."
            )
        return self._lock

    def prepare_fork(self) -> None:
        if self._pid != os.getpid() or self._lock._is_owned():  # type: ignore[attr-defined]
            return  # a signal handler forks in the midst of our work: the parent goes on, the child does without
        self._held_for_fork = self._lock.acquire(timeout=_PATIENCE)
        if self._held_for_fork:
            self._let_go()
            self._ready_for_fork = True

    def resume_after_fork(self, *, child: bool) -> None:
        if child and self._ready_for_fork:
            self._start()  # what was queued is the parent's to commit
        elif child:
            self._disown()
        elif self._held_for_fork:
            self._held_for_fork = self._ready_for_fork = False
            self._lock.release()

    def notice_fork(self) -> None:
        if self._pid != os.getpid():
            self._disown()

    def enqueue(self, entries: Sequence[Entry], expect: str) -> Ticket:
        check_run(entries, expect)
        self._mine()
        ticket = Ticket(entries, expect, self._settle)
        self._queue.append(ticket)
        return ticket

    def append(self, entries: Sequence[Entry], expect: str) -> None:
        self.enqueue(entries, expect).wait()

    def _settle(self, ticket: Ticket) -> None:
        self._mine()
        ticket.sign()  # now, in the thread that waits, and not in the one that commits for it
        self._line.wait(ticket)
        if not ticket.settled:
            raise LedgerError(
                "these entries were handed in before this process was forked, and the parent process commits them; or "
                "their commit was interrupted, and whether they were written is not known.\n"
                "  Read the ledger before trying again."
            )

    def _lead(self) -> None:
        with self._mine():
            self._drain()

    def _drain(self) -> None:
        """Commit the whole queue. No ticket taken from it may stay unsettled, whatever happens."""
        batch: list[Ticket] = []
        try:
            while self._queue:
                batch.append(self._queue[0])  # first, so that an interrupt cannot leave it in nobody's hands
                self._queue.popleft()
                if batch[-1].settled:  # refused after such an interrupt
                    batch.pop()
            if batch:
                self._commit(batch)
        finally:
            for ticket in batch:
                if not ticket.settled:
                    ticket.refuse(
                        LedgerError(
                            "the commit was interrupted; whether these entries were written is not known\n"
                            "  Read the ledger before trying again."
                        )
                    )
