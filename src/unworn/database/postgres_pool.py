"""Connections to PostgreSQL: few, shared by all that this process keeps in one database, and durable or refused.

A thousand boards in one database need no more connections than there are threads at work. A connection is handed back
only when it is idle; one that was lost, or left in the middle of something, is closed.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import threading
import time
from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from unworn.database.database_errors import DatabaseError, Unreachable
from unworn.database.postgres_url import PostgresUrl
from unworn.errors import MissingExtra

if TYPE_CHECKING:
    import psycopg

    Link = psycopg.Connection[tuple[Any, ...]]

_MOST = 16
"""Connections of one process to one database. A thread that has one already may open another beyond them: it would
otherwise wait for those who wait for it."""
PATIENCE = 15.0
"""Seconds that a server may take to come back, once it has been reached."""
_SETTINGS = (
    "SELECT current_setting('fsync'), current_setting('full_page_writes'), current_setting('synchronous_commit'), "
    "current_setting('server_encoding'), current_setting('server_version_num')::int"
)
_OLDEST = 130000


class PostgresPool:
    """The connections of one process to one database."""

    def __init__(self, place: PostgresUrl) -> None:
        self.place = place
        self.losses = 0
        """How often a connection was lost: whoever sees it grow looks whether all is still there."""
        self._idle: deque[Link] = deque()
        self._room = threading.Semaphore(_MOST)
        self._here = threading.local()
        self._was_reached = False
        self._users, self._lock = 0, threading.Lock()

    @contextlib.contextmanager
    def connection(self) -> Iterator[Link]:
        """A connection to use alone, outside of any transaction."""
        held = getattr(self._here, "held", 0)
        if not held and not self._room.acquire(timeout=2 * PATIENCE):
            raise Unreachable(f"all {_MOST} connections to {self.place.url} were in use for {2 * PATIENCE:.0f} s")
        self._here.held = held + 1
        link = None
        try:
            link = self._take()
            yield link
        finally:
            self._here.held = held
            if link is not None:
                self._put_back(link)
            if not held:
                self._room.release()

    def _take(self) -> Link:
        while self._idle:
            with contextlib.suppress(IndexError):
                link = self._idle.pop()
                if not link.closed:
                    return link
        return self._reach()

    def _put_back(self, link: Link) -> None:
        if link.closed or link.info.transaction_status or self._users == 0 or len(self._idle) >= _MOST:
            self.losses += bool(link.closed)
            link.close()
        else:
            self._idle.append(link)

    def _reach(self) -> Link:
        psycopg = import_psycopg()
        deadline, pause = time.monotonic() + PATIENCE, 0.02
        while True:
            try:
                link = _connect(self.place)
                self._was_reached = True
                return link
            except psycopg.Error as error:
                wait = self._was_reached or "starting up" in str(error) or "recovery" in str(error)
                if not wait or time.monotonic() > deadline:
                    why = str(error).strip().splitlines() or ["no reason was given"]
                    raise Unreachable(f"{self.place.url} cannot be reached: {why[-1]:.300}") from None
            self.losses += 1
            time.sleep(pause)
            pause = min(2 * pause, 0.5)

    def forget_idle(self) -> None:
        """Close all that nobody uses: where one connection was lost, the server has most likely been restarted."""
        while self._idle:
            with contextlib.suppress(IndexError):
                self._idle.pop().close()

    def join(self) -> None:
        with self._lock:
            self._users += 1

    def leave(self) -> None:
        """The last who leaves closes what is open."""
        with self._lock:
            self._users -= 1
            if self._users == 0:
                self.forget_idle()


_pools: dict[tuple[int, str], PostgresPool] = {}


def get_pool(place: PostgresUrl) -> PostgresPool:
    """This process's connections to a database. A forked child has its own: it neither uses nor closes its parent's."""
    known = _pools.get((os.getpid(), place.address))
    return known if known is not None else _pools.setdefault((os.getpid(), place.address), PostgresPool(place))


def import_psycopg() -> Any:
    """The driver, or what to install."""
    try:
        import psycopg
    except ImportError:
        raise MissingExtra.of("postgres", "a PostgreSQL database") from None
    return psycopg


def _connect(place: PostgresUrl) -> Link:
    psycopg = import_psycopg()
    given = {} if place.password is None else {"password": place.password}
    link: Link = psycopg.connect(
        place.address, autocommit=True, connect_timeout=10, application_name="unworn", client_encoding="UTF8", **given
    )
    try:
        _check_settings(link, place)
        link.adapters.register_loader("numeric", _number_loader())
    except BaseException:
        link.close()
        raise
    return link


def _check_settings(link: Link, place: PostgresUrl) -> None:
    """Refuse a server that says "done" before what was done is on its disk."""
    row = link.execute(_SETTINGS).fetchone()
    assert row is not None
    told = dict(zip(("fsync", "full_page_writes", "synchronous_commit"), row, strict=False))
    wrong = [f"{name} = {value}" for name, value in told.items() if value == "off"]
    if wrong:
        raise DatabaseError(
            f"{place.url} has {' and '.join(wrong)}: an answer could be released, and forgotten in a crash.\n"
            "  Set these to on for this server, database and role, and open it again."
        )
    if row[3] != "UTF8" or row[4] < _OLDEST:
        raise DatabaseError(
            f"{place.url} has encoding {row[3]} and version {row[4] // 10000}: use a database of encoding UTF8 in "
            f"PostgreSQL {_OLDEST // 10000} or newer",
            encoding=row[3],
            version=row[4],
        )


def _number_loader() -> Any:
    """Sums of whole numbers come as ``numeric``: as Python's own numbers, as SQLite has them."""
    from psycopg.adapt import Loader

    class NumericLoader(Loader):
        def load(self, data: Any) -> int | float:
            text = bytes(data).decode()
            return int(text) if text.lstrip("-").isdigit() else float(text)

    return NumericLoader


def _close_all() -> None:
    for (process, _), pool in list(_pools.items()):
        if process == os.getpid():
            pool.forget_idle()


atexit.register(_close_all)
