"""Small tables beside a ledger (submissions, tokens), in SQLite or PostgreSQL, with migrations.

They need less care than a ledger does (docs/ledger.md). What was told about rows, and what it cost, is in the ledger
alone: a lost row here is a name or a token that somebody enters again, never a charge that is forgotten. So a table
trusts SQLite's own POSIX locks, which a process loses when it copies the file while it is open; a ledger does not.
"""

from __future__ import annotations

import os
from pathlib import Path

from unworn.database.database import Database, RunSQL
from unworn.database.database_errors import Busy, ConstraintBroken, DatabaseError, NewerTables, Unreachable
from unworn.database.postgres_url import is_postgres

__all__ = [
    "Busy",
    "ConstraintBroken",
    "Database",
    "DatabaseError",
    "NewerTables",
    "RunSQL",
    "Unreachable",
    "open_database",
]


def open_database(where: str | os.PathLike[str], prefix: str = "") -> Database:
    """The tables in a SQLite file (a path or ``sqlite:///path``) or in PostgreSQL (``postgresql+psycopg://…``).

    With a ``prefix`` they are apart from those of other prefixes at the same place: in a schema of this name in
    PostgreSQL, in a file of their own (``board.<prefix>.db``) in SQLite.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     database = open_database(f"{folder}/board.db")
    ...     database.migrate("boards", ["CREATE TABLE teams (name TEXT PRIMARY KEY, tries BIGINT NOT NULL)"])
    ...     _ = database.transact(lambda run: run("INSERT INTO teams VALUES (:name, :tries)", name="a", tries=3))
    ...     found = database.select("SELECT tries FROM teams WHERE name = :name", name="a")
    ...     database.close()
    >>> found
    [(3,)]
    """
    if prefix and not (prefix.isascii() and prefix.replace("_", "a").isalnum() and prefix == prefix.lower()):
        raise DatabaseError(f"a prefix has small letters, digits and _ only, not {prefix!r:.60}")
    if isinstance(where, str) and is_postgres(where):
        from unworn.database.postgres_database import PostgresDatabase

        return PostgresDatabase(where, prefix)
    from unworn.database.sqlite_database import SQLiteDatabase

    if isinstance(where, str):
        scheme, mark, rest = where.partition("://")
        if mark and not (scheme == "sqlite" and rest.startswith("/") and len(rest) > 1):
            raise DatabaseError(
                f"no tables are kept at '{scheme:.20}://': use a path, 'sqlite:///board.db', or "
                "'postgresql+psycopg://user@host/database'"
            )
        where = rest[1:] if mark else where
    path = Path(where)
    if not path.name or "\0" in str(path):
        raise DatabaseError(f"{str(path)!r:.80} names no file: use a path such as 'board.db'")
    return SQLiteDatabase(path.with_name(f"{path.stem}.{prefix}{path.suffix}") if prefix else path)
