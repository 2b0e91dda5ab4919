"""Two interrupts, the second while a commit is taken back, leave a transaction open: nothing is told in it.

SQLite then takes every later entry for a part of that transaction. It looks written to the process that has it open,
and is in no file.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from unworn import Holdout, col, share
from unworn.ledger.stores import entry_table, sqlite_store

DATA = {"a": np.random.default_rng(0).normal(size=500)}


def interrupt(*_: Any) -> None:
    raise KeyboardInterrupt


def ask(holdout: Holdout, number: int) -> str:
    return holdout.ask(share(col("a") > number / 10), guess=0.5).certificate.entry.hash


@pytest.mark.parametrize("batch", [1, 40], ids=["one", "many"])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_what_is_told_after_two_interrupts_is_durable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, batch: int
) -> None:
    path = tmp_path / "x.db"
    holdout = Holdout(DATA, ledger=path)
    told = [ask(holdout, 0)]
    questions = [(share(col("a") > 1 + number / 100), 0.2) for number in range(batch)]

    def left_open(connection: sqlite3.Connection, *_: Any) -> bool:
        connection.execute("BEGIN IMMEDIATE")
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(sqlite_store, "add_entries", left_open)
        patched.setattr(sqlite_store, "roll_back", interrupt)
        store = holdout._desk.store
        assert isinstance(store, sqlite_store.SQLiteStore)
        last = store.read(holdout.id)[-1]
        key = store.key(holdout.id)
        assert key is not None
        with pytest.raises(KeyboardInterrupt):
            store.append([sqlite_store.Entry.seal(holdout.id, 2, last.hash, {}, key)], expect=last.hash)
    told += [holdout.ask(question, guess=guess).certificate.entry.hash for question, guess in questions]
    stranger = sqlite3.connect(path)
    kept = {row[0] for row in stranger.execute("SELECT hash FROM entries")}
    stranger.close()
    assert set(told) <= kept
    holdout.close()


def test_what_never_became_durable_is_not_read(tmp_path: Path) -> None:
    holdout = Holdout(DATA, ledger=tmp_path / "x.db")
    ask(holdout, 0)
    store = holdout._desk.store
    assert isinstance(store, sqlite_store.SQLiteStore)
    key, last = store.key(holdout.id), store.read(holdout.id)[-1]
    assert key is not None
    assert store._connection is not None
    store._connection.execute("BEGIN IMMEDIATE")
    entry_table.insert_entries(store._connection, [sqlite_store.Entry.seal(holdout.id, 2, last.hash, {"x": 1}, key)])
    assert [entry.index for entry in store.read(holdout.id)] == [0, 1]
    ask(holdout, 1)
    holdout.verify()
    holdout.close()
