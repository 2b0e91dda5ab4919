"""The tables of a ledger in PostgreSQL, and how entries are added to them, all of them or none."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from unworn.errors import Conflict, LedgerError, Tampered
from unworn.ledger.entry import GENESIS, Entry
from unworn.ledger.heads import Head
from unworn.ledger.keys import Key
from unworn.ledger.store import newcomers, refusal

if TYPE_CHECKING:
    from unworn.database.postgres_pool import Link

ROOM = "ledger"
"""What the ledger's tables are called among the migrations."""

# As in SQLite, the triggers stop mistakes, not forgers, who are found by the hashes. What may follow what is checked by
# the statement that adds it, and that nobody else has added the same by the primary key.
STEPS = (
    """
CREATE TABLE unworn_entries (
    holdout TEXT NOT NULL,
    idx BIGINT NOT NULL,
    previous TEXT NOT NULL,
    hash TEXT NOT NULL,
    body TEXT NOT NULL,
    signature TEXT NOT NULL,
    PRIMARY KEY (holdout, idx)
);
CREATE UNIQUE INDEX unworn_terms ON unworn_entries (holdout) WHERE idx = 0;
CREATE TABLE unworn_checkpoints (
    holdout TEXT NOT NULL,
    idx BIGINT NOT NULL,
    text TEXT NOT NULL,
    questions BLOB NOT NULL,
    signature TEXT NOT NULL,
    PRIMARY KEY (holdout, idx)
);
CREATE TABLE unworn_keys (holdout TEXT PRIMARY KEY, secret TEXT NOT NULL);
CREATE FUNCTION unworn_append_only() RETURNS trigger LANGUAGE plpgsql
    AS 'BEGIN RAISE EXCEPTION ''a ledger is append-only''; END';
CREATE TRIGGER no_change BEFORE UPDATE OR DELETE OR TRUNCATE ON unworn_entries
    FOR EACH STATEMENT EXECUTE FUNCTION unworn_append_only();
CREATE TRIGGER no_change BEFORE UPDATE OR DELETE OR TRUNCATE ON unworn_keys
    FOR EACH STATEMENT EXECUTE FUNCTION unworn_append_only();
""",
)

_SEALING = "SELECT pg_advisory_xact_lock(7310863271234052)"
"""Held by whoever starts a holdout: others must see it before they look whether theirs is there."""
_COLUMNS = "holdout, idx, previous, body, hash, signature"


@dataclass(frozen=True)
class PostgresEntries:
    """The statements of a ledger in one schema: they name it, so that no connection need be set to it."""

    schema: str

    def _at(self, table: str) -> str:
        return f"{self.schema}.unworn_{table}" if self.schema else f"unworn_{table}"

    def exist(self, link: Link) -> bool:
        row = link.execute("SELECT to_regclass(%s) IS NOT NULL", (self._at("entries"),)).fetchone()
        return row is not None and bool(row[0])

    def terms(self, link: Link) -> list[tuple[Any, ...]]:
        return link.execute(f"SELECT {_COLUMNS} FROM {self._at('entries')} WHERE idx = 0").fetchall()

    def read(self, link: Link, holdout: str, start: int, stop: int) -> list[tuple[Any, ...]]:
        chosen = f"SELECT {_COLUMNS} FROM {self._at('entries')} WHERE holdout = %s AND idx >= %s AND idx < %s"
        return link.execute(f"{chosen} ORDER BY idx", (holdout, start, stop)).fetchall()

    def head(self, link: Link, holdout: str) -> tuple[int, str]:
        chosen = f"SELECT idx, hash FROM {self._at('entries')} WHERE holdout = %s ORDER BY idx DESC LIMIT 1"
        row = link.execute(chosen, (holdout,)).fetchone()
        return (-1, GENESIS) if row is None else (int(row[0]), str(row[1]))

    def hash_at(self, link: Link, holdout: str, index: int) -> str | None:
        chosen = f"SELECT hash FROM {self._at('entries')} WHERE holdout = %s AND idx = %s"
        row = link.execute(chosen, (holdout, index)).fetchone()
        return None if row is None else str(row[0])

    def checkpoints(self, link: Link, holdout: str) -> list[tuple[Any, ...]]:
        chosen = f"SELECT holdout, idx, text, questions, signature FROM {self._at('checkpoints')} WHERE holdout = %s"
        return link.execute(f"{chosen} ORDER BY idx", (holdout,)).fetchall()

    def keep_checkpoint(self, link: Link, *row: Any) -> None:
        link.execute(
            f"INSERT INTO {self._at('checkpoints')} (holdout, idx, text, questions, signature) "
            "VALUES (%s, %s, %s, %s, %s) ON CONFLICT (holdout, idx) DO UPDATE "
            "SET text = excluded.text, questions = excluded.questions, signature = excluded.signature",
            row,
        )

    def key(self, link: Link, holdout: str) -> str | None:
        row = link.execute(f"SELECT secret FROM {self._at('keys')} WHERE holdout = %s", (holdout,)).fetchone()
        return None if row is None else str(row[0])

    def keep_key(self, link: Link, holdout: str, key: Key) -> None:
        """Keep a key; ``Conflict`` where another one is kept."""
        added = f"INSERT INTO {self._at('keys')} (holdout, secret) VALUES (%s, %s) ON CONFLICT DO NOTHING"
        link.execute(added, (holdout, key.hex()))
        kept = self.key(link, holdout)
        if kept is None or Key.from_hex(kept) != key:
            raise Conflict(f"another key is already kept for holdout {holdout[:12]}…", holdout=holdout)

    def add(self, link: Link, rows: Sequence[tuple[Any, ...]], first: Entry, expect: str) -> None:
        """Commit entries that follow ``expect``; else the error that says why they cannot.

        One statement, which is its own transaction. What it checks cannot change under it: an entry that is there
        stays. Of two writers with the same index the primary key lets one in, and has the other wait for the outcome.
        """
        columns = [list(column) for column in zip(*rows, strict=True)]
        follows = f"EXISTS (SELECT FROM {self._at('entries')} WHERE holdout = %s AND idx = %s AND hash = %s)"
        added = (
            f"INSERT INTO {self._at('entries')} ({_COLUMNS}) "
            "SELECT * FROM unnest(%s::text[], %s::bigint[], %s::text[], %s::text[], %s::text[], %s::text[]) "
            f"WHERE {'true' if first.index == 0 else follows}"
        )
        before = () if first.index == 0 else (first.holdout, first.index - 1, expect)
        count = link.execute(added, (*columns, *before)).rowcount
        if count == len(rows):
            return
        error = self.why_refused(link, first, expect)
        if error is not None and count == 0:
            raise error
        raise Tampered(
            f"entry {first.index} was written to the ledger, and {count} of {len(rows)} entries are there.\n"
            "  Something else changes these tables: see whether they are whole (unworn verify --ledger URL)."
        )

    def why_refused(self, link: Link, first: Entry, expect: str) -> LedgerError | None:
        """Why an entry cannot follow the last there is, if it cannot."""
        return refusal(first, expect, *self.head(link, first.holdout))

    def start(
        self, link: Link, rows: Sequence[tuple[Any, ...]], first: Entry, key: Key | None, among: Collection[str] | None
    ) -> None:
        """Commit a holdout's key and its first entries together, one such after the other."""
        with link.transaction():
            link.execute(_SEALING)
            known = [str(row[0]) for row in self.terms(link)] if among is not None else []
            error = newcomers(among, known) or self.why_refused(link, first, GENESIS)
            if error is not None:
                raise error
            if key is not None:
                self.keep_key(link, first.holdout, key)
            self.add(link, rows, first, GENESIS)

    def check_noted(self, link: Link, noted: Mapping[str, Head]) -> tuple[str, int | None, str | None] | None:
        """A holdout that lacks what was noted of it, its last index, and what stands in the place; or none."""
        if not noted:
            return None
        told = [list(column) for column in zip(*((name, *head) for name, head in noted.items()), strict=True)]
        entries = self._at("entries")
        row = link.execute(
            f"SELECT note.holdout, (SELECT max(idx) FROM {entries} AS e WHERE e.holdout = note.holdout), entry.hash "
            "FROM unnest(%s::text[], %s::bigint[], %s::text[]) AS note (holdout, idx, hash) "
            f"LEFT JOIN {entries} AS entry ON entry.holdout = note.holdout AND entry.idx = note.idx "
            "WHERE entry.hash IS DISTINCT FROM note.hash LIMIT 1",
            told,
        ).fetchone()
        return None if row is None else (str(row[0]), row[1], row[2])
