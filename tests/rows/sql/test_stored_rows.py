"""Holdouts whose rows stay in DuckDB: the same answers, the same recognition, and clear refusals."""

from __future__ import annotations

import math
import os
import pickle

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from unworn import Holdout, col, mean, share
from unworn.errors import Mismatch, Unaskable
from unworn.mechanisms import Gaussian, SampleSplitting, Subsampled
from unworn.noise import Stream
from unworn.queries import accuracy
from unworn.rows import Sample
from unworn.rows.contract import Batch
from unworn.rows.fingerprints.stored_digests import _tall_columns, digests, known_as
from unworn.rows.held_rows import HeldRows
from unworn.rows.sql.duckdb.duckdb_engine import DuckDB
from unworn.rows.sql.stored_rows import Stored

ROWS = 5_000
OLD = share((col("age") > 65) & (col("plan") == "basic"))
INCOME = mean(col("income").fill(0), range=(0, 100_000))


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    rng = np.random.default_rng(5)
    found = tmp_path_factory.mktemp("stored") / "people.parquet"
    plans = np.array(["basic", "pro", None], dtype=object)[rng.integers(0, 3, ROWS)]
    table = pa.table(
        {
            "age": rng.integers(18, 90, ROWS),
            "income": pa.array(np.where(rng.random(ROWS) < 0.1, np.nan, rng.random(ROWS) * 1e5)),
            "plan": pa.array(plans, pa.string()),
            "churned": rng.random(ROWS) < 0.3,
            "since": pa.array(rng.integers(0, 2**50, ROWS), pa.timestamp("us")),
            "big": rng.integers(2**60, 2**62, ROWS),
        }
    )
    pq.write_table(table, found)
    return found


class Far(DuckDB):
    """Rows as a cluster has them: nobody's machine, small batches, in any order."""

    local = False

    def map(self, columns, work):
        def apart(first, batch):
            told = []
            for start in range(0, batch.size, 700):
                stop = min(start + 700, batch.size)
                some = Batch({name: column[slice(start, stop)] for name, column in batch.columns.items()}, stop - start)
                told.append(work(first + start, some))
            return told

        return iter([each for several in super().map(columns, apart) for each in several][::-1])


def stored(path):
    return Stored.read(f"duckdb:{path}")


def test_counts_and_means_are_those_of_memory(path):
    here, there = Sample.read(path), stored(path)
    assert there.statistics([OLD, INCOME]) == pytest.approx(here.statistics([OLD, INCOME]), rel=1e-12)
    assert there.counts([OLD]).tolist() == here.counts([OLD]).tolist()
    assert there.means([OLD, INCOME]) == pytest.approx(here.means([OLD, INCOME]), rel=1e-12)


def test_rounding_throws_the_same_coins_in_whatever_batches_rows_come(path):
    """The mean is kept to within 5.4 standard deviations, of at most half a row each: by chance off once in 1e7."""
    there, far = stored(path), Stored(Far(f"duckdb:{path}"), stored(path).schema)

    def streams():
        return [Stream(bytes(32), "rounding", place) for place in range(2)]

    told = there.rounded([OLD, INCOME], streams())
    assert told == far.rounded([OLD, INCOME], streams())
    exact = ROWS * there.means([OLD, INCOME]) / (1, 100_000)
    assert told[0] == exact[0]
    assert 0 < abs(told[1] - exact[1]) < 5.4 * math.sqrt(ROWS) / 2


def test_no_key_travels_to_where_rows_lie(path):
    class Spy(Far):
        sent = b""

        def map(self, columns, work):
            Spy.sent += pickle.dumps(work)
            return super().map(columns, work)

    key = bytes(range(32))
    Stored(Spy(f"duckdb:{path}"), stored(path).schema).rounded([INCOME], [Stream(key, "rounding")])
    assert Spy.sent
    assert key not in Spy.sent


def test_draws_are_those_of_memory(path):
    """The same stream, the same rows, the same coins: the rows go by in the order of the file."""
    here, there = Sample.read(path), stored(path)
    for question in (OLD, INCOME):
        for replace in (False, True):
            told = [rows.drawn(question, 700, Stream(bytes(32), "draw"), replace) for rows in (here, there)]
            assert told[0] == told[1]


def test_fingerprints_are_those_of_memory(path):
    here, there = Sample.read(path), stored(path)
    assert digests(there, bytes(32)) == digests(here, bytes(32))


def test_rows_that_stay_elsewhere_are_known_in_whatever_form_a_ledger_has(path):
    here, there = Sample.read(path), stored(path)
    far = Stored(Far(f"duckdb:{path}"), there.schema)
    secret, names = bytes(32), list(here.columns)
    summed, whole = digests(far, secret).rows, digests(here, secret).rows
    assert summed.startswith("sums:")
    assert not whole.startswith("sums:")
    other = digests(Stored(Far(duckdb.sql(f"select * replace (-big as big) from '{path}'")), there.schema), secret).rows
    part = ["income", "plan"]
    parts = {
        digests(Stored.read(duckdb.sql(f"select income, plan from '{path}'")), secret).rows,
        digests(Stored(Far(duckdb.sql(f"select income, plan from '{path}'")), there.schema), secret).rows,
    }
    assert len(parts) == 2
    for rows in (here, there, far):
        assert known_as(rows, secret, names, summed)
        assert known_as(rows, secret, names, whole)
        assert not known_as(rows, secret, names, other)
        assert all(known_as(rows, secret, part, digest) for digest in parts)
        assert not known_as(rows, bytes(31) + b"x", names, whole)


def test_sums_do_not_depend_on_the_order_of_rows(path):
    schema = stored(path).schema
    told = [Stored(Far(rows), schema) for rows in (f"duckdb:{path}", duckdb.sql(f"from '{path}' order by big"))]
    assert digests(told[0], bytes(32)) == digests(told[1], bytes(32))


def test_tall_columns_tell_values_in_any_order(path):
    there = _tall_columns(stored(path))
    shuffled = _tall_columns(Stored.read(duckdb.sql(f"select * from '{path}' order by income, big")))
    assert there == shuffled
    assert [name for name, column in there.items() if column.distinctive] == ["income", "since", "big"]
    changed = _tall_columns(Stored.read(duckdb.sql(f"select * replace (-income as income) from '{path}'")))
    assert [name for name in there if there[name] != changed[name]] == ["income"]


def test_row_numbers_are_not_telling():
    rows = """
        select range as id, range + 10**15 as far, (range - 7)::double as real, (range * 7919) % 5000 as shuffled,
               range + (range = 4999)::int as gap, range * 2 as even, range + 0.5 as half from range(5000)
    """
    told = _tall_columns(Stored.read(duckdb.sql(rows)))
    assert [name for name, column in told.items() if column.distinctive] == ["gap", "even", "half"]


def test_one_ledger_for_rows_in_memory_in_files_and_in_relations(path, tmp_path):
    ledger = tmp_path / "one.db"
    first = Holdout(path, ledger=ledger)
    answer = first.ask(OLD, guess=0.1)
    again = Holdout(f"duckdb:{path}", ledger=ledger)
    third = Holdout(duckdb.sql(f"from '{path}'"), ledger=ledger)
    assert first.id == again.id == third.id
    assert again.ask(OLD).index == third.ask(OLD).index == answer.index
    with pytest.raises(Mismatch, match="column"):
        Holdout(duckdb.sql(f"select *, age + 1 as older from '{path}'"), ledger=ledger)
    with pytest.raises(Mismatch, match="share its column"):
        Holdout(duckdb.sql(f"select income as money from '{path}'"), ledger=ledger)


@pytest.mark.parametrize("mechanism", [None, Subsampled(0.0073, 1_570), Gaussian()], ids=lambda one: type(one).__name__)
def test_mechanisms_answer_as_they_do_in_memory(path, mechanism):
    holdout = Holdout(f"duckdb:{path}", asks=5, mechanism=mechanism, ledger=None)
    told = holdout.ask_many([OLD, INCOME])
    here = Sample.read(path)
    assert told[0].low <= here.means([OLD])[0] <= told[0].high
    assert told[1].low <= here.means([INCOME])[0] <= told[1].high
    assert holdout.ask("age > 65 and plan = 'basic'").index == told[0].index


def test_a_test_of_a_hypothesis(path):
    assert Holdout(f"duckdb:{path}", ledger=None).test(share(col("age") > 20), above=0.5).rejected


@pytest.mark.parametrize(
    "ask",
    [
        lambda holdout: holdout.score(np.zeros(ROWS)),
        lambda holdout: holdout.ask(accuracy(np.zeros(ROWS))),
        lambda holdout: holdout.compare(np.zeros(ROWS), np.ones(ROWS)),
        lambda holdout: holdout.quote(accuracy(np.zeros(ROWS))),
    ],
)
def test_what_needs_memory_is_refused_and_free(path, ask):
    holdout = Holdout(f"duckdb:{path}", "churned", ledger=None)
    with pytest.raises(Unaskable, match="stay in their engine"):
        ask(holdout)
    assert holdout.meter.asked == 0


@pytest.mark.parametrize(
    "wanted",
    [
        {"groups": "plan"},
        {"y": np.zeros(ROWS)},
        {"y": "nothing"},
        {"uses": {"asks": 0.5, "release": 0.5}},
        {"schema": {"age": "text"}},
    ],
)
def test_what_an_engine_cannot_hold_is_refused_before_it_is_sealed(path, wanted, tmp_path):
    ledger = tmp_path / "none.db"
    with pytest.raises(Unaskable):
        Holdout(f"duckdb:{path}", ledger=ledger, **wanted)
    Holdout(path, ledger=ledger, name="first")


def test_parts_are_refused_and_free(path):
    holdout = Holdout(f"duckdb:{path}", asks=4, mechanism=SampleSplitting(), ledger=None)
    with pytest.raises(Unaskable, match="one use"):
        holdout.ask(OLD)
    assert holdout.meter.asked == 0


def test_a_dropped_table_charges_nothing_and_the_ledger_stays(path, tmp_path):
    ledger = tmp_path / "dropped.db"
    with duckdb.connect() as connection:
        connection.execute(f"create table people as from '{path}'")
        holdout = Holdout(connection.table("people"), ledger=ledger)
        holdout.ask(OLD, guess=0.1)
        connection.execute("alter table people rename to gone")
        with pytest.raises(Mismatch, match="Nothing was charged"):
            holdout.ask(INCOME)
        assert holdout.meter.asked == 1
        connection.execute("alter table gone rename to people")
        again = Holdout(connection.table("people"), ledger=ledger)
        assert again.id == holdout.id
        assert again.ask(INCOME).index == 2


def test_a_file_cut_short_charges_nothing(path, tmp_path):
    copy = tmp_path / "cut.parquet"
    copy.write_bytes(path.read_bytes())
    holdout = Holdout(f"duckdb:{copy}", ledger=None)
    os.truncate(copy, 1000)
    with pytest.raises(Mismatch, match="Nothing was charged"):
        holdout.ask(OLD)
    assert holdout.meter.asked == 0


def test_train_provides_the_schema_and_guesses(path):
    train = pq.read_table(path).slice(0, 500).to_pandas().assign(big=lambda frame: frame["big"] // 2)
    holdout = Holdout(f"duckdb:{path}", train=pa.Table.from_pandas(train), ledger=None)
    assert holdout.ask(share(col("age") > 65)).source == "guess"
    assert not holdout.terms.schema["age"].nullable


def test_no_row_shows_and_none_travels(path):
    rows = stored(path)
    assert repr(rows).startswith("Stored(5000 rows in duckdb; age: number, income: number, plan: text")
    with pytest.raises(TypeError, match="do not travel"):
        pickle.dumps(rows)


def test_rows_in_an_engine_and_in_memory_have_all_that_a_holdout_sees() -> None:
    table = {"a": [1, 2, 3]}
    seen = {name for name in dir(HeldRows) if not name.startswith("_")} | set(HeldRows.__annotations__)
    assert {"schema", "statistics", "restricted", "close"} <= seen
    for rows in (Sample.read(table), Stored.read(duckdb.sql("select range as a from range(3)"))):
        assert [name for name in sorted(seen) if not hasattr(rows, name)] == []
