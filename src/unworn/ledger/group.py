"""Group commit: those who wait commit for each other, so that one sync serves many."""

from __future__ import annotations

import os
import threading
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Sequence

from unworn.errors import LedgerError
from unworn.ledger.entry import Entry
from unworn.ledger.line import Line
from unworn.ledger.store import Ticket, check_run

_renewal = threading.Lock()


def _renew_in_child() -> None:
    global _renewal
    _renewal = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_in_child)


class GroupCommit(ABC):
    """The queue, the lock and what happens to them at a fork. A store adds ``_commit`` and the rest.

    The lock also guards whatever the store reads and writes through; take it by ``with self._mine():``.
    """

    def __init__(self) -> None:
        self._start()

    def _start(self) -> None:
        self._lock = threading.Lock()
        self._line = Line(self._lead)
        self._queue: deque[Ticket] = deque()
        self._pid = os.getpid()

    @abstractmethod
    def _commit(self, batch: list[Ticket]) -> None:
        """Settle every ticket: all that fit in one durable transaction. Called under the lock."""

    @abstractmethod
    def _forked(self) -> None:
        """Forget what belongs to the parent process, without touching it."""

    def _mine(self) -> threading.Lock:
        """The lock of this process. After a fork the child's copy may be held by a thread it does not have,
        and its queue holds tickets the parent will commit: the child starts with its own."""
        if self._pid != os.getpid():
            with _renewal:
                if self._pid != os.getpid():
                    self._forked()
                    self._start()
        return self._lock

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
