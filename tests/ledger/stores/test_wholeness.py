from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from unworn.errors import LedgerError, Tampered
from unworn.ledger import Entry, Key
from unworn.ledger.stores import wholeness
from unworn.ledger.stores.sqlite_store import SQLiteStore

Chain = Callable[..., list[Entry]]
HOLDOUTS = ["1" * 32, "2" * 32, "3" * 32]


@pytest.mark.parametrize("cut", HOLDOUTS)
def test_whichever_of_several_holdouts_lacks_its_end_is_named(tmp_path: Path, chain: Chain, key: Key, cut: str) -> None:
    """An older copy is put back after one of three holdouts has told more: the two others are whole."""
    path = tmp_path / "x.db"
    store = SQLiteStore(path)
    chains = {holdout: chain(2, holdout=holdout) for holdout in HOLDOUTS}
    for entries in chains.values():
        store.create(entries[0], key)
        store.append(entries[1:2], expect=entries[0].hash)
    store.close()
    shutil.copy(path, tmp_path / "older.db")
    store = SQLiteStore(path)
    store.append(chains[cut][2:], expect=chains[cut][1].hash)
    store.close()
    SQLiteStore(path).close()
    shutil.copy(tmp_path / "older.db", path)
    with pytest.raises(Tampered, match=f"holdout {cut[:8]}… had entry 2 .* ends at entry 1") as caught:
        SQLiteStore(path)
    assert caught.value.numbers == {"holdout": cut, "index": 2, "head": chains[cut][2].hash}


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        (["DROP TRIGGER no_update"], "'no_update' is missing"),
        (["CREATE VIEW looks AS SELECT 1"], "'looks' is missing"),
        (["DROP TRIGGER only_next", "CREATE TABLE more (x)"], "'more', 'only_next' is missing"),
    ],
)
def test_what_is_missing_or_too_much_is_named(tmp_path: Path, changes: list[str], named: str) -> None:
    path = tmp_path / "x.db"
    SQLiteStore(path).close()
    with sqlite3.connect(path) as file:
        for change in changes:
            file.execute(change)
    file.close()
    with pytest.raises(LedgerError, match=named):
        SQLiteStore(path)


def without(path: Path, rows: str) -> None:
    """Delete rows, although the file is append-only: by somebody who knows how to, and puts its rules back."""
    with sqlite3.connect(path) as file:
        rules = file.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in rules:
            file.execute(f"DROP TRIGGER {name}")
        assert file.execute(f"DELETE FROM entries WHERE {rows}").rowcount > 0
        for _, sql in rules:
            file.execute(sql)
    file.close()


@pytest.mark.parametrize("is_large", [False, True])
@pytest.mark.parametrize(
    ("rows", "found_at_once"),
    [("idx = 0", True), ("idx = 0 AND holdout LIKE '2%'", True), ("idx = 1 AND holdout LIKE '3%'", False)],
)
def test_chains_that_lack_their_beginning_or_their_middle(
    tmp_path: Path,
    chain: Chain,
    key: Key,
    monkeypatch: pytest.MonkeyPatch,
    is_large: bool,
    rows: str,
    found_at_once: bool,
) -> None:
    """Of a large file only the beginnings are looked at when it is opened."""
    path = tmp_path / "x.db"
    store = SQLiteStore(path)
    chains = {holdout: chain(3, holdout=holdout) for holdout in HOLDOUTS}
    for entries in chains.values():
        store.create(entries[0], key)
        store.append(entries[1:], expect=entries[0].hash)
    store.close()
    if is_large:
        monkeypatch.setattr(wholeness, "_AT_ONCE", 0)
    store = SQLiteStore(path)
    assert {holdout: store.read(holdout) for holdout in HOLDOUTS} == chains
    store.close()
    without(path, rows)
    if found_at_once or not is_large:
        with pytest.raises(Tampered, match=r"which is not a whole chain|its index names other holdouts"):
            SQLiteStore(path)
    else:
        SQLiteStore(path).close()
