"""Databases in files: views that are new each time, locks, forks, and rows that change."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import duckdb
import pytest

from tests.rows.sql.duckdb.duckdb_faults import CHANGES, FIRST, MECHANISMS, ROWS, SECOND, SECRET, refused
from unworn import Holdout
from unworn.errors import Mismatch, Unaskable
from unworn.rows.sql.duckdb.duckdb_engine import DuckDB


@pytest.fixture
def database(people: Path, tmp_path: Path) -> Path:
    path = tmp_path / "base.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"create table people as from '{people}'")
        connection.execute("create view older as select * from people where age > 40")
        connection.execute("create view chance as select *, random() as x from people")
        connection.execute("create view moment as select *, now() as x from people")
        connection.execute("create view mixed as select * from people using sample 50% (bernoulli)")
        connection.execute("create table made(age int, x double generated always as (random()) virtual)")
        connection.execute("insert into made select range from range(1000)")
        connection.execute(f"create view elsewhere as from '{people}'")
    return path


@pytest.mark.parametrize("name", ["chance", "moment", "mixed", "made"])
def test_rows_that_are_new_each_time_are_refused_at_the_sealing(database: Path, tmp_path: Path, name: str) -> None:
    with pytest.raises(Mismatch, match="no longer"):
        Holdout(f"duckdb:{database}#{name}", ledger=str(tmp_path / "ledger.db"))
    first = Holdout(f"duckdb:{database}#people", ledger=str(tmp_path / "ledger.db"))
    assert first.meter.asked == 0
    first.close()


def test_a_view_of_a_database_is_watched_and_a_table_is_not(database: Path) -> None:
    for name, watched in (("people", False), ("older", True), ("PEOPLE", False), ("main.people", False)):
        rows = DuckDB(f"duckdb:{database}#{name}")
        assert rows._watched is watched
        assert rows.sums([FIRST])[0] > 0
        rows.close()


@pytest.mark.parametrize(
    ("place", "says"),
    [
        ("#nothing", "no table or view"),
        ("#elsewhere", "nothing but this file"),
        ("#people; drop table people", "no table or view"),
        ('#peo"ple', "no table or view"),
        ("", "name one table"),
    ],
)
def test_what_a_database_does_not_hold_is_named(database: Path, place: str, says: str) -> None:
    with pytest.raises(Unaskable, match=says):
        DuckDB(f"duckdb:{database}{place}")
    rows = DuckDB(f"duckdb:{database}#people")
    assert rows.rows == ROWS
    rows.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_a_fork_can_neither_ask_nor_end_what_its_parent_has_open(database: Path, tmp_path: Path) -> None:
    """DuckDB's threads stay with the parent: without care a child that lets go of a connection ends by a signal."""
    code = """
        import gc, os, sys
        from unworn import Holdout, col, share
        from unworn.errors import Mismatch
        holdout = Holdout(f"duckdb:{sys.argv[1]}#people", ledger=sys.argv[2])
        holdout.ask(share(col("age") > 65))
        for how in ("ask", "close", "drop", "end"):
            child = os.fork()
            if child:
                print(how, os.waitpid(child, 0)[1], flush=True)
                continue
            if how == "ask":
                try:
                    holdout.ask(share(col("age") > 30))
                except Mismatch as told:
                    os._exit(0 if "forked" in str(told) else 1)
            elif how == "close":
                holdout.close()
            elif how == "drop":
                del holdout
                gc.collect()
            else:
                sys.exit(0)
            os._exit(3 if how == "ask" else 0)
        print(holdout.ask(share(col("age") > 40)).index)
    """
    command = [sys.executable, "-c", textwrap.dedent(code), str(database), str(tmp_path / "ledger.db")]
    told = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert told.stdout.split("\n") == ["ask 0", "close 0", "drop 0", "end 0", "2", ""], told.stderr[-2000:]


@pytest.mark.parametrize("name", ["nothing", "elsewhere", "broken"])
def test_a_database_that_could_not_be_read_is_let_go_while_the_error_is_looked_at(database: Path, name: str) -> None:
    with duckdb.connect(str(database)) as connection:
        connection.execute("create view broken as select cast(word as int) as number from people")
    with pytest.raises((Unaskable, Mismatch)) as told:
        DuckDB(f"duckdb:{database}#{name}")
    assert SECRET not in str(told.value)
    with duckdb.connect(str(database)) as connection:  # to be written to: refused where it is still open to be read
        connection.execute("drop view older")


def test_a_database_that_somebody_writes_to_is_said_to_be_in_use(database: Path, tmp_path: Path) -> None:
    code = "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print('open', flush=True); sys.stdin.readline()"
    command = [sys.executable, "-c", code, str(database)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "open\n"
        with pytest.raises(Unaskable, match="open for writing in another process"):
            Holdout(f"duckdb:{database}#people", ledger=str(tmp_path / "ledger.db"))
        writer.communicate("\n")
    with duckdb.connect(str(database)), pytest.raises(Unaskable, match="open in this process"):
        Holdout(f"duckdb:{database}#people", ledger=str(tmp_path / "ledger.db"))
    holdout = Holdout(f"duckdb:{database}#people", ledger=str(tmp_path / "ledger.db"))
    assert holdout.ask(FIRST).index == 1
    holdout.close()


def test_two_holdouts_of_one_database_in_one_process(database: Path) -> None:
    one, other = (Holdout(f"duckdb:{database}#{name}", ledger=None) for name in ("people", "older"))
    one.ask(FIRST)
    one.close()
    assert other.ask(FIRST).index == 1
    with refused(other):
        other.close()
        other.ask(SECOND)


@pytest.mark.parametrize("how", ["cut", "emptied", "unlinked", "overwritten", "touched"])
@pytest.mark.parametrize("kind", ["scan", "drawn"])
def test_a_database_whose_file_changes_under_a_holdout(database: Path, tmp_path: Path, how: str, kind: str) -> None:
    whole, terms, ledger = database.read_bytes(), MECHANISMS[kind], str(tmp_path / "ledger.db")
    holdout = Holdout(f"duckdb:{database}#people", ledger=ledger, **terms)
    holdout.ask(FIRST)
    CHANGES[how](database)
    with refused(holdout):
        holdout.ask(SECOND)
    holdout.close()
    database.write_bytes(whole)
    again = Holdout(f"duckdb:{database}#people", ledger=ledger, **terms)
    assert again.ask(SECOND).index == 2
    again.close()


def test_a_database_whose_rows_change_is_refused_and_found_again(database: Path, tmp_path: Path, people: Path) -> None:
    ledger = str(tmp_path / "ledger.db")
    holdout = Holdout(f"duckdb:{database}#people", ledger=ledger)
    holdout.ask(FIRST)
    holdout.close()
    code = """
        import duckdb, sys
        with duckdb.connect(sys.argv[1]) as connection:
            connection.execute(sys.argv[2])
    """

    def change(statement: str) -> None:
        subprocess.run([sys.executable, "-c", textwrap.dedent(code), str(database), statement], check=True)

    change("delete from people where age = 33")
    with pytest.raises(Mismatch):
        Holdout(f"duckdb:{database}#people", ledger=ledger, name="people")
    change(f"create or replace table people as from '{people}'")
    again = Holdout(f"duckdb:{database}#people", ledger=ledger)
    assert again.id == holdout.id
    assert again.ask(SECOND).index == 2
    again.close()


def test_names_with_signs_in_them(people: Path, tmp_path: Path) -> None:
    for name in ("a#b.parquet", "a[1].parquet", "a'b\"c.parquet", "a*.parquet", "ü ß.parquet"):
        path = tmp_path / name
        path.write_bytes(people.read_bytes())
        rows = DuckDB(f"duckdb:{path}")
        assert rows.rows == ROWS
        assert len(rows._source.files) == 1
        rows.close()
        path.unlink()
