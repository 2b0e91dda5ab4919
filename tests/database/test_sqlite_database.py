"""Tables in a SQLite file: who may read them, and what a killed writer leaves."""

from __future__ import annotations

import importlib
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from unworn.database import DatabaseError, Unreachable, open_database


def test_files_are_the_owners_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with open_database(tmp_path / "board.db") as database:
            database.migrate("room", ["CREATE TABLE a (x BIGINT)"])
            modes = {each.name: stat.S_IMODE(each.stat().st_mode) for each in tmp_path.iterdir()}
    finally:
        os.umask(before)
    assert modes == {"board.db": 0o600, "board.db-wal": 0o600, "board.db-shm": 0o600}


def test_it_is_durable_and_says_where_it_is(tmp_path: Path) -> None:
    with open_database(tmp_path / "board.db") as database:
        assert database.select("PRAGMA synchronous") == [(2,)]
        assert database.select("PRAGMA journal_mode") == [("wal",)]
        assert database.url == f"sqlite:///{tmp_path}/board.db"
        assert repr(database) == f"SQLiteDatabase('{tmp_path}/board.db')"


def test_what_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("no tables here" * 100)
    with pytest.raises(DatabaseError, match=r"notes\.txt"):
        open_database(tmp_path / "notes.txt")
    with pytest.raises(DatabaseError, match="cannot be made"):
        open_database(tmp_path / "no" / "folder" / "board.db")


_WRITER = """
import sys
from unworn.database import open_database
database = open_database(sys.argv[1])
for number in range(10**9):
    database.transact(lambda run: [run("INSERT INTO a VALUES (:x)", x=2 * number + each) for each in (0, 1)])
    print(number, flush=True)
"""


def test_a_killed_writer_loses_nothing_that_it_told(tmp_path: Path) -> None:
    place = str(tmp_path / "board.db")
    with open_database(place) as database:
        database.migrate("room", ["CREATE TABLE a (x BIGINT)"])
    for pause in (0.0, 0.03, 0.1):
        with open_database(place) as database:
            database.transact(lambda run: run("DELETE FROM a"))
        writer = subprocess.Popen([sys.executable, "-c", _WRITER, place], stdout=subprocess.PIPE, text=True)
        assert writer.stdout is not None
        writer.stdout.readline()
        time.sleep(pause)
        writer.send_signal(signal.SIGKILL)
        told = [int(line) for line in writer.communicate()[0].splitlines()]
        with open_database(place) as database:
            kept = [x for (x,) in database.select("SELECT x FROM a ORDER BY x")]
        assert kept == list(range(len(kept)))
        assert len(kept) % 2 == 0
        assert len(kept) >= 2 * (max(told, default=0) + 1)


def test_a_full_disk_changes_nothing(tmp_path: Path) -> None:
    with open_database(tmp_path / "board.db") as database:
        database.migrate("room", ["CREATE TABLE a (x TEXT)"])
        limited = database.select("PRAGMA page_count")[0][0] + 2
        with database.transaction() as run:
            run(f"PRAGMA max_page_count={limited}")
        with pytest.raises(Unreachable, match="full"):
            database.transact(lambda run: run("INSERT INTO a VALUES (:x)", x="x" * 100_000))
        database.transact(lambda run: run("INSERT INTO a VALUES (:x)", x="y"))
        assert database.select("SELECT x FROM a") == [("y",)]


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("database.sqlite_database", "SQLiteDatabase"),
        ("database.postgres_database", "PostgresDatabase"),
        ("ledger.stores.sqlite_store", "SQLiteStore"),
        ("ledger.stores.postgres_store", "PostgresStore"),
    ],
)
def test_what_is_still_open_when_the_interpreter_ends_says_nothing(
    module: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python takes modules apart then, and would print what went wrong in ``__del__``."""
    pytest.importorskip("psycopg")
    found = importlib.import_module(f"unworn.{module}")
    monkeypatch.setattr(found, "contextlib", None, raising=False)
    kind = getattr(found, name)
    kind.__del__(kind.__new__(kind))
