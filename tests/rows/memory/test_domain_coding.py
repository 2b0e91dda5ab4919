"""Rows as cells of a domain: the right counts, the same after a round trip, and refusals that tell nothing of rows."""

from __future__ import annotations

import pickle
from itertools import combinations

import numpy as np
import pandas
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unworn import Unaskable
from unworn.noise import Stream
from unworn.queries import col, share
from unworn.rows import Sample
from unworn.rows.memory.domain_coding import CodedRows, _hubs
from unworn.universe.domain.domain import OTHER, Bins, Domain
from unworn.universe.domain.domain_rows import as_frame, decode_places

EVERY = Domain(
    {
        "age": Bins([None, 18, 30, 65, None], missing=True),
        "visits": Bins([0, 1, 5, 100], whole=True),
        "score": [0.5, 1.5, None],
        "plan": ["basic", "pro", OTHER, None],
        "paid": [False, True],
        "kept": [False, True, None],
        "joined": [np.datetime64("2024-01-05"), np.datetime64("2023-02-01T12:00:00"), None],
    }
)
LIBRARIES = ["pandas", "polars", "pyarrow"]


def codes_of(domain: Domain, rows: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.stack([rng.integers(0, size, rows) for size in domain.shape], axis=1).astype(np.int32)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 60), st.integers(0, 2**32), st.sampled_from(LIBRARIES))
def test_rows_that_are_decoded_are_coded_the_same(rows, seed, library):
    codes = codes_of(EVERY, rows, seed)
    frame = as_frame(decode_places(EVERY, codes, Stream(bytes(32), seed)), library)
    assert type(frame).__module__.partition(".")[0] == library
    sample = Sample.read(frame)
    assert sample.backend == library
    assert np.array_equal(CodedRows(sample, EVERY).codes, codes)


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 60), st.integers(0, 2**32))
def test_the_same_through_a_dictionary_of_arrays(rows, seed):
    domain = EVERY.only(name for name in EVERY.names if name != "kept")  # NumPy has no booleans that may be missing
    codes = codes_of(domain, rows, seed)
    columns = as_frame(decode_places(domain, codes, Stream(bytes(32), seed)), "builtins")
    assert columns["visits"].dtype == np.int64
    assert np.array_equal(CodedRows(Sample.read(columns), domain).codes, codes)


@pytest.mark.parametrize("library", LIBRARIES)
def test_counts_are_those_of_questions(library):
    """What a table says of a cell, the rows themselves say when asked."""
    frame = as_frame(decode_places(EVERY, codes_of(EVERY, 500, 7), Stream(bytes(32))), library)
    sample = Sample.read(frame)
    coded = CodedRows(sample, EVERY)
    for where in (
        (col("age") >= 30) & (col("plan") == "pro"),
        col("age").is_null() | (col("visits") > 4),
        ~(col("age") < 18) & (col("plan") != "basic") & col("paid"),
        (col("joined") > "2023-06-01") & (col("score").fill(0.5) == 0.5),
    ):
        axes, table = EVERY.weights(share(where))
        assert int((coded.table(axes) * table).sum()) == int(sample.counts([share(where)])[0])


def test_many_tables_are_each_the_table():
    rng = np.random.default_rng(5)
    sizes = {f"c{place}": int(size) for place, size in enumerate(rng.integers(2, 9, 12))}
    domain = Domain({name: range(size) for name, size in sizes.items()})
    sample = Sample.read({name: rng.integers(0, size, 40_000) for name, size in sizes.items()})
    coded = CodedRows(sample, domain)
    many = [axes for ways in (0, 1, 2, 3) for axes in combinations(range(12), ways)]
    many += [many[20], tuple(range(5))]
    for axes, table in zip(many, coded.tables(many), strict=True):
        assert table.dtype == np.int64
        assert table.shape == tuple(domain.shape[axis] for axis in axes)
        assert np.array_equal(table, coded.table(axes))
        assert table.sum() == 40_000
    first, second = coded.tables([(0, 1), (0, 1)])
    first += 1
    assert first.sum() != second.sum()
    hubs = _hubs(list(set(many)), domain.shape, 10_000)
    assert len(hubs) < len(many) / 6
    assert sorted(axes for _, served in hubs for axes in served) == sorted(set(many))
    assert all(set(axes) <= set(hub) for hub, served in hubs for axes in served)
    assert coded.tables([]) == []


def test_a_table_counted_in_runs_and_one_with_many_cells():
    rows = 300_001
    values = np.arange(rows) % 70_000
    coded = CodedRows(
        Sample.read({"x": values, "y": values % 2 == 0}), Domain({"x": range(70_000), "y": [False, True]})
    )
    assert np.array_equal(coded.table((0,)), np.bincount(values))
    assert coded.table((1,)).tolist() == [int((values % 2 == 1).sum()), int((values % 2 == 0).sum())]
    assert coded.table((0, 1)).shape == (70_000, 2)
    wide = {f"c{place}": np.zeros(3, dtype=int) for place in range(30)}
    big = CodedRows(Sample.read(wide), Domain({name: range(4) for name in wide}))
    assert big.tables([(0, 29)])[0][0, 0] == 3
    with pytest.raises(Unaskable, match="too large to count"):
        big.table(tuple(range(30)))


def test_columns_the_domain_does_not_name_are_ignored():
    sample = Sample.read({"x": np.array([1, 2, 2]), "noise": np.array(["a", "b", "c"])}, np.array([0, 1, 1]))
    assert CodedRows(sample, Domain({"x": [1, 2], "y": [0, 1]})).table((0, 1)).tolist() == [[1, 0], [0, 2]]


SECRET = 424_242.5


@pytest.mark.parametrize(
    ("axis", "values", "said"),
    [
        ([1, 2], np.array([1, SECRET]), "list more values; Bins with open ends"),
        (Bins([0, 10]), np.array([1, SECRET]), "open ends.*missing=True"),
        (Bins([0, None]), np.array([1, -SECRET]), "open ends"),
        (Bins([None, None]), np.array([1, np.nan, SECRET]), "missing=True"),
        (Bins([None, None]), np.array([1, np.inf, SECRET]), "missing=True"),
        (Bins([None, None], missing=True, whole=True), np.array([1, SECRET]), "leave out whole=True"),
        (["a"], np.array(["a", str(SECRET)]), r"with_other\(\)"),
        (["a", OTHER], np.array(["a", None, str(SECRET)], dtype=object), r"with_missing\(\)"),
        ([True], np.array([True, False]), "list more values"),
        ([np.datetime64("2024-01-05")], np.array(["2024-01-06"], dtype="datetime64[us]"), "list more values"),
    ],
)
def test_rows_outside_the_domain_are_refused_with_the_fix_and_nothing_about_rows(axis, values, said):
    sample = Sample.read({"x": values, "fine": np.zeros(len(values), dtype=int)})
    with pytest.raises(Unaskable, match=rf"(?s)outside the domain: in 'x'\. .*x: .*{said}") as refused:
        CodedRows(sample, Domain({"x": axis, "fine": [0]}))
    assert "424" not in str(refused.value)
    assert refused.value.numbers == {"columns": ["x"]}
    assert refused.value.__cause__ is None
    same = Sample.read({"x": np.concatenate([values, values]), "fine": np.zeros(2 * len(values), dtype=int)})
    with pytest.raises(Unaskable) as again:
        CodedRows(same, Domain({"x": axis, "fine": [0]}))
    assert str(again.value) == str(refused.value)  # whatever the number of rows


def test_what_is_public_is_checked_before_any_row():
    sample = Sample.read({"x": np.array([1, 2]), "z": np.array([1j, 2j])})
    with pytest.raises(Unaskable, match="domain has a column 'w' and the rows have x"):
        CodedRows(sample, Domain({"w": [1], "x": [1]}))
    with pytest.raises(Unaskable, match="its dtype has no kind"):
        CodedRows(sample, Domain({"z": [1]}))
    with pytest.raises(Unaskable, match="'x' is bool in the domain and number in the rows"):
        CodedRows(sample, Domain({"x": [False, True]}))
    grouped = Sample.read({"x": np.array([1, 2])}, groups=np.array([0, 0]))
    with pytest.raises(Unaskable, match="grouped"):
        CodedRows(grouped, Domain({"x": [1, 2]}))


def test_coded_rows_do_not_show_or_travel():
    coded = CodedRows(Sample.read({"x": np.array([1, 2])}), Domain({"x": [1, 2]}))
    assert repr(coded) == "Coded(2 rows, 1 columns)"
    with pytest.raises(TypeError, match="rows do not travel"):
        pickle.dumps(coded)


def test_what_is_not_in_a_domain_is_not_decoded():
    domain = Domain({"x": [1, 2]})
    for codes in (np.zeros(3, dtype=int), np.zeros((3, 2), dtype=int), np.zeros((3, 1)), [[2]], [[-1]]):
        with pytest.raises(ValueError, match=r"rows of this domain|outside the domain"):
            decode_places(domain, np.array(codes), Stream(bytes(32)))
    empty = as_frame(decode_places(domain, np.zeros((0, 1), dtype=int), Stream(bytes(32))), "pandas")
    assert isinstance(empty, pandas.DataFrame)
    assert len(empty) == 0
