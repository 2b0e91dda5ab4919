"""Whether a ledger's file is whole: its pages, its rules, its rows, and as long as it was known to be.

Changed text is found by hashes and signatures. What they cannot find is what is missing.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from unworn.errors import LedgerError, Tampered
from unworn.ledger.entry import is_holdout
from unworn.ledger.heads import Head
from unworn.ledger.stores.sqlite_schema import add_checkpoints, has_checkpoints, make_schema

_RULES = "SELECT type, name, tbl_name, sql FROM sqlite_master"
_CHAINS = "SELECT holdout, typeof(holdout), count(*), min(idx), max(idx) FROM entries GROUP BY holdout"
_INDEX = "SELECT holdout FROM entries INDEXED BY terms WHERE idx = 0"
_AT = "SELECT hash FROM entries WHERE holdout = ? AND idx = ?"
_AT_ONCE = 2**26
"""Bytes of a ledger all of whose pages are read whenever it is opened: some 15,000 entries."""
_LAST = "SELECT max(idx) FROM entries WHERE holdout = ?"


def check_rules(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse tables, indexes and triggers other than a ledger's: a trigger can swallow what it is given."""
    rules, expected = set(connection.execute(_RULES).fetchall()), _expected_rules(has_checkpoints(connection))
    if rules == expected:
        return
    changed = sorted({str(name) for _, name, _, _ in rules ^ expected})
    raise LedgerError(
        f"{path} is a SQLite file, but not a whole ledger: {', '.join(map(repr, changed))} is missing, changed or "
        "does not belong there.\n  Restore it from a backup, or choose another name."
    )


def check_rows(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse damaged pages, and rows that belong to no chain from entry 0 on without a gap.

    Of a file that is larger than ``_AT_ONCE`` only the names of all chains are looked at, and that each has an entry 0:
    the rest whoever opens a holdout reads, or has a signed checkpoint for (see docs/ledger.md), and whoever verifies it
    reads all of it. To read five gigabytes at once would keep all others from asking meanwhile.
    """
    pages, size = (connection.execute(f"PRAGMA page_{what}").fetchone()[0] for what in ("count", "size"))
    if pages * size > _AT_ONCE:
        _check_ends(connection, path)
        return
    # Twice as quick as integrity_check, which would also compare the index with the rows: that is done below.
    problems = [str(row[0]) for row in connection.execute("PRAGMA quick_check(3)")]
    if problems != ["ok"]:
        raise Tampered(f"the ledger {path} is damaged: {'; '.join(problems):.300}\n  Restore it from a backup.")
    chains = connection.execute(_CHAINS).fetchall()
    if Counter(connection.execute(_INDEX)) != Counter((chain[0],) for chain in chains):
        raise Tampered(f"the ledger {path} is damaged: its index names other holdouts.\n  Restore it from a backup.")
    for holdout, kind, count, first, last in chains:
        # Of a damaged row anything may be read: whole numbers are what they are compared with.
        if kind != "text" or not is_holdout(holdout) or (first, last) != (0, count - 1):
            raise Tampered(
                f"the ledger {path} is damaged: {count:,} entries from {first!r} to {last!r} belong to holdout "
                f"{holdout!r:.40}, which is not a whole chain.\n  Restore it from a backup."
            )


def _check_ends(connection: sqlite3.Connection, path: Path) -> None:
    """The names of all holdouts, found by going from one to the next, and that each has an entry 0."""
    names: list[tuple[object]] = []
    row = connection.execute("SELECT min(holdout) FROM entries").fetchone()
    while row[0] is not None:
        names.append(row)
        last = connection.execute(_LAST, row).fetchone()[0]
        first = connection.execute(_AT, (row[0], 0)).fetchone()
        if not is_holdout(row[0]) or not isinstance(last, int) or first is None:
            raise Tampered(
                f"the ledger {path} is damaged: entries up to {last!r} belong to holdout {row[0]!r:.40}, which is not "
                "a whole chain.\n  Restore it from a backup."
            )
        row = connection.execute("SELECT min(holdout) FROM entries WHERE holdout > ?", row).fetchone()
    if Counter(connection.execute(_INDEX)) != Counter(names):
        raise Tampered(f"the ledger {path} is damaged: its index names other holdouts.\n  Restore it from a backup.")


def check_length(connection: sqlite3.Connection, path: Path, noted: Mapping[str, Head]) -> None:
    """Refuse a ledger that lacks what was told from it."""
    for holdout, (index, hashed) in noted.items():
        row = connection.execute(_AT, (holdout, index)).fetchone()
        if row == (hashed,):
            continue
        last = connection.execute(_LAST, (holdout,)).fetchone()[0]
        state = "is not in it at all" if last is None else f"ends at entry {last}"
        state = "has another entry in that place" if row is not None else state
        raise Tampered(
            f"the ledger {path} lacks answers that were given: holdout {holdout[:8]}… had entry {index} "
            f"({hashed[:12]}…), and {state}.\n"
            "  It was cut off, or replaced by an older copy or by another ledger. Bring the newest file back, with its "
            f"-wal file, or a backup: unworn ledger {path.name} --restore FILE.\n"
            "  If it is lost for good these rows must not be asked again. To read what is left, copy the file alone, "
            f"without {path.name}.keys.",
            holdout=holdout,
            index=index,
            head=hashed,
        )


@cache
def _expected_rules(checkpoints: bool) -> frozenset[tuple[str, str, str, str | None]]:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    try:
        make_schema(connection)
        if checkpoints:
            add_checkpoints(connection)
        return frozenset(connection.execute(_RULES).fetchall())
    finally:
        connection.close()
