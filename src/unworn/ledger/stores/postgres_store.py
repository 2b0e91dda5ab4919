"""A store in a PostgreSQL database: durable, for any number of threads, processes and machines."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from unworn.database import DatabaseError
from unworn.database.postgres_pool import import_psycopg
from unworn.database.postgres_url import PostgresUrl
from unworn.errors import Conflict, LedgerError, Tampered
from unworn.ledger.checkpoint import Checkpoint
from unworn.ledger.entry import GENESIS, Entry
from unworn.ledger.heads import NotedHeads
from unworn.ledger.key_files import KeyFiles
from unworn.ledger.keys import Key
from unworn.ledger.registry.home import home_folder
from unworn.ledger.store import check_run, check_terms
from unworn.ledger.stores.entry_table import EntryReader, entry_row
from unworn.ledger.stores.postgres_entries import ROOM, STEPS, PostgresEntries
from unworn.ledger.stores.postgres_session import PostgresSession

if TYPE_CHECKING:
    from unworn.database.postgres_pool import Link

T = TypeVar("T")

_LARGEST = 2**63 - 1
_NO_RIGHT = "42501"
"""PostgreSQL's name for what a role is not allowed."""


class PostgresStore:
    """Entries, checkpoints and keys in tables ``unworn_…``; with ``?schema=bench`` in a schema of their own.

    The server says that an entry is there when it is on its disk: a server that would not wait for that is refused.
    Keys are in a table of their own beside the entries, so that an auditor's role can be shown the ledger without
    them; with ``?keys=/folder`` they are files, as they are beside a SQLite file. A password is used and never kept.

    How far each holdout had come is noted in the per-user directory of every machine that writes, so that a database
    that was brought back from an older backup is found out.
    """

    def __init__(self, url: str, *, write: bool = True, restoring: bool = False) -> None:
        """Open a ledger, or make it; the parameters are those of :class:`SQLiteStore`."""
        self._closed = True
        try:
            self.place = PostgresUrl.parse(url)
        except DatabaseError as error:
            raise LedgerError(error.message) from None
        self.url: str | None = self.place.url
        self._writes, self._restoring = write, restoring
        self._entries = PostgresEntries(self.place.schema)
        self._files = KeyFiles(Path(self.place.keys).expanduser()) if self.place.keys else None
        self._heads = NotedHeads(_noted_at(self.place.url))
        self._reader = EntryReader()
        self._unique_violation = import_psycopg().errors.UniqueViolation
        self._session = PostgresSession(url, self._check_length)
        self._closed = False
        try:
            if write:
                self._lay_out()
            self._is_there = write
            self._is_there = self._read(self._entries.exist, False)
        except BaseException:
            self.close()
            raise

    # ---- what a store does

    def holdouts(self) -> dict[str, Entry]:
        return {entry.holdout: entry for entry in self._select(self._entries.terms)}

    def read(self, holdout: str, start: int = 0, stop: int | None = None) -> list[Entry]:
        end = _LARGEST if stop is None else min(stop, _LARGEST)
        return self._select(lambda link: self._entries.read(link, holdout, start, end))

    def length(self, holdout: str) -> int:
        return self._read(lambda link: self._entries.head(link, holdout)[0], -1) + 1

    def checkpoints(self, holdout: str) -> list[Checkpoint]:
        return [Checkpoint(*row) for row in self._rows(lambda link: self._entries.checkpoints(link, holdout))]

    def keep_checkpoint(self, checkpoint: Checkpoint) -> None:
        kept = checkpoint.holdout, checkpoint.index, checkpoint.text, checkpoint.questions, checkpoint.signature
        self._do(lambda link, _: self._entries.keep_checkpoint(link, *kept))

    def create(self, terms: Entry, key: Key, among: Collection[str] | None = None) -> None:
        check_terms(terms, key)
        if self._files is None:
            self._append([terms], GENESIS, key, among)
            return
        is_new = not self.read(terms.holdout, 0, 1) and self._files.write(terms.holdout, key)
        try:
            self._append([terms], GENESIS, None, among)
        except Conflict:
            if is_new and not self.read(terms.holdout, 0, 1):  # a key that nothing was sealed with
                self._files.remove(terms.holdout)
            raise

    def append(self, entries: Sequence[Entry], expect: str) -> None:
        check_run(entries, expect)
        self._append(entries, expect)

    def key(self, holdout: str) -> Key | None:
        if self._files is not None:
            return self._files.read(holdout)
        try:
            text = self._read(lambda link: self._entries.key(link, holdout), None)
        except LedgerError as error:
            if error.numbers.get("state") == _NO_RIGHT:  # an auditor, who is shown the ledger and not the keys
                return None
            raise
        return None if text is None else Key.from_hex(text)

    def explain_missing_key(self, holdout: str) -> str:
        """A sentence on where the keys of this ledger are."""
        if self._files is not None:
            return f"  Its keys are files in {self._files.folder}: bring the key there, or ask where that folder is.\n"
        return "  Its keys are in the table unworn_keys, which your role may not be allowed to read.\n"

    def keep_key(self, holdout: str, key: Key) -> None:
        if self._files is not None:
            self._files.write(holdout, key)
        else:
            self._do(lambda link, _: self._entries.keep_key(link, holdout, key))

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._heads.close()
            self._session.close()

    def __del__(self) -> None:
        try:  # where the interpreter ends, contextlib may be gone already
            self.close()
        except Exception:
            return

    def __repr__(self) -> str:
        return f"PostgresStore({self.url!r})"

    # ---- how

    def _append(
        self, entries: Sequence[Entry], expect: str, key: Key | None = None, among: Collection[str] | None = None
    ) -> None:
        for entry in entries:
            _ = entry.signature  # made when it is first read: now, and not while others wait
        first, last = entries[0], entries[-1]

        def add(link: Link, again: bool) -> None:
            rows = [entry_row(entry) for entry in entries]
            if again and self._entries.hash_at(link, last.holdout, last.index) == last.hash:
                return  # it had been committed when the connection was lost
            try:
                if expect == GENESIS:
                    self._entries.start(link, rows, first, key, among)
                else:
                    self._entries.add(link, rows, first, expect)
            except (self._unique_violation, Conflict) as error:  # another writer was first; or we were, unheard
                if again and self._entries.hash_at(link, last.holdout, last.index) == last.hash:
                    return
                if isinstance(error, Conflict):
                    raise
                raise (self._entries.why_refused(link, first, expect) or _moved(str(self.url))) from None

        self._do(add)
        if not self._restoring:  # a backup may end before what was told: the note that says so must stay
            self._note(last)

    def _do(self, work: Callable[[Link, bool], None]) -> None:
        """Have something written. It may be done twice, where a connection was lost: so it is something that may."""
        self._check_open()
        if not self._writes:
            raise LedgerError(f"the ledger {self.url} was opened to be read: open it for writing to ask")
        self._session.run(work, write=True)

    def _read(self, work: Callable[[Link], T], otherwise: T) -> T:
        self._check_open()
        return self._session.run(lambda link, _: work(link) if self._tables(link) else otherwise)

    def _tables(self, link: Link) -> bool:
        """Whether the tables are there: whoever only reads finds them missing, and makes none."""
        if not self._is_there:
            self._is_there = self._entries.exist(link)
        return self._is_there

    def _rows(self, work: Callable[[Link], list[tuple[Any, ...]]]) -> list[tuple[Any, ...]]:
        nothing: list[tuple[Any, ...]] = []
        return self._read(work, nothing)

    def _select(self, work: Callable[[Link], list[tuple[Any, ...]]]) -> list[Entry]:
        return self._reader.read(self._rows(work))

    def _check_open(self) -> None:
        if self._closed:
            raise LedgerError(f"the ledger {self.url} was closed; open it again")

    def _lay_out(self) -> None:
        try:
            self._session.database.migrate(ROOM, STEPS)
        except DatabaseError as error:
            raise LedgerError(f"no ledger can be kept here: {error.message}") from None

    def _note(self, last: Entry) -> None:
        with contextlib.suppress(OSError):
            self._heads.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._heads.note(last.holdout, last.index, last.hash)

    def _check_length(self, link: Link) -> None:
        """Refuse a ledger that lacks what was told from it: at first, and after every reconnection."""
        noted = {} if self._restoring else self._heads.read()
        if not noted:
            return
        gone = next(iter(noted)), None, None
        if (found := self._entries.check_noted(link, noted) if self._tables(link) else gone) is None:
            return
        holdout, last, other = found
        index, hashed = noted[holdout]
        state = "is not in it at all" if last is None else f"ends at entry {last}"
        state = "has another entry in that place" if other is not None else state
        raise Tampered(
            f"the ledger {self.url} lacks answers that were given: holdout {holdout[:8]}… had entry {index} "
            f"({hashed[:12]}…), and {state}.\n"
            "  The database was brought back from an older backup, or replaced by another. Bring the newest back.\n"
            "  If it is lost for good these rows must not be asked again; what was noted here is in "
            f"{self._heads.folder}.",
            holdout=holdout,
            index=index,
            head=hashed,
        )


def _moved(url: str) -> Conflict:
    return Conflict(f"the ledger {url} has moved on.\n  Nothing was charged. Read the new entries and try again.")


def _noted_at(url: str) -> Path:
    """Where it is noted, on this machine, how far the ledger at a URL had come."""
    try:
        home = home_folder()
    except RuntimeError:  # a user without a home: nothing is noted there
        home = Path(os.devnull)
    return home / "heads" / hashlib.sha256(url.encode()).hexdigest()[:32]
