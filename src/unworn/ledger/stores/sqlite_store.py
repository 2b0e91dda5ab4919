"""A store in one SQLite file: durable, safe with several threads and processes."""

from __future__ import annotations

import atexit
import contextlib
import os
import sqlite3
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

from unworn.errors import Conflict, LedgerError
from unworn.ledger import forks
from unworn.ledger.checkpoint import Checkpoint
from unworn.ledger.entry import GENESIS, Entry
from unworn.ledger.file_locks import Identity
from unworn.ledger.heads import NotedHeads
from unworn.ledger.key_files import KeyFiles
from unworn.ledger.keys import Key
from unworn.ledger.store import check_run, check_terms
from unworn.ledger.stores.entry_table import HEAD, READ, TERMS, EntryReader, add_entries, check_entry_is_there
from unworn.ledger.stores.fork_safe_store import ForkSafeStore
from unworn.ledger.stores.ledger_file import LedgerFile
from unworn.ledger.stores.sqlite_file import PATIENCE, explain, lay_out, roll_back
from unworn.ledger.stores.sqlite_schema import add_checkpoints, has_checkpoints
from unworn.ledger.stores.wholeness import check_length, check_rows, check_rules

_CHECKPOINTS = "SELECT holdout, idx, text, questions, signature FROM checkpoints WHERE holdout = ? ORDER BY idx"
_KEEP = "INSERT OR REPLACE INTO checkpoints (holdout, idx, text, questions, signature) VALUES (?, ?, ?, ?, ?)"
_LARGEST = 2**63 - 1


class SQLiteStore(ForkSafeStore):
    """Entries in a SQLite file, keys in the folder ``<file>.keys`` beside it.

    Every commit is synced to disk before ``append`` returns (``synchronous=FULL``), and any number of
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
        self._reader = EntryReader()
        super().__init__()  # last: from here on a fork may come, and finds a whole store
        with self._mine(), self._reading():
            pass  # opened, and whole

    # ---- what a store does

    def holdouts(self) -> dict[str, Entry]:
        return {entry.holdout: entry for entry in self._select(TERMS)}

    def read(self, holdout: str, start: int = 0, stop: int | None = None) -> list[Entry]:
        return self._select(READ, holdout, start, _LARGEST if stop is None else stop)

    def length(self, holdout: str) -> int:
        with self._mine():
            try:
                with self._reading() as connection:
                    head = connection.execute(HEAD, (holdout,)).fetchone()
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
        def keep(connection: sqlite3.Connection) -> None:
            connection.execute("BEGIN IMMEDIATE")
            if not has_checkpoints(connection):
                add_checkpoints(connection)
            kept = checkpoint.holdout, checkpoint.index, checkpoint.text, checkpoint.questions
            connection.execute(_KEEP, (*kept, checkpoint.signature))
            connection.execute("COMMIT")

        self._commit(keep)

    def create(self, terms: Entry, key: Key, among: Collection[str] | None = None) -> None:
        check_terms(terms, key)
        is_new = not self.read(terms.holdout, 0, 1) and self._keys.write(terms.holdout, key)
        try:
            self._append([terms], GENESIS, among)
            self._reader.remember(terms)
        except Conflict:
            if is_new and not self.read(terms.holdout, 0, 1):  # a key that nothing was sealed with
                self._keys.remove(terms.holdout)
            raise

    def append(self, entries: Sequence[Entry], expect: str) -> None:
        check_run(entries, expect)
        self._append(entries, expect)

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
            self._closed = True
            self._heads.close()
            self._file.disconnect()

    def __del__(self) -> None:
        try:  # where the interpreter ends, contextlib may be gone already
            self.close()
        except Exception:
            return

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
        return self._reader.read(rows)

    def _append(self, entries: Sequence[Entry], expect: str, among: Collection[str] | None = None) -> None:
        for entry in entries:
            _ = entry.signature  # made when it is first read: now, and not while others wait for the ledger

        def add(connection: sqlite3.Connection) -> None:
            if not self._file.is_laid_out:  # by the first who writes: many only read
                lay_out(connection, self.path)
                self._file.is_laid_out = True
            add_entries(connection, entries, expect, among)
            self._confirm(entries[-1])

        self._commit(add)

    def _commit(self, work: Callable[[sqlite3.Connection], None]) -> None:
        """Have a piece of work done by the connection, with nobody else writing; no transaction stays open after it.

        An interrupt may come before what is to be done is durable, or after: whoever is interrupted reads the ledger.
        """
        with self._mine():
            connection: sqlite3.Connection | None = None
            try:
                self._check_writable()
                with self._file.turn() as connection:
                    work(connection)
            except BaseException as error:
                roll_back(connection)
                if isinstance(error, sqlite3.Error | LedgerError):
                    raise explain(error, self.path, "write") from None
                raise

    def _confirm(self, last: Entry) -> None:
        """Before anything is told: this entry is in the files that others find, and it is noted that it is."""
        before = self._connection
        try:
            connection = self._file.confirm()
            if connection.in_transaction:
                raise LedgerError(f"SQLite did not end the transaction on {self.path}")
        except LedgerError as error:
            raise LedgerError(
                f"{error.message}\n  What was just written is not released, and may have been charged."
            ) from error
        if connection is not before:
            check_entry_is_there(connection, last)
        if not self._restoring:  # a backup may end before what was told: the note that says so must stay
            self._heads.note(last.holdout, last.index, last.hash)

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
