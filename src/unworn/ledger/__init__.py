"""The record of every answer: append-only, hash-chained, signed.

A ledger knows holdouts, entries and keys. What an entry says is for others to read.
"""

from __future__ import annotations

import os
import re

from unworn.basics.display import show_value
from unworn.database.database_errors import DatabaseError
from unworn.database.postgres_url import PostgresUrl, is_postgres
from unworn.errors import LedgerError
from unworn.ledger.chain import verify
from unworn.ledger.entry import GENESIS, Entry
from unworn.ledger.keys import Key, check_signature
from unworn.ledger.store import Store
from unworn.ledger.stores.memory_store import MemoryStore

__all__ = [
    "GENESIS",
    "Entry",
    "Key",
    "MemoryStore",
    "Store",
    "check_signature",
    "ledger_exists",
    "ledger_url",
    "open_store",
    "verify",
]

_SUPPORTED = (
    "a path such as 'churn.db', 'sqlite:///churn.db', 'sqlite:////abs/churn.db', "
    "'postgresql+psycopg://user@host/database', or None for memory"
)
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):/")


def open_store(where: str | os.PathLike[str] | Store | None, *, write: bool = True, restoring: bool = False) -> Store:
    """The store at a path or URL; ``None`` is memory, and a store is itself.

    With ``write=False`` a ledger can be looked at where nothing can be written; with ``restoring=True`` one opens that
    lacks what was told from it, so that a backup can be loaded.

    >>> open_store(None).url is None
    True
    >>> open_store("postgresql://host/db")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    unworn.errors.LedgerError: no store is known for 'postgresql://'; supported are a path such as ...
    """
    if where is None:
        return MemoryStore()
    if isinstance(where, str) and is_postgres(where):
        from unworn.ledger.stores.postgres_store import PostgresStore  # here, because it needs an extra

        return PostgresStore(where, write=write, restoring=restoring)
    if isinstance(where, str | os.PathLike):
        return _sqlite(_path(where), write, restoring)
    if isinstance(where, Store):
        return where
    raise LedgerError(
        f"a ledger cannot be of type {type(where).__name__}; supported are {_SUPPORTED}, or an object with the "
        "methods of unworn.ledger.Store"
    )


def ledger_url(where: str | os.PathLike[str]) -> str:
    """The URL of the store at a path or URL, by its real path: the same however it is reached. Nothing is opened.

    >>> ledger_url("postgresql+psycopg://ada:secret@host/lab")
    'postgresql+psycopg://ada@host/lab'
    """
    if isinstance(where, str) and is_postgres(where):
        return _postgres_url(where)
    return f"sqlite:///{os.path.realpath(os.path.expanduser(_path(where)))}"


def ledger_exists(url: str) -> bool:
    """Whether a file is there; of a ledger that is no file nobody can say that it is not."""
    return not url.startswith("sqlite:///") or os.path.exists(url.removeprefix("sqlite:///"))


def _path(where: str | os.PathLike[str]) -> str | os.PathLike[str]:
    if "\0" in str(where):
        raise LedgerError(f"{show_value(str(where))} names no file: no path holds a character 0")
    if not isinstance(where, str):
        return where
    scheme = _SCHEME.match(where)
    if scheme is None:
        path = where
    elif where.startswith("sqlite:///"):
        path = where.removeprefix("sqlite:///")
    elif scheme[1].lower() == "sqlite":
        raise LedgerError(f"a SQLite URL has three slashes and a path; {where!r:.80} does not: use {_SUPPORTED}")
    else:
        raise LedgerError(f"no store is known for '{scheme[1]}://'; supported are {_SUPPORTED}")
    if not path.strip():
        raise LedgerError(f"{where!r} names no file: use {_SUPPORTED}")
    return path


def _postgres_url(where: str) -> str:
    try:
        return PostgresUrl.parse(where).url
    except DatabaseError as error:
        raise LedgerError(error.message) from None


def _sqlite(path: str | os.PathLike[str], write: bool, restoring: bool) -> Store:
    from unworn.ledger.stores.sqlite_store import SQLiteStore  # here, so that whoever keeps no file does not load it

    return SQLiteStore(path, write=write, restoring=restoring)
