"""A store in one SQLite file: durable, safe with several threads and processes."""

from __future__ import annotations

import atexit
import contextlib
import os
import sqlite3
from collections.abc import Collection, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from unworn.errors import Conflict, LedgerError, Tampered
from unworn.ledger import forks
from unworn.ledger.checkpoint import Checkpoint
from unworn.ledger.collection import pause_collection
from unworn.ledger.entry import GENESIS, Entry
from unworn.ledger.filelocks import Identity
from unworn.ledger.group import GroupCommit
from unworn.ledger.heads import NotedHeads
from unworn.ledger.keyfiles import KeyFiles
from unworn.ledger.keys import Key
from unworn.ledger.ledgerfile import LedgerFile
from unworn.ledger.sqlitefile import PATIENCE, explain, lay_out, roll_back
from unworn.ledger.sqliteschema import add_checkpoints, has_checkpoints
from unworn.ledger.store import Ticket, check_terms, newcomers, refusal
from unworn.ledger.wholeness import check_length, check_rows, check_rules

_COLUMNS = "holdout, idx, previous, body, hash, signature"
_HEAD = "SELECT idx, hash FROM entries WHERE holdout = ? ORDER BY idx DESC LIMIT 1"
_READ = f"SELECT {_COLUMNS} FROM entries WHERE holdout = ? AND idx >= ? AND idx < ? ORDER BY idx"
_TERMS = f"SELECT {_COLUMNS} FROM entries WHERE idx = 0"
_HASH = "SELECT hash FROM entries WHERE holdout = ? AND idx = ?"
_HOLDOUTS = "SELECT holdout FROM entries WHERE idx = 0"
_CHECKPOINTS = "SELECT holdout, idx, text, questions, signature FROM checkpoints WHERE holdout = ? ORDER BY idx"
_KEEP = "INSERT OR REPLACE INTO checkpoints (holdout, idx, text, questions, signature) VALUES (?, ?, ?, ?, ?)"
_CHUNK = 32
_LARGEST = 2**63 - 1


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

    def __init__(self, path: str | os.PathLike[str], *, write: bool = True, restoring: bool = False) -> None:
        """Open a ledger, or make it.

        Parameters
        ----------
        path
            The file.
        write
            ``False`` for who only looks: then a place that cannot be written to is no hindrance.
        restoring
            Open a ledger although it lacks entries that were told, to bring them back from a backup.
        """
        if str(path) == ":memory:":
            raise LedgerError("a ledger in memory is ledger=None; ':memory:' names no file")
        # The real path, so that a ledger reached by a link finds the same keys.
        self.path = Path(os.path.realpath(os.path.expanduser(path)))
        self.url: str | None = f"sqlite:///{self.path}"
        self._keys = KeyFiles(self.path.with_name(f"{self.path.name}.keys"))
        self._heads = NotedHeads(self._keys.folder)
        self._file = LedgerFile(self.path, self._check, write=write)
        self._restoring, self._was_checked = restoring, False
        self._closed = False
        self._terms: dict[str, tuple[tuple[Any, ...], Entry]] = {}
        super().__init__()  # last: from here on a fork may come, and finds a whole store
        with self._mine(), self._reading():
            pass  # opened, and whole

    # ---- what a store does

    def holdouts(self) -> dict[str, Entry]:
        return {entry.holdout: entry for entry in self._select(_TERMS)}

    def read(self, holdout: str, start: int = 0, stop: int | None = None) -> list[Entry]:
        return self._select(_READ, holdout, start, _LARGEST if stop is None else stop)

    def length(self, holdout: str) -> int:
        with self._mine():
            try:
                with self._reading() as connection:
                    head = connection.execute(_HEAD, (holdout,)).fetchone()
            except sqlite3.Error as error:
                raise explain(error, self.path, "read") from error
        return 0 if head is None else int(head[0]) + 1

    def checkpoints(self, holdout: str) -> list[Checkpoint]:
        with self._mine():
            try:
                with self._reading() as connection:
                    found = connection.execute(_CHECKPOINTS, (holdout,)) if has_checkpoints(connection) else ()
                    return [Checkpoint(*row) for row in found]
            except sqlite3.Error as error:
                raise explain(error, self.path, "read") from error

    def keep_checkpoint(self, checkpoint: Checkpoint) -> None:
        with self._mine():
            connection = None
            try:
                self._check_writable()
                with self._file.turn() as connection:
                    connection.execute("BEGIN IMMEDIATE")
                    if not has_checkpoints(connection):
                        add_checkpoints(connection)
                    kept = checkpoint.holdout, checkpoint.index, checkpoint.text, checkpoint.questions
                    connection.execute(_KEEP, (*kept, checkpoint.signature))
                    connection.execute("COMMIT")
            except (sqlite3.Error, LedgerError) as error:
                raise explain(error, self.path, "write") from None
            finally:
                roll_back(connection)

    def create(self, terms: Entry, key: Key, among: Collection[str] | None = None) -> None:
        check_terms(terms, key)
        is_new = not self.read(terms.holdout, 0, 1) and self._keys.write(terms.holdout, key)
        try:
            if among is None:
                self.append([terms], expect=GENESIS)
            else:
                self._create_among(terms, among)
            self._terms[terms.holdout] = _row(terms), terms
        except Conflict:
            if is_new and not self.read(terms.holdout, 0, 1):  # a key that nothing was sealed with
                self._keys.remove(terms.holdout)
            raise

    def _create_among(self, terms: Entry, among: Collection[str]) -> None:
        with self._mine():
            connection = None
            try:
                self._check_writable()
                with self._file.turn() as connection:
                    connection.execute("BEGIN IMMEDIATE")
                    error = newcomers(among, [holdout for (holdout,) in connection.execute(_HOLDOUTS)])
                    if error is not None:
                        raise error
                    _insert(connection, [terms])
                    connection.execute("COMMIT")
                    self._confirm([terms])
            except (sqlite3.Error, LedgerError) as error:
                raise explain(error, self.path, "write") from None
            finally:
                roll_back(connection)

    def key(self, holdout: str) -> Key | None:
        return self._keys.read(holdout)

    def explain_missing_key(self, holdout: str) -> str:
        """A sentence on where a key is that is not here, if it can be found: keys belong to a ledger by its name."""
        elsewhere = self._keys.find_elsewhere(holdout)
        if elsewhere is None:
            return ""
        return (
            f"  The key is in {elsewhere.parent}: if the ledger was renamed, rename that folder to "
            f"{self._keys.folder.name}; if this is a copy, ask the original.\n"
        )

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
                self._heads.close()
                self._file.disconnect()

    def __del__(self) -> None:
        with contextlib.suppress(Exception):
            self.close()

    def __repr__(self) -> str:
        return f"SQLiteStore({str(self.path)!r})"

    # ---- how

    @property
    def file(self) -> Identity | None:
        """Which file this is, while the store is open."""
        return None if self._closed else self._file.file

    @property
    def _connection(self) -> sqlite3.Connection | None:
        return self._file.connection

    def _reading(self) -> contextlib.AbstractContextManager[sqlite3.Connection]:
        if self._closed:
            raise LedgerError(f"the ledger {self.path} was closed; open it again")
        return self._file.reading()

    def _check(self, connection: sqlite3.Connection) -> None:
        """Of a connection that was just opened: is this a whole ledger, and as long as it was?"""
        check_rules(connection, self.path)
        if not self._was_checked:  # once per store: it reads every page
            check_rows(connection, self.path)
        if not self._restoring:
            check_length(connection, self.path, self._heads.read())
        self._was_checked = True

    def _check_writable(self) -> None:
        if self._closed:
            raise LedgerError(f"the ledger {self.path} was closed; open it again")
        if not self._file.writes:
            raise LedgerError(f"the ledger {self.path} was opened to be read, where it cannot be written")

    def _select(self, sql: str, *values: Any) -> list[Entry]:
        with self._mine():
            try:
                with self._reading() as connection:
                    rows = connection.execute(sql, values).fetchall()
            except sqlite3.Error as error:
                raise explain(error, self.path, "read") from error
        with pause_collection():
            return [self._entry(row) if row[1] == 0 else Entry.from_row(*row) for row in rows]

    def _entry(self, row: tuple[Any, ...]) -> Entry:
        """An entry 0, which is looked at again and again and may be long: read once, while its row stays the same."""
        known = self._terms.get(row[0])
        if known is not None and known[0] == row:
            return known[1]
        entry = Entry.from_row(*row)
        self._terms[row[0]] = row, entry
        return entry

    def _commit(self, batch: list[Ticket]) -> None:
        connection: sqlite3.Connection | None = None
        try:
            self._check_writable()
            with self._file.turn() as connection:
                if not self._file.is_laid_out:  # by the first who writes: many only read
                    lay_out(connection, self.path)
                    self._file.is_laid_out = True
                refused = {} if _write_whole(connection, batch) else _write_some(connection, batch)
                self._confirm([ticket.entries[-1] for ticket in batch if ticket not in refused])
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

    def _confirm(self, last: Sequence[Entry]) -> None:
        """Before anything is told: these entries are in the files that others find, and it is noted that they are."""
        before = self._connection
        try:
            connection = self._file.confirm()
            if connection.in_transaction:
                raise LedgerError(f"SQLite did not end the transaction on {self.path}")
        except LedgerError as error:
            raise LedgerError(f"{error.message}\n  What was just written is not told, and may be charged.") from error
        for holdout, (index, hashed) in {entry.holdout: (entry.index, entry.hash) for entry in last}.items():
            # By the connection that wrote it, it was counted; by another one it must be read.
            if connection is not before and connection.execute(_HASH, (holdout, index)).fetchone() != (hashed,):
                raise _lost(index)
            if not self._restoring:  # a backup may end before what was told: the note that says so must stay
                self._heads.note(holdout, index, hashed)

    def _let_go(self) -> None:
        self._heads.close()
        self._file.disconnect(PATIENCE)

    def _disown(self) -> None:
        self._file.abandon()


def _close_all() -> None:
    """At the end of the process, and in the right way: what the interpreter lets go of is closed in SQLite's."""
    for store in forks.stores():
        if isinstance(store, SQLiteStore):
            with contextlib.suppress(Exception):
                store.close()


atexit.register(_close_all)


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


def _row(entry: Entry) -> tuple[Any, ...]:
    return entry.holdout, entry.index, entry.previous, entry.text, entry.hash, entry.signature


def _insert(connection: sqlite3.Connection, entries: Sequence[Entry]) -> None:
    values = [value for entry in entries for value in _row(entry)]
    before = connection.total_changes
    connection.execute(_insertion(len(entries)), values)
    if connection.total_changes - before != len(entries):  # a trigger swallowed some, or took them out again
        raise _lost(entries[-1].index)


def _lost(index: int) -> Tampered:
    return Tampered(
        f"entry {index} was written to the ledger, and is not there.\n"
        "  Something else changes this file: open the ledger again, and see whether it is whole.",
        index=index,
    )


@cache
def _insertion(rows: int) -> str:
    return f"INSERT INTO entries ({_COLUMNS}) VALUES " + ", ".join(["(?, ?, ?, ?, ?, ?)"] * rows)
