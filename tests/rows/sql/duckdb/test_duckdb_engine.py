"""Rows in DuckDB: types, files, locks, and what happens when rows change or go away."""

from __future__ import annotations

import os
import subprocess
import sys
from fractions import Fraction

import duckdb
import numpy as np
import pytest

from unworn import Holdout
from unworn.errors import Mismatch, Unaskable
from unworn.mechanisms import GuessAndCheck
from unworn.queries import col, mean, share
from unworn.rows.sql.duckdb import duckdb_engine as engine
from unworn.rows.sql.duckdb.duckdb_engine import DuckDB


@pytest.fixture
def connection():
    with duckdb.connect() as opened:
        yield opened


@pytest.fixture
def parquet(tmp_path):
    path = tmp_path / "it's people.parquet"
    with duckdb.connect() as opened:
        opened.sql("select range as id, range % 90 as age from range(1000)").write_parquet(str(path))
    return path


def asked(rows, *questions):
    return [float(total) for total in rows.sums(questions)]


def test_types_have_kinds_and_others_are_left_out(connection):
    rows = DuckDB(
        connection.sql(
            "select 1::hugeint a, 1::uhugeint b, 'x'::enum('x') c, '2024-01-01 00:00+02'::timestamptz d, [1] e, "
            "uuid() f, '1 day'::interval g, 1.5::float h"
        )
    )
    assert dict(rows.kinds) == {"a": "number", "b": "number", "c": "text", "d": "date", "h": "number"}
    assert rows.left_out == ("e", "f", "g")
    assert asked(rows, share(col("c") == "x"), share(col("d") == "2023-12-31T22:00:00"), share(col("b") == 1)) == [
        1,
        1,
        1,
    ]


def test_dates_that_are_infinite_or_too_far_are_missing(connection):
    dates = "('infinity'::date), ('-infinity'), ('5000000-01-01'), ('2024-01-01')"
    moments = "('infinity'::timestamp), ('-infinity'), ('2024-01-01')"
    for values, missing in ((dates, 3), (moments, 2), (moments.replace("timestamp", "timestamp_ns"), 2)):
        rows = DuckDB(connection.sql(f"select * from (values {values}) t(d)"))
        assert asked(rows, share(col("d").is_null()), share(col("d") > "1970-01-01")) == [missing, 1]


def test_nanoseconds_are_cut_off_towards_the_past(connection):
    rows = DuckDB(connection.sql("select '1960-01-01 00:00:00.000001999'::timestamp_ns d"))
    assert asked(rows, share(col("d") == "1960-01-01T00:00:00.000001")) == [1]


def test_text_is_compared_byte_by_byte(connection):
    connection.execute("create table words(w varchar collate nocase)")
    connection.execute("insert into words values ('a'), ('A'), ('Á')")
    rows = DuckDB(connection.table("words"))
    assert asked(rows, share(col("w") == "a"), share(col("w").isin(["A", "á"]))) == [1, 1]


def test_the_owners_settings_do_not_matter(connection):
    connection.execute("set ieee_floating_point_ops = false")
    connection.execute("set default_null_order = 'nulls_first'")
    rows = DuckDB(connection.sql("select 1.0::double x, 0.0::double y"))
    assert asked(rows, share((col("x") / col("y")).is_null()), share(col("x") / (col("y") + 1) == 1)) == [1, 1]


def test_sums_of_means_are_exact_whatever_the_order(connection):
    connection.execute("create table t as select sin(range) * 1e5 as x from range(300_000)")
    question = mean(col("x").fill(0), range=(-1e5, 1e5))
    there = DuckDB(connection.sql("from t")).sums([question])
    back = DuckDB(connection.sql("from t order by x desc")).sums([question, share(col("x") > 0)])
    assert there[0] == back[0]
    grid = Fraction(2) ** (17 - 62)
    assert there[0] % grid == 0


def test_columns_may_have_the_names_that_layers_use(connection):
    rows = DuckDB(connection.sql('select range x, range + 10 C0, 0 v0, -1 h0, range = 3 "none" from range(20)'))
    inside = (col("x") / (col("C0") - 10) == 1) & (col("v0") == 0) & (col("h0") < 0)
    assert asked(rows, share(inside), share(col("C0") > 19), share(col("none")), share(col("x") < 5)) == [19, 10, 1, 5]


def test_the_largest_questions_are_still_answered(connection):
    rows = DuckDB(connection.sql("select range::double x from range(20)"))
    total = col("x")
    for _ in range(240):
        total = total + 1
    deep = col("x")
    for _ in range(17):
        deep = (1 / deep).fill(2)
    many = col("x").isin(range(1000))
    back = col("x") == total - 240
    assert asked(rows, share(total == 245), share(many), share(deep > 0), share(back)) == [1, 20, 20, 20]


def test_many_questions_take_several_statements(connection):
    rows = DuckDB(connection.sql("select range x from range(1000)"))
    many = [share(col("x") < place) for place in range(engine.AGGREGATES * 2 + 7)]
    assert asked(rows, *many) == [float(place) for place in range(len(many))]
    assert rows.sums([]) == []


@pytest.mark.parametrize(
    "change",
    ["insert into t values (5)", "delete from t where x = 3", "update t set x = x + 1 where x = 3", "drop table t"],
)
def test_rows_that_change_are_told_and_not_read(connection, change):
    connection.execute("create table t as select range::double x from range(1000)")
    rows = DuckDB(connection.table("t"))
    connection.execute(change)
    for read in (
        lambda: rows.sums([share(col("x") > 3)]),
        lambda: list(rows.map(["x"], lambda place, batch: batch.columns["x"].values)),
        lambda: rows.draw(np.arange(3), ["x"]),
    ):
        with pytest.raises(Mismatch, match="Nothing was charged"):
            read()


def test_no_error_of_duckdb_gets_out(connection):
    connection.execute("create table t as select 'secret' as w")
    rows = DuckDB(connection.sql("select case when w = 'secret' then w else w::int::varchar end w from t"))
    connection.execute("update t set w = 'another secret'")
    with pytest.raises(Mismatch) as caught:
        rows.sums([share(col("w") == "x")])
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_files_are_read_where_they_lie(parquet):
    rows = DuckDB(f"duckdb:{parquet}")
    assert rows.rows == 1000
    assert asked(rows, share(col("age") >= 45)) == [float(sum(place % 90 >= 45 for place in range(1000)))]
    rows.close()


def test_csv_and_many_files(tmp_path):
    for part in range(3):
        (tmp_path / f"{part}.csv").write_text("age,plan\n" + "".join(f"{age},basic\n" for age in range(part, 10)))
    rows = DuckDB(f"duckdb:{tmp_path}/*.csv")
    assert rows.rows == 27
    assert asked(rows, share((col("age") >= 5) & (col("plan") == "basic"))) == [15]
    rows.close()


def test_a_table_of_a_database(tmp_path):
    path = tmp_path / "base.duckdb"
    with duckdb.connect(str(path)) as opened:
        opened.execute('create table "two words" as select range age from range(50)')
    rows = DuckDB(f"duckdb:{path}#two words")
    assert asked(rows, share(col("age") < 20)) == [20]
    rows.close()


def test_a_connection_of_its_own_reads_nothing_else(parquet, tmp_path):
    other = tmp_path / "other.csv"
    other.write_text("a\n1\n")
    rows = DuckDB(f"duckdb:{parquet}")
    relation = rows._source.relation
    with pytest.raises(duckdb.Error):
        relation.query("r", f"select * from read_csv('{other}')").fetchall()
    with pytest.raises(duckdb.Error):
        relation.query("r", "set enable_external_access = true")
    with pytest.raises(duckdb.Error):
        relation.query("r", f"copy r to '{tmp_path}/stolen.csv'")
    rows.close()


@pytest.mark.parametrize("how", ["replaced", "touched", "cut", "gone"])
def test_files_that_change_are_told(parquet, how):
    rows = DuckDB(f"duckdb:{parquet}")
    if how == "gone":
        parquet.unlink()
    elif how == "touched":
        os.utime(parquet, ns=(1, 1))
    elif how == "cut":
        os.truncate(parquet, parquet.stat().st_size // 2)
    else:
        with duckdb.connect() as opened:
            opened.sql("select range as id, range % 91 as age from range(1000)").write_parquet(str(parquet))
    with pytest.raises(Mismatch, match="Nothing was charged"):
        rows.sums([share(col("age") > 3)])
    rows.close()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("duckdb:nothing.parquet", "there is no file"),
        ("duckdb:{here}/a.txt", "DuckDB reads .parquet"),
        ("duckdb:{here}/a.duckdb", "name one table"),
        ("duckdb:{here}/bad.parquet", "could not open"),
    ],
)
def test_what_cannot_be_opened_is_refused(tmp_path, data, message):
    for name in ("a.txt", "bad.parquet"):
        (tmp_path / name).write_text("no rows")
    duckdb.connect(str(tmp_path / "a.duckdb")).close()
    with pytest.raises(Unaskable, match=message):
        DuckDB(data.format(here=tmp_path))


def test_draws_bring_the_rows_at_their_places(parquet):
    rows = DuckDB(f"duckdb:{parquet}")
    places = np.array([0, 7, 500, 999])
    batch = rows.draw(places, ["id", "age"])
    assert batch.column("id").values.tolist() == places.tolist()
    assert batch.column("age").values.tolist() == (places % 90).tolist()
    assert batch.size == 4
    rows.close()


def test_a_batch_with_noise_reads_the_rows_once_for_counts_and_once_for_values(connection, monkeypatch):
    """However many of its questions are answered by noise, by request or because nobody guesses."""
    connection.execute("create table t as select (range * 7919 % 10007) / 10007 as x from range(20_000)")
    passes = []
    for name in ("_checked", "_arrow"):
        whole = getattr(DuckDB, name)
        monkeypatch.setattr(
            DuckDB, name, lambda rows, *given, _whole=whole, _name=name: passes.append(_name) or _whole(rows, *given)
        )
    holdout = Holdout(connection.table("t"), ledger=None, mechanism=GuessAndCheck(unguessed="noise"))
    counts = [share(col("x") < place / 100) for place in range(1, 41)]
    passes.clear()
    answers = holdout.ask_many(counts, [0.5 if place % 4 == 0 else None for place in range(40)])
    assert passes == ["_checked"]
    assert [answer.source for answer in answers].count("noise") == 30
    passes.clear()
    values = [mean(col("x").fill(0) * (place / 30), range=(0, 1)) for place in range(1, 21)]
    answers = holdout.ask_many([*values, *(share(col("x") > place / 100) for place in range(1, 41))], noise=True)
    assert passes == ["_checked", "_arrow"]
    assert {answer.source for answer in answers} == {"noise"}
    assert all(
        answer.low <= truth <= answer.high for answer, truth in zip(answers, np.arange(1, 21) / 60, strict=False)
    )
    holdout.verify()


PROGRESS = """
import sys
from unworn.rows.sql.duckdb.duckdb_engine import DuckDB
rows = DuckDB(f"duckdb:{sys.argv[1]}")
print(rows._source.relation.project("current_setting('enable_progress_bar')").limit(1).fetchall())
"""


def test_slow_statements_print_no_progress(parquet):
    """DuckDB draws a bar on standard output where no script is run: in a notebook, at a prompt, after -c."""
    done = subprocess.run([sys.executable, "-c", PROGRESS, str(parquet)], capture_output=True, text=True, timeout=120)
    assert done.stdout.strip() == "[(False,)]"
