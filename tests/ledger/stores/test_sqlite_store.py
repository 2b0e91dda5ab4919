from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import unworn
from unworn.errors import Conflict, LedgerError
from unworn.ledger import Entry, Key, MemoryStore, verify
from unworn.ledger.stores.entry_table import HEAD, READ, TERMS, add_entries, insert_entries
from unworn.ledger.stores.sqlite_schema import make_schema
from unworn.ledger.stores.sqlite_store import SQLiteStore

Chain = Callable[..., list[Entry]]
ENV = {**os.environ, "PYTHONPATH": str(Path(unworn.__file__).parents[1])}


def raw(store: SQLiteStore) -> sqlite3.Connection:
    """A second connection, as another program would have it."""
    return sqlite3.connect(store.path, isolation_level=None)


def test_settings_that_make_it_durable(sqlite_store: SQLiteStore) -> None:
    connection = sqlite_store._connection
    assert connection is not None
    values = {
        p: connection.execute(f"PRAGMA {p}").fetchone()[0] for p in ("journal_mode", "synchronous", "busy_timeout")
    }
    assert values == {"journal_mode": "wal", "synchronous": 2, "busy_timeout": 30_000}


def test_lookups_use_an_index(sqlite_store: SQLiteStore) -> None:
    assert sqlite_store._connection is not None
    for sql, values, expected in (
        (HEAD, ("x",), "SEARCH entries USING PRIMARY KEY (holdout=?)"),
        (READ, ("x", 3, 5), "SEARCH entries USING PRIMARY KEY (holdout=? AND idx>? AND idx<?)"),
        (TERMS, (), "USING INDEX terms"),
    ):
        plan = sqlite_store._connection.execute(f"EXPLAIN QUERY PLAN {sql}", values).fetchall()
        assert len(plan) == 1
        assert expected in plan[0][3]


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE entries SET body = '{}' WHERE idx = 1",
        "DELETE FROM entries",
        "REPLACE INTO entries SELECT holdout, idx, previous, hash, '{}', signature FROM entries WHERE idx = 1",
        "REPLACE INTO entries SELECT holdout, 1, previous, hash, '{}', signature FROM entries WHERE idx = 1",
        "INSERT INTO entries SELECT holdout, 3, previous, 'x', body, signature FROM entries WHERE idx = 2",
        "INSERT INTO entries SELECT 'new', 1, hash, 'x', body, signature FROM entries WHERE idx = 0",
    ],
)
def test_the_file_itself_is_append_only(sqlite_store: SQLiteStore, chain: Chain, key: Key, sql: str) -> None:
    entries = chain(2)
    sqlite_store.create(entries[0], key)
    sqlite_store.append(entries[1:], expect=entries[0].hash)
    other = raw(sqlite_store)
    with pytest.raises(sqlite3.IntegrityError, match=r"append-only|not the next entry"):
        other.execute(sql)
    other.close()
    assert sqlite_store.read(entries[0].holdout) == entries


def test_it_is_there_after_closing(tmp_path: Path, chain: Chain, key: Key, holdout: str) -> None:
    entries = chain(3)
    store = SQLiteStore(tmp_path / "x.db")
    store.create(entries[0], key)
    store.append(entries[1:3], expect=entries[0].hash)
    store.append(entries[3:], expect=entries[2].hash)
    store.close()
    store.close()
    for use in (lambda: store.read(holdout), lambda: store.append(chain(4)[4:], expect=entries[3].hash)):
        with pytest.raises(LedgerError, match="was closed"):
            use()
    again = SQLiteStore(tmp_path / "x.db")
    assert again.read(holdout) == entries
    assert again.key(holdout) == key
    again.close()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["x.db", "x.db.keys"]


def test_the_key_is_private_and_not_in_the_ledger(tmp_path: Path, chain: Chain, key: Key, holdout: str) -> None:
    before = os.umask(0)
    try:
        store = SQLiteStore(tmp_path / "x.db")
        store.create(chain(0)[0], key)
    finally:
        os.umask(before)
    folder = tmp_path / "x.db.keys"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert sorted(p.name for p in folder.iterdir()) == [f"{holdout}.head", f"{holdout}.key"]
    assert {stat.S_IMODE(each.stat().st_mode) for each in folder.iterdir()} == {0o600}
    assert (folder / f"{holdout}.key").read_text().strip() == key.hex()
    store.close()
    data = (tmp_path / "x.db").read_bytes()
    assert key.public.encode() in data
    assert key.hex().encode() not in data
    assert bytes(range(32)) not in data


def test_a_folder_of_keys_that_others_can_enter_is_closed_to_them(tmp_path: Path, chain: Chain, key: Key) -> None:
    folder = tmp_path / "x.db.keys"
    folder.mkdir(mode=0o755)
    store = SQLiteStore(tmp_path / "x.db")
    store.create(chain(0)[0], key)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    store.close()


def test_ids_cannot_leave_the_folder_of_keys(sqlite_store: SQLiteStore, key: Key) -> None:
    with pytest.raises(LedgerError, match="32 lower-case hex"):
        sqlite_store.keep_key("../escape", key)
    assert sqlite_store.key("../../etc/passwd") is None
    assert not (sqlite_store.path.parent / "escape.key").exists()


def test_a_spoiled_key_file_is_reported_without_its_text(sqlite_store: SQLiteStore, key: Key, holdout: str) -> None:
    sqlite_store.keep_key(holdout, key)
    path = sqlite_store.path.with_name("ledger.db.keys") / f"{holdout}.key"
    for spoiled in (key.hex()[:-2].encode(), b"\xff" + key.hex().encode()):
        path.write_bytes(spoiled)
        with pytest.raises(LedgerError, match="cannot be read") as caught:
            sqlite_store.key(holdout)
        assert key.hex()[8:24] not in str(caught.value)


def test_a_link_to_the_ledger_finds_the_same_keys(sqlite_store: SQLiteStore, chain: Chain, key: Key) -> None:
    sqlite_store.create(chain(0)[0], key)
    link = sqlite_store.path.parent / "sub" / "link.db"
    link.parent.mkdir()
    link.symlink_to(sqlite_store.path)
    other = SQLiteStore(link)
    assert other.url == sqlite_store.url
    assert other.key(chain(0)[0].holdout) == key
    other.close()


# ---- files that are not ledgers


def test_opening_what_is_no_ledger(tmp_path: Path) -> None:
    (tmp_path / "text.db").write_text("these are not the pages you are looking for\n" * 100)
    (tmp_path / "folder.db").mkdir()
    other = sqlite3.connect(tmp_path / "other.db")
    other.execute("CREATE TABLE customers (name TEXT)")
    other.close()
    for name, message in (
        ("text.db", "not a SQLite file"),
        ("folder.db", "is a directory"),
        ("other.db", "not a whole ledger"),
        ("missing/x.db", "there is no directory"),
    ):
        with pytest.raises(LedgerError, match=message):
            SQLiteStore(tmp_path / name)
    assert (tmp_path / "text.db").read_text().startswith("these are")
    with pytest.raises(LedgerError, match="permissions"):
        SQLiteStore("/proc/x.db")


FIRST_FORMAT = """
CREATE TABLE entries (
    holdout TEXT NOT NULL,
    idx INTEGER NOT NULL,
    previous TEXT NOT NULL,
    hash TEXT NOT NULL,
    body TEXT NOT NULL,
    signature TEXT NOT NULL,
    PRIMARY KEY (holdout, idx)
) WITHOUT ROWID;
CREATE UNIQUE INDEX terms ON entries (holdout) WHERE idx = 0;
CREATE TRIGGER no_update BEFORE UPDATE ON entries
    BEGIN SELECT RAISE(ABORT, 'a ledger is append-only'); END;
CREATE TRIGGER no_delete BEFORE DELETE ON entries
    BEGIN SELECT RAISE(ABORT, 'a ledger is append-only'); END;
CREATE TRIGGER only_next BEFORE INSERT ON entries
    WHEN NEW.previous IS NOT ifnull(
            (SELECT hash FROM entries WHERE holdout = NEW.holdout ORDER BY idx DESC LIMIT 1), '{genesis}')
        OR NEW.idx IS NOT ifnull((SELECT max(idx) + 1 FROM entries WHERE holdout = NEW.holdout), 0)
    BEGIN SELECT RAISE(ABORT, 'not the next entry'); END;
PRAGMA user_version = 1;
"""


def test_a_ledger_of_the_first_format(tmp_path: Path, chain: Chain, key: Key, holdout: str) -> None:
    """As the first version made it, letter by letter, with a key and without a noted head."""
    entries = chain(4)
    old = sqlite3.connect(tmp_path / "x.db", isolation_level=None)
    old.execute("PRAGMA journal_mode=WAL")
    old.executescript(FIRST_FORMAT.format(genesis="0" * 64))
    for entry in entries[:3]:
        row = (holdout, entry.index, entry.previous, entry.hash, entry.text, entry.signature)
        old.execute("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?)", row)
    old.close()
    (tmp_path / "x.db.keys").mkdir()
    (tmp_path / "x.db.keys" / f"{holdout}.key").write_text(f"{key.hex()}\n")
    store = SQLiteStore(tmp_path / "x.db")
    assert store.read(holdout) == entries[:3]
    store.append(entries[3:], expect=entries[2].hash)
    assert store.read(holdout) == entries
    store.close()
    assert (tmp_path / "x.db.keys" / f"{holdout}.head").read_text() == f"{4:019d} {entries[4].hash}\n"


def test_a_newer_format_is_not_touched(tmp_path: Path) -> None:
    SQLiteStore(tmp_path / "x.db").close()
    other = sqlite3.connect(tmp_path / "x.db")
    other.execute("PRAGMA user_version=3")
    other.close()
    with pytest.raises(LedgerError, match=r"format 3.*upgrade"):
        SQLiteStore(tmp_path / "x.db")


@pytest.fixture
def folder_of_nobody() -> Iterator[Path]:
    """A folder owned by an ordinary user, whom a test run by root becomes: root may write everywhere."""
    user = os.geteuid()
    with tempfile.TemporaryDirectory() as name:  # not tmp_path, which only its owner can enter
        if user == 0:
            os.chown(name, 65534, -1)
            os.seteuid(65534)
        try:
            yield Path(os.path.realpath(name))
        finally:
            os.seteuid(user)


@pytest.mark.parametrize(("name", "mode"), [("x.db", 0o444), (".", 0o555), (".", 0o000)])
def test_a_file_or_folder_that_cannot_be_written(folder_of_nobody: Path, name: str, mode: int) -> None:
    SQLiteStore(folder_of_nobody / "x.db").close()
    (folder_of_nobody / name).chmod(mode)
    with pytest.raises(LedgerError, match=r"permissions|no way into it"):
        SQLiteStore(folder_of_nobody / "x.db")
    folder_of_nobody.chmod(0o700)
    assert [p.name for p in folder_of_nobody.iterdir()] == ["x.db"]


def test_a_key_that_cannot_be_kept_leaves_no_holdout(folder_of_nobody: Path, chain: Chain, key: Key) -> None:
    store = SQLiteStore(folder_of_nobody / "x.db")
    (folder_of_nobody / "x.db.keys").write_text("a file where the folder should be")
    with pytest.raises(LedgerError, match=r"cannot be made|could not be written"):
        store.create(chain(0)[0], key)
    assert store.holdouts() == {}
    (folder_of_nobody / "x.db.keys").unlink()
    folder_of_nobody.chmod(0o500)
    with pytest.raises(LedgerError, match="cannot be made"):
        store.create(chain(0)[0], key)
    folder_of_nobody.chmod(0o700)
    store.create(chain(0)[0], key)
    store.close()


def test_a_ledger_whose_rule_was_dropped_is_not_opened(tmp_path: Path) -> None:
    SQLiteStore(tmp_path / "x.db").close()
    other = sqlite3.connect(tmp_path / "x.db")
    other.execute("DROP TRIGGER only_next")
    other.close()
    with pytest.raises(LedgerError, match="not a whole ledger"):
        SQLiteStore(tmp_path / "x.db")


@pytest.mark.parametrize("column", ["body", "hash", "previous", "signature", "idx"])
@pytest.mark.parametrize("value", ["'x'", "NULL", "x'ff00'", "CAST(x'ff' AS TEXT)", "1.5"])
def test_a_forged_row_is_a_ledger_error(
    sqlite_store: SQLiteStore, chain: Chain, key: Key, column: str, value: str
) -> None:
    entries = chain(2)
    sqlite_store.create(entries[0], key)
    sqlite_store.append(entries[1:], expect=entries[0].hash)
    other = raw(sqlite_store)
    other.execute("DROP TRIGGER no_update")
    try:
        other.execute(f"UPDATE entries SET {column} = {value} WHERE idx = 1")
    except sqlite3.IntegrityError:
        return  # NOT NULL already refused it
    finally:
        other.close()
    with pytest.raises(LedgerError):
        verify(sqlite_store.read(entries[0].holdout))


# ---- failures while writing


def test_a_full_disk_charges_nothing(sqlite_store: SQLiteStore, chain: Chain, key: Key, holdout: str) -> None:
    entries = chain(200, pad="x" * 700)
    sqlite_store.create(entries[0], key)
    assert sqlite_store._connection is not None
    pages = sqlite_store._connection.execute("PRAGMA page_count").fetchone()[0]
    sqlite_store._connection.execute(f"PRAGMA max_page_count={pages + 2}")
    for few in (entries[1:], entries[1:30]):  # in several statements, and in one
        with pytest.raises(LedgerError, match=r"(?s)Nothing was charged.*free some space") as caught:
            sqlite_store.append(few, expect=entries[0].hash)
        assert not isinstance(caught.value, Conflict)
        assert caught.value.numbers["reason"] == "SQLITE_FULL"
    assert sqlite_store.read(holdout) == entries[:1]
    assert list(sqlite_store.holdouts()) == [holdout]
    sqlite_store._connection.execute("PRAGMA max_page_count=100000")  # some space is freed
    sqlite_store.append(entries[1:], expect=entries[0].hash)
    assert sqlite_store.read(holdout) == entries


FULL = """
import resource, sys
from unworn.errors import LedgerError
from unworn.ledger import Entry
from unworn.ledger.stores.sqlite_store import SQLiteStore
store = SQLiteStore(sys.argv[1])
holdout, = store.holdouts()
key, last = store.key(holdout), store.read(holdout)[-1]
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
failed = 0
while failed < 3:
    entry = Entry.seal(holdout, last.index + 1, last.hash, {"pad": "x" * 3000}, key)
    try:
        store.append([entry], expect=last.hash)
    except LedgerError as error:
        assert "Nothing was charged" in str(error) and "free some space" in str(error), error
        assert store.read(holdout)[-1] == last
        failed += 1
        continue
    last = entry
    print(entry.hash, flush=True)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.getrlimit(resource.RLIMIT_FSIZE)[1],) * 2)
store.append([entry], expect=last.hash)
print(entry.hash, flush=True)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits the size of files as Linux does")
def test_a_file_that_may_not_grow(sqlite_store: SQLiteStore, chain: Chain, key: Key, holdout: str) -> None:
    """The operating system itself refuses the write, in the middle of a commit."""
    sqlite_store.create(chain(0)[0], key)
    command = [sys.executable, "-c", FULL, str(sqlite_store.path)]
    done = subprocess.run(command, env=ENV, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    acknowledged = done.stdout.split()
    assert len(acknowledged) > 5
    entries = sqlite_store.read(holdout)
    verify(entries)
    assert [entry.hash for entry in entries[1:]] == acknowledged


def test_a_locked_ledger_says_so(
    sqlite_store: SQLiteStore, chain: Chain, key: Key, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = chain(1)
    sqlite_store.create(entries[0], key)
    assert sqlite_store._connection is not None
    sqlite_store._connection.execute("PRAGMA busy_timeout=50")
    other = raw(sqlite_store)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(LedgerError, match=r"(?s)Nothing was charged.*another process") as caught:
        sqlite_store.append(entries[1:], expect=entries[0].hash)
    assert not isinstance(caught.value, Conflict)
    other.execute("ROLLBACK")
    other.close()
    sqlite_store.append(entries[1:], expect=entries[0].hash)


def test_it_waits_for_another_writer(sqlite_store: SQLiteStore, chain: Chain, key: Key) -> None:
    entries = chain(1)
    sqlite_store.create(entries[0], key)
    other = sqlite3.connect(sqlite_store.path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    release = threading.Timer(0.3, lambda: other.execute("ROLLBACK"))
    release.start()
    start = time.monotonic()
    sqlite_store.append(entries[1:], expect=entries[0].hash)
    assert time.monotonic() - start > 0.2
    release.join()
    other.close()


def test_a_ledger_removed_or_replaced_under_us_takes_no_entries(
    sqlite_store: SQLiteStore, chain: Chain, key: Key
) -> None:
    entries = chain(1)
    sqlite_store.create(entries[0], key)
    away = sqlite_store.path.rename(sqlite_store.path.with_name("away.db"))
    for _ in range(2):
        with pytest.raises(LedgerError, match="removed or replaced"):
            sqlite_store.append(entries[1:], expect=entries[0].hash)
        sqlite_store.path.write_bytes(b"")
    away.rename(sqlite_store.path)
    sqlite_store.append(entries[1:], expect=entries[0].hash)


@pytest.mark.parametrize("committed", [False, True])
@pytest.mark.parametrize("length", [1, 50])
def test_an_interrupted_commit_leaves_no_transaction_open(
    sqlite_store: SQLiteStore,
    chain: Chain,
    key: Key,
    holdout: str,
    monkeypatch: pytest.MonkeyPatch,
    length: int,
    committed: bool,
) -> None:
    """All of the entries are there or none, and the next who comes goes on from there."""
    entries = chain(length)
    sqlite_store.create(entries[0], key)

    def interrupted(connection: sqlite3.Connection, *args: Any) -> None:
        if committed:
            add_entries(connection, *args)
        else:
            connection.execute("BEGIN IMMEDIATE")
            insert_entries(connection, entries[1:2])
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("unworn.ledger.stores.sqlite_store.add_entries", interrupted)
        with pytest.raises(KeyboardInterrupt):
            sqlite_store.append(entries[1:], expect=entries[0].hash)
    assert sqlite_store._connection is not None
    assert not sqlite_store._connection.in_transaction
    assert sqlite_store.read(holdout) == (entries if committed else entries[:1])
    if committed:
        with pytest.raises(Conflict):
            sqlite_store.append(entries[1:], expect=entries[0].hash)
    else:
        sqlite_store.append(entries[1:], expect=entries[0].hash)
    assert sqlite_store.read(holdout) == entries


# ---- the write-ahead log


def log_of(store: SQLiteStore) -> Path:
    return store.path.with_name(f"{store.path.name}-wal")


def test_the_log_is_laid_out_once_and_written_over(sqlite_store: SQLiteStore, chain: Chain, key: Key) -> None:
    """No commit but the first lengthens the log, also once it is full and starts again."""
    entries = chain(250, pad="x" * 700)
    sqlite_store.create(entries[0], key)
    laid = log_of(sqlite_store).stat().st_size
    assert laid >= 250 * 4096
    for entry in entries[1:]:
        sqlite_store.append([entry], expect=entry.previous)
        assert log_of(sqlite_store).stat().st_size == laid
    assert sqlite_store.path.stat().st_size > 10 * 4096  # what it held was moved: the log did start again
    assert sqlite_store.read(entries[0].holdout) == entries
    other = raw(sqlite_store)
    assert {name for (name,) in other.execute("SELECT name FROM sqlite_master WHERE type = 'table'")} == {"entries"}
    assert other.execute("PRAGMA freelist_count").fetchone() == (0,)
    assert other.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    other.close()
    assert sqlite_store._connection is not None
    assert sqlite_store._connection.execute("PRAGMA cache_size").fetchone() == (-2000,)


def test_an_entry_of_usual_length_shares_its_page(sqlite_store: SQLiteStore, chain: Chain, key: Key) -> None:
    """What SQLite moves to a page of its own is two pages more to write at every ask, and four times the disk."""
    entries = chain(100, pad="x" * 800)
    sqlite_store.create(entries[0], key)
    sqlite_store.append(entries[1:], expect=entries[0].hash)
    sqlite_store.close()
    length = sum(len(entry.text) + 288 for entry in entries)
    assert sqlite_store.path.stat().st_size < 1.5 * length


def test_a_ledger_of_smaller_pages_is_read_and_goes_on(sqlite_store: SQLiteStore, chain: Chain, key: Key) -> None:
    """Ledgers made before had pages of 4,096 bytes, and keep them."""
    entries = chain(20, pad="x" * 800)
    path = sqlite_store.path.with_name("older.db")
    made = sqlite3.connect(path)
    made.execute("PRAGMA page_size=4096")
    made.execute("PRAGMA journal_mode=WAL")
    make_schema(made)
    made.commit()
    made.close()
    store = SQLiteStore(path)
    store.create(entries[0], key)
    store.append(entries[1:], expect=entries[0].hash)
    store.close()
    again = SQLiteStore(path)
    assert again.read(entries[0].holdout) == entries
    assert again._connection is not None
    assert again._connection.execute("PRAGMA page_size").fetchone() == (4096,)
    again.close()


def test_who_only_reads_lays_nothing_out(sqlite_store: SQLiteStore, chain: Chain, key: Key) -> None:
    sqlite_store.create(chain(0)[0], key)
    sqlite_store.close()
    again = SQLiteStore(sqlite_store.path)
    assert len(again.read(chain(0)[0].holdout)) == 1
    assert log_of(again).stat().st_size == 0
    again.close()


def test_a_log_that_cannot_be_laid_out_costs_nothing_but_time(
    sqlite_store: SQLiteStore, chain: Chain, key: Key
) -> None:
    entries = chain(2)
    assert sqlite_store._connection is not None
    pages = sqlite_store._connection.execute("PRAGMA page_count").fetchone()[0]
    sqlite_store._connection.execute(f"PRAGMA max_page_count={pages + 3}")  # room for entries, not for blank pages
    sqlite_store.create(entries[0], key)
    assert log_of(sqlite_store).stat().st_size < 100 * 4096
    sqlite_store.append(entries[1:], expect=entries[0].hash)
    assert sqlite_store.read(entries[0].holdout) == entries
    assert not sqlite_store._connection.in_transaction


# ---- several processes


def test_three_processes_lose_nothing(sqlite_store: SQLiteStore, chain: Chain, key: Key, holdout: str) -> None:
    sqlite_store.create(chain(0)[0], key)
    command = [
        sys.executable,
        str(Path(__file__).with_name("worker.py")),
        str(sqlite_store.path),
        holdout,
        "100",
    ]
    workers = [
        subprocess.Popen([*command, name], env=ENV, stdout=subprocess.PIPE, text=True) for name in ("a", "b", "c")
    ]
    acknowledged = [line for worker in workers for line in worker.communicate(timeout=120)[0].splitlines()]
    assert [worker.returncode for worker in workers] == [0, 0, 0]
    entries = sqlite_store.read(holdout)
    verify(entries, signatures="last")
    assert len(entries) == 301
    assert sorted(acknowledged) == sorted(f"{entry.index} {entry.hash}" for entry in entries[1:])
    for name in "abc":
        assert [e.body["number"] for e in entries[1:] if e.body["worker"] == name] == list(range(100))


def test_processes_that_make_the_file_at_once(tmp_path: Path) -> None:
    code = "import sys; from unworn.ledger.stores.sqlite_store import SQLiteStore; SQLiteStore(sys.argv[1]).close()"
    opens = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "x.db")], env=ENV) for _ in range(4)]
    assert [each.wait(60) for each in opens] == [0] * 4


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_parent_and_forked_child_both_append(sqlite_store: SQLiteStore, chain: Chain, key: Key, holdout: str) -> None:
    entries = chain(4)
    sqlite_store.create(entries[0], key)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            assert sqlite_store._connection is None
            while len(sqlite_store.read(holdout)) < 2:
                time.sleep(0.005)
            sqlite_store.append(entries[2:3], expect=entries[1].hash)
            sqlite_store.close()
            code = 0
        finally:
            os._exit(code)
    sqlite_store.append(entries[1:2], expect=entries[0].hash)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert sqlite_store.read(holdout) == entries[:3]
    with pytest.raises(Conflict):
        sqlite_store.append(chain(1, entries[:2], late=True)[2:], expect=entries[1].hash)
    sqlite_store.append(entries[3:], expect=entries[2].hash)
    assert sqlite_store.read(holdout) == entries


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_a_forked_copy_of_a_memory_ledger_cannot_be_extended(chain: Chain, key: Key, holdout: str) -> None:
    store, entries = MemoryStore(), chain(1)
    store.create(entries[0], key)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            assert store.read(holdout) == entries[:1]
            store.append(entries[1:], expect=entries[0].hash)
        except LedgerError as error:
            code = 0 if "forked copy" in str(error) else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    store.append(entries[1:], expect=entries[0].hash)
