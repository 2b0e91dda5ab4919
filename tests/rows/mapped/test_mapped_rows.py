"""Rows in a mapped file mean what they mean in memory, are read no sooner than asked, and fail loudly when cut."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from unworn import Holdout, col, mean, share
from unworn.errors import Mismatch, Unaskable
from unworn.mechanisms import Subsampled
from unworn.noise import Stream
from unworn.queries.metrics.named_metrics import accuracy
from unworn.rows import Sample, digests
from unworn.rows.mapped.mapped_rows import open_mapped
from unworn.rows.mapped.mapped_writing import write_mapped

SECRET = bytes(32)
TYPES: dict[str, tuple[Any, st.SearchStrategy[Any]]] = {
    "int8": (pa.int8(), st.integers(-128, 127)),
    "int64": (pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    "uint64": (pa.uint64(), st.integers(0, 2**64 - 1)),
    "float": (pa.float64(), st.floats()),
    "single": (pa.float32(), st.floats(width=32)),
    "half": (pa.float16(), st.floats(width=16)),
    "bool": (pa.bool_(), st.booleans()),
    "decimal": (pa.decimal128(9, 2), st.decimals(-1000, 1000, places=2)),
    "text": (pa.string(), st.text(st.characters(codec="utf-8"), max_size=3)),
    "large": (pa.large_string(), st.sampled_from(["", "a", "b"])),
    "coded": (pa.dictionary(pa.int8(), pa.string()), st.sampled_from(["x", "y", "ü"])),
    "day": (pa.date32(), st.dates(date(1600, 1, 1), date(2200, 1, 1))),
    "second": (
        pa.timestamp("s"),
        st.datetimes(datetime(1600, 1, 1), datetime(2200, 1, 1)).map(lambda d: d.replace(microsecond=0)),
    ),
    "micro": (pa.timestamp("us", tz="UTC"), st.datetimes(datetime(1600, 1, 1), datetime(2200, 1, 1))),
    "nano": (pa.timestamp("ns"), st.integers(-(2**60), 2**60)),
}


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    rows = draw(st.integers(1, 40))
    columns = {}
    for name in draw(st.lists(st.sampled_from(sorted(TYPES)), min_size=1, max_size=6, unique=True)):
        kind, values = TYPES[name]
        entries = draw(st.lists(st.none() | values if draw(st.booleans()) else values, min_size=rows, max_size=rows))
        columns[name] = pa.array([np.float16(e) if name == "half" and e is not None else e for e in entries], kind)
    return pa.table(columns)


def mapped(table: pa.Table, folder: Path, runs: int = 7) -> Sample:
    path = folder / "rows.arrow"
    write_mapped(path, table.schema, table.num_rows, table.to_batches(max_chunksize=runs), force=True)
    return Sample.read(path)


@settings(deadline=None, max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(table=tables(), runs=st.integers(1, 50))
def test_a_mapped_column_is_what_is_read_into_memory(table: pa.Table, runs: int, tmp_path: Path) -> None:
    here, there = Sample.read(table), mapped(table, tmp_path, runs)
    assert there.schema == here.schema
    assert (there.rows, there.left_out) == (here.rows, here.left_out)
    for name, column in here.columns.items():
        other = there.columns[name]
        assert (other.kind, other.values.dtype) == (column.kind, column.values.dtype)
        assert not other.values.flags.writeable
        np.testing.assert_array_equal(other.values, column.values)
        np.testing.assert_equal(other.missing, column.missing)
        np.testing.assert_equal(other.vocabulary, column.vocabulary)
    assert digests(there, SECRET) == digests(here, SECRET)


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(table=tables())
def test_other_tools_read_the_same_file(table: pa.Table, tmp_path: Path) -> None:
    mapped(table, tmp_path)
    read = pa.ipc.open_file(tmp_path / "rows.arrow").read_all()
    read.validate(full=True)
    again = Sample.read(read)
    for name, column in Sample.read(table).columns.items():
        np.testing.assert_equal(again.columns[name].missing, column.missing)
        np.testing.assert_array_equal(again.columns[name].values, column.values)
    assert pl.read_ipc(tmp_path / "rows.arrow").height == table.num_rows


def people(rows: int = 50_000) -> pa.Table:
    rng = np.random.default_rng(3)
    ages = np.where(rng.random(rows) < 0.1, np.nan, rng.integers(18, 90, rows))
    plans = np.array(["basic", "pro", None], dtype=object)[rng.integers(0, 3, rows)]
    paid = pa.array(rng.random(rows) < 0.4, mask=rng.random(rows) < 0.05)
    return pa.table({"age": ages, "plan": plans, "paid": paid, "y": rng.integers(0, 2, rows)})


QUESTIONS = [
    share(col("age") > 60),
    share((col("plan") == "basic") & ~(col("age") < 30)),
    share(col("paid")),
    mean(col("age").fill(0), range=(0, 100)),
]


def test_questions_and_draws_come_out_the_same(tmp_path: Path) -> None:
    table = people()
    here, there = Sample.read(table, "y"), Sample.read(_written(table, tmp_path), "y")
    asked = [*QUESTIONS, accuracy(np.zeros(table.num_rows, dtype=int))]
    assert here.statistics(asked) == there.statistics(asked)
    for replace in (False, True):
        for query in asked:
            told = [sample.drawn(query, 500, Stream(SECRET, "q"), replace) for sample in (here, there)]
            assert told[0] == told[1]
    streams = [[Stream(SECRET, place) for place in range(len(asked))] for _ in range(2)]
    assert here.rounded(asked, streams[0]) == there.rounded(asked, streams[1])


def _written(table: pa.Table, folder: Path) -> Path:
    write_mapped(folder / "rows.arrow", table.schema, table.num_rows, table.to_batches(), force=True)
    return folder / "rows.arrow"


def test_features_are_shown_to_models_without_labels(tmp_path: Path) -> None:
    sample = Sample.read(_written(people(100), tmp_path), "y")
    assert sample.features.column_names == ["age", "plan", "paid"]
    assert sample.backend == "pyarrow"


def test_opening_holds_no_rows(tmp_path: Path) -> None:
    """The memory a process needs does not grow with the file: 400 MB are opened and drawn from within 100 MB."""
    rows = 50_000_000
    batch = pa.record_batch({"x": np.arange(1_000_000, dtype=np.int64) % 97})
    path = tmp_path / "large.arrow"
    write_mapped(path, batch.schema, rows, (batch for _ in range(rows // 1_000_000)))
    code = (
        "import resource, sys\n"
        "from unworn.rows import Sample\n"
        "from unworn.noise import Stream\n"
        "from unworn import col, share\n"
        "import pyarrow\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "sample = Sample.read(sys.argv[1])\n"
        "sample.drawn(share(col('x') > 50), 100, Stream(bytes(32), 'q'))\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 100_000


def test_writing_holds_no_rows(tmp_path: Path) -> None:
    batch = pa.record_batch({"x": np.arange(1_000_000, dtype=np.float64), "b": np.zeros(1_000_000, dtype=bool)})
    write_mapped(tmp_path / "warm.arrow", batch.schema, 1_000_000, [batch])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    write_mapped(tmp_path / "large.arrow", batch.schema, 40_000_000, (batch for _ in range(40)))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 150_000  # of 360 MB


# ------------------------------------------------------------------ files that are not what they were


def holdout(path: Path, ledger: Path) -> Holdout:
    return Holdout(path, asks=20, mechanism=Subsampled(0.05, 1_000), ledger=str(ledger))


@pytest.mark.parametrize("cut", [True, False], ids=["truncated", "changed"])
def test_a_file_that_changes_between_asks_is_not_read(tmp_path: Path, cut: bool) -> None:
    path = _written(people(), tmp_path)
    opened = holdout(path, tmp_path / "ledger.db")
    told = opened.ask(QUESTIONS[0])
    whole = path.read_bytes()
    if cut:
        os.truncate(path, 5_000)
    else:
        with path.open("r+b") as file:
            file.seek(5_000)
            file.write(b"\1")
        os.utime(path, ns=(1, 1))
    for query in (QUESTIONS[1], QUESTIONS[2]):
        with pytest.raises(Mismatch, match="import it again"):
            opened.ask(query)
    assert opened.ask(QUESTIONS[0]).index == told.index  # what was told is still told
    assert opened.meter.asked == 1
    opened.verify()
    opened.close()
    path.write_bytes(whole)
    again = holdout(path, tmp_path / "ledger.db")
    assert again.ask(QUESTIONS[1]).index == 2
    again.close()


def test_a_file_replaced_by_another_is_still_the_one_that_was_opened(tmp_path: Path) -> None:
    path = _written(people(), tmp_path)
    sample = Sample.read(path)
    told = sample.counts([QUESTIONS[0]])
    write_mapped(
        path, pa.schema([("age", pa.int8())]), 1, [pa.record_batch({"age": pa.array([1], pa.int8())})], force=True
    )
    assert sample.counts([QUESTIONS[0]]) == told


@pytest.mark.parametrize("left", [1_000, 10_000, 100_000, -1])
def test_a_file_that_is_cut_off_says_what_to_do(tmp_path: Path, left: int) -> None:
    path = _written(people(), tmp_path)
    os.truncate(path, left if left > 0 else path.stat().st_size + left)
    with pytest.raises(Unaskable, match="unworn import"):
        Sample.read(path)


def test_other_arrow_files_are_read_into_memory(tmp_path: Path) -> None:
    path = tmp_path / "plain.arrow"
    table = pa.table({"age": [1.0, None, 3.0]})
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table)
    assert open_mapped(path) is None
    assert Sample.read(path).rows == 3
    path.write_bytes(b"")
    assert open_mapped(path) is None


def test_what_cannot_be_written_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    path, batch = tmp_path / "rows.arrow", pa.record_batch({"age": [1, 2]})
    tried: Sequence[tuple[Any, int, str]] = [
        (batch.schema, 0, "no rows"),
        (batch.schema, 1, "more rows"),
        (batch.schema, 3, "counted first"),
        (pa.schema([("tags", pa.list_(pa.int8()))]), 2, "nothing to ask"),
        (pa.schema([("age", pa.int64()), ("age", pa.int64())]), 2, "twice"),
    ]
    for schema, rows, says in tried:
        with pytest.raises(Unaskable, match=says):
            write_mapped(path, schema, rows, [batch])
    far = pa.record_batch({"when": pa.array([2**62], pa.timestamp("s"))})
    with pytest.raises(Unaskable, match="microsecond"):
        write_mapped(path, far.schema, 1, [far])
    assert list(tmp_path.iterdir()) == []


def test_decimals_are_numbers(tmp_path: Path) -> None:
    table = pa.table({"price": [Decimal("1.25"), None, Decimal("-3.50")]})
    sample = Sample.read(_written(table, tmp_path))
    assert sample.means([mean(col("price").fill(0), range=(-10, 10))]).tolist() == [-0.75]


def test_pages_that_are_not_in_memory_are_asked_for_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sample = Sample.read(_written(people(), tmp_path))
    told = sample.drawn(QUESTIONS[0], 5_000, Stream(SECRET, "q"))
    counted = iter(range(0, 10**6, 64))
    monkeypatch.setattr(
        "unworn.rows.mapped.mapped_rows._waits", lambda: next(counted)
    )  # as if every row had to be waited for
    assert sample.drawn(QUESTIONS[0], 5_000, Stream(SECRET, "q")) == told
    assert next(counted) >= 2 * 64


def test_a_file_of_many_columns_is_mapped_too(tmp_path: Path) -> None:
    table = pa.table({f"column number {place}": [place, None] for place in range(3_000)})
    sample = mapped(table, tmp_path)
    assert sample.watch is not None
    assert len(sample.columns) == 3_000
    assert sample.columns["column number 7"].values.tolist() == [7, 0]


def test_where_there_are_no_links_a_file_is_renamed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*names: Any, **how: Any) -> None:
        raise PermissionError(1, "no links here")

    monkeypatch.setattr(os, "link", refuse)
    assert mapped(people(10), tmp_path).rows == 10
    write_mapped(tmp_path / "other.arrow", people(10).schema, 10, people(10).to_batches())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other.arrow", "rows.arrow"]


@pytest.mark.parametrize("cut", [None, 40_000])
def test_a_copy_by_another_tool_is_read_like_any_arrow_file(tmp_path: Path, cut: int | None) -> None:
    """Notes travel along when a file is read and written again, and places do not."""
    rng = np.random.default_rng(0)
    paid, age = rng.random(70_000) < 0.5, rng.integers(0, 90, 70_000).astype(np.int8)
    paid_or_not = pa.array(paid, mask=rng.random(70_000) < 0.1)
    table = pa.table({"paid": paid_or_not, "age": age, "plan": rng.choice(["a", "b"], 70_000)})
    whole, copy = tmp_path / "whole.arrow", tmp_path / "copy.arrow"
    write_mapped(whole, table.schema, table.num_rows, table.to_batches())
    read = pa.ipc.open_file(whole).read_all()
    kept = read if cut is None else read.slice(0, cut)
    with pa.ipc.new_file(copy, kept.schema) as writer:
        writer.write_table(kept, max_chunksize=30_000)
    assert b"unworn" in (kept.schema.metadata or {})
    assert open_mapped(whole) is not None
    assert open_mapped(copy) is None
    rows = kept.num_rows
    sample = Sample.read(str(copy))
    assert sample.size == rows
    counted = sample.counts([share(col("paid")), share(col("age") > 40), share(col("plan") == "a")]).tolist()
    expected = [kept["paid"].to_pylist().count(True), int((age[:rows] > 40).sum()), kept["plan"].to_pylist().count("a")]
    assert counted == expected


def test_a_note_that_lies_is_damage(tmp_path: Path) -> None:
    table = pa.table({"age": np.arange(500)})
    path = tmp_path / "rows.arrow"
    write_mapped(path, table.schema, 500, table.to_batches())
    data = path.read_bytes()
    path.write_bytes(data.replace(b'"layout": 1', b'"layout": 9'))
    with pytest.raises(Unaskable, match="layout 9"):
        open_mapped(path)
    path.write_bytes(data.replace(b'"token": "', b'"tokem": "'))
    assert open_mapped(path) is None
