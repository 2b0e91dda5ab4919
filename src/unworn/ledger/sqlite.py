"""A store in one SQLite file: durable, safe with several threads and processes."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Collection, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from unworn.errors import LedgerError
from unworn.ledger.entry import GENESIS, Entry
from unworn.ledger.group import GroupCommit
from unworn.ledger.keyfiles import KeyFiles
from unworn.ledger.keys import Key
from unworn.ledger.sqlitefile import abandon, explain, identity, lay_out, open_file, roll_back
from unworn.ledger.store import Ticket, check_terms, newcomers, refusal

_COLUMNS = "holdout, idx, previous, body, hash, signature"
_HEAD = "SELECT idx, hash FROM entries WHERE holdout = ? ORDER BY idx DESC LIMIT 1"
_READ = f"SELECT {_COLUMNS} FROM entries WHERE holdout = ? AND idx >= ? ORDER BY idx"
_TERMS = f"SELECT {_COLUMNS} FROM entries WHERE idx = 0"
_HOLDOUTS = "SELECT holdout FROM entries WHERE idx = 0"
_CHUNK = 32


class SQLiteStore(GroupCommit):
    """Entries in a SQLite file, keys in the folder ``<file>.keys`` beside it.

    Every commit is synced to disk before ``wait`` returns (``synchronous=FULL``), and any number of
    processes may write: SQLite's write lock puts them in a row, and a head that moved is a ``Conflict``.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     store, key = SQLiteStore(f"{folder}/churn.db"), Key.new()
    ...     store.create(Entry.seal("ab" * 16, 0, GENESIS, {"public": key.public}, key), key)
    ...     found = store.key("ab" * 16) == key, len(store.read("ab" * 16))
    ...     store.close()
    >>> found
    (True, 1)
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        super().__init__()
        if str(path) == ":memory:":
            raise LedgerError("a ledger in memory is ledger=None; ':memory:' names no file")
        # The real path, so that a ledger reached by a link finds the same keys.
        self.path = Path(os.path.realpath(os.path.expanduser(path)))
        self.url: str | None = f"sqlite:///{self.path}"
        self._keys = KeyFiles(self.path.with_name(f"{self.path.name}.keys"))
        self._connection: sqlite3.Connection | None = None
        self._file: tuple[int, int] | None = None
        self._laid_out = False
        self._closed = False
        with self._mine():
            self._connect()

    # ---- what a store does

    def holdouts(self) -> dict[str, Entry]:
        return {entry.holdout: entry for entry in self._select(_TERMS)}

    def read(self, holdout: str, start: int = 0) -> list[Entry]:
        return self._select(_READ, holdout, start)

    def create(self, terms: Entry, key: Key, among: Collection[str] | None = None) -> None:
        check_terms(terms, key)
        if not self._select(_READ + " LIMIT 1", terms.holdout, 0):
            self._keys.write(terms.holdout, key)
        if among is None:
            self.append([terms], expect=GENESIS)
            return
        with self._mine():
            connection = None
            try:
                connection = self._connect()
                self._check_file()
                connection.execute("BEGIN IMMEDIATE")
                error = newcomers(among, [holdout for (holdout,) in connection.execute(_HOLDOUTS)])
                if error is not None:
                    raise error
                _insert(connection, [terms])
                connection.execute("COMMIT")
            except (sqlite3.Error, LedgerError) as error:
                raise explain(error, self.path, "write") from None
            finally:
                roll_back(connection)

    def key(self, holdout: str) -> Key | None:
        return self._keys.read(holdout)

    def keep_key(self, holdout: str, key: Key) -> None:
        self._keys.write(holdout, key)

    def close(self) -> None:
        with self._mine():
            if self._closed:
                return
            try:
                self._drain()
            finally:
                self._closed = True
                if self._connection is not None:
                    self._connection.close()
                    self._connection = None

    def __del__(self) -> None:
        with contextlib.suppress(Exception):
            self.close()

    def __repr__(self) -> str:
        return f"SQLiteStore({str(self.path)!r})"

    # ---- how

    def _select(self, sql: str, *values: Any) -> list[Entry]:
        with self._mine():
            try:
                rows = self._connect().execute(sql, values).fetchall()
            except sqlite3.Error as error:
                raise explain(error, self.path, "read") from error
        return [Entry.from_row(*row) for row in rows]

    def _commit(self, batch: list[Ticket]) -> None:
        connection: sqlite3.Connection | None = None
        try:
            connection = self._connect()
            self._check_file()
            if not self._laid_out:  # by the first who writes: many only read
                lay_out(connection, self.path)
                self._laid_out = True
            refused = {} if _write_whole(connection, batch) else _write_some(connection, batch)
        except (sqlite3.Error, LedgerError) as error:
            roll_back(connection)
            for ticket in batch:
                ticket.refuse(explain(error, self.path, "write"))
            return
        except BaseException:  # an interrupt: the transaction must not stay open for the next leader
            roll_back(connection)
            raise
        for ticket in batch:
            if ticket in refused:
                ticket.refuse(refused[ticket])
            else:
                ticket.accept()

    def _connect(self) -> sqlite3.Connection:
        if self._closed:
            raise LedgerError(f"the ledger {self.path} was closed; open it again")
        if self._connection is None:
            if self._file is not None:  # after a fork: the same file, not a new one of its name
                self._check_file()
            self._connection = open_file(self.path)
            self._file = identity(self.path)
        return self._connection

    def _check_file(self) -> None:
        """A commit to a file that was deleted or replaced would be lost though it succeeds."""
        if identity(self.path) != self._file:
            raise LedgerError(
                f"the ledger {self.path} was removed or replaced while it was open: nothing was charged\n"
                "  Put the file back, with its -wal file, and open it again."
            )

    def _forked(self) -> None:
        if self._connection is not None:
            abandon(self._connection)
            self._connection = None
            self._laid_out = False


def _write_whole(connection: sqlite3.Connection, batch: list[Ticket]) -> bool:
    """Write a batch by one statement, its own transaction; ``False``, and nothing done, if it may not.

    The trigger checks every head. One statement rather than four is quicker, and more so with threads:
    each statement gives up the interpreter's lock, and must win it back from those who wait for this commit.
    """
    entries = [entry for ticket in batch for entry in ticket.entries]
    if len(entries) > _CHUNK:
        return False
    try:
        _insert(connection, entries)
    except sqlite3.IntegrityError:
        return False
    return True


def _write_some(connection: sqlite3.Connection, batch: list[Ticket]) -> dict[Ticket, LedgerError]:
    """Write, in one transaction, the tickets that follow their heads; return the others with the reason."""
    heads: dict[str, tuple[int, str]] = {}
    refused: dict[Ticket, LedgerError] = {}
    connection.execute("BEGIN IMMEDIATE")
    for ticket in batch:
        holdout = ticket.holdout
        head = heads.get(holdout) or connection.execute(_HEAD, (holdout,)).fetchone() or (-1, GENESIS)
        reason = refusal(ticket, *head)
        if reason is None:
            for start in range(0, len(ticket.entries), _CHUNK):
                _insert(connection, ticket.entries[start : start + _CHUNK])
            head = ticket.entries[-1].index, ticket.entries[-1].hash
        else:
            refused[ticket] = reason
        heads[holdout] = head
    connection.execute("COMMIT")  # with nothing written there is nothing to sync, and this is free
    return refused


def _insert(connection: sqlite3.Connection, entries: Sequence[Entry]) -> None:
    values = [
        value
        for entry in entries
        for value in (entry.holdout, entry.index, entry.previous, entry.text, entry.hash, entry.signature)
    ]
    connection.execute(_insertion(len(entries)), values)


@cache
def _insertion(rows: int) -> str:
    return f"INSERT INTO entries ({_COLUMNS}) VALUES " + ", ".join(["(?, ?, ?, ?, ?, ?)"] * rows)
