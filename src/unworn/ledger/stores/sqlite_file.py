"""The SQLite file of a ledger: how it is opened and closed, and what its errors mean."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from pathlib import Path

from unworn.errors import LedgerError
from unworn.ledger.stores.sqlite_schema import make_schema, read_version

PATIENCE = 30.0
"""Seconds to wait for another process's commit; each takes well under a millisecond."""
_PAGE = 8192
"""Bytes of a page of a new ledger. SQLite moves what is longer than a quarter of a page to a page of its own, and an
entry is longer than a quarter of the usual 4,096: each would fill one, and three pages would be written to add it."""
_LOG = 160
"""Pages of the write-ahead log before what it holds is moved into the file and it is written from its start again."""


def check_place(path: Path) -> None:
    """Refuse a path where no ledger can be kept, before anything is made there."""
    if os.path.isdir(path):  # unlike Path.is_dir, never raises: the way there may be closed to us
        raise LedgerError(f"{path} is a directory; a ledger is a file, such as {path / 'holdout.db'}")
    if not os.path.isdir(path.parent):
        raise LedgerError(f"the ledger {path} cannot be made: there is no directory {path.parent}, or no way into it")
    obstacle = _obstacle(path)
    if obstacle is not None:
        raise LedgerError(f"the ledger {path} cannot be written: check the permissions of {obstacle}")


def open_file(path: Path) -> sqlite3.Connection:
    """Open a ledger's file, or make it. The file is never opened by other means than SQLite's own: closing
    such a second handle would drop the locks this process holds on it.
    """
    _check_log_and_links(path)
    deadline = time.monotonic() + PATIENCE
    while True:
        connection = None
        try:
            connection = sqlite3.connect(path, PATIENCE, isolation_level=None, check_same_thread=False)
            _prepare(connection, path)
        except (sqlite3.Error, LedgerError) as error:
            if connection is not None and _length(f"{path}-wal"):
                close_leaving_log(connection)  # whatever it is, somebody may be using it
            elif connection is not None:
                connection.close()
            # Switching a new file to WAL is the one step where SQLite does not wait by itself.
            if getattr(error, "sqlite_errorname", "").startswith("SQLITE_BUSY") and time.monotonic() < deadline:
                time.sleep(0.01)
                continue
            raise explain(error, path, "open") from error
        return connection


def _check_log_and_links(path: Path) -> None:
    """Refuse a log without its ledger, which SQLite would remove, and a ledger with two names, which has two logs."""
    if not _length(str(path)) and _length(f"{path}-wal"):
        raise LedgerError(
            f"the ledger {path} is missing or empty, and {path.name}-wal, the log of one, is there.\n"
            "  Put the ledger back beside it: the log may hold answers that were given. It was left as it is; "
            "if its ledger is lost for good, move it away."
        )
    with contextlib.suppress(FileNotFoundError):
        links = os.stat(path).st_nlink
        if links > 1:
            raise LedgerError(
                f"the ledger {path} has {links} names (hard links): each has a log of its own, and what is recorded "
                "under one is lost to the others.\n"
                "  Close it everywhere, then keep one name and replace the others by copies or symbolic links.",
                links=links,
            )


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    version = read_version(connection, path)
    if version == 0:
        connection.execute(f"PRAGMA page_size={_PAGE}")  # of a file that has pages already it changes nothing
    if connection.execute("PRAGMA journal_mode=WAL").fetchone()[0] != "wal":
        raise LedgerError(
            f"the ledger {path} is on a file system where SQLite cannot keep a write-ahead log.\n"
            "  Nothing was charged. Keep the ledger on a disk of this machine, not on a network."
        )
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute(f"PRAGMA wal_autocheckpoint={_LOG}")
    if version == 0:
        connection.execute("BEGIN IMMEDIATE")
        if read_version(connection, path) == 0:  # another process may have been first
            make_schema(connection)
        connection.execute("COMMIT")


def open_to_read(path: Path) -> sqlite3.Connection:
    """Open a ledger where nothing can be written: on read-only media, or in somebody else's folder."""
    log = f"{path}-wal"
    # Without a log nobody is writing, and SQLite need not make the files by which it would find that out.
    how = "mode=ro" if _length(log) else "immutable=1"
    connection = None
    try:
        connection = sqlite3.connect(f"{path.as_uri()}?{how}", uri=True, isolation_level=None, check_same_thread=False)
        if read_version(connection, path) == 0:
            raise LedgerError(f"{path} is empty: no ledger was made in it yet")
    except (sqlite3.Error, LedgerError) as error:
        if connection is not None:
            connection.close()
        if isinstance(error, sqlite3.Error) and _length(log):
            raise LedgerError(
                f"the ledger {path} was not closed: its latest entries are in {path.name}-wal, and cannot be read "
                f"where nothing can be written ({error}).\n"
                "  Copy both files to a folder you can write to, and look at the copy."
            ) from error
        raise explain(error, path, "open") from error
    return connection


def is_writable(path: Path) -> bool:
    """Whether a ledger at this path can be written, as far as permissions and the file system tell."""
    return _obstacle(path) is None


def _obstacle(path: Path) -> Path | None:
    # Asked before SQLite is: it opens a file it may not write without a word, and leaves its own files beside it.
    for each in (path, path.parent):
        if os.path.exists(each) and not os.access(each, os.W_OK, effective_ids=os.access in os.supports_effective_ids):
            return each
    return None


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


def roll_back(connection: sqlite3.Connection | None) -> None:
    """Leave no transaction open, where SQLite has not already ended it."""
    with contextlib.suppress(sqlite3.Error):  # it may be closed by now
        if connection is not None and connection.in_transaction:
            connection.execute("ROLLBACK")


def close_leaving_log(connection: sqlite3.Connection) -> bool:
    """Close a connection, and leave the write-ahead log to those who go on with it; whether that was possible.

    SQLite removes the log when it believes that it is the last to close, and it can be wrong about that.
    """
    roll_back(connection)
    if _keep_log(connection):
        connection.close()
        return True
    abandon(connection)
    return False


_NO_CHECKPOINT_ON_CLOSE = 1006


def _keep_log(connection: sqlite3.Connection) -> bool:
    if hasattr(connection, "setconfig"):  # Python 3.12
        connection.setconfig(_NO_CHECKPOINT_ON_CLOSE, True)
        return True
    try:  # the same by hand: SQLite's own handle is the first thing in the connection's memory
        import _sqlite3
        import ctypes

        handle = ctypes.c_void_p.from_address(id(connection) + object.__basicsize__)
        configure, state = ctypes.CDLL(_sqlite3.__file__).sqlite3_db_config, ctypes.c_int(-1)
        for wanted in (1, -1):  # set it, and ask whether it is set
            state.value = -1
            if configure(handle, _NO_CHECKPOINT_ON_CLOSE, ctypes.c_int(wanted), ctypes.byref(state)) != 0:
                return False
    except (ImportError, AttributeError, OSError):
        return False
    return state.value == 1


def abandon(connection: sqlite3.Connection) -> None:
    """Never close this connection: the interpreter closes whatever it lets go of, so one reference more."""
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
