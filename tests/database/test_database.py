"""What every database must do, tried on each."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable

import pytest

from unworn.database import ConstraintBroken, Database, DatabaseError, NewerTables, RunSQL, open_database

_ADD = "INSERT INTO teams (name, tries) VALUES (:name, :tries)"
_ALL = "SELECT name, tries FROM teams ORDER BY name"


def test_rows_come_back_as_they_were_given(database: Database) -> None:
    mark = bytes(range(256))
    with database.transaction() as run:
        assert run("INSERT INTO teams VALUES (:name, :tries, :mark)", name="größer % :x", tries=2**62, mark=mark) == []
        assert run("SELECT count(*) FROM teams") == [(1,)]
    assert database.select("SELECT name, tries, mark FROM teams WHERE name LIKE '%% :x'") == [
        ("größer % :x", 2**62, mark)
    ]
    again = database.transact(lambda run: run("UPDATE teams SET mark = NULL RETURNING name, mark"))
    assert again == [("größer % :x", None)]


def test_all_or_nothing(database: Database) -> None:
    def fail(run: RunSQL) -> None:
        run(_ADD, name="a", tries=1)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        database.transact(fail)
    assert database.select(_ALL) == []
    with pytest.raises(ConstraintBroken, match="nothing was changed"):
        database.transact(lambda run: [run(_ADD, name="b", tries=tries) for tries in (1, 2)])
    assert database.select(_ALL) == []


def test_wrong_statements_are_explained(database: Database) -> None:
    for statement in ("SELEC 1", "SELECT * FROM nowhere", "SELECT :missing"):
        with pytest.raises(DatabaseError):
            database.select(statement)
    assert database.select(_ALL) == []


def test_a_transaction_within_another_is_refused(database: Database) -> None:
    with database.transaction() as run:
        run(_ADD, name="a", tries=1)
        with pytest.raises(DatabaseError, match="hand its run on"):
            database.select(_ALL)
    with database.transaction():
        pass
    assert database.select(_ALL) == [("a", 1)]


def test_migrations_run_once_and_in_order(place: str) -> None:
    steps = ["CREATE TABLE a (x BIGINT); INSERT INTO a VALUES (1)", "ALTER TABLE a ADD COLUMN y TEXT"]
    for upto in (1, 2, 2):
        with open_database(place) as database:
            database.migrate("room", steps[:upto])
            database.migrate("other", ["CREATE TABLE b (x BIGINT)"])
    with open_database(place) as database:
        assert database.select("SELECT x, y FROM a") == [(1, None)]
        with pytest.raises(NewerTables, match="version 2, this unworn knows 1"):
            database.migrate("room", steps[:1])
        with pytest.raises(DatabaseError):
            database.migrate("room", [*steps, "INSERT INTO a VALUES (2, 'b')", "CREATE TABLE broken ("])
        assert database.select("SELECT x, y FROM a") == [(1, None)]
        database.migrate("room", [*steps, "INSERT INTO a VALUES (2, 'b')"])
        assert len(database.select("SELECT x, y FROM a")) == 2


def test_many_migrate_at_once(place: str) -> None:
    def migrate(_: int) -> None:
        with open_database(place) as database:
            database.migrate("room", ["CREATE TABLE a (x BIGINT)", "INSERT INTO a VALUES (1)"])

    _in_threads(migrate, 8)
    with open_database(place) as database:
        assert database.select("SELECT x FROM a") == [(1,)]


def test_prefixes_keep_tables_apart(place: str) -> None:
    with open_database(place, "one") as one, open_database(place, "two") as two:
        for database, value in ((one, 1), (two, 2)):
            database.migrate("room", ["CREATE TABLE a (x BIGINT)"])
            database.transact(lambda run, value=value: run("INSERT INTO a VALUES (:x)", x=value))  # type: ignore[misc]
        assert one.select("SELECT x FROM a") == [(1,)]
        assert two.select("SELECT x FROM a") == [(2,)]
    with pytest.raises(DatabaseError, match="prefix"):
        open_database(place, "drop table")


def test_threads_count_together(database: Database) -> None:
    """Read, then write what was read plus one: only transactions one after the other lose nothing."""
    database.transact(lambda run: run(_ADD, name="a", tries=0))

    def count(_: int) -> None:
        for _ in range(25):
            database.transact(_count_one)

    _in_threads(count, 6)
    assert database.select(_ALL) == [("a", 150)]


def _count_one(run: RunSQL) -> None:
    tries = run("SELECT tries FROM teams WHERE name = 'a'")[0][0]
    run("UPDATE teams SET tries = :tries WHERE name = 'a'", tries=tries + 1)


def test_readers_do_not_wait_for_a_writer(database: Database) -> None:
    with database.transaction() as run:
        run(_ADD, name="a", tries=1)
        seen: list[object] = []
        started = time.monotonic()
        _in_threads(lambda _: seen.extend([database.select(_ALL)]), 1)
        assert seen == [[]]
        assert time.monotonic() - started < 5
    assert database.select(_ALL) == [("a", 1)]


def test_processes_count_together(database: Database, place: str) -> None:
    """Forked with connections open, and started afresh."""
    database.transact(lambda run: run(_ADD, name="a", tries=0))
    children = [_fork(lambda: [database.transact(_count_one) for _ in range(20)]) for _ in range(3)]
    code = (
        "import sys; from unworn.database import open_database; from tests.database.test_database import _count_one\n"
        "database = open_database(sys.argv[1])\nfor _ in range(20): database.transact(_count_one)\ndatabase.close()"
    )
    fresh = subprocess.Popen([sys.executable, "-c", code, place])
    for _ in range(20):
        database.transact(_count_one)
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0, 0, 0]
    assert fresh.wait(60) == 0
    assert database.select(_ALL) == [("a", 100)]


def test_a_fork_waits_for_the_transaction_of_another_thread(database: Database) -> None:
    inside, going = threading.Event(), threading.Event()

    def write(_: int) -> None:
        with database.transaction() as run:
            run(_ADD, name="a", tries=1)
            inside.set()
            going.wait(10)
            time.sleep(0.2)

    thread = threading.Thread(target=write, args=(0,))
    thread.start()
    inside.wait(10)
    going.set()
    child = _fork(lambda: database.transact(lambda run: run(_ADD, name="b", tries=2)))
    thread.join(30)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert database.select(_ALL) == [("a", 1), ("b", 2)]


def test_a_closed_database_says_so(database: Database) -> None:
    database.close()
    database.close()
    with pytest.raises(DatabaseError, match="closed"):
        database.select(_ALL)


@pytest.mark.parametrize("where", ["", "mysql://host/x", "sqlite://x.db", "sqlite:///", "a\0b", "postgresql://host/x"])
def test_unknown_places_are_named(where: str) -> None:
    with pytest.raises(DatabaseError, match=r"board\.db"):
        open_database(where)


def _in_threads(work: Callable[[int], object], number: int) -> None:
    failures: list[BaseException] = []

    def guarded(each: int) -> None:
        try:
            work(each)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(each,)) for each in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert failures == []


def _fork(work: Callable[[], object]) -> int:
    child = os.fork()
    if child:
        return child
    try:
        work()
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        os._exit(1)
