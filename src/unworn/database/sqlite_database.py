"""Tables in one SQLite file: durable, for any number of threads and processes."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from unworn.database.database import Database, RunSQL
from unworn.database.database_errors import Busy, ConstraintBroken, DatabaseError, Unreachable
from unworn.database.fork_pauses import Pausable

_PATIENCE = 30.0
"""Seconds to wait for another writer."""
_IDLE = 8
"""Connections that are kept open while nobody uses them."""


class SQLiteDatabase(Pausable, Database):
    """One writer at a time, any number of readers beside it (WAL); synced at every commit (``synchronous=FULL``).

    The file, and SQLite's files beside it, can be read and written by their owner alone.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(os.path.realpath(os.path.expanduser(path)))
        self.url = f"sqlite:///{self.path}"
        self._idle: list[sqlite3.Connection] = []
        self._writer = threading.Lock()
        self._here = threading.local()
        self._closed = False
        super().__init__()
        self._give_back(self._borrow())

    @contextlib.contextmanager
    def transaction(self, *, write: bool = True) -> Iterator[RunSQL]:
        if self._is_mine():
            raise DatabaseError("a transaction is open in this thread already: hand its run on")
        with self._turn(write):
            connection = self._borrow()
            self._here.is_inside = True
            try:
                yield from self._use(connection, write)
            finally:
                self._here.is_inside = False
                self._give_back(connection)

    def _use(self, connection: sqlite3.Connection, write: bool) -> Iterator[RunSQL]:
        def run(statement: str, /, **values: Any) -> list[tuple[Any, ...]]:
            with self._explained():
                return connection.execute(statement, values).fetchall()

        try:
            run("BEGIN IMMEDIATE" if write else "BEGIN")
            yield run
            if not connection.in_transaction:
                raise DatabaseError(f"SQLite gave up a transaction on {self.path}: nothing was changed")
            run("COMMIT")
        finally:
            if connection.in_transaction:
                with contextlib.suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")

    @contextlib.contextmanager
    def _turn(self, write: bool) -> Iterator[None]:
        """Those of one process wait here and not in SQLite, which would have them look every few milliseconds."""
        if not write:
            yield
            return
        if not self._writer.acquire(timeout=_PATIENCE):
            raise Busy(f"{self.path} was held by another thread for {_PATIENCE:.0f} s: nothing was changed")
        try:
            yield
        finally:
            self._writer.release()

    def close(self) -> None:
        if self._pid != os.getpid():  # a child that was not told: it is the parent's
            return
        with self._entrance:
            self._closed = True
            while self._idle:
                self._idle.pop().close()

    def __repr__(self) -> str:
        return f"SQLiteDatabase({str(self.path)!r})"

    def __del__(self) -> None:
        try:  # where the interpreter ends, contextlib may be gone already
            self.close()
        except Exception:
            return

    def _has_versions(self, run: RunSQL) -> bool:
        return bool(run("SELECT 1 FROM sqlite_master WHERE name = 'unworn_migrations'"))

    def _migration_turn(self) -> contextlib.AbstractContextManager[None]:
        return contextlib.nullcontext()  # ``BEGIN IMMEDIATE`` keeps all others out already

    # ---- connections

    def _is_mine(self) -> bool:
        return getattr(self._here, "is_inside", False)

    def _borrow(self) -> sqlite3.Connection:
        self._check_process()
        with self._entrance:
            self._wait_for_fork()
            if self._closed:
                raise DatabaseError(f"{self.path} was closed; open it again")
            self._note_use(1)
            if self._idle:
                return self._idle.pop()
        try:
            return self._connect()
        except BaseException:
            with self._entrance:
                self._note_use(-1)
            raise

    def _give_back(self, connection: sqlite3.Connection) -> None:
        with self._entrance:
            if self._closed or len(self._idle) >= _IDLE or connection.in_transaction:
                connection.close()
            else:
                self._idle.append(connection)
            self._note_use(-1)

    def _connect(self) -> sqlite3.Connection:
        with self._explained():
            try:
                os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
            except FileExistsError:
                pass
            except OSError as error:
                raise DatabaseError(f"{self.path} cannot be made: {error.strerror}") from None
            connection = sqlite3.connect(
                self.path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False, cached_statements=256
            )
            try:
                _set_up(connection)
            except BaseException:
                connection.close()
                raise
            return connection

    def _close_idle(self) -> None:
        while self._idle:
            self._idle.pop().close()

    def _after_fork(self) -> None:
        self._writer, self._here = threading.Lock(), threading.local()

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.IntegrityError as error:
            raise ConstraintBroken(f"{self.path.name}: {error}: nothing was changed") from error
        except (sqlite3.Error, UnicodeEncodeError, OverflowError) as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                raise Busy(f"{self.path} was held by others for too long: nothing was changed") from error
            if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN):
                raise Unreachable(f"{self.path} cannot be used just now: {error}\n  Nothing was changed.") from error
            raise DatabaseError(f"{self.path}: {error}") from error


def _set_up(connection: sqlite3.Connection) -> None:
    deadline = time.monotonic() + _PATIENCE
    while True:  # to change the journal, SQLite does not wait by itself
        try:
            connection.execute("PRAGMA journal_mode=WAL").fetchone()
            break
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
        time.sleep(0.005)
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("PRAGMA foreign_keys=ON")
