"""A ledger's file while it is in use: who has it open, and whether it is still where others look for it."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from unworn.errors import LedgerError
from unworn.ledger.file_locks import FileLock, Identity, identity
from unworn.ledger.forks import check_inheritance, forbid, leak
from unworn.ledger.stores.sqlite_file import (
    PATIENCE,
    abandon,
    check_place,
    close_leaving_log,
    explain,
    is_writable,
    open_file,
    open_to_read,
)

Check = Callable[[sqlite3.Connection], None]


class LedgerFile:
    """One connection to a ledger, opened when it is needed. Used by one thread at a time.

    Two locks of our own make up for SQLite's, which any reader of the file in this process drops: ``-open`` is held by
    all who have the ledger open, so that only the last one removes the log; ``-lock`` by whoever is opening, closing or
    committing, and together by those who read. And before and after every commit the names of the file, its log and its
    index must still mean the files that this connection has open, or what is written would be found by nobody else.
    """

    def __init__(self, path: Path, check: Check, *, write: bool = True) -> None:
        self.path = path
        self.file: Identity | None = None
        self.writes = write or is_writable(path)
        """Whether entries can be appended: false where a reader found a place it cannot write to."""
        self.is_laid_out = False
        self.connection: sqlite3.Connection | None = None
        self._check = check
        self._users = FileLock(path.with_name(f"{path.name}-open"))
        self._turn = FileLock(path.with_name(f"{path.name}-lock"))
        self._names = [f"{path}{suffix}" for suffix in ("", "-wal", "-shm")]
        self._files: list[Identity] = [(0, 0)] * 3
        self._log_size = 0

    @contextmanager
    def turn(self) -> Iterator[sqlite3.Connection]:
        """The connection, with no other process of ours writing, opening or closing meanwhile."""
        if self.connection is None:
            check_place(self.path)
        try:
            self._wait_for_turn(alone=True)
            connection = self.reach()
            if connection.in_transaction:  # an interrupt ended a commit, and another one its taking back
                connection.execute("ROLLBACK")
            yield connection
        finally:
            self._turn.release()  # also after an interrupt between two steps: to release what is not held is no error

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """The connection, to read from, with no other process of ours opening the ledger meanwhile.

        Where a reader of the files has dropped all of SQLite's locks, whoever opens the ledger makes its shared index
        anew: for a moment it has no pages, and the system ends whoever looks at it then.
        """
        connection, in_place = self.connection, False
        if not self.writes:
            if connection is None:
                self._open()
            assert self.connection is not None
            yield self.connection
            return
        # In the midst of a transaction that nobody ended, one would read what never became durable.
        if connection is not None and not connection.in_transaction:
            try:
                self._wait_for_turn(alone=False)
                in_place = self._is_in_place()
                if in_place:
                    yield connection
            finally:
                self._turn.release()
        if not in_place:
            with self.turn() as connection:
                yield connection

    def _wait_for_turn(self, *, alone: bool) -> None:
        # While we have the ledger open nobody removes the lock's file, so its name need not be looked up.
        if not self._turn.acquire(alone=alone, patience=PATIENCE, by_name=self.connection is None):
            raise LedgerError(
                f"could not use the ledger {self.path}: another process has held it for {PATIENCE:.0f} s.\n"
                "  Nothing was charged. End that process, then ask again.",
                reason="SQLITE_BUSY",
            )

    def reach(self) -> sqlite3.Connection:
        """In one's turn: the connection, to the files that others find; opened anew where these are others now."""
        if self.connection is not None and self._is_in_place():
            return self.connection
        if self.file is not None and identity(self.path) != self.file:
            raise LedgerError(
                f"the ledger {self.path} was removed or replaced while it was open: nothing was charged\n"
                "  Put the file back, with its -wal file, and open it again."
            )
        if self.connection is not None:
            self._rescue(self.connection)
        self._open()
        assert self.connection is not None
        return self.connection

    def confirm(self) -> sqlite3.Connection:
        """In one's turn, after a commit: the connection by which others find it too, or an error.

        Whoever opens the file with its log finds what is in them, so these two must be where they were.
        """
        log = _status(self._names[1])
        if log is not None and (log.st_dev, log.st_ino) == self._files[1] and log.st_size >= self._log_size:
            file = _status(self._names[0])
            if file is not None and (file.st_dev, file.st_ino) == self._files[0] and self.connection is not None:
                return self.connection
        return self.reach()

    def disconnect(self, patience: float = 1.0) -> None:
        """Close the connection: as the last one neatly, into a single file; otherwise the log stays for the others."""
        connection, self.connection = self.connection, None
        self.is_laid_out = False
        if connection is None:
            self._users.close()
            self._turn.close()
            return
        try:
            if not self.writes:
                connection.close()
            elif not self._turn.acquire(alone=True, patience=patience) or not self._users.acquire(alone=True):
                self._leave(connection)
            else:
                connection.close()
                self._users.remove()
                self._turn.remove()
        finally:
            self._turn.close()

    def abandon(self) -> None:
        """In a child that inherited it: never use or close what is the parent's, nor let anybody else."""
        self._users.close(unlock=False)
        self._turn.close(unlock=False)
        if self.connection is not None:
            abandon(self.connection)
            self.connection = None
            if self.file is not None:
                forbid(self.file)

    def _leave(self, connection: sqlite3.Connection) -> None:
        if close_leaving_log(connection):
            self._users.close()
        else:  # SQLite keeps its lock on the file for good, and so we keep ours
            self._users = FileLock(self._users.path)
            leak(identity(self.path))

    def _open(self) -> None:
        check_inheritance(identity(self.path))
        try:
            if not self.writes:
                self.connection = open_to_read(self.path)
            else:
                self._users.acquire(alone=False, patience=PATIENCE)
                self.connection = open_file(self.path)
            self._check(self.connection)
        except BaseException as error:
            if self.connection is None and self.writes and self._users.acquire(alone=True):  # leave nothing behind
                self._users.remove()
                self._turn.remove()
            self.disconnect()
            if isinstance(error, sqlite3.Error):
                raise explain(error, self.path, "open") from error
            raise
        self.file = identity(self.path)
        self._files = [identity(name) for name in self._names]
        log = _status(self._names[1])
        self._log_size = 0 if log is None else log.st_size

    def _is_in_place(self) -> bool:
        (file, log, index), (known_file, known_log, known_index) = self._names, self._files
        if identity(file) != known_file:
            return False
        status = _status(log)
        if status is None:
            return known_log == (0, 0) and identity(index) == known_index
        if (status.st_dev, status.st_ino) != known_log or status.st_size < self._log_size:
            return False
        self._log_size = status.st_size
        return identity(index) == known_index

    def _rescue(self, connection: sqlite3.Connection) -> None:
        """The log was removed, or its index: move all we have into the file, and let go.

        What was told may be in a log that only those have open who had it open before. All of them share its index,
        and find there what was moved already. But if the index still has its name, whoever opens the ledger now would
        use it with a new log, and the others with the old one: then nobody but the last of us may do this.
        """
        shares_index = identity(self._names[2]) == self._files[2]
        is_alone = self._users.acquire(alone=True)
        if not is_alone:
            self._users.acquire(alone=False)
        if shares_index and not is_alone:
            raise LedgerError(
                f"{self.path}-wal was removed while others have the ledger open too.\n"
                "  Nothing was charged. Close it everywhere but in one place: there, what was told is kept, and you "
                "can go on. Do not remove this file."
            )
        try:
            busy, pages, moved = connection.execute("PRAGMA wal_checkpoint(FULL)").fetchone()
            if busy or pages != moved:
                raise LedgerError(f"the ledger {self.path} lost its log, and SQLite could not move it into the file")
        except sqlite3.Error as error:
            raise explain(error, self.path, "write") from error
        finally:
            self._users.acquire(alone=False)
        self.connection, self.is_laid_out = None, False
        self._leave(connection)


def _status(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except OSError:
        return None
