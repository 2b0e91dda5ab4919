"""Domains from files, frames, dtypes and rows that may be seen."""

from __future__ import annotations

from datetime import date, datetime

import numpy as np
import pandas
import polars
import pyarrow
import pytest

from unworn import Unaskable
from unworn.rows import Sample
from unworn.rows.memory.domain_coding import CodedRows
from unworn.universe.domain.domain import OTHER, Bins, Domain

TOML = """
plan = ["basic", "pro"]
joined = [2024-01-05, 2023-02-01T12:00:00]

[age]
edges = [0, 18, 30, 65, inf]
whole = true

["home town"]
values = ["Oslo", "Rome"]
other = true
missing = true
"""


def test_a_domain_is_read_from_toml(tmp_path):
    path = tmp_path / "domain.toml"
    path.write_text(TOML)
    assert Domain.read(path) == Domain(
        {
            "plan": ["basic", "pro"],
            "joined": [date(2024, 1, 5), datetime(2023, 2, 1, 12)],
            "age": Bins([0, 18, 30, 65, None], whole=True),
            "home town": ["Oslo", "Rome", OTHER, None],
        }
    )
    assert Domain.read(str(path)).origin == "declared"
    path.write_text("age = [1,")
    with pytest.raises(Unaskable, match="is not TOML"):
        Domain.read(path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(Unaskable, match="is not TOML"):
        Domain.read(path)
    with pytest.raises(Unaskable, match="there is no file"):
        Domain.read(tmp_path / "other.toml")


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "dict"])
def test_a_frame_that_shows_every_value_declares_a_domain(library):
    columns = {
        "plan": ["basic", "pro", "pro"],
        "age": [20.0, None, 40.5],
        "paid": [True, False, True],
        "joined": [datetime(2024, 1, 5), datetime(2023, 2, 1, 12), None],
    }
    frame = {
        "pandas": lambda: pandas.DataFrame(columns),
        "polars": lambda: polars.DataFrame(columns),
        "pyarrow": lambda: pyarrow.table(columns),
        "dict": lambda: {
            "plan": np.array(columns["plan"]),
            "age": np.array([20, np.nan, 40.5]),
            "paid": np.array(columns["paid"]),
            "joined": np.array(columns["joined"], dtype="datetime64[us]"),
        },
    }[library]()
    domain = Domain.of_frame(frame)
    assert domain.origin == "declared"
    assert domain == Domain(
        {
            "plan": ["basic", "pro"],
            "age": [20, 40.5, None],
            "paid": [False, True],
            "joined": [datetime(2024, 1, 5), datetime(2023, 2, 1, 12), None],
        }
    )


def test_dtypes_that_list_their_values_make_a_domain_and_no_row_is_looked_at():
    cats = pandas.Categorical(["x", "x"], categories=["x", "y"])
    frame = pandas.DataFrame({"a": cats, "b": [True, True], "c": pandas.array([True, None], dtype="boolean")})
    domain = Domain.of_dtypes(frame)
    assert domain == Domain({"a": ["x", "y", None], "b": [False, True], "c": [False, True, None]})
    assert domain.origin == "dtypes"
    ordered = pandas.DataFrame({"a": pandas.Categorical(["x"], categories=["y", "x"], ordered=True)})
    assert Domain.of_dtypes(ordered) == Domain({"a": ["x", "y", None]})
    enum = polars.DataFrame({"a": polars.Series(["x", "x"], dtype=polars.Enum(["x", "y"])), "b": [True, None]})
    assert Domain.of_dtypes(enum) == Domain({"a": ["x", "y", None], "b": [False, True, None]})
    words = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0, 0]), pyarrow.array(["x", "y"]))
    assert Domain.of_dtypes(pyarrow.table({"a": words})) == Domain({"a": ["x", "y", None]})
    assert Domain.of_dtypes({"b": np.array([True])}) == Domain({"b": [False, True]})


def test_a_sample_has_dtypes_too():
    cats = pandas.Categorical(["x", "x"], categories=["x", "y"])
    sample = Sample.read(pandas.DataFrame({"a": cats, "b": [True, True]}), np.array([True, False]))
    assert Domain.of_dtypes(sample) == Domain({"a": ["x", "y", None], "b": [False, True], "y": [False, True]})
    assert Domain.of_dtypes(Sample.read(None, np.array([True, False]))) == Domain({"y": [False, True]})


def test_what_dtypes_do_not_list_is_named_with_the_way_out():
    frame = polars.DataFrame(
        {
            "age": [1, 2],
            "town": ["Oslo", "Rome"],
            "kind": polars.Series(["x", "y"], dtype=polars.Categorical),
            "day": [date(2024, 1, 1)] * 2,
            "paid": [True, False],
        }
    )
    said = (
        r"(?s)values of 'age' \(number\), 'town' \(text\), 'kind' \(text\), 'day' \(date\)\.\n"
        r".*'age': Bins.*of_train.*of_rows"
    )
    with pytest.raises(Unaskable, match=said) as refused:
        Domain.of_dtypes(frame)
    assert "Oslo" not in str(refused.value)
    assert Domain.of_dtypes(frame, columns=["paid"]) == Domain({"paid": [False, True, None]})
    declared = Domain.of_dtypes(frame, {"age": Bins([0, 2, 4])}, columns=["paid", "age"])
    assert declared.names == ("age", "paid")
    with pytest.raises(Unaskable, match="no column 'pad'"):
        Domain.of_dtypes(frame, columns=["pad"])
    with pytest.raises(Unaskable, match="not a list"):
        Domain.of_dtypes([1, 2])


def people(rows: int, seed: int):
    rng = np.random.default_rng(seed)
    town = rng.choice(["Oslo", "Rome", "Bern", "(other)"], rows, p=[0.5, 0.3, 0.15, 0.05])
    return pandas.DataFrame(
        {
            "town": pandas.Series(town).where(rng.random(rows) > 0.1),
            "age": rng.integers(0, 100, rows),
            "income": np.where(rng.random(rows) < 0.1, np.nan, rng.lognormal(8, 1, rows)),
            "visits": rng.integers(0, 4, rows),
            "paid": rng.random(rows) < 0.5,
            "zeros": np.where(rng.random(rows) < 0.9, 0.0, rng.normal(0, 1, rows)),
        }
    )


@pytest.mark.parametrize("wrap", [lambda x: x, Sample.read, polars.from_pandas, lambda x: Sample.read(x).columns])
def test_a_domain_read_off_train_has_room_for_rows_like_it(wrap):
    train = wrap(people(2_000, 1))
    domain = Domain.of_train(train, bins=8, most=2)
    assert domain.origin == "train"
    assert domain.labels("town") == ("Oslo", "Rome", "(other)", "missing")
    assert domain.labels("visits") == ("0", "1", "2", "3")
    assert domain.labels("paid") == ("False", "True")
    assert len(domain.labels("age")) == 8
    assert domain.axis("age").whole
    assert domain.labels("income")[-1] == "missing"
    assert len(domain.labels("income")) == 9
    assert len(domain.labels("zeros")) == 3  # below 0, 0, above: one value fills many bins
    assert CodedRows(Sample.read(people(5_000, 2)), domain).size == 5_000


def test_the_bins_read_off_train_hold_about_equally_many_rows():
    train = people(4_000, 3)
    coded = CodedRows(Sample.read(train), Domain.of_train(train, bins=8, columns=["income"]))
    counts = coded.table((0,))[:-1]
    assert counts.max() - counts.min() <= 2


def test_columns_can_be_declared_beside_those_that_are_read():
    train = people(100, 4)
    domain = Domain.of_train(train, declared={"income": Bins([0, 10, None], missing=True)}, columns=["income", "paid"])
    assert domain == Domain({"income": Bins([0, 10, None], missing=True), "paid": [False, True]})
    assert Domain.of_rows(train, columns="paid").names == ("paid",)
    assert Domain.of_rows(train).origin == "rows"
    assert Domain.of_rows(train) == Domain.of_train(train)


def test_a_domain_of_integers_too_large_for_bins_of_whole_numbers():
    train = {"id": np.arange(2**60, 2**60 + 10_000_000, 10_000)}
    assert Domain.of_train(train).axis("id") == Bins([None, *Domain.of_train(train).axis("id").edges[1:-1], None])


def test_what_no_domain_can_be_read_off_is_refused():
    days = {"day": np.arange("2024-01-01", "2024-03-01", dtype="datetime64[D]")}
    with pytest.raises(Unaskable, match="'day' holds more than 16 dates"):
        Domain.of_train(days)
    assert Domain.of_train(days, bins=60).shape == (60,)
    with pytest.raises(Unaskable, match="'x' has no values"):
        Domain.of_train({"x": np.array([np.nan, np.inf])})
    with pytest.raises(Unaskable, match="not a int"):
        Domain.of_train(3)
    with pytest.raises(Unaskable, match="'x' holds neither"):
        Domain.of_train({"x": np.array([1j])})
    with pytest.raises(Unaskable, match="'x' holds neither"):
        Domain.of_train(polars.DataFrame({"x": [[1, 2]]}))
    with pytest.raises(Unaskable, match="no column 'z'"):
        Domain.of_train(days, columns=["z"])
    for wrong in ({"bins": 0}, {"bins": True}, {"most": 2.5}):
        with pytest.raises(ValueError, match="whole number from 1"):
            Domain.of_train(days, **wrong)
    long = {"note": np.array(["x" * 2_000, "short"])}
    assert Domain.of_train(long).labels("note") == ("short", "(other)")
