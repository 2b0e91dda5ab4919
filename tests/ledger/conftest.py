"""Two stores, a key, and chains to try them with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.postgres_server import postgres_server, postgres_url  # noqa: F401
from unworn.ledger import GENESIS, Entry, Key, MemoryStore, Store, open_store
from unworn.ledger.stores.sqlite_store import SQLiteStore

HOLDOUT = "0123456789abcdef" * 2


@pytest.fixture
def key() -> Key:
    return Key(bytes(range(32)))


@pytest.fixture
def holdout() -> str:
    return HOLDOUT


@pytest.fixture
def chain(key: Key) -> Callable[..., list[Entry]]:
    """``chain(5)`` is entries 0 to 5; ``chain(5, entries)`` goes on from there; ``extra`` marks a variant."""

    def make(more: int, start: list[Entry] | None = None, *, holdout: str = HOLDOUT, **extra: Any) -> list[Entry]:
        entries = list(start or [Entry.seal(holdout, 0, GENESIS, {"public": key.public, "rows": 100}, key)])
        for _ in range(more):
            last = entries[-1]
            body = {"symbol": last.index % 3, "label": "größer als ½", "nats": 0.1 + last.index, **extra}
            entries.append(Entry.seal(holdout, last.index + 1, last.hash, body, key))
        return entries

    return make


@pytest.fixture(params=["memory", "sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    opened: Store = MemoryStore()
    if request.param == "sqlite":
        opened = SQLiteStore(tmp_path / "ledger.db")
    elif request.param == "postgres":
        opened = open_store(request.getfixturevalue("postgres_url"))
    yield opened
    opened.close()


@pytest.fixture
def sqlite_store(tmp_path: Path) -> Iterator[SQLiteStore]:
    opened = SQLiteStore(tmp_path / "ledger.db")
    yield opened
    opened.close()
