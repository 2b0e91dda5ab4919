"""Somebody copies all of a ledger's files while it is in use, and others open it: nobody is ended by the system.

Copying SQLite's shared index (``-shm``) drops the lock that says that it is in use. Whoever opens the ledger next makes
the index anew, and for a moment it has no pages: looking at it then is a bus error, which no ``except`` catches.
"""

from __future__ import annotations

import os
import signal
import traceback
from collections.abc import Callable
from pathlib import Path

import pytest

from unworn.ledger import GENESIS, Entry, Key
from unworn.ledger.stores.sqlite_store import SQLiteStore

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")

ID, KEY = "ab" * 16, Key(bytes(32))
OPENINGS = 200


def start(work: Callable[[], None]) -> int:
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    return child


def test_an_index_that_others_make_anew_ends_no_reader(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    store = SQLiteStore(path)
    first = Entry.seal(ID, 0, GENESIS, {"public": KEY.public}, KEY)
    store.create(first, KEY)
    store.close()

    def read() -> None:
        store = SQLiteStore(path)
        store.append([Entry.seal(ID, 1, first.hash, {"x": 1}, KEY)], expect=first.hash)
        while True:
            for name in ("x.db", "x.db-shm"):
                (tmp_path / name).read_bytes()
            for _ in range(20):
                assert len(store.read(ID)) == 2

    def look() -> None:
        for _ in range(OPENINGS):
            other = SQLiteStore(path, write=False)
            assert other.read(ID)
            other.close()

    reader, lookers = start(read), [start(look) for _ in range(2)]
    try:
        assert [os.waitstatus_to_exitcode(os.waitpid(looker, 0)[1]) for looker in lookers] == [0, 0]
        assert os.waitpid(reader, os.WNOHANG) == (0, 0), "the reader was ended"
    finally:
        os.kill(reader, signal.SIGKILL)
        os.waitpid(reader, 0)
