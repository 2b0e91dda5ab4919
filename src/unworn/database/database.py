"""What every database does: transactions one after the other, repeated where others came between, and migrations."""

from __future__ import annotations

import random
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeVar

from unworn.database.database_errors import Busy, NewerTables
from unworn.database.portable_sql import split_statements

T = TypeVar("T")

_TRIES = 40
_VERSIONS = "CREATE TABLE IF NOT EXISTS unworn_migrations (room TEXT PRIMARY KEY, version BIGINT NOT NULL)"
_KNOWN = "SELECT version FROM unworn_migrations WHERE room = :room"
_NOTE = (
    "INSERT INTO unworn_migrations (room, version) VALUES (:room, :version) "
    "ON CONFLICT (room) DO UPDATE SET version = excluded.version"
)


class RunSQL(Protocol):
    """Runs one statement with named parameters (``:name``) and returns its rows."""

    def __call__(self, statement: str, /, **values: Any) -> list[tuple[Any, ...]]: ...


class Database(ABC):
    """Tables at one place. Any number of threads and processes may use it, also after a fork.

    Statements are in the part of SQL that SQLite and PostgreSQL share: TEXT, BIGINT, DOUBLE PRECISION and BLOB,
    ``INSERT … ON CONFLICT … DO …``, ``RETURNING``, ``LIMIT``. PostgreSQL wants to know the type of a parameter that is
    only compared with NULL: write ``CAST(:team AS TEXT) IS NULL``. A character 0 cannot be kept in a TEXT.
    """

    url: str
    """Where it is, without a password."""

    @abstractmethod
    def transaction(self, *, write: bool = True) -> AbstractContextManager[RunSQL]:
        """All that is run in the block, or nothing of it; durable when the block has ended.

        Writers have the tables one after the other. With ``write=False`` the block sees one moment, and nobody waits.
        ``Busy`` where others came between (PostgreSQL finds out at the end): :meth:`transact` then does it again.
        """

    @abstractmethod
    def close(self) -> None:
        """Let go of connections and files. Safe to call twice."""

    @abstractmethod
    def _migration_turn(self) -> AbstractContextManager[object]:
        """Whatever must be held so that nobody else makes the same tables."""

    def transact(self, work: Callable[[RunSQL], T], *, write: bool = True) -> T:
        """Do a piece of work in a transaction, again from its start where others came between.

        ``work`` may be called several times, and only what it does by its ``run`` is taken back: so nothing else in it.
        """
        for attempt in range(_TRIES):
            try:
                with self.transaction(write=write) as run:
                    return work(run)
            except Busy:
                if attempt == _TRIES - 1:
                    raise
            time.sleep(random.uniform(0, min(0.001 * 2**attempt, 0.25)))
        raise AssertionError("unreachable")

    def select(self, statement: str, /, **values: Any) -> list[tuple[Any, ...]]:
        """The rows of one statement that changes nothing."""
        return self.transact(lambda run: run(statement, **values), write=False)

    def migrate(self, room: str, steps: Sequence[str]) -> None:
        """Bring a room's tables to its newest form: each step runs once, ever, in order, all in one transaction.

        Steps are only ever added at the end. Tables with more steps than are known here are refused.
        """

        def step(run: RunSQL) -> None:
            run(_VERSIONS)
            version = _version(run, room)
            _check_version(room, version, len(steps))
            for script in steps[version:]:
                for statement in split_statements(script):
                    run(statement)
            run(_NOTE, room=room, version=len(steps))

        if self._read_version(room) != len(steps):
            with self._migration_turn():
                self.transact(step)

    def _read_version(self, room: str) -> int:
        """How many steps were done; in most openings all of them, and nobody need wait for anybody."""

        def look(run: RunSQL) -> int:
            return _version(run, room) if self._has_versions(run) else -1

        return self.transact(look, write=False)

    @abstractmethod
    def _has_versions(self, run: RunSQL) -> bool:
        """Whether the table of versions is there."""

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _version(run: RunSQL, room: str) -> int:
    found = run(_KNOWN, room=room)
    return int(found[0][0]) if found else 0


def _check_version(room: str, version: int, known: int) -> None:
    if version > known:
        raise NewerTables(
            f"the tables of {room} have version {version}, this unworn knows {known}.\n"
            "  They were changed by a newer unworn: upgrade this one. Nothing was changed.",
            version=version,
            known=known,
        )
