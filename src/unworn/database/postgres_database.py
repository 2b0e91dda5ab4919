"""Tables in a PostgreSQL database: for several processes and machines."""

from __future__ import annotations

import contextlib
import os
import secrets
import threading
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from unworn.database.database import Database, RunSQL
from unworn.database.database_errors import Busy, ConstraintBroken, DatabaseError, Unreachable
from unworn.database.portable_sql import for_psycopg
from unworn.database.postgres_pool import PATIENCE, PostgresPool, get_pool, import_psycopg
from unworn.database.postgres_url import PostgresUrl

if TYPE_CHECKING:
    from unworn.database.postgres_pool import Link

_WRITE = "BEGIN ISOLATION LEVEL SERIALIZABLE"
_READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_NUMBER = "SELECT pg_current_xact_id_if_assigned()::text"
_OUTCOME = "SELECT pg_xact_status(%s::text::xid8)"
_MARKS = "CREATE TABLE IF NOT EXISTS {schema}unworn_commits (link TEXT PRIMARY KEY, mark TEXT NOT NULL)"
_MARK = "INSERT INTO unworn_commits VALUES (%s, %s) ON CONFLICT (link) DO UPDATE SET mark = excluded.mark"
_MARKED = "SELECT 1 FROM {schema}unworn_commits WHERE link = %s AND mark = %s"
_MIGRATION = "SELECT pg_advisory_xact_lock(7310863271234051)"
"""One lock for all who make tables: two who make the same at once would both fail."""


class PostgresDatabase(Database):
    """Transactions as if one came after the other (SERIALIZABLE), durable when they have ended.

    Where the connection is lost at the very end, the server is asked what became of it: each transaction leaves a mark
    in a row of its connection's own. Its number alone would not do, for a server that crashed gives the numbers of
    lost transactions out again.
    """

    def __init__(self, url: str, prefix: str = "") -> None:
        self.place = PostgresUrl.parse(url, prefix)
        self.url = self.place.url
        self._psycopg = import_psycopg()
        self._here = threading.local()
        self._names: WeakKeyDictionary[Link, str] = WeakKeyDictionary()
        self._prefix = f"{self.place.schema}." if self.place.schema else ""
        self._closed, self._joined, self._is_laid_out = True, (0, ""), False
        pool = get_pool(self.place)
        pool.join()
        self._closed, self._joined = False, (os.getpid(), self.url)
        self._path = f"; SET LOCAL search_path TO {self.place.schema}" if self.place.schema else ""
        try:
            with pool.connection():
                pass  # reached, and durable
        except BaseException:
            self.close()
            raise

    @contextlib.contextmanager
    def transaction(self, *, write: bool = True) -> Iterator[RunSQL]:
        if getattr(self._here, "is_inside", False):
            raise DatabaseError("a transaction is open in this thread already: hand its run on")
        if self._closed:
            raise DatabaseError(f"{self.url} was closed; open it again")
        if write:
            self._lay_out()
        with contextlib.ExitStack() as stack:
            link = self._begin(stack, write)
            self._here.is_inside = True
            try:
                yield from self._use(link, write)
            finally:
                self._here.is_inside = False

    def _use(self, link: Link, write: bool) -> Iterator[RunSQL]:
        def run(statement: str, /, **values: Any) -> list[tuple[Any, ...]]:
            # SQLite has no truth values, and tables that both can hold have none.
            told = {name: int(value) if isinstance(value, bool) else value for name, value in values.items()}
            with self._explained(link):
                cursor = link.execute(for_psycopg(statement), told)
                return cursor.fetchall() if cursor.description is not None else []

        try:
            yield run
            self._commit(link, write)
        except BaseException:
            with contextlib.suppress(self._psycopg.Error):
                if not link.closed and link.info.transaction_status:
                    link.execute("ROLLBACK")
            raise

    def _begin(self, stack: contextlib.ExitStack, write: bool) -> Link:
        """A connection with a transaction open: those that a restart of the server has cut are let go of."""
        deadline = time.monotonic() + PATIENCE
        while True:
            pool = self.pool
            held = stack.enter_context(contextlib.ExitStack())
            link = held.enter_context(pool.connection())
            try:
                with self._explained(link):
                    link.execute((_WRITE if write else _READ) + self._path)
                return link
            except Busy:
                if time.monotonic() > deadline:
                    raise
                held.close()
                pool.forget_idle()

    def _commit(self, link: Link, write: bool) -> None:
        if link.info.transaction_status == self._psycopg.pq.TransactionStatus.INERROR:
            raise DatabaseError(f"a statement failed on {self.url}, so the transaction was undone: nothing was changed")
        number, mark = None, (self._link_name(link), secrets.token_hex(16))
        with self._explained(link):
            if write:
                row = link.execute(_NUMBER).fetchone()
                number = None if row is None else row[0]
            if number is not None:
                link.execute(_MARK, mark)
        try:
            link.execute("COMMIT")
        except self._psycopg.OperationalError as error:
            if not link.closed or number is None:  # refused, and undone; or it had changed nothing
                with self._explained(link):
                    raise
            self._resolve(number, mark, error)
        except self._psycopg.Error:
            with self._explained(link):
                raise

    def _resolve(self, number: str, mark: tuple[str, str], lost: Exception) -> None:
        """Return if a transaction whose end nobody heard was committed; ``Busy`` if it was not."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            with contextlib.suppress(self._psycopg.Error), self.pool.connection() as link:
                if not self._is_under_way(link, number):
                    if link.execute(_MARKED.format(schema=self._prefix), mark).fetchone() is not None:
                        return
                    raise Busy(f"the connection to {self.url} was lost: nothing was changed") from lost
            time.sleep(0.05)
        raise Unreachable(
            f"the connection to {self.url} was lost while a change was made: whether it was made is not known"
        ) from lost

    def _is_under_way(self, link: Link, number: str) -> bool:
        """Whether the server still works on a transaction, or on another that has its number by now."""
        try:
            row = link.execute(_OUTCOME, (number,)).fetchone()
        except self._psycopg.errors.InvalidParameterValue:
            return False  # the server crashed, and has not given this number out again
        return row is not None and row[0] == "in progress"

    def _link_name(self, link: Link) -> str:
        """A name for a connection that no other has, on any machine, ever."""
        return self._names.setdefault(link, secrets.token_hex(8))

    @contextlib.contextmanager
    def _explained(self, link: Link) -> Iterator[None]:
        try:
            yield
        except self._psycopg.Error as error:
            raise explain_error(error, link, self.url) from error
        except UnicodeEncodeError as error:
            raise DatabaseError(f"{self.url} keeps valid Unicode only: {error.reason}") from None

    @property
    def pool(self) -> PostgresPool:
        pool = get_pool(self.place)
        if self._joined[0] != os.getpid():  # forked: a child has connections of its own
            self._joined, self._here = (os.getpid(), self.url), threading.local()
            pool.join()
        return pool

    def _lay_out(self) -> None:
        """Make what every write needs, once. Whoever only looks makes nothing, and may have no right to."""
        if self._is_laid_out:
            return
        if self.place.schema:
            self._make_schema()
        self._make_marks()
        self._is_laid_out = True

    def _make_schema(self) -> None:
        with self.pool.connection() as link, self._explained(link):
            found = link.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", (self.place.schema,)).fetchone()
            if found is None:
                with self._exclusive_turn():
                    link.execute(f"CREATE SCHEMA IF NOT EXISTS {self.place.schema}")

    def _make_marks(self) -> None:
        with self.pool.connection() as link, self._explained(link):
            found = link.execute("SELECT to_regclass(%s)", (f"{self._prefix}unworn_commits",)).fetchone()
            if found is None or found[0] is None:
                with self._exclusive_turn():
                    link.execute(_MARKS.format(schema=self._prefix))

    @contextlib.contextmanager
    def _migration_turn(self) -> Iterator[None]:
        self._lay_out()  # before, because turns cannot be nested
        with self._exclusive_turn():
            yield

    @contextlib.contextmanager
    def _exclusive_turn(self) -> Iterator[None]:
        """By a connection of its own: a transaction sees the tables of the moment before it began to wait."""
        with self.pool.connection() as link:
            with self._explained(link):
                link.execute(f"BEGIN; {_MIGRATION}")
            try:
                yield
            finally:
                with contextlib.suppress(self._psycopg.Error):
                    link.execute("COMMIT")

    def _has_versions(self, run: RunSQL) -> bool:
        return run("SELECT to_regclass('unworn_migrations') IS NOT NULL") == [(True,)]

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            if self._joined[0] == os.getpid():
                get_pool(self.place).leave()

    def __del__(self) -> None:
        try:  # where the interpreter ends, contextlib may be gone already
            self.close()
        except Exception:
            return

    def __repr__(self) -> str:
        return f"PostgresDatabase({self.url!r})"


def explain_error(error: Any, link: Link, url: str) -> DatabaseError:
    """What a driver's error means here. Its details, which quote what is kept, stay out."""
    state = error.sqlstate or ""
    why = error.diag.message_primary or (str(error).strip().splitlines() or ["no reason was given"])[0]
    if link.closed or state.startswith("57P"):
        return Busy(f"the connection to {url} was lost: nothing was changed")
    if state in ("40001", "40P01", "55P03"):
        return Busy(f"others changed the same in {url}: nothing was changed")
    if state.startswith("23"):
        return ConstraintBroken(f"{why:.300}: nothing was changed")
    if state.startswith(("53", "58")):
        return Unreachable(f"{url} cannot be used just now: {why:.300}\n  Nothing was changed.")
    return DatabaseError(f"{url}: {why:.300}")
