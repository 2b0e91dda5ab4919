"""A ledger that lost something is refused: no damage, however small, makes it shorter without a word."""

from __future__ import annotations

import contextlib
import os
import random
import re
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from unworn import Holdout, col, share
from unworn.errors import LedgerError, Mismatch, Tampered, UnwornError
from unworn.ledger import GENESIS, Entry, Key, verify
from unworn.ledger.backup import export, restore
from unworn.ledger.stores.sqlite_store import SQLiteStore

DATA = {"a": np.random.default_rng(0).normal(size=500)}
ASKS = 60
ID, OTHER = "0123456789abcdef" * 2, "fedcba9876543210" * 2


@pytest.fixture
def asked(tmp_path: Path) -> Path:
    """A ledger of sixty answers."""
    path = tmp_path / "x.db"
    holdout = Holdout(DATA, ledger=path)
    holdout.ask_many([share(col("a") > number / 20) for number in range(ASKS)])
    holdout.close()
    return path


def edit(path: Path, *statements: str) -> None:
    """Change a ledger as somebody with a SQLite shell would."""
    connection = sqlite3.connect(path, isolation_level=None)
    for statement in statements:
        connection.execute(statement)
    connection.close()


def trigger(path: Path, name: str) -> str:
    connection = sqlite3.connect(path)
    ((sql,),) = connection.execute("SELECT sql FROM sqlite_master WHERE name = ?", (name,)).fetchall()
    connection.close()
    return str(sql)


def reopen(path: Path) -> int:
    """How many answers the rows' ledger has, once everything was checked."""
    holdout = Holdout(DATA, ledger=path)
    try:
        holdout.verify()
        return holdout.meter.asked
    finally:
        holdout.close()


def test_one_changed_byte_in_an_id(asked: Path) -> None:
    whole = asked.read_bytes()
    (key,) = asked.with_name("x.db.keys").glob("*.key")
    for note in asked.with_name("x.db.keys").glob("*.head"):
        note.unlink()  # as in a ledger of an earlier version
    places = [match.start() for match in re.finditer(key.stem.encode(), whole)]
    assert len(places) > ASKS
    for number, place in enumerate(places):
        changed = bytearray(whole)
        changed[place] = b"fg~"[number % 3] if changed[place] != b"fg~"[number % 3] else ord("e")
        asked.write_bytes(changed)
        with contextlib.suppress(UnwornError):
            assert reopen(asked) == ASKS
    assert len(list(asked.with_name("x.db.keys").glob("*.key"))) == 1


@pytest.mark.parametrize("what", ["idx = 0", f"idx = {ASKS}", "idx > 30", "idx = 7", "1"])
def test_deleted_entries(asked: Path, what: str) -> None:
    rule = trigger(asked, "no_delete")
    edit(asked, "DROP TRIGGER no_delete", f"DELETE FROM entries WHERE {what}", rule)
    with pytest.raises(Tampered):
        reopen(asked)
    assert len(list(asked.with_name("x.db.keys").glob("*.key"))) == 1


@pytest.mark.parametrize(
    "planted",
    [
        "CREATE TRIGGER thief BEFORE INSERT ON entries BEGIN SELECT RAISE(IGNORE); END",
        "CREATE TABLE more (name TEXT)",
        "CREATE VIEW shorter AS SELECT * FROM entries WHERE idx < 3",
        "CREATE INDEX hashes ON entries (hash)",
        "DROP INDEX terms",
        "DROP TRIGGER no_update",
    ],
)
def test_rules_that_are_not_a_ledgers(asked: Path, planted: str) -> None:
    edit(asked, planted)
    with pytest.raises(LedgerError, match="not a whole ledger"):
        reopen(asked)


def test_a_trigger_planted_while_the_ledger_is_open(asked: Path) -> None:
    """It swallows the charge; so the answer is not told."""
    holdout = Holdout(DATA, ledger=asked)
    edit(asked, "CREATE TRIGGER thief BEFORE INSERT ON entries BEGIN SELECT RAISE(IGNORE); END")
    with pytest.raises(Tampered, match="is not there"):
        holdout.ask(share(col("a") < -1), guess=0.2)
    holdout.close()


def test_an_index_that_forgets_a_holdout(asked: Path) -> None:
    """The rows would be sealed anew, again and again: each try wrote one more key."""
    edit(
        asked,
        "PRAGMA writable_schema = ON",
        "UPDATE sqlite_master SET sql = 'CREATE UNIQUE INDEX terms ON entries (holdout) WHERE idx = -1' "
        "WHERE name = 'terms'",
    )
    rule = "CREATE UNIQUE INDEX terms ON entries (holdout) WHERE idx = 0"
    restored = f"UPDATE sqlite_master SET sql = '{rule}' WHERE name = 'terms'"
    edit(asked, "REINDEX terms", "PRAGMA writable_schema = ON", restored)
    with pytest.raises(Tampered, match="damaged"):
        reopen(asked)
    assert len(list(asked.with_name("x.db.keys").glob("*.key"))) == 1


def test_an_older_copy_put_back(tmp_path: Path) -> None:
    path, key = tmp_path / "x.db", Key(bytes(32))
    store = SQLiteStore(path)
    first = Entry.seal(ID, 0, GENESIS, {"public": key.public}, key)
    store.create(first, key)
    store.close()
    old = path.read_bytes()
    store = SQLiteStore(path)
    store.append([Entry.seal(ID, 1, first.hash, {"n": 1}, key)], expect=first.hash)
    store.close()
    path.write_bytes(old)
    with pytest.raises(Tampered, match=r"(?s)had entry 1 .*ends at entry 0"):
        SQLiteStore(path)
    path.write_bytes(b"")
    with pytest.raises(Tampered, match="is not in it at all"):
        SQLiteStore(path)
    path.unlink()
    with pytest.raises(Tampered, match="is not in it at all"):
        SQLiteStore(path)


def test_a_key_whose_terms_were_never_entered_locks_nobody_out(tmp_path: Path) -> None:
    """A crash between the two leaves it; only a noted head shows that there was more."""
    store = SQLiteStore(tmp_path / "x.db")
    store.keep_key(ID, Key.new())
    store.close()
    holdout = Holdout(DATA, ledger=tmp_path / "x.db")
    assert holdout.ask(share(col("a") > 0), guess=0.5).index == 1
    holdout.close()


def test_a_ledger_of_the_first_format_opens_without_notes(asked: Path) -> None:
    (note,) = asked.with_name("x.db.keys").glob("*.head")
    note.unlink()
    assert reopen(asked) == ASKS
    holdout = Holdout(DATA, ledger=asked)
    holdout.ask(share(col("a") < -1), guess=0.2)
    holdout.close()
    assert note.read_text().startswith(f"{ASKS + 1:019d} ")


# ---- any byte, any bit


@pytest.fixture(scope="module")
def wholes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Two holdouts in a ledger that was closed, and in one whose process was killed."""
    folder = tmp_path_factory.mktemp("whole") / "closed"
    folder.mkdir()
    key, store = Key(bytes(range(32))), SQLiteStore(folder / "x.db")
    for holdout in (ID, OTHER):
        last = Entry.seal(holdout, 0, GENESIS, {"public": key.public, "rows": 100}, key)
        store.create(last, key)
        for number in range(40):
            body = {"symbol": number % 3, "label": "größer als ½", "pad": "x" * (37 * number % 700)}
            entry = Entry.seal(holdout, number + 1, last.hash, body, key)
            store.append([entry], expect=last.hash)
            last = entry
    killed = folder.with_name("killed")
    shutil.copytree(folder, killed)
    store.close()
    return {"closed": folder, "killed": killed}


def read_whole(path: Path) -> dict[str, list[str]]:
    store = SQLiteStore(path)
    try:
        chains = {holdout: store.read(holdout) for holdout in store.holdouts()}
        for chain in chains.values():
            verify(chain)
        return {holdout: [entry.hash for entry in chain] for holdout, chain in chains.items()}
    finally:
        store.close()


def changes(wholes: dict[str, Path], count: int, seed: int) -> Iterator[tuple[str, str, int, int]]:
    """Which ledger, which file, where, and the bits to turn."""
    rng = random.Random(seed)
    for _ in range(count):
        state = rng.choice(["closed", "killed", "killed"])
        name = rng.choice(["x.db", "x.db-wal", "x.db-wal", f"x.db.keys/{ID}.head"])
        file = wholes[state] / (name if state == "killed" else rng.choice(["x.db", f"x.db.keys/{ID}.head", "x.db"]))
        name = str(file.relative_to(wholes[state]))
        bits = 1 << rng.randrange(8) if rng.random() < 0.5 else rng.randrange(1, 256)
        # A third near the beginning, where headers are: elsewhere most bytes are text.
        end = min(file.stat().st_size, 2_000 if rng.random() < 1 / 3 else 600_000)
        yield state, name, rng.randrange(end), bits


def change_often(wholes: dict[str, Path], folder: Path, count: int, seed: int) -> int:
    known = {state: read_whole(shutil.copytree(place, folder / state) / "x.db") for state, place in wholes.items()}
    assert known["closed"] == known["killed"]
    assert {len(chain) for chain in known["closed"].values()} == {41}
    refused = 0
    for number, (state, name, place, bits) in enumerate(changes(wholes, count, seed)):
        copy = shutil.copytree(wholes[state], folder / str(number))
        with open(copy / name, "r+b") as file:
            file.seek(place)
            (byte,) = file.read(1)
            file.seek(place)
            file.write(bytes([byte ^ bits]))
        try:
            assert read_whole(copy / "x.db") == known[state], (state, name, place, bits)
        except LedgerError:
            refused += 1
        shutil.rmtree(copy)
    return refused


def test_a_hundred_changes_of_one_byte_or_bit(wholes: dict[str, Path], tmp_path: Path) -> None:
    assert change_often(wholes, tmp_path, 100, seed=1) > 20


def test_bytes_of_the_schema_that_are_no_text(wholes: dict[str, Path], tmp_path: Path) -> None:
    """SQLite quotes the damaged name of a table in its message, and then Python cannot read the message."""
    known = read_whole(shutil.copytree(wholes["closed"], tmp_path / "whole") / "x.db")
    page = (wholes["closed"] / "x.db").read_bytes()[:8192]
    name = page.index(b"CREATE TABLE") - 20  # the record before its SQL: type, name, table
    for place in [*range(name, name + 40), *range(name + 41, len(page), 61)]:
        copy = shutil.copytree(wholes["closed"], tmp_path / str(place))
        with open(copy / "x.db", "r+b") as file:
            file.seek(place)
            file.write(b"\xc4")
        with contextlib.suppress(LedgerError):
            assert read_whole(copy / "x.db") == known, place


@pytest.mark.slow
def test_two_thousand_changes_of_one_byte_or_bit(wholes: dict[str, Path], tmp_path: Path) -> None:
    assert change_often(wholes, tmp_path, 2_000, seed=2) > 400


def test_a_file_that_is_cut_anywhere(wholes: dict[str, Path], tmp_path: Path) -> None:
    known = read_whole(shutil.copytree(wholes["closed"], tmp_path / "known") / "x.db")
    size = (wholes["closed"] / "x.db").stat().st_size
    for number, length in enumerate((0, 1, 99, 100, 512, 4095, 4096, size // 2, size - 4096, size - 1)):
        copy = shutil.copytree(wholes["closed"], tmp_path / str(number))
        os.truncate(copy / "x.db", length)
        with contextlib.suppress(LedgerError):
            assert read_whole(copy / "x.db") == known  # the last bytes of a page may mean nothing
            assert length == size - 1


def test_a_renamed_ledger_says_where_its_keys_are(asked: Path) -> None:
    renamed = asked.rename(asked.with_name("y.db"))
    with pytest.raises(Mismatch, match=r"(?s)key of holdout 'holdout' is missing.*rename that folder to y\.db\.keys"):
        Holdout(DATA, ledger=renamed)
    asked.with_name("x.db.keys").rename(asked.with_name("y.db.keys"))
    assert reopen(renamed) == ASKS


def test_another_ledger_under_the_same_name(asked: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "other" / "x.db"
    other.parent.mkdir()
    with monkeypatch.context() as elsewhere:
        elsewhere.setenv("UNWORN_HOME", str(other.parent))  # another user's, who knows nothing of this ledger
        Holdout(DATA, ledger=other).close()
    shutil.copy(other, asked)
    with pytest.raises(Tampered, match="is not in it at all"):
        Holdout(DATA, ledger=asked)


def test_lost_entries_come_back_from_a_backup(asked: Path, tmp_path: Path) -> None:
    store = SQLiteStore(asked)
    export(store, tmp_path / "all.jsonl")
    store.close()
    asked.unlink()
    with pytest.raises(Tampered, match="--restore FILE"):
        SQLiteStore(asked)
    store = SQLiteStore(asked, restoring=True)
    assert restore(tmp_path / "all.jsonl", store) == ASKS + 1
    store.close()
    assert reopen(asked) == ASKS
