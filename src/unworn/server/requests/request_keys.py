"""Idempotency keys: a request that is sent again under its key is answered once and charged once.

Most repeats are free without a key, because a question that was asked before has its answer in the ledger. What asks
*anew* (``again``) needs more. Its key is noted first, then goes into the entry's tags, and is marked done last. After a
crash between any two of these, whoever sends the key again gets the entry that carries it, or asks for the first time.
"""

from __future__ import annotations

import hashlib
import json
import os
import socket
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from unworn.errors import UnwornError
from unworn.server.requests.turns import Turns
from unworn.server.server_errors import KeyUsedOtherwise, Malformed, StillBusy

if TYPE_CHECKING:
    from unworn.database import Database, RunSQL

TAG: Final = "request"
"""The tag of an entry that says under which key it was asked for."""
MIGRATIONS: Final = (
    "CREATE TABLE request_keys (account TEXT NOT NULL, key TEXT NOT NULL, digest TEXT NOT NULL, start BIGINT, "
    "owner TEXT NOT NULL, at DOUBLE PRECISION NOT NULL, places TEXT, PRIMARY KEY (account, key))",
)
_REMEMBERED = 10_000
_ABANDONED = 600.0
"""Seconds after which a worker of another machine is taken to have ended without finishing a request."""
_KEPT = 7 * 24 * 3600.0
"""Seconds for which keys are known."""
_FORGET_EVERY = 3600.0


class RequestKeys:
    """The keys of all accounts. Safe for threads, processes and machines that share a database."""

    def __init__(self, database: Database, *, clock: Callable[[], float] = time.time) -> None:
        self._database, self._clock = database, clock
        self.owner = name_process(os.getpid())
        self._seen: OrderedDict[tuple[str, str], str] = OrderedDict()
        self._lock = threading.Lock()
        self.turns = Turns()
        self._unwritten: list[tuple[str, str, str]] = []
        self._forgot_at = -float("inf")
        database.migrate("request_keys", list(MIGRATIONS))
        self._forget_old()

    # ------------------------------------------------------------------ what is free to repeat

    def note(self, account: str, key: str | None, digest: str) -> None:
        """Refuse a key that came with another request before; for requests whose repetition is free.

        A key that is new is written down soon after: were it lost in a crash, its repetition would still be free.
        """
        if key is None:
            return
        name = (account, check_key(key))
        known = self._seen.get(name)
        if known is None:
            found = self._database.select(
                "SELECT digest FROM request_keys WHERE account = :account AND key = :key", account=account, key=key
            )
            known = found[0][0] if found else None
        with self._lock:
            known = self._seen.get(name, known)  # another thread may have come with the same key meanwhile
            if known is not None and known != digest:
                raise _used_otherwise()
            if name not in self._seen:
                self._unwritten += [(account, key, digest)] if known is None else []
                self._seen[name] = digest
                while len(self._seen) > _REMEMBERED:
                    self._seen.popitem(last=False)

    def flush(self) -> None:
        """Write down what was noted, and let go of what is old: called now and then, and at the end."""
        self._forget_old()
        with self._lock:
            waiting, self._unwritten = self._unwritten, []
        if not waiting:
            return
        now = self._clock()

        def write(run: RunSQL) -> None:
            for account, key, digest in waiting:
                run(
                    "INSERT INTO request_keys (account, key, digest, owner, at, places) VALUES "
                    "(:account, :key, :digest, '', :now, '[]') ON CONFLICT (account, key) DO NOTHING",
                    account=account,
                    key=key,
                    digest=digest,
                    now=now,
                )

        try:
            self._database.transact(write)
        except UnwornError:
            with self._lock:
                self._unwritten = [*waiting, *self._unwritten][:_REMEMBERED]
            raise

    def _forget_old(self) -> None:
        """Once an hour, so that the table of a server that runs for months does not only grow."""
        now = self._clock()
        if now - self._forgot_at >= _FORGET_EVERY:
            self._forgot_at = now
            self._database.transact(lambda run: run("DELETE FROM request_keys WHERE at < :old", old=now - _KEPT))

    # ------------------------------------------------------------------ what would be charged again

    @contextmanager
    def turn(self, account: str, key: str) -> Iterator[None]:
        """One request of a key at a time, in this process; whoever comes second waits for the first."""
        with self.turns.take((account, key)):
            yield

    def begin(self, account: str, key: str, digest: str, start: int) -> tuple[int, list[int] | None, bool]:
        """Note that a request begins, with the ledger's length: durable when this returns.

        Returns where to look for its entries, these entries where it is done, and whether somebody began it before.
        """
        check_key(key)
        now = self._clock()

        def write(run: RunSQL) -> tuple[int, list[int] | None, bool]:
            fresh = run(
                "INSERT INTO request_keys (account, key, digest, start, owner, at) VALUES "
                "(:account, :key, :digest, :start, :owner, :now) ON CONFLICT (account, key) DO NOTHING RETURNING key",
                account=account,
                key=key,
                digest=digest,
                start=start,
                owner=self.owner,
                now=now,
            )
            if fresh:
                return start, None, False
            known, began, owner, at, places = run(
                "SELECT digest, start, owner, at, places FROM request_keys WHERE account = :account AND key = :key",
                account=account,
                key=key,
            )[0]
            if known != digest:
                raise _used_otherwise()
            if places is not None:
                return began, json.loads(places), True
            if owner != self.owner and not is_gone(owner, now - at):
                raise StillBusy("this request is being answered: send it again in a moment, with the same key")
            run(
                "UPDATE request_keys SET owner = :owner, at = :now WHERE account = :account AND key = :key",
                owner=self.owner,
                now=now,
                account=account,
                key=key,
            )
            return began, None, True

        return self._database.transact(write)

    def finish(self, account: str, key: str, places: list[int] | None) -> None:
        """Note where the answer is; with none, that nothing was charged and the key is free again."""
        done = "UPDATE request_keys SET places = :places WHERE account = :account AND key = :key"
        if places is None:
            free = "DELETE FROM request_keys WHERE account = :account AND key = :key AND places IS NULL"
            self._database.transact(lambda run: run(free, account=account, key=key))
        else:
            told = json.dumps(places)
            self._database.transact(lambda run: run(done, places=told, account=account, key=key))


def tag_of(account: str, key: str) -> str:
    """What an entry says of its key: the same for the same account and key, and nothing that another could use."""
    return hashlib.sha256(f"{account}\0{key}".encode()).hexdigest()[:32]


def check_key(key: str) -> str:
    """A key as it may be: short, and of characters that can be seen."""
    if not (0 < len(key) <= 200 and key.isascii() and key.isprintable()):
        raise Malformed("an Idempotency-Key has 1 to 200 visible ASCII characters")
    return key


def name_process(pid: int) -> str:
    """A process by its machine, its number and when it began: a number is given to others later."""
    return f"{socket.gethostname()}:{pid}:{_beginning(pid)}"


def is_gone(owner: str, seconds: float) -> bool:
    """Whether the process that began a request has ended: known of this machine's, assumed of others' after a while.

    >>> is_gone(name_process(os.getpid()), 0.0), is_gone("elsewhere:1:2", 0.0), is_gone("elsewhere:1:2", 3600.0)
    (False, False, True)
    """
    host, _, rest = owner.rpartition(":")[0].rpartition(":")
    if host == socket.gethostname() and rest.isdecimal():
        return name_process(int(rest)) != owner
    return seconds > _ABANDONED


def _beginning(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return "" if pid == os.getpid() else "none"


def _used_otherwise() -> KeyUsedOtherwise:
    return KeyUsedOtherwise("this Idempotency-Key was used for another request: take a new key for a new request")
