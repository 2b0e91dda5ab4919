"""What a server is made of, in one place: handlers take what they need from here."""

from __future__ import annotations

import logging
import sys
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread
from anyio import CapacityLimiter

from unworn.errors import UnwornError
from unworn.server.accounts import Accounts
from unworn.server.requests.ask_batches import AskBatches
from unworn.server.requests.counters import Counters
from unworn.server.requests.rates import Rates
from unworn.server.requests.request_keys import RequestKeys
from unworn.server.requests.turns import ReadingTurns
from unworn.server.server_errors import TooMany
from unworn.server.settings import ServerSettings
from unworn.server.workspace import Workspace

if TYPE_CHECKING:
    from unworn.database import Database

_log = logging.getLogger("unworn.server")
_MOST_SHARES = 10_000
_UPLOADS_PER_THREAD = 4
_FILES_PER_PLACE = 16
"""Open files that a board may need, and a share of those for connections."""


@dataclass(frozen=True)
class Services:
    """Settings, boards and holdouts, accounts, and the tables under them."""

    settings: ServerSettings
    workspace: Workspace
    accounts: Accounts
    database: Database
    rates: Rates
    keys: RequestKeys
    counters: Counters
    limiter: CapacityLimiter
    """How many requests are worked on at the same time, in threads."""
    batches: AskBatches
    reading: ReadingTurns = field(default_factory=ReadingTurns)
    shares: dict[str, CapacityLimiter] = field(default_factory=dict)
    """How many of them are one account's."""
    uploads: Counter[str] = field(default_factory=Counter)
    uploads_lock: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def of(cls, settings: ServerSettings) -> Services:
        """Open what the settings name."""
        from unworn.database import open_database

        database = open_database(settings.database_url)
        return cls(
            settings,
            Workspace(settings.path, most=min(settings.open_places, places_for_files())),
            Accounts(database),
            database,
            Rates(settings.rate, settings.burst),
            RequestKeys(database),
            Counters(),
            CapacityLimiter(settings.threads),
            AskBatches(),
        )

    def share_of(self, account: str) -> CapacityLimiter:
        """What one account may have in work: never all there is, or its slow requests would stop everybody's."""
        if account not in self.shares:
            if len(self.shares) >= _MOST_SHARES:
                for name in [name for name, each in self.shares.items() if not each.borrowed_tokens]:
                    del self.shares[name]
            self.shares[account] = CapacityLimiter(max(self.settings.threads * 3 // 4, 1))
        return self.shares[account]

    def begin_upload(self, account: str) -> Callable[[], None]:
        """Count a file of an account, until what is returned is called: it lies on disk until its turn is over."""
        most = _UPLOADS_PER_THREAD * self.settings.threads
        with self.uploads_lock:
            if self.uploads[account] >= most:
                raise TooMany(
                    f"{most} files of yours are being received or worked on: send more when they are done",
                    most=most,
                    retry_after=1,
                )
            self.uploads[account] += 1

        def end_upload() -> None:
            with self.uploads_lock:
                self.uploads[account] -= 1
                if self.uploads[account] <= 0:
                    del self.uploads[account]

        return end_upload

    async def write_notes(self) -> None:
        """Write down, once a second, the keys of requests whose repetition is free; until it is cancelled."""
        while True:
            await anyio.sleep(1.0)
            try:
                await anyio.to_thread.run_sync(self.keys.flush)
            except UnwornError as error:
                _log.error("keys of requests could not be written: %s", error)

    def close(self) -> None:
        """Let go of everything."""
        self.keys.flush()
        self.workspace.close()
        self.database.close()


def places_for_files() -> int:
    """How many boards and holdouts may be open without using up the files that this process may open."""
    try:
        import resource
    except ImportError:  # Windows, which has no such limit
        return sys.maxsize
    allowed = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return sys.maxsize if allowed == resource.RLIM_INFINITY else max(allowed // _FILES_PER_PLACE, 1)
