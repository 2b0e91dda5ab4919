"""DuckDB failing before, after and in the middle of a question: a clear error, nothing charged, and asking goes on."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from unworn import Holdout, col, mean, share
from unworn.answer import Answer
from unworn.engines import duckdb as engine
from unworn.engines.duckdb import DuckDB
from unworn.engines.duckdb_sources import Source
from unworn.errors import Mismatch, Unaskable
from unworn.mechanisms import Gaussian, Subsampled
from unworn.queries.query import Query
from unworn.sample import Sample

ROWS = 8_000
FIRST, SECOND, THIRD = share(col("age") > 65), share(col("age") > 30), mean(col("income").fill(0), range=(0, 1))
SECRET = "nobody may read this"
MECHANISMS: dict[str, dict[str, Any]] = {
    "scan": {},
    "rounded": {"mechanism": Gaussian(), "asks": 9},
    "drawn": {"mechanism": Subsampled(0.05, 500), "asks": 9},
}


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(1)
    found = tmp_path_factory.mktemp("faults") / "people.parquet"
    table = pa.table(
        {
            "age": rng.integers(18, 90, ROWS),
            "income": rng.random(ROWS),
            "word": [f"{SECRET} {row}" for row in range(ROWS)],
        }
    )
    pq.write_table(table, found, row_group_size=2_048, compression="none")
    return found


@contextmanager
def refused(holdout: Holdout) -> Iterator[None]:
    """Whatever happens inside is told without a word of any row, charges nothing, and leaves the ledger whole."""
    before = holdout.meter.asked
    with pytest.raises(Mismatch, match="Nothing was charged") as caught:
        yield
    told = "".join(traceback.format_exception(caught.value))
    assert SECRET not in told
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert holdout.meter.asked == before
    holdout.verify()


def answered(holdout: Holdout, query: Query) -> Answer | None:
    """The answer, or None where it was refused, which must charge nothing."""
    before = holdout.meter.asked
    try:
        told = holdout.ask(query)
    except Mismatch as error:
        if "Nothing was charged" not in str(error) or holdout.meter.asked != before:
            raise
        return None
    assert holdout.meter.asked == before + 1
    return told


@pytest.fixture
def midway(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], Any]], list[str]]:
    """Does something in another thread when a reader hands out its second batch, and waits until it is done."""
    monkeypatch.setattr(engine, "BATCH", 2_048)

    def arrange(what: Callable[[], Any]) -> list[str]:
        real, seen, happened = engine._next, [0], list[str]()

        def run() -> None:
            try:
                what()
                happened.append("done")
            except Exception as error:
                happened.append(type(error).__name__)

        def step(reader: Any) -> Any:
            seen[0] += 1
            if seen[0] == 2:
                thread = threading.Thread(target=run, daemon=True)
                thread.start()
                thread.join(10)
            return real(reader)

        monkeypatch.setattr(engine, "_next", step)
        return happened

    return arrange


# ------------------------------------------------------------------ files


CHANGES: dict[str, Callable[[Path], Any]] = {
    "cut": lambda path: os.truncate(path, 3_000),
    "emptied": lambda path: os.truncate(path, 0),
    "unlinked": lambda path: path.unlink(),
    "replaced": lambda path: other(path),
    "overwritten": lambda path: path.write_bytes(b"x" * path.stat().st_size),
    "touched": lambda path: os.utime(path, ns=(5, 5)),
}


def other(path: Path) -> None:
    pq.write_table(pa.table({"age": [1], "income": [0.5], "word": ["w"]}), path.with_suffix(".new"))
    path.with_suffix(".new").replace(path)


@pytest.mark.parametrize("kind", MECHANISMS)
@pytest.mark.parametrize("how", CHANGES)
def test_a_file_that_changes_between_questions(people: Path, tmp_path: Path, how: str, kind: str) -> None:
    path, ledger, terms = tmp_path / "people.parquet", str(tmp_path / "ledger.db"), MECHANISMS[kind]
    path.write_bytes(people.read_bytes())
    holdout = Holdout(f"duckdb:{path}", ledger=ledger, **terms)
    told = holdout.ask(FIRST)
    CHANGES[how](path)
    for query in (SECOND, THIRD):
        with refused(holdout):
            holdout.ask(query)
    assert holdout.ask(FIRST).index == told.index  # what was told is still told
    holdout.close()
    path.write_bytes(people.read_bytes())
    again = Holdout(f"duckdb:{path}", ledger=ledger, **terms)
    assert [again.ask(SECOND).index, again.ask(THIRD).index] == [2, 3]
    again.verify()
    again.close()


@pytest.mark.parametrize("kind", ["rounded", "drawn"])
@pytest.mark.parametrize("how", CHANGES)
def test_a_file_that_changes_in_the_middle_of_a_question(
    people: Path, tmp_path: Path, how: str, kind: str, midway: Callable[[Any], list[str]]
) -> None:
    path, ledger, terms = tmp_path / "people.parquet", str(tmp_path / "ledger.db"), MECHANISMS[kind]
    path.write_bytes(people.read_bytes())
    holdout = Holdout(f"duckdb:{path}", ledger=ledger, **terms)
    happened = midway(lambda: CHANGES[how](path))
    with refused(holdout):
        holdout.ask(THIRD)
    assert happened == ["done"]
    holdout.close()
    path.write_bytes(people.read_bytes())
    again = Holdout(f"duckdb:{path}", ledger=ledger, **terms)
    assert again.ask(THIRD).index == 1
    again.close()


@pytest.mark.parametrize("how", CHANGES)
def test_a_file_that_changes_just_before_a_scan(
    people: Path, tmp_path: Path, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was looked at, and is another when the statement runs."""
    path = tmp_path / "people.parquet"
    path.write_bytes(people.read_bytes())
    holdout = Holdout(f"duckdb:{path}", ledger=str(tmp_path / "ledger.db"))
    real, looks = Source.stamp, [0]

    def looked(source: Source) -> Any:
        found = real(source)
        looks[0] += 1
        if looks[0] == 1:
            CHANGES[how](path)
        return found

    monkeypatch.setattr(Source, "stamp", looked)
    with refused(holdout):
        holdout.ask(FIRST)
    assert looks[0] >= 1
    holdout.close()


@pytest.mark.parametrize("how", CHANGES)
def test_a_file_that_changes_while_samples_are_gathered(
    people: Path, tmp_path: Path, how: str, midway: Callable[[Any], list[str]]
) -> None:
    path = tmp_path / "people.parquet"
    path.write_bytes(people.read_bytes())
    holdout = Holdout(f"duckdb:{path}", ledger=str(tmp_path / "ledger.db"), **MECHANISMS["drawn"])
    happened = midway(lambda: CHANGES[how](path))
    with refused(holdout):
        holdout.gather(4)
    assert happened == ["done"]
    assert holdout._desk.pool is not None
    assert len(holdout._desk.pool) == 0
    holdout.close()


# ------------------------------------------------------------------ tables, views and connections of the owner's


def opened(connection: Any, people: Path, ledger: Path, kind: str, table: str = "people") -> Holdout:
    return Holdout(connection.table(table), ledger=str(ledger), **MECHANISMS[kind])


@pytest.fixture
def base(people: Path) -> Iterator[Any]:
    with duckdb.connect() as connection:
        connection.execute(f"create table people as from '{people}'")
        connection.execute("create view known as select * from people where age > 20")
        yield connection


STATEMENTS = {
    "dropped": "drop table people cascade",
    "emptied": "delete from people",
    "one row fewer": "delete from people where word like '% 7'",
    "one row more": f"insert into people values (50, 0.5, '{SECRET}')",
    "one value changed": "update people set age = age + 1, income = income / 2 where word like '% 7'",
    "values exchanged": "update people set age = 107 - age, income = 1 - income",
    "a column renamed": "alter table people rename column age to years",
    "a column of another type": "alter table people alter age type varchar",
}


@pytest.mark.parametrize("kind", MECHANISMS)
@pytest.mark.parametrize("how", STATEMENTS)
def test_a_table_that_changes_between_questions(base: Any, people: Path, tmp_path: Path, how: str, kind: str) -> None:
    holdout = opened(base, people, tmp_path / "ledger.db", kind)
    holdout.ask(FIRST)
    base.execute("drop view known")
    base.execute(STATEMENTS[how].replace(" cascade", ""))
    for query in (SECOND, share((col("age") > 40) & (col("income") > 0.5))):
        with refused(holdout):
            holdout.ask(query)
    base.execute(f"create or replace table people as from '{people}'")
    again = opened(base, people, tmp_path / "ledger.db", kind)
    assert again.id == holdout.id
    assert again.ask(SECOND).index == 2
    again.verify()


@pytest.mark.parametrize("kind", MECHANISMS)
def test_a_view_that_changes_between_questions(base: Any, people: Path, tmp_path: Path, kind: str) -> None:
    holdout = opened(base, people, tmp_path / "ledger.db", kind, "known")
    holdout.ask(FIRST)
    base.execute(
        "create or replace view known as select * replace (age + 0 * income as age) from people where age > 20"
    )
    with refused(holdout):
        holdout.ask(SECOND)
    base.execute("create or replace view known as select * replace (90 - age as age) from people where age > 20")
    with refused(holdout):
        holdout.ask(SECOND)
    base.execute("create or replace view known as select * from people where age > 20")
    assert holdout.ask(SECOND).index == 2  # the same again


@pytest.mark.parametrize("kind", ["rounded", "drawn"])
@pytest.mark.parametrize("how", STATEMENTS)
def test_a_table_that_changes_in_the_middle_of_a_question(
    base: Any, people: Path, tmp_path: Path, how: str, kind: str, midway: Callable[[Any], list[str]]
) -> None:
    """DuckDB shows a statement the rows as they were when it began: the answer is either of these rows, or none."""
    holdout = opened(base, people, tmp_path / "ledger.db", kind)
    happened = midway(lambda: base.cursor().execute(STATEMENTS[how].replace(" cascade", "")))
    told = answered(holdout, THIRD)
    (truth,) = Sample.read(people).means([THIRD])
    assert told is None or told.low <= truth <= told.high
    assert len(happened) == 1
    if happened == ["done"]:
        with refused(holdout):
            holdout.ask(share((col("age") > 40) & (col("income") > 0.5)))
    holdout.verify()


@pytest.mark.parametrize("kind", ["rounded", "drawn"])
def test_a_connection_that_is_closed_in_the_middle(
    people: Path, tmp_path: Path, kind: str, midway: Callable[[Any], list[str]]
) -> None:
    connection = duckdb.connect()
    connection.execute(f"create table people as from '{people}'")
    holdout = opened(connection, people, tmp_path / "ledger.db", kind)
    midway(connection.close)
    answered(holdout, THIRD)
    with refused(holdout):
        holdout.ask(SECOND)
    with duckdb.connect() as another:
        another.execute(f"create table people as from '{people}'")
        again = opened(another, people, tmp_path / "ledger.db", kind)
        assert again.ask(SECOND).index == again.meter.asked
        again.verify()


def test_statements_that_are_interrupted_or_overtaken_by_others(people: Path, tmp_path: Path) -> None:
    """A thread drops and makes the table again while questions are asked: each is answered rightly, or refused."""
    with duckdb.connect() as connection:
        connection.execute(f"create table people as from '{people}'")
        holdout = opened(connection, people, tmp_path / "ledger.db", "scan")
        stop = threading.Event()

        def trouble() -> None:
            cursor = connection.cursor()
            while not stop.is_set():
                connection.interrupt()
                cursor.execute("drop table if exists people")
                cursor.execute(f"create table people as from '{people}'")

        thread = threading.Thread(target=trouble, daemon=True)
        thread.start()
        here, told = Sample.read(people), 0
        try:
            for cut in range(60):
                query: Query = share(col("age") > cut)
                answer = answered(holdout, query)
                told += answer is not None
                assert answer is None or answer.low <= here.means([query])[0] <= answer.high
        finally:
            stop.set()
            thread.join()
        assert holdout.meter.asked == told
        holdout.verify()
        connection.execute(f"create or replace table people as from '{people}'")
        assert holdout.ask(share(col("age") > 61.5)).index == told + 1


def test_an_open_result_of_the_owner_is_waited_for_by_nobody(base: Any, people: Path, tmp_path: Path) -> None:
    holdout = opened(base, people, tmp_path / "ledger.db", "scan")
    reader = base.sql("select * from range(1_000_000)").to_arrow_reader(1_000)
    reader.read_next_batch()
    with refused(holdout):
        holdout.ask(FIRST)
    reader.close()
    assert holdout.ask(FIRST).index == 1


@pytest.mark.parametrize(
    "setting",
    [
        "set arrow_output_version = '1.4'; set produce_arrow_string_view = true",
        "set arrow_large_buffer_size = true",
        "set arrow_lossless_conversion = true",
        "set arrow_output_list_view = true",
        "set threads = 1",
    ],
)
def test_how_the_owner_has_arrow_written_does_not_matter(people: Path, setting: str) -> None:
    table = "select *, age > 40 as flag, (age || 'x')::varchar as short, '1990-01-01'::date + age::int as day from"
    with duckdb.connect() as plain, duckdb.connect() as other:
        other.execute(setting)
        told = []
        for connection in (plain, other):
            rows = DuckDB(connection.sql(f"{table} '{people}'"))
            batch = rows.draw(np.array([3, 700, 7_999]), list(rows.kinds))
            whole = list(rows.map(["flag", "word"], lambda place, batch: batch.column("flag").values.copy()))
            told.append([np.concatenate(whole).tolist()])
            for column in batch.columns.values():
                words = None if column.vocabulary is None else column.vocabulary[column.values].tolist()
                told[-1].append([column.kind, column.values.dtype.str, column.values.tolist(), words])
        assert told[0] == told[1]


# ------------------------------------------------------------------ databases in files


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
    one, other = (Holdout(f"duckdb:{database}#{name}") for name in ("people", "older"))
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
