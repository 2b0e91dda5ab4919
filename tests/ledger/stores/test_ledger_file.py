from __future__ import annotations

from collections.abc import Callable

import pytest

from unworn.ledger import Entry, Key
from unworn.ledger.file_locks import FileLock
from unworn.ledger.stores.sqlite_store import SQLiteStore

Chain = Callable[..., list[Entry]]


@pytest.fixture
def other(sqlite_store: SQLiteStore) -> FileLock:
    """The lock of turns, as another process has it."""
    return FileLock(sqlite_store.path.with_name(f"{sqlite_store.path.name}-lock"))


def test_who_writes_has_the_ledger_alone(sqlite_store: SQLiteStore, other: FileLock) -> None:
    with sqlite_store._file.turn():
        assert not other.acquire(alone=False)
        assert not other.acquire(alone=True)
    assert other.acquire(alone=True)
    other.close()


def test_who_reads_has_it_together_with_others_who_read(
    sqlite_store: SQLiteStore, other: FileLock, chain: Chain, key: Key
) -> None:
    sqlite_store.create(chain(0)[0], key)
    with sqlite_store._file.reading():
        assert not other.acquire(alone=True)
        assert other.acquire(alone=False)
        other.release()
    assert other.acquire(alone=True)
    other.close()
