"""Tables, views and connections that are the owner's, who changes, drops, closes and interrupts them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

from tests.rows.sql.duckdb.duckdb_faults import FIRST, MECHANISMS, SECOND, SECRET, THIRD, answered, refused
from unworn import Holdout, col, share
from unworn.queries.query import Query
from unworn.rows import Sample
from unworn.rows.sql.duckdb.duckdb_engine import DuckDB


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
