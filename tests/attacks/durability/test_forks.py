"""A fork loses no answer that was told, whichever process closes first and whenever it happens."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unworn
from unworn import Holdout, col, share
from unworn.errors import Conflict, LedgerError
from unworn.ledger import GENESIS, Entry, Key, verify
from unworn.ledger.stores.sqlite_store import SQLiteStore

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")

ENV = {**os.environ, "PYTHONPATH": str(Path(unworn.__file__).parents[1])}
DATA = {"a": np.random.default_rng(0).normal(size=500)}
ID = "ab" * 16
LOOK = "import sys; from unworn.ledger.stores.sqlite_store import SQLiteStore; SQLiteStore(sys.argv[1]).close()"


def look(path: Path) -> None:
    """Another process opens the ledger and closes it."""
    subprocess.run([sys.executable, "-c", LOOK, str(path)], env=ENV, check=True, timeout=60)


def ask(holdout: Holdout, number: int) -> str:
    return holdout.ask(share(col("a") > number / 10), guess=0.5).certificate.entry.hash


def in_child(work: Callable[[], Any]) -> int:
    """Fork, work, and end as workers do; the exit code is 0 if the work returned."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        work()
        code = 0
    finally:
        os._exit(code)


def join(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "x.db"


@pytest.fixture
def store(path: Path) -> Iterator[SQLiteStore]:
    opened, key = SQLiteStore(path), Key(bytes(32))
    opened.create(Entry.seal(ID, 0, GENESIS, {"public": key.public}, key), key)
    yield opened
    opened.close()


def append(store: SQLiteStore) -> str:
    key = store.key(ID)
    assert key is not None
    while True:
        last = store.read(ID)[-1]
        entry = Entry.seal(ID, last.index + 1, last.hash, {"pid": os.getpid()}, key)
        try:
            store.append([entry], expect=last.hash)
            return entry.hash
        except Conflict:
            continue


@pytest.mark.parametrize("others_look", [False, True])
@pytest.mark.parametrize("child_closes", [False, True])
def test_the_parent_closes_while_its_child_goes_on(path: Path, others_look: bool, child_closes: bool) -> None:
    holdout = Holdout(DATA, ledger=path)
    told = [ask(holdout, 0)]
    (ready, is_ready), (results, result), (go_on, may_go_on) = os.pipe(), os.pipe(), os.pipe()

    def work() -> None:
        hashes = [ask(holdout, 1)]
        os.write(is_ready, b"x")
        os.read(go_on, 1)
        hashes += [ask(holdout, number) for number in range(2, 6)]
        os.write(result, json.dumps(hashes).encode())
        if child_closes:
            holdout.close()

    child = in_child(work)
    os.read(ready, 1)
    holdout.close()
    if others_look:
        look(path)
    os.write(may_go_on, b"x")
    assert join(child) == 0
    told += json.loads(os.read(results, 100_000))
    again = Holdout(DATA, ledger=path)
    again.verify()
    kept = {entry.hash for entry in SQLiteStore(path).read(again.id)}
    again.close()
    assert len(told) == 6
    assert set(told) <= kept


def test_a_fork_in_the_midst_of_commits_locks_nobody_out(store: SQLiteStore) -> None:
    """Another thread commits all the time; each of ten children can append, and nothing is lost."""
    stop, hashes = threading.Event(), []

    def commit() -> None:
        while not stop.is_set():
            hashes.append(append(store))

    thread = threading.Thread(target=commit)
    thread.start()
    try:
        children = []
        for _ in range(10):
            children.append(in_child(lambda: append(store)))
            time.sleep(0.01)
        assert [join(child) for child in children] == [0] * 10
    finally:
        stop.set()
        thread.join()
    entries = store.read(ID)
    verify(entries, signatures="last")
    assert set(hashes) <= {entry.hash for entry in entries}
    assert len({entry.body["pid"] for entry in entries[1:]}) == 11


class Forking:
    """A model whose work is done by a child, as many libraries do it."""

    def predict(self, X: Any) -> Any:
        assert join(in_child(lambda: None)) == 0
        return np.zeros(500)


def test_a_model_that_forks_on_the_rows(path: Path) -> None:
    y = np.random.default_rng(1).integers(0, 2, 500)
    holdout = Holdout(DATA, y, ledger=path, practice=0)
    answer = holdout.score(Forking(), guess=0.5)
    assert holdout.score(np.ones(500), guess=0.5).index == answer.index + 1
    holdout.verify()
    holdout.close()


def refused(work: Callable[[], Any]) -> None:
    try:
        work()
    except LedgerError:
        return
    raise AssertionError("it was not refused")


def test_a_fork_by_a_signal_handler_in_the_midst_of_a_commit(store: SQLiteStore, path: Path) -> None:
    """Nobody can wait for a commit that this very thread is making: the child does without the ledger."""
    with store._mine():

        def work() -> None:
            refused(lambda: append(store))
            refused(lambda: SQLiteStore(path))

        child = in_child(work)
    assert join(child) == 0
    append(store)
    assert len(store.read(ID)) == 2


@pytest.mark.skipif(sys.platform != "linux", reason="calls fork by its name in the C library")
def test_a_fork_that_python_does_not_know_of(store: SQLiteStore, path: Path) -> None:
    child = ctypes.PyDLL(None).fork()
    if child == 0:
        code = 1
        try:
            refused(lambda: append(store))
            refused(lambda: store.read(ID))
            refused(lambda: SQLiteStore(path))
            code = 0
        finally:
            os._exit(code)
    assert join(child) == 0
    append(store)
    assert len(store.read(ID)) == 2


def test_parent_and_child_and_grandchild_at_once(store: SQLiteStore) -> None:
    def grandchild() -> None:
        for _ in range(10):
            append(store)

    def child() -> None:
        append(store)
        other = in_child(grandchild)
        for _ in range(10):
            append(store)
        store.close()
        assert join(other) == 0

    pid = in_child(child)
    for _ in range(10):
        append(store)
    assert join(pid) == 0
    entries = store.read(ID)
    verify(entries, signatures="last")
    assert len(entries) == 1 + 10 + 11 + 10


def test_a_connection_that_could_not_be_closed_is_refused_to_children(
    store: SQLiteStore, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where SQLite cannot be told to leave the log to the others, the connection stays open for good."""
    other = SQLiteStore(path)
    monkeypatch.setattr("unworn.ledger.stores.sqlite_file._keep_log", lambda _: False)
    other.close()
    assert join(in_child(lambda: refused(lambda: append(store)))) == 0
    append(store)
    assert len(store.read(ID)) == 2


@pytest.mark.skipif(sys.platform != "linux", reason="calls fork by its name in the C library")
def test_a_fork_that_python_does_not_know_of_opens_nothing_anew(store: SQLiteStore, path: Path) -> None:
    """Though nobody has touched the store that it inherited."""
    child = ctypes.PyDLL(None).fork()
    if child == 0:
        code = 1
        try:
            refused(lambda: SQLiteStore(path))
            code = 0
        finally:
            os._exit(code)
    assert join(child) == 0
    append(store)
    assert len(store.read(ID)) == 2


def test_stores_that_could_not_be_made_keep_no_child_from_the_others(store: SQLiteStore) -> None:
    errors = []
    for _ in range(8):  # each error keeps its store, half made
        with pytest.raises(LedgerError) as error:
            SQLiteStore(":memory:")
        errors.append(error)
    assert join(in_child(lambda: append(store))) == 0
    assert len(store.read(ID)) == 2


def test_a_fork_waits_for_the_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """A child that is forked while another thread looks something up would find SQLite locked for ever."""
    from unworn.ledger.registry import known_rows

    monkeypatch.setattr(known_rows, "_PATIENCE", 0.5)
    registry, inside = known_rows.Registry.open(), threading.Event()

    def look_up() -> None:
        with registry._transaction():
            inside.set()
            time.sleep(0.2)

    thread = threading.Thread(target=look_up)
    thread.start()
    inside.wait()
    assert join(in_child(lambda: registry.forget("sqlite:///nothing.db"))) == 0
    thread.join()


INTERRUPTED = """
import ctypes, functools, os, signal, sys, threading
raise_signal = ctypes.PyDLL(None)["raise"]
os.register_at_fork(before=functools.partial(raise_signal, signal.SIGINT))  # the last thing before the fork, in C
from unworn.ledger.stores.sqlite_store import SQLiteStore
store = SQLiteStore(sys.argv[1])
child = os.fork()
if child == 0:
    os._exit(0)
os.waitpid(child, 0)
thread = threading.Thread(target=store.holdouts, daemon=True)
thread.start()
thread.join(20)
os._exit(thread.is_alive())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="calls the C library by name")
def test_an_interrupt_during_a_fork_leaves_nobody_waiting(path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", INTERRUPTED, str(path)], env=ENV, timeout=60)
    assert done.returncode == 0


class InterruptedLock:
    """A lock that an interrupt meets between the moment it is held and the moment anybody knows."""

    def __init__(self) -> None:
        self.inner = threading.RLock()

    def acquire(self, timeout: float) -> bool:
        self.inner.acquire(timeout=timeout)
        raise KeyboardInterrupt

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


def test_an_interrupt_as_a_fork_takes_the_lock_leaves_it_to_others(store: SQLiteStore) -> None:
    lock = InterruptedLock()
    store._lock = lock  # type: ignore[assignment]
    with pytest.raises(KeyboardInterrupt):
        store.prepare_fork()
    store.resume_after_fork(child=False)
    assert not lock._is_owned()
    store._lock = threading.RLock()
    append(store)
    assert len(store.read(ID)) == 2
