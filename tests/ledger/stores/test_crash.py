"""What was acknowledged is there, whenever the process is killed.

SIGKILL stands in for a crash of the process. A loss of power is SQLite's part (``synchronous=FULL``).
"""

from __future__ import annotations

import importlib.util
import os
import random
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from tests.two_sizes import in_two_sizes, reseeded
from unworn.errors import Conflict
from unworn.ledger import GENESIS, Entry, Key, verify
from unworn.ledger.stores import sqlite_file
from unworn.ledger.stores.sqlite_store import SQLiteStore

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")


def harness() -> ModuleType:
    """``crash.py`` beside this file, loaded by path so that it works however the tests are imported."""
    spec = importlib.util.spec_from_file_location("crash", Path(__file__).with_name("crash.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def appender(path: Path, holdout: str, threads: int) -> Callable[[Callable[[str], None]], None]:
    """Append until killed, from several threads, a few entries at a time; acknowledge each batch."""

    def work(acknowledge: Callable[[str], None]) -> None:
        sys.setswitchinterval(1e-4)
        store = SQLiteStore(path)
        key = store.key(holdout)
        assert key is not None

        def loop(seed: int) -> None:
            rng = random.Random(seed)
            last = store.read(holdout)[-1]
            while True:
                batch = [last]
                for _ in range(rng.choice([1, 1, 1, 3, 40])):
                    batch.append(Entry.seal(holdout, batch[-1].index + 1, batch[-1].hash, {"pid": os.getpid()}, key))
                try:
                    store.append(batch[1:], expect=last.hash)
                except Conflict:
                    last = store.read(holdout, last.index)[-1]
                    continue
                last = batch[-1]
                for entry in batch[1:]:
                    acknowledge(f"{entry.index} {entry.hash}")

        started = [threading.Thread(target=loop, args=(seed,), daemon=True) for seed in range(threads)]
        for thread in started:
            thread.start()
        for thread in started:
            thread.join()

    return work


def kill_often(path: Path, rounds: int, seed: int) -> None:
    run_and_kill = harness().run_and_kill
    rng = random.Random(seed)
    holdout, key = "ab" * 16, Key.new()
    store = SQLiteStore(path)
    store.create(Entry.seal(holdout, 0, GENESIS, {"public": key.public}, key), key)
    store.close()
    acknowledged: dict[int, str] = {0: ""}
    checked: list[Entry] = []
    for number in range(rounds):
        works = [appender(path, holdout, threads) for threads in rng.choice([(1,), (3,), (1, 2)])]
        lines = [line for each in run_and_kill(works, rng.uniform(0, 0.08)) for line in each]
        assert lines
        for line in lines:
            index, digest = line.split()
            assert int(index) not in acknowledged, "an index was acknowledged twice"
            acknowledged[int(index)] = digest
        store = SQLiteStore(path)
        news = store.read(holdout, len(checked))
        verify(news, after=checked[-1] if checked else None, public=key.public, signatures="last")
        checked += news
        stored = {entry.index: entry.hash for entry in checked}
        assert all(stored[index] == digest for index, digest in acknowledged.items() if index), f"round {number}"
        store.close()
    store = SQLiteStore(path)
    verify(store.read(holdout), signatures="last")
    check = store._connection.execute("PRAGMA integrity_check").fetchone()[0]  # type: ignore[union-attr]
    store.close()
    assert check == "ok"


@in_two_sizes(short=20, full=200)
def test_kills_at_any_moment(size: int, tmp_path: Path) -> None:
    """Nothing here is a matter of chance but the moments: what was acknowledged is there after each of them."""
    kill_often(tmp_path / "x.db", rounds=size, seed=reseeded(7))


def test_a_kill_between_key_and_terms_leaves_no_holdout(tmp_path: Path) -> None:
    """The key comes first: a crash in between leaves a key without a holdout, never the other way round."""
    path, key = tmp_path / "x.db", Key(bytes(32))
    terms = Entry.seal("ab" * 16, 0, GENESIS, {"public": key.public}, key)

    def work(acknowledge: Callable[[str], None]) -> None:
        store = SQLiteStore(path)
        store._append = lambda *_, **__: (acknowledge("at terms"), threading.Event().wait())  # type: ignore[method-assign]
        store.create(terms, key)

    assert harness().run_and_kill([work], 0.01) == [["at terms"]]
    store = SQLiteStore(path)
    assert store.holdouts() == {}
    assert store.key("ab" * 16) == key
    store.create(terms, key)  # the same one may be tried again
    assert store.read("ab" * 16) == [terms]
    store.close()


def test_a_kill_while_the_log_is_laid_out_leaves_the_ledger_as_it_was(tmp_path: Path) -> None:
    path, key = tmp_path / "x.db", Key(bytes(32))
    terms = Entry.seal("ab" * 16, 0, GENESIS, {"public": key.public}, key)
    first, second = (Entry.seal("ab" * 16, 1, terms.hash, {"number": number}, key) for number in (1, 2))
    store = SQLiteStore(path)
    store.create(terms, key)
    store.close()

    def work(acknowledge: Callable[[str], None]) -> None:
        sqlite_file.roll_back = lambda _: (acknowledge("laid out"), threading.Event().wait())  # type: ignore[assignment]
        SQLiteStore(path).append([first], expect=terms.hash)

    assert harness().run_and_kill([work], 0.01) == [["laid out"]]
    assert path.with_name("x.db-wal").stat().st_size > 200 * 4096
    store = SQLiteStore(path)
    assert store.read("ab" * 16) == [terms]
    store.append([second], expect=terms.hash)
    assert store.read("ab" * 16) == [terms, second]
    check = store._connection.execute("PRAGMA integrity_check").fetchone()[0]  # type: ignore[union-attr]
    store.close()
    assert check == "ok"
