"""Reading a ledger's files in the asking process, or removing its log, loses no answer that was told.

Closing any descriptor of a file drops the POSIX locks of the whole process on it. Another process that opens and
closes the ledger then believes it is alone, and removes the log under the feet of the one that goes on asking.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import unworn
from unworn.errors import LedgerError, Tampered
from unworn.ledger import GENESIS, Entry, Key, verify
from unworn.ledger.backup import restore
from unworn.ledger.stores.sqlite_store import SQLiteStore

ENV = {**os.environ, "PYTHONPATH": str(Path(unworn.__file__).parents[1])}
ID = "ab" * 16
READ = """
import sys
from unworn.ledger.stores.sqlite_store import SQLiteStore
store = SQLiteStore(sys.argv[1])
print(*(entry.hash for entry in store.read(sys.argv[2])))
store.close()
"""
STRANGER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
print(*(row[0] for row in connection.execute("SELECT hash FROM entries WHERE holdout = ? ORDER BY idx", sys.argv[2:])))
connection.close()
"""
KEEP_OPEN = """
import sys
from unworn.ledger.stores.sqlite_store import SQLiteStore
store = SQLiteStore(sys.argv[1])
print("open", flush=True)
sys.stdin.readline()
store.close()
"""


def run(code: str, path: Path) -> list[str]:
    command = [sys.executable, "-c", code, str(path), ID]
    done = subprocess.run(command, env=ENV, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def sealed(path: Path) -> SQLiteStore:
    store, key = SQLiteStore(path), Key(bytes(32))
    store.create(Entry.seal(ID, 0, GENESIS, {"public": key.public}, key), key)
    return store


def append(store: SQLiteStore, count: int = 1) -> list[str]:
    key = store.key(ID)
    assert key is not None
    hashes = []
    for _ in range(count):
        last = store.read(ID)[-1]
        entry = Entry.seal(ID, last.index + 1, last.hash, {"pad": "x" * 500}, key)
        store.append([entry], expect=last.hash)
        hashes.append(entry.hash)
    return hashes


def copy_all(path: Path) -> None:
    shutil.copytree(path.parent, path.parent.with_name("copy"), dirs_exist_ok=True)


READERS: dict[str, Callable[[Path], object]] = {
    "copy": lambda path: shutil.copy(path, path.with_name("copy.db")),
    "hash": lambda path: hashlib.sha256(path.read_bytes()).hexdigest(),
    "folder": copy_all,
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("other", [READ, STRANGER], ids=["ours", "stranger"])
def test_a_ledger_that_is_read_as_a_file_while_it_is_asked(tmp_path: Path, reader: str, other: str) -> None:
    path = tmp_path / "home" / "x.db"
    path.parent.mkdir()
    store = sealed(path)
    told = append(store, 3)
    for _ in range(2):
        READERS[reader](path)
        assert set(told) <= set(run(other, path))
        told += append(store, 3)
    # Killed now: whoever comes next must find all of it.
    copy = tmp_path / "crashed"
    shutil.copytree(path.parent, copy)
    assert set(told) <= set(run(READ, copy / "x.db"))
    told += append(store)
    assert run(READ, path)[1:] == told
    store.close()


@pytest.mark.parametrize("name", ["x.db-wal", "x.db-shm", "x.db-open", "x.db-lock"])
def test_a_file_of_sqlites_that_is_removed(tmp_path: Path, name: str) -> None:
    path = tmp_path / "x.db"
    store = sealed(path)
    told = append(store, 5)
    (tmp_path / name).unlink()
    told += append(store, 5)
    assert run(READ, path)[1:] == told
    store.close()
    assert run(READ, path)[1:] == told


def test_a_log_removed_while_two_have_it_open(tmp_path: Path) -> None:
    """Both have entries in it that nobody else can reach: both stop, until one is left that can save them."""
    path = tmp_path / "x.db"
    store = sealed(path)
    told = append(store, 5)
    other = subprocess.Popen(
        [sys.executable, "-c", KEEP_OPEN, str(path)], env=ENV, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert other.stdout is not None
    assert other.stdout.readline() == "open\n"
    (tmp_path / "x.db-wal").unlink()
    with pytest.raises(LedgerError, match="others have the ledger open too"):
        append(store)
    other.communicate("go on\n", timeout=60)
    told += append(store)
    assert run(READ, path)[1:] == told
    store.close()


GO_ON = """
import shutil, sys
from tests.attacks.durability.test_lost_locks import Path, append, SQLiteStore
path = Path(sys.argv[1])
store = SQLiteStore(path)
for line in sys.stdin:
    print(*append(store, 3), flush=True)
    shutil.copy(path, path.with_name("other-copy.db"))
"""


@pytest.mark.parametrize("names", [[], ["x.db-shm"], ["x.db-shm", "x.db-wal"]], ids=["stranger", "index", "both"])
def test_two_who_lost_their_locks_and_then_their_log(tmp_path: Path, names: list[str]) -> None:
    """A stranger takes itself for the last one and removes the log, or somebody else does: both go on."""
    path, root = tmp_path / "x.db", str(Path(__file__).parents[3])
    store = sealed(path)
    told = append(store, 3)
    command = [sys.executable, "-c", GO_ON, str(path)]
    other = subprocess.Popen(command, env=ENV, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert other.stdin is not None
    assert other.stdout is not None
    for _ in range(3):
        other.stdin.write("go on\n")
        other.stdin.flush()
        told += other.stdout.readline().split()
        shutil.copy(path, tmp_path / "copy.db")
        assert run(STRANGER, path)[1:] == told
        for name in names:
            (tmp_path / name).unlink(missing_ok=True)
        told += append(store, 3)
    other.communicate(timeout=60)
    assert run(READ, path)[1:] == told
    store.close()


CUT = """
import os, sys
from unworn.errors import LedgerError
from tests.attacks.durability.test_lost_locks import Path, append, sealed
store = sealed(Path(sys.argv[1]))
append(store, 5)
os.truncate(sys.argv[1] + "-wal", 0)
try:
    append(store)
except LedgerError:
    os._exit(0)
"""


def test_a_log_that_was_cut_is_noticed(tmp_path: Path) -> None:
    """By the process that has it open, which tells nothing more, and by whoever comes after it."""
    command = [sys.executable, "-c", CUT, str(tmp_path / "x.db")]
    root = str(Path(__file__).parents[3])
    done = subprocess.run(command, env=ENV, cwd=root, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    with pytest.raises(Tampered, match="lacks answers that were given"):
        SQLiteStore(tmp_path / "x.db")


def test_a_log_removed_after_a_crash_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "home" / "x.db"
    path.parent.mkdir()
    store = sealed(path)
    told = append(store, 5)
    crashed = tmp_path / "crashed"
    shutil.copytree(path.parent, crashed)
    store.close()
    shutil.copytree(crashed, tmp_path / "whole")
    assert run(READ, tmp_path / "whole" / "x.db")[1:] == told
    (crashed / "x.db-wal").unlink()
    with pytest.raises(Tampered, match=r"(?s)lacks answers that were given.*--restore"):
        SQLiteStore(crashed / "x.db")


def test_we_do_not_read_a_live_ledger_as_something_else(tmp_path: Path) -> None:
    from unworn import Holdout
    from unworn.cli.verify import verify as verify_command
    from unworn.record.certificate import Certificate

    path = tmp_path / "x.db"
    store = sealed(path)
    link = tmp_path / "link.parquet"
    link.symlink_to(path)
    for read in (
        lambda: restore(path, store),
        lambda: Certificate.load(path),
        lambda: verify_command(path),
        lambda: Holdout(f"duckdb:{path}#entries"),
        lambda: Holdout(str(link)),
    ):
        with pytest.raises(LedgerError, match="this process has open"):
            read()
    store.close()
    verify(SQLiteStore(path).read(ID))
