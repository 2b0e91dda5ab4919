"""What was acknowledged is there, however many processes are killed, whatever else was done to the ledger meanwhile.

Processes append from several threads. In between they fork children that append as well, copy and hash the file, copy
the whole folder, check the ledger through a second store; and others open and close it all the time.
"""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import sys
import threading
import traceback
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.ledger.stores.crash import run_and_kill
from unworn.errors import Conflict, Tampered
from unworn.ledger import GENESIS, Entry, Key, verify
from unworn.ledger.stores.sqlite_store import SQLiteStore

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")

ID = "ab" * 16
Acknowledge = Callable[[str], None]


def append(store: SQLiteStore, rng: random.Random, acknowledge: Acknowledge) -> None:
    key = store.key(ID)
    assert key is not None
    batch = store.read(ID, store.length(ID) - 1)[-1:]
    for _ in range(rng.choice([1, 1, 1, 3, 40])):
        body = {"pad": "x" * rng.randrange(600)}
        batch.append(Entry.seal(ID, batch[-1].index + 1, batch[-1].hash, body, key))
    try:
        store.append(batch[1:], expect=batch[0].hash)
    except Conflict:
        return
    acknowledge("".join(f"{entry.index} {entry.hash}\n" for entry in batch[1:]).rstrip())


def fork(store: SQLiteStore, rng: random.Random, acknowledge: Acknowledge) -> None:
    child = os.fork()
    if child == 0:
        code = 1
        try:
            for _ in range(rng.randrange(4)):
                append(store, rng, acknowledge)
            if rng.random() < 0.5:
                store.close()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def copy(store: SQLiteStore, rng: random.Random, acknowledge: Acknowledge) -> None:
    """Drops every lock that SQLite has in this process."""
    hashlib.sha256(store.path.read_bytes()).hexdigest()
    for name in os.listdir(store.path.parent):
        if name.startswith("x.db-") and rng.random() < 0.5:
            shutil.copy(store.path.parent / name, store.path.parent / f"copy-{os.getpid()}")


def check(store: SQLiteStore, rng: random.Random, acknowledge: Acknowledge) -> None:
    other = SQLiteStore(store.path, write=rng.random() < 0.5)
    verify(other.read(ID), signatures="last")
    other.close()


def asker(path: Path, seed: int) -> Callable[[Acknowledge], None]:
    def work(acknowledge: Acknowledge) -> None:
        sys.setswitchinterval(1e-4)
        store = SQLiteStore(path)

        def loop(number: int) -> None:
            rng = random.Random(seed + number)
            try:
                while True:
                    append(store, rng, acknowledge)
                    if rng.random() < 0.2:
                        rng.choice([fork, copy, check] if number == 0 else [copy, check])(store, rng, acknowledge)
            except BaseException:  # also in a thread: nothing may fail here
                traceback.print_exc()
                os._exit(1)

        others = [threading.Thread(target=loop, args=(number,), daemon=True) for number in range(1, seed % 3 + 1)]
        for thread in others:
            thread.start()
        loop(0)

    return work


def looker(path: Path) -> Callable[[Acknowledge], None]:
    def work(acknowledge: Acknowledge) -> None:
        while True:
            store = SQLiteStore(path, write=False)
            assert store.read(ID)
            store.close()

    return work


def kill_often(path: Path, kills: int, seed: int) -> None:
    rng, key, killed = random.Random(seed), Key(bytes(32)), 0
    store = SQLiteStore(path)
    store.create(Entry.seal(ID, 0, GENESIS, {"public": key.public}, key), key)
    store.close()
    acknowledged: dict[int, str] = {}
    checked = 0
    while killed < kills:
        works = [asker(path, rng.randrange(10**6)) for _ in range(rng.randrange(1, 5))]
        killed += len(works)
        if rng.random() < 0.5:
            works.append(looker(path))
        news = [line for lines in run_and_kill(works, rng.uniform(0, 0.15)) for line in lines]
        assert news
        for line in news:
            index, hashed = line.split()
            assert int(index) not in acknowledged, "an index was acknowledged twice"
            acknowledged[int(index)] = hashed
        store = SQLiteStore(path)
        entries = store.read(ID, checked)
        verify(entries[1:], public=key.public, signatures="last", after=entries[0])
        store.close()
        kept = {entry.index: entry.hash for entry in entries}
        recent = {index: hashed for index, hashed in acknowledged.items() if index >= checked}
        assert all(kept.get(index) == hashed for index, hashed in recent.items()), f"after {killed} kills"
        checked = entries[-1].index
    assert sorted(os.listdir(path.parent))[-2:] == ["x.db", "x.db.keys"]
    store = SQLiteStore(path)
    entries = store.read(ID)
    store.close()
    verify(entries, signatures="last")
    assert all(entries[index].hash == hashed for index, hashed in acknowledged.items())
    # And the ledger as it was before the last entry would be known for what it is.
    os.truncate(path, 0)
    with pytest.raises(Tampered):
        SQLiteStore(path)


def test_thirty_kills(tmp_path: Path) -> None:
    kill_often(tmp_path / "x.db", 30, seed=3)


@pytest.mark.slow
def test_a_thousand_kills(tmp_path: Path) -> None:
    kill_often(tmp_path / "x.db", 1_000, seed=4)
