"""The SQLite file of a ledger: its schema, how it is opened, and what its errors mean."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from pathlib import Path

from unworn.errors import LedgerError
from unworn.ledger.entry import GENESIS

PATIENCE = 30.0
"""Seconds to wait for another process's commit; each takes well under a millisecond."""
_LOG = 250
"""Pages of the write-ahead log before what it holds is moved into the file and it is written from its start again."""

_VERSION = 1
# The triggers stop mistakes and lost races, not forgers, who are found by the hashes. The one on INSERT lets
# in only what follows the head, so that a commit is one statement; it is stronger than UNIQUE (holdout,
# previous), which would touch one more page at every commit, and INSERT OR REPLACE does not get past it.
_SCHEMA = """
CREATE TABLE entries (
    holdout TEXT NOT NULL,
    idx INTEGER NOT NULL,
    previous TEXT NOT NULL,
    hash TEXT NOT NULL,
    body TEXT NOT NULL,
    signature TEXT NOT NULL,
    PRIMARY KEY (holdout, idx)
) WITHOUT ROWID;
CREATE UNIQUE INDEX terms ON entries (holdout) WHERE idx = 0;
CREATE TRIGGER no_update BEFORE UPDATE ON entries
    BEGIN SELECT RAISE(ABORT, 'a ledger is append-only'); END;
CREATE TRIGGER no_delete BEFORE DELETE ON entries
    BEGIN SELECT RAISE(ABORT, 'a ledger is append-only'); END;
CREATE TRIGGER only_next BEFORE INSERT ON entries
    WHEN NEW.previous IS NOT ifnull(
            (SELECT hash FROM entries WHERE holdout = NEW.holdout ORDER BY idx DESC LIMIT 1), '{genesis}')
        OR NEW.idx IS NOT ifnull((SELECT max(idx) + 1 FROM entries WHERE holdout = NEW.holdout), 0)
    BEGIN SELECT RAISE(ABORT, 'not the next entry'); END;
"""


def open_file(path: Path) -> sqlite3.Connection:
    """Open a ledger's file, or make it. The file is never opened by other means than SQLite's own: closing
    such a second handle would drop the locks this process holds on it.
    """
    if os.path.isdir(path):  # unlike Path.is_dir, never raises: the way there may be closed to us
        raise LedgerError(f"{path} is a directory; a ledger is a file, such as {path / 'holdout.db'}")
    if not os.path.isdir(path.parent):
        raise LedgerError(f"the ledger {path} cannot be made: there is no directory {path.parent}, or no way into it")
    # Asked before SQLite is: it opens a file it may not write without a word, and leaves its own files beside it.
    for each in (path, path.parent):
        if os.path.exists(each) and not os.access(each, os.W_OK, effective_ids=os.access in os.supports_effective_ids):
            raise LedgerError(f"the ledger {path} cannot be written: check the permissions of {each}")
    deadline = time.monotonic() + PATIENCE
    while True:
        connection = None
        try:
            connection = sqlite3.connect(path, PATIENCE, isolation_level=None, check_same_thread=False)
            _prepare(connection, path)
        except (sqlite3.Error, LedgerError) as error:
            if connection is not None:
                connection.close()
            # Switching a new file to WAL is the one step where SQLite does not wait by itself.
            if getattr(error, "sqlite_errorname", "").startswith("SQLITE_BUSY") and time.monotonic() < deadline:
                time.sleep(0.01)
                continue
            raise explain(error, path, "open") from error
        return connection


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    version = _version(connection, path)
    if connection.execute("PRAGMA journal_mode=WAL").fetchone()[0] != "wal":
        raise LedgerError(f"the ledger {path} is on a file system where SQLite cannot keep a write-ahead log")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute(f"PRAGMA wal_autocheckpoint={_LOG}")
    if version == 0:
        connection.execute("BEGIN IMMEDIATE")
        if _version(connection, path) == 0:  # another process may have been first
            for statement in _statements(_SCHEMA.format(genesis=GENESIS)):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version={_VERSION}")
        connection.execute("COMMIT")


def _version(connection: sqlite3.Connection, path: Path) -> int:
    # In one statement, and so of one moment: another process may be making the schema just now.
    found = connection.execute("SELECT user_version, name FROM pragma_user_version LEFT JOIN sqlite_master").fetchall()
    version, names = int(found[0][0]), {name for _, name in found if name is not None}
    if version > _VERSION:
        raise LedgerError(
            f"the ledger {path} has format {version}, this unworn reads up to {_VERSION}: upgrade it",
            version=version,
        )
    if (version == 0 and names) or (version != 0 and not names >= {"entries", "only_next"}):
        raise LedgerError(f"{path} is a SQLite file, but not a whole ledger: choose another name")
    return version


def _statements(script: str) -> list[str]:
    """Split by hand: ``executescript`` commits first, and the schema must come as one transaction."""
    statements, text = [], ""
    for line in script.splitlines():
        text += line + "\n"
        if sqlite3.complete_statement(text):
            statements.append(text)
            text = ""
    return statements


def lay_out(connection: sqlite3.Connection, path: Path) -> None:
    """Make the write-ahead log as long as it will be, so that commits write over it and do not lengthen it.

    To sync a file that has grown is to sync its length too, which takes a file system as long again. What is written
    here is never committed: pages that a small cache cannot hold go to the log, and are taken back. Where the disk
    does not allow it nothing is lost but time, and the commit itself will say what is wrong.
    """
    page, cache = (connection.execute(f"PRAGMA {what}_size").fetchone()[0] for what in ("page", "cache"))
    if _length(f"{path}-wal") >= _LOG * page:
        return
    connection.execute("BEGIN IMMEDIATE")  # outside: whoever holds the ledger is waited for as by any commit
    try:
        connection.execute("PRAGMA cache_size=10")
        connection.execute("CREATE TABLE blank (pages BLOB)")
        # A few more than are meant: the cache keeps some back, and the last commit before a move ends beyond the mark.
        connection.execute("INSERT INTO blank VALUES (zeroblob(?))", ((_LOG + 30) * page,))
    except sqlite3.Error:
        pass
    finally:
        roll_back(connection)
        connection.execute(f"PRAGMA cache_size={cache}")


def _length(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def identity(path: Path) -> tuple[int, int]:
    """Which file stands at this path just now."""
    try:
        found = os.stat(path)
    except OSError:
        return (0, 0)
    return (found.st_dev, found.st_ino)


def roll_back(connection: sqlite3.Connection | None) -> None:
    """Leave no transaction open, where SQLite has not already ended it."""
    if connection is not None and connection.in_transaction:
        with contextlib.suppress(sqlite3.Error):
            connection.execute("ROLLBACK")


def abandon(connection: sqlite3.Connection) -> None:
    """Never close this connection: it is the parent's.

    Closing the copy a fork made can remove the write-ahead log under the parent's feet, and the
    interpreter closes whatever it lets go of; so one reference more than it can drop.
    """
    import ctypes

    ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))


_ADVICE = {
    "SQLITE_FULL": "the disk is full: free some space, then ask again",
    "SQLITE_IOERR": "the disk failed or is full: free some space or check the disk, then ask again",
    "SQLITE_BUSY": f"another process has held it for {PATIENCE:.0f} s: end that process, then ask again",
    "SQLITE_READONLY": "it cannot be written: check the permissions of the file and of its directory",
    "SQLITE_CANTOPEN": "it cannot be opened: check the permissions of the file and of its directory",
    "SQLITE_NOTADB": "it is not a SQLite file: choose another name",
    "SQLITE_CORRUPT": "the file is damaged: restore it from a backup",
}


def explain(error: Exception, path: Path, verb: str) -> LedgerError:
    """A fresh error of ours for one of SQLite's, with what to do about it."""
    if isinstance(error, LedgerError):
        return type(error)(error.message, **error.numbers)
    name: str = getattr(error, "sqlite_errorname", None) or "SQLITE_ERROR"
    advice = _ADVICE.get("_".join(name.split("_")[:2]), "see the reason given by SQLite")
    charged = " Nothing was charged." if verb == "write" else ""
    return LedgerError(f"could not {verb} the ledger {path} ({error}).{charged}\n  {advice}", reason=name)
