"""Tables in PostgreSQL: a server that comes and goes, and ends of transactions that nobody heard."""

from __future__ import annotations

import threading
import time

import psycopg
import pytest

from tests.postgres_server import PostgresServer
from unworn.database import Busy, Database, DatabaseError, RunSQL, Unreachable, open_database
from unworn.database.postgres_database import PostgresDatabase
from unworn.database.postgres_pool import _MOST, get_pool
from unworn.database.postgres_url import PostgresUrl

pytestmark = pytest.mark.postgres


def _counting(url: str) -> Database:
    database = open_database(url)
    database.migrate("room", ["CREATE TABLE a (x BIGINT NOT NULL); INSERT INTO a VALUES (0)"])
    return database


def _count(run: RunSQL) -> int:
    return int(run("UPDATE a SET x = x + 1 RETURNING x")[0][0])


def test_it_goes_on_after_the_server_was_killed() -> None:
    server = PostgresServer()
    try:
        database = _counting(server.new_database())
        told, stop, failures = list[int](), threading.Event(), list[BaseException]()

        def work() -> None:
            try:
                while not stop.is_set():
                    told.append(database.transact(_count))
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        for _ in range(3):
            time.sleep(0.2)
            server.kill()
            server.start()
        time.sleep(0.2)
        stop.set()
        for thread in threads:
            thread.join(60)
        assert failures == []
        assert sorted(told) == list(range(1, len(told) + 1))  # each counted once, and none lost
        assert database.select("SELECT x FROM a") == [(len(told),)]
        database.close()
    finally:
        server.close()


@pytest.mark.parametrize("is_committed", [True, False])
def test_the_end_of_a_transaction_that_was_not_heard_is_looked_up(
    is_committed: bool, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = _counting(postgres_url)
    execute, cut = psycopg.Connection.execute, list[int]()

    def broken(self: psycopg.Connection, query: object, *rest: object, **more: object) -> object:
        if query == "COMMIT" and not cut:
            cut.append(1)
            if is_committed:
                execute(self, "COMMIT")
            self.close()
            raise psycopg.OperationalError("the connection is lost")
        return execute(self, query, *rest, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(psycopg.Connection, "execute", broken)
    assert database.transact(_count) == 1
    assert cut == [1]
    assert database.select("SELECT x FROM a") == [(1,)]
    database.close()


def test_a_failed_statement_that_was_passed_over_undoes_all(postgres_url: str) -> None:
    database = _counting(postgres_url)

    def careless(run: RunSQL) -> None:
        _count(run)
        with pytest.raises(DatabaseError):
            run("SELECT nothing FROM nowhere")

    with pytest.raises(DatabaseError, match="nothing was changed"):
        database.transact(careless)
    assert database.select("SELECT x FROM a") == [(0,)]
    database.close()


def test_sums_and_truth_values_are_pythons_own(postgres_url: str) -> None:
    database = _counting(postgres_url)
    assert database.select("SELECT sum(x), avg(x + :half), CAST(:yes AS BIGINT) FROM a", half=0.5, yes=True) == [
        (0, 0.5, 1)
    ]
    assert type(database.select("SELECT sum(x) FROM a")[0][0]) is int
    database.close()


def test_a_hundred_databases_share_few_connections(postgres_server: PostgresServer, postgres_url: str) -> None:
    many = [open_database(postgres_url, f"board_{number}") for number in range(100)]
    threads = [
        threading.Thread(target=each.migrate, args=("room", ["CREATE TABLE a (x BIGINT NOT NULL)"])) for each in many
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert [each.select("SELECT count(*) FROM a") for each in many] == [[(0,)]] * 100
    name = postgres_url.rsplit("/", 1)[1]
    used = int(postgres_server.run(f"SELECT count(*) FROM pg_stat_activity WHERE datname = '{name}'"))
    assert used <= 2 * _MOST
    for each in many:
        each.close()
    assert not get_pool(PostgresUrl.parse(postgres_url))._idle


def test_one_thread_may_use_two_databases_at_once_while_all_are_in_use(postgres_url: str) -> None:
    """Whoever holds a connection and needs another is not kept waiting for those who do the same."""
    one, two = _counting(postgres_url), open_database(postgres_url, "two")
    two.migrate("room", ["CREATE TABLE b (x BIGINT)"])
    barrier, done = threading.Barrier(_MOST), list[int]()

    def both() -> None:
        with one.transaction(write=False) as run:
            barrier.wait(30)
            done.append(run("SELECT x FROM a")[0][0] + two.select("SELECT count(*) FROM b")[0][0])

    threads = [threading.Thread(target=both) for _ in range(_MOST)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert done == [0] * _MOST
    one.close()
    two.close()


def test_what_cannot_be_reached_is_said_at_once() -> None:
    started = time.monotonic()
    with pytest.raises(Unreachable, match="cannot be reached"):
        PostgresDatabase("postgresql+psycopg://nobody:hush@127.0.0.1:1/nothing")
    assert time.monotonic() - started < 10


def test_an_encoding_that_cannot_hold_every_text_is_refused(postgres_server: PostgresServer) -> None:
    postgres_server.run("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0")
    with pytest.raises(DatabaseError, match="encoding LATIN1"):
        open_database(f"postgresql+psycopg://{postgres_server.user}@127.0.0.1:{postgres_server.port}/latin")
    postgres_server.run("DROP DATABASE latin WITH (FORCE)")


def test_a_number_that_was_given_out_again_proves_nothing(postgres_url: str) -> None:
    with open_database(postgres_url) as database:
        assert isinstance(database, PostgresDatabase)
        database.migrate("room", ["CREATE TABLE a (x BIGINT NOT NULL); INSERT INTO a VALUES (0)"])
        with database.transaction() as run:
            _count(run)
            number = run("SELECT CAST(pg_current_xact_id() AS TEXT)")[0][0]
        mark = database.select("SELECT link, mark FROM unworn_commits LIMIT 1")[0]
        database._resolve(number, mark, OSError("cut"))  # a mark that is there
        with pytest.raises(Busy):  # the number of a lost transaction, which the server gave to the one above
            database._resolve(number, ("another", "mark"), OSError("cut"))
        with pytest.raises(Busy):  # a number that a server which crashed has not given out again
            database._resolve(str(int(number) + 10**6), ("another", "mark"), OSError("cut"))
