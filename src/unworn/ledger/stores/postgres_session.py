"""How a ledger speaks with PostgreSQL: again where the server was restarted, and never within itself."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from unworn.database import Busy, DatabaseError
from unworn.database.postgres_database import PostgresDatabase, explain_error
from unworn.database.postgres_pool import PATIENCE, import_psycopg
from unworn.errors import LedgerError, UnwornError
from unworn.ledger.store import check_reentry

if TYPE_CHECKING:
    from unworn.database.postgres_pool import Link

T = TypeVar("T")


class PostgresSession:
    """Runs pieces of work with a connection of the process's pool.

    A piece of work is told whether it is done again because a connection was lost: then what it did before may have
    been committed, and it looks first. ``check`` is called before the first, and before the next after every loss.
    """

    def __init__(self, url: str, check: Callable[[Link], None]) -> None:
        self._psycopg = import_psycopg()
        try:
            self.database = PostgresDatabase(url)
        except DatabaseError as error:
            raise LedgerError(error.message) from None
        self.url, self._check = self.database.url, check
        self._here = threading.local()
        self._losses_known = -1

    def run(self, work: Callable[[Link, bool], T], *, write: bool = False) -> T:
        """What the work returns; ``LedgerError`` where the server does not come back in time."""
        order = getattr(self._here, "order", None)
        if order is None:
            order = self._here.order = threading.RLock()  # this thread's own: who holds it is in the middle of a work
        check_reentry(order)
        with order:
            return self._run(work, write)

    def _run(self, work: Callable[[Link, bool], T], write: bool) -> T:
        deadline, again = time.monotonic() + PATIENCE, False
        while True:
            pool = self.database.pool
            try:
                with pool.connection() as link:
                    try:
                        if self._losses_known != pool.losses:
                            losses = pool.losses
                            self._check(link)
                            self._losses_known = losses
                        return work(link, again)
                    except self._psycopg.Error as error:
                        why, cause = explain_error(error, link, self.url), error
                        lost = link.closed
            except DatabaseError as error:  # no connection was to be had
                raise self._explain(error, again and write) from None
            again = again or lost
            if not isinstance(why, Busy) or time.monotonic() > deadline:
                raise self._explain(why, again and write, cause.sqlstate) from cause
            if lost:
                pool.forget_idle()

    def _explain(self, why: UnwornError, is_unknown: bool, state: str | None = None) -> LedgerError:
        """If a connection was lost in the middle of a commit, nobody knows what became of it."""
        unknown = "\n  What was just written is not released, and may have been charged." if is_unknown else ""
        return LedgerError(f"the ledger could not be used: {why.message}{unknown}", state=state)

    def close(self) -> None:
        self.database.close()
