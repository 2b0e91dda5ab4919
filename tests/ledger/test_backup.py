from __future__ import annotations

import json
import stat
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from unworn.errors import Conflict, LedgerError, Mismatch, Tampered
from unworn.ledger import Entry, Key, MemoryStore, Store, verify
from unworn.ledger.backup import export, export_key, import_key, restore
from unworn.ledger.stores.sqlite_store import SQLiteStore

Chain = Callable[..., list[Entry]]


@pytest.fixture
def filled(store: Store, chain: Chain, key: Key) -> Store:
    for name, count in (("aa" * 16, 5), ("bb" * 16, 0)):
        entries = chain(count, holdout=name)
        store.create(entries[0], key)
        if count:
            store.append(entries[1:], expect=entries[0].hash)
    return store


def test_there_and_back(filled: Store, tmp_path: Path, key: Key) -> None:
    path = tmp_path / "backup.jsonl"
    assert export(filled, path) == 7
    assert key.hex() not in path.read_text()
    for other in (MemoryStore(), SQLiteStore(tmp_path / "other.db")):
        assert restore(path, other) == 7
        assert restore(path, other) == 0
        assert other.holdouts() == filled.holdouts()
        assert all(other.read(name) == filled.read(name) for name in filled.holdouts())
        assert other.key("aa" * 16) is None
        other.close()


def test_an_export_replaces_no_file(filled: Store, tmp_path: Path) -> None:
    path = tmp_path / "backup.jsonl"
    path.write_text("precious")
    with pytest.raises(LedgerError, match="exists already"):
        export(filled, path)
    assert path.read_text() == "precious"
    with pytest.raises(LedgerError, match="could not be written"):
        export(filled, tmp_path / "missing" / "backup.jsonl")
    assert {p.name for p in tmp_path.iterdir()} <= {
        "backup.jsonl",
        "ledger.db",
        "ledger.db-wal",
        "ledger.db-shm",
        "ledger.db-open",
        "ledger.db-lock",
        "ledger.db.keys",
    }


def test_a_longer_backup_extends(chain: Chain, key: Key, store: Store, tmp_path: Path, holdout: str) -> None:
    entries = chain(6)
    store.create(entries[0], key)
    store.append(entries[1:], expect=entries[0].hash)
    export(store, tmp_path / "b.jsonl")
    behind = MemoryStore()
    behind.create(entries[0], key)
    behind.append(entries[1:3], expect=entries[0].hash)
    assert restore(tmp_path / "b.jsonl", behind) == 4
    assert behind.read(holdout) == entries


def test_a_shorter_or_other_backup_is_refused(
    chain: Chain, key: Key, store: Store, tmp_path: Path, holdout: str
) -> None:
    entries = chain(4)
    old = MemoryStore()
    old.create(entries[0], key)
    old.append(entries[1:3], expect=entries[0].hash)
    fresh = chain(1, holdout="cc" * 16)
    old.create(fresh[0], key)
    export(old, tmp_path / "old.jsonl")
    store.create(entries[0], key)
    store.append(entries[1:], expect=entries[0].hash)
    with pytest.raises(Conflict, match="budget that was spent"):
        restore(tmp_path / "old.jsonl", store)
    other = MemoryStore()
    other.create(entries[0], key)
    branch = chain(6, entries[:2], other=True)
    other.append(branch[1:], expect=entries[0].hash)
    export(other, tmp_path / "other.jsonl")
    with pytest.raises(Mismatch, match="entry 2 of the backup"):
        restore(tmp_path / "other.jsonl", store)
    assert store.read(holdout) == entries
    assert list(store.holdouts()) == [holdout]  # nothing of a refused backup goes in, not even other holdouts


@pytest.mark.parametrize("damage", ["body", "signature", "order", "hole", "cut line", "text", "empty", "extra"])
def test_a_damaged_backup_is_refused(filled: Store, tmp_path: Path, damage: str) -> None:
    path = tmp_path / "backup.jsonl"
    export(filled, path)
    lines = path.read_text().splitlines(keepends=True)
    if damage in ("body", "signature"):
        data = json.loads(lines[2])
        data[damage] = {"symbol": 99} if damage == "body" else "00" * 64
        lines[2] = json.dumps(data) + "\n"
    elif damage == "extra":
        lines[2] = json.dumps(json.loads(lines[2]) | {"note": 1}) + "\n"
    else:
        lines = {
            "order": [lines[0], lines[2], lines[1], *lines[3:]],
            "hole": lines[:2] + lines[3:],
            "cut line": [*lines[:-1], lines[-1][:40]],
            "text": ["hello\n"],
            "empty": [],
        }[damage]
    path.write_text("".join(lines))
    other = MemoryStore()
    with pytest.raises(Tampered):
        restore(path, other)
    assert other.holdouts() == {}


def test_a_missing_backup(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="cannot be read"):
        restore(tmp_path / "none.jsonl", MemoryStore())


def test_the_key_travels_apart(filled: Store, tmp_path: Path, key: Key) -> None:
    export(filled, tmp_path / "backup.jsonl")
    export_key(filled, "aa" * 16, tmp_path / "a.key")
    assert stat.S_IMODE((tmp_path / "a.key").stat().st_mode) == 0o600
    with pytest.raises(LedgerError, match="exists already"):
        export_key(filled, "aa" * 16, tmp_path / "a.key")
    other = SQLiteStore(tmp_path / "other.db")
    with pytest.raises(Mismatch, match="restore its entries first"):
        import_key(tmp_path / "a.key", other, "aa" * 16)
    restore(tmp_path / "backup.jsonl", other)
    import_key(tmp_path / "a.key", other, "aa" * 16)
    assert other.key("aa" * 16) == key
    with pytest.raises(LedgerError, match="no key for holdout"):
        export_key(other, "bb" * 16, tmp_path / "b.key")
    with pytest.raises(LedgerError, match="there is no key file"):
        import_key(tmp_path / "b.key", other, "bb" * 16)
    other.close()


def test_a_key_of_another_holdout_is_not_kept(filled: Store, tmp_path: Path) -> None:
    (tmp_path / "wrong.key").write_text(Key.new().hex())
    filled_key = filled.key("bb" * 16)
    with pytest.raises(Mismatch, match="names"):
        import_key(tmp_path / "wrong.key", filled, "bb" * 16)
    assert filled.key("bb" * 16) == filled_key


def test_a_live_ledger_is_exported_whole(sqlite_store: SQLiteStore, chain: Chain, key: Key, tmp_path: Path) -> None:
    entries = chain(300)
    sqlite_store.create(entries[0], key)
    writer_store = SQLiteStore(sqlite_store.path)

    def write() -> None:
        for entry in entries[1:]:
            writer_store.append([entry], expect=entry.previous)

    writer = threading.Thread(target=write)
    writer.start()
    lengths = []
    while writer.is_alive() or not lengths:
        path = tmp_path / f"backup{len(lengths)}.jsonl"
        lengths.append(export(sqlite_store, path))
        copy = MemoryStore()
        restore(path, copy)
        verify(copy.read(entries[0].holdout), signatures="last")
    writer.join()
    writer_store.close()
    assert lengths == sorted(lengths)
    assert export(sqlite_store, tmp_path / "last.jsonl") == 301
