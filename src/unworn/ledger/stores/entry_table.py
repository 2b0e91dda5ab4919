"""The table of entries in SQLite: how it is asked, and how entries are added to it, all of them or none."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Sequence
from functools import cache
from typing import Any

from unworn.errors import Tampered
from unworn.ledger.collector_pause import pause_collection
from unworn.ledger.entry import GENESIS, Entry
from unworn.ledger.store import newcomers, refusal

_COLUMNS = "holdout, idx, previous, body, hash, signature"
READ = f"SELECT {_COLUMNS} FROM entries WHERE holdout = ? AND idx >= ? AND idx < ? ORDER BY idx"
TERMS = f"SELECT {_COLUMNS} FROM entries WHERE idx = 0"
HEAD = "SELECT idx, hash FROM entries WHERE holdout = ? ORDER BY idx DESC LIMIT 1"
_HASH = "SELECT hash FROM entries WHERE holdout = ? AND idx = ?"
_HOLDOUTS = "SELECT holdout FROM entries WHERE idx = 0"
_CHUNK = 32


def add_entries(
    connection: sqlite3.Connection, entries: Sequence[Entry], expect: str, among: Collection[str] | None = None
) -> None:
    """Commit entries that follow ``expect``, where no other holdouts than those ``among`` are here; else an error.

    A few entries are one statement, which is its own transaction, and the trigger on the table checks every head. One
    statement rather than four is quicker, and more so with threads: each gives up the interpreter's lock, and must win
    it back from those who wait for this commit. Whoever calls takes back what an error leaves open.
    """
    if len(entries) <= _CHUNK and among is None:
        try:
            insert_entries(connection, entries)
            return
        except sqlite3.IntegrityError:  # nothing was done: below it is said why
            pass
    connection.execute("BEGIN IMMEDIATE")
    head = connection.execute(HEAD, (entries[0].holdout,)).fetchone() or (-1, GENESIS)
    error = refusal(entries[0], expect, *head)
    if among is not None:
        error = newcomers(among, [holdout for (holdout,) in connection.execute(_HOLDOUTS)]) or error
    if error is not None:
        raise error
    for start in range(0, len(entries), _CHUNK):
        insert_entries(connection, entries[start : start + _CHUNK])
    connection.execute("COMMIT")


def insert_entries(connection: sqlite3.Connection, entries: Sequence[Entry]) -> None:
    """As part of whatever transaction is open; an error if they are not all there afterwards."""
    values = [value for entry in entries for value in entry_row(entry)]
    before = connection.total_changes
    connection.execute(_insertion(len(entries)), values)
    if connection.total_changes - before != len(entries):  # a trigger swallowed some, or took them out again
        raise _lost(entries[-1].index)


def check_entry_is_there(connection: sqlite3.Connection, entry: Entry) -> None:
    """Read back what was written: by the connection that wrote it, it was counted; by another one it must be read."""
    if connection.execute(_HASH, (entry.holdout, entry.index)).fetchone() != (entry.hash,):
        raise _lost(entry.index)


def entry_row(entry: Entry) -> tuple[Any, ...]:
    """An entry as the columns of the table."""
    return entry.holdout, entry.index, entry.previous, entry.text, entry.hash, entry.signature


class EntryReader:
    """Entries from rows of the table. Entry 0 is looked at again and again, and may be long: it is read once, while
    its row stays the same."""

    def __init__(self) -> None:
        self._terms: dict[str, tuple[tuple[Any, ...], Entry]] = {}

    def read(self, rows: Sequence[tuple[Any, ...]]) -> list[Entry]:
        """The entries, in the order of the rows."""
        with pause_collection():
            return [self._first(row) if row[1] == 0 else Entry.from_row(*row) for row in rows]

    def remember(self, terms: Entry) -> None:
        """Spare reading back what was just written."""
        self._terms[terms.holdout] = entry_row(terms), terms

    def _first(self, row: tuple[Any, ...]) -> Entry:
        known = self._terms.get(row[0])
        if known is None or known[0] != row:
            known = self._terms[row[0]] = row, Entry.from_row(*row)
        return known[1]


def _lost(index: int) -> Tampered:
    return Tampered(
        f"entry {index} was written to the ledger, and is not there.\n"
        "  Something else changes this file: open the ledger again, and see whether it is whole.",
        index=index,
    )


@cache
def _insertion(rows: int) -> str:
    return f"INSERT INTO entries ({_COLUMNS}) VALUES " + ", ".join(["(?, ?, ?, ?, ?, ?)"] * rows)
