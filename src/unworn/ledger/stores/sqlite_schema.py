"""The tables and rules of a ledger in SQLite."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from unworn.errors import LedgerError
from unworn.ledger.entry import GENESIS

VERSION = 2
"""What is read here. A ledger is made with format 1, and has 2 from its first checkpoint on."""
_WITHOUT_CHECKPOINTS = 1
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


_CHECKPOINTS = """
CREATE TABLE checkpoints (
    holdout TEXT NOT NULL,
    idx INTEGER NOT NULL,
    text TEXT NOT NULL,
    questions BLOB NOT NULL,
    signature TEXT NOT NULL,
    UNIQUE (holdout, idx)
);
"""


def make_schema(connection: sqlite3.Connection) -> None:
    """Make the tables and rules, as part of whatever transaction is open."""
    for statement in _statements(_SCHEMA.format(genesis=GENESIS)):
        connection.execute(statement)
    connection.execute(f"PRAGMA user_version={_WITHOUT_CHECKPOINTS}")


def has_checkpoints(connection: sqlite3.Connection) -> bool:
    """Whether there is a table for them."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0]) > _WITHOUT_CHECKPOINTS


def add_checkpoints(connection: sqlite3.Connection) -> None:
    """Make their table, as part of whatever transaction is open."""
    connection.execute(_CHECKPOINTS)
    connection.execute(f"PRAGMA user_version={VERSION}")


_VERSION_AND_NAMES = "SELECT user_version, name FROM pragma_user_version LEFT JOIN sqlite_master"


def read_version(connection: sqlite3.Connection, path: Path) -> int:
    """The format of a ledger, 0 for an empty file; an error for a newer one and for what is no ledger."""
    # In one statement, and so of one moment: another process may be making the schema just now.
    try:
        rows = connection.execute(_VERSION_AND_NAMES).fetchall()
    except UnicodeDecodeError as error:  # SQLite's message quotes the damaged name of a table
        raise sqlite3.DatabaseError("malformed database schema") from error
    version, names = int(rows[0][0]), {name for _, name in rows if name is not None}
    if version > VERSION:
        raise LedgerError(
            f"the ledger {path} has format {version}, this unworn reads up to {VERSION}: upgrade it",
            version=version,
        )
    if version < 0 or (version == 0) != (not names):
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
