"""Rows are read alike from everything, described by dtypes alone, and reduced exactly."""

from __future__ import annotations

import copy
import datetime as dt
import pickle
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import feather

from unworn import Holdout
from unworn.errors import ReadOnly, Unaskable
from unworn.noise import Stream
from unworn.queries.code.callables import function
from unworn.queries.metrics.named_metrics import accuracy, brier, mae
from unworn.queries.predictions import FromModel
from unworn.queries.row_protocol import Raised
from unworn.queries.schema import ColumnType
from unworn.rows import Sample, digests

KEY = b"k" * 32
N = 60
ARRAYS: dict[str, Any] = {
    "age": np.arange(N) % 7 + np.arange(N) * 1.5,
    "count": np.arange(N) ** 2,
    "plan": np.array([f"plan {i}" for i in range(N)], dtype=object),
    "paid": np.arange(N) % 2 == 0,
    "day": np.datetime64("2024-01-01", "us") + (np.arange(N) ** 2).astype("timedelta64[h]"),
    "y": np.arange(N) % 3,
}
KINDS = {"age": "number", "count": "number", "plan": "text", "paid": "bool", "day": "date", "y": "number"}


def frames(folder: Path) -> dict[str, Any]:
    pandas = pd.DataFrame(ARRAYS)
    arrow = pa.table({name: pa.array(values.tolist()) for name, values in ARRAYS.items()})
    polars = pl.from_arrow(arrow)
    arrow_path, feather_path = folder / "a.arrow", folder / "a.feather"
    feather.write_feather(arrow, feather_path)
    feather.write_feather(arrow, arrow_path)
    polars.write_parquet(folder / "a.parquet")
    polars.write_csv(folder / "a.csv")
    return {
        "dict": ARRAYS,
        "pandas": pandas,
        "pandas nullable": pandas.convert_dtypes(),
        "pandas categorical": pandas.astype({"plan": "category", "age": "float64", "count": "int32"}),
        "pandas arrow": pandas.convert_dtypes(dtype_backend="pyarrow"),
        "pandas utc": pandas.assign(day=pandas["day"].dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo")),
        "polars": polars,
        "polars lazy": polars.lazy(),
        "polars categorical": polars.with_columns(pl.col("plan").cast(pl.Categorical), pl.col("count").cast(pl.UInt32)),
        "arrow": arrow,
        "duckdb": duckdb.sql("select * from arrow"),
        "parquet": folder / "a.parquet",
        "csv": str(folder / "a.csv"),
        "feather": feather_path,
        "ipc": str(arrow_path),
    }


def test_everything_reads_alike(tmp_path: Path) -> None:
    known = {name: Sample.read(data, "y") for name, data in frames(tmp_path).items()}
    expected = digests(known["dict"], KEY)
    assert all(expected.columns[name] for name in ("age", "count", "plan", "day"))
    for name, sample in known.items():
        assert {column: kind.kind for column, kind in sample.schema.items()} == KINDS, name
        assert digests(sample, KEY) == expected, name
        assert (sample.rows, sample.size, sample.left_out, sample.schema.target) == (N, N, (), "y"), name
        assert sample.counts([accuracy(ARRAYS["y"])])[0] == N, name
    assert known["csv"].path == tmp_path / "a.csv"
    assert known["dict"].path is None


def test_matrices_and_labels_apart() -> None:
    matrix = np.arange(12.0).reshape(6, 2)
    sample = Sample.read(matrix, pd.Series(range(6), name="label"))
    assert list(sample.schema) == ["x0", "x1", "label"]
    assert Sample.read(np.arange(6), np.arange(6)).schema.target == "y"
    assert list(Sample.read(np.arange(6)).schema) == ["x0"]
    assert list(Sample.read(None, np.arange(6)).schema) == ["y"]
    assert Sample.read(pd.DataFrame(matrix)).schema["0"].kind == "number"


def test_missing_values() -> None:
    nullable = pd.Series([1, None, 3], dtype="Int64")
    plain = pd.Series([1.0, np.nan, 3.0])
    arrow = pa.table({"a": pa.array([1, None, 3])})
    polars = pl.DataFrame({"a": [1, None, 3]})
    floats = pl.DataFrame({"a": [1.0, float("nan"), 3.0]})
    samples = [Sample.read(f) for f in (nullable.to_frame("a"), plain.to_frame("a"), arrow, polars, floats)]
    for sample in samples:
        column = sample.columns["a"]
        assert column.missing is not None
        assert column.missing.tolist() == [False, True, False]
        assert column.values.tolist() == [1, 0, 3]
        assert sample.schema["a"] == ColumnType("number", nullable=True)
        assert digests(sample, KEY).rows == digests(samples[0], KEY).rows
    text = Sample.read(pd.DataFrame({"t": ["a", None, "b"], "o": pd.Series([1, "1", float("nan")], dtype=object)}))
    assert text.columns["t"].missing.tolist() == [False, True, False]  # type: ignore[union-attr]
    assert text.columns["o"].values.tolist()[:2] == [0, 0]
    dates = Sample.read(pl.DataFrame({"d": [dt.date(2024, 1, 2), None]}))
    assert dates.columns["d"].values.tolist()[1] == dt.datetime(1970, 1, 1)
    decimal = Sample.read(pa.table({"d": pa.array([1, None], pa.decimal128(5, 2))}))
    assert decimal.columns["d"].values.tolist() == [1.0, 0.0]
    flags = Sample.read(pl.DataFrame({"b": [True, None]}))
    assert flags.columns["b"].kind == "bool"


def holed(holes: bool) -> dict[str, Any]:
    """The same dtypes twice, with and without missing values."""
    number, word = (None, None) if holes else (2, "y")
    flag, day = (None, None) if holes else (False, dt.date(2024, 1, 1))
    integers, days = pa.array([1, number], pa.int32()), pa.array([None, day], pa.date32())
    extension = {"a": pd.array([1, number], dtype="Int64"), "b": pd.array([True, flag], dtype="boolean")}
    return {
        "pandas": pd.DataFrame({"a": [1.0, np.nan if holes else 2.0], "b": ["x", word]}),
        "pandas nullable": pd.DataFrame(extension),
        "polars": pl.DataFrame({"a": [1, number], "b": ["x", word]}),
        "dict": {"a": np.array([1.0, np.nan if holes else 2]), "b": np.array(["x", word], dtype=object)},
        "arrow": pa.table({"a": integers, "d": days}),
    }


@pytest.mark.parametrize("name", holed(True))
def test_the_schema_never_follows_values(name: str) -> None:
    whole = Sample.read(holed(False)[name]).schema
    assert Sample.read(holed(True)[name]).schema == whole
    assert all(column.nullable for column in whole.values())


def test_what_may_be_missing() -> None:
    data = pd.DataFrame({"i": [1, 2], "f": [1.0, 2.0], "b": [True, False]})
    assert [column.nullable for column in Sample.read(data).schema.values()] == [False, True, False]
    holes = pd.DataFrame({"i": [1, 2], "f": [1.0, np.nan]})
    assert not Sample.read(holes, train=data).schema["f"].nullable
    assert Sample.read(data, train=holes).schema["f"].nullable
    assert not Sample.read(holes, np.array([1.0, 2.0]), train=(data, np.array([0.0, 1.0]))).schema["y"].nullable
    assert Sample.read(data, np.array([1, 2]), train=Sample.read(data, np.array([0, np.nan]))).schema["y"].nullable
    assert Sample.read(data, schema={"i": "number?", "f": ColumnType("number")}).schema.to_json()["columns"] == {
        "i": ["number", True],
        "f": ["number", False],
        "b": ["bool", False],
    }
    whole = Sample.read(data, schema={"f": "number"}).schema
    assert Sample.read(data, schema=whole).schema == whole
    with pytest.raises(Unaskable, match="dtype is number"):
        Sample.read(data, schema={"f": "text"})
    with pytest.raises(Unaskable, match="say one of"):
        Sample.read(data, schema={"f": "float"})
    with pytest.raises(Unaskable, match="no column 'z'"):
        Sample.read(data, schema={"z": "number"})
    with pytest.raises(Unaskable, match="in train"):
        Sample.read(data, train=pd.DataFrame({"f": ["a"]}))


def test_what_has_no_kind_is_left_out_and_listed() -> None:
    sample = Sample.read(pl.DataFrame({"a": [1], "l": [[1, 2]], "s": [{"x": 1}], "u": [dt.timedelta(1)], "z": [b"x"]}))
    assert sample.left_out == ("l", "s", "u", "z")
    assert list(sample.schema) == ["a"]
    assert sample.features.columns == ["a", "l", "s", "u", "z"]
    assert Sample.read({"a": np.array([1]), "c": np.array([1j])}).left_out == ("c",)
    # Where nothing else is there, the rows of a dictionary are those of its columns, and not their number.
    assert Sample.read({"c": np.array([1j, 2j, 3j])}, [0, 1, 1]).rows == 3


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: Sample.read(pd.DataFrame({"a": []})), "no rows"),
        (lambda: Sample.read(pd.DataFrame(index=range(3))), "no columns"),
        (lambda: Sample.read(np.zeros((3, 0))), "no columns"),
        (lambda: Sample.read({}), "no columns"),
        (lambda: Sample.read(None), "nothing to read"),
        (lambda: Sample.read(pd.DataFrame([[1, 2]], columns=["a", "a"])), "names must differ"),
        (lambda: Sample.read(np.zeros((3, 1)), np.zeros(2)), "2 labels for 3 rows"),
        (lambda: Sample.read(np.zeros((3, 1)), groups=np.zeros(2)), "2 groups for 3 rows"),
        (lambda: Sample.read(np.zeros((3, 1)), groups=np.array([1, np.nan, 2])), "no group"),
        (lambda: Sample.read({"a": np.zeros(3), "b": np.zeros(2)}), "a: 3, b: 2"),
        (lambda: Sample.read({"y": np.zeros(3)}, np.zeros(3)), "column 'y' too"),
        (lambda: Sample.read({"a": np.zeros(3)}, "z"), "no column 'z'"),
        (lambda: Sample.read({"a": np.zeros(3)}, groups="z"), "no column 'z'"),
        (lambda: Sample.read({"a": [1, None]}), "with a dtype"),
        (lambda: Sample.read(np.zeros((3, 2, 2))), "3 dimensions"),
        (lambda: Sample.read(np.zeros((3, 1)), np.zeros((3, 2))), "one value per row"),
        (lambda: Sample.read("nowhere.parquet"), "no file"),
        (lambda: Sample.read("data.xlsx"), "give one of .parquet"),
        (lambda: Sample.read(object()), "cannot read a object"),
    ],
)
def test_the_owners_mistakes(call: Any, says: str) -> None:
    with pytest.raises(Unaskable) as caught:
        call()
    assert says in str(caught.value)


def test_an_unreadable_file_quotes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "broken.parquet"
    path.write_text("secret cell")
    with pytest.raises(Unaskable, match="could not be read") as caught:
        Sample.read(path)
    assert "secret" not in str(caught.value)
    assert caught.value.__context__ is None


def test_rows_do_not_show_or_travel() -> None:
    sample = Sample.read({"a": np.array([123456, 2])}, np.array(["hidden", "x"]), groups=np.array([7, 7]))
    assert repr(sample) == "Sample(2 rows in 1 groups; a: number, y: text)"
    with pytest.raises(TypeError, match="do not travel"):
        pickle.dumps(sample)
    with pytest.raises(TypeError, match="do not travel"):
        copy.deepcopy(sample)


def test_sealed_rows_do_not_change() -> None:
    matrix, y = np.arange(6.0).reshape(3, 2), np.array([0, 1, 1])
    frame = pd.DataFrame({"a": [1, 2, 3]})
    by_matrix, by_frame = Sample.read(matrix, y), Sample.read(frame, y)
    before = digests(by_matrix, KEY).rows, digests(by_frame, KEY).rows
    matrix[:], y[:] = 9, 9
    frame.loc[0, "a"] = 77

    class Vandal:
        def predict(self, X: Any) -> Any:
            X[:] = 0
            return np.zeros(3)

    with pytest.raises(Raised):
        by_matrix.counts([accuracy(FromModel(Vandal(), name="v"))])
    by_frame.counts([accuracy(FromModel(Vandal(), name="v"))])
    assert by_frame.features["a"].tolist()[1:] == [2, 3]
    by_matrix.canonical.clear()
    by_frame.canonical.clear()
    assert (digests(by_matrix, KEY).rows, digests(by_frame, KEY).rows) == before
    assert not any(column.values.flags.writeable for column in by_frame.columns.values())


@pytest.mark.parametrize("name", ["pandas", "polars", "arrow", "dict"])
def test_a_model_sees_the_owners_frame_without_target_and_groups(name: str, tmp_path: Path) -> None:
    data = frames(tmp_path)[name]
    seen = []

    class Model:
        def predict(self, X: Any) -> Any:
            seen.append(X)
            return np.zeros(N)

    sample = Sample.read(data, "y", groups="paid")
    sample.means([accuracy(FromModel(Model(), name="m"))] * 2)
    assert len(seen) == 2  # once a question
    assert type(seen[0]) is type(data)
    columns = list(seen[0]) if name == "dict" else [str(c) for c in getattr(seen[0], "column_names", seen[0].columns)]
    assert columns == ["age", "count", "plan", "day"]


LARGE = 200_001
RNG = np.random.default_rng(11)
BIG_Y = RNG.integers(0, 2, LARGE)
BIG_P = RNG.random(LARGE)
BIG_G = RNG.integers(0, 5000, LARGE)


def test_a_batch_does_not_change_a_result() -> None:
    sample = Sample.read(None, BIG_Y)
    questions = [brier(BIG_P), accuracy(BIG_P > 0.5), mae(BIG_P, range=(0, 0.7)), brier(BIG_P**2)]
    questions += [function(lambda columns: columns["y"] / 3, range=(0, 1))]
    together = sample.means(questions)
    assert together.tolist() == [float(sample.means([question])[0]) for question in questions]
    assert together[0] == pytest.approx(np.mean((BIG_P - BIG_Y) ** 2), rel=1e-12)
    assert sample.counts(questions[1:2])[0] == np.count_nonzero((BIG_P > 0.5) == BIG_Y)


def test_groups_weigh_the_same() -> None:
    sample = Sample.read(None, BIG_Y, groups=BIG_G)
    question = brier(BIG_P)
    value = (BIG_P - BIG_Y) ** 2
    expected = np.mean([value[group == BIG_G].mean() for group in range(5000)])
    assert sample.size == 5000
    assert sample.means([question, accuracy(BIG_Y)]).tolist() == [pytest.approx(expected, rel=1e-12), 1.0]
    with pytest.raises(Unaskable, match="counted"):
        sample.counts([accuracy(BIG_Y)])
    by_text = Sample.read(None, BIG_Y, groups=np.array([f"g{g}" for g in BIG_G]))
    assert by_text.means([question])[0] == pytest.approx(expected, rel=1e-12)


def test_a_mean_stays_in_its_range() -> None:
    sample = Sample.read(None, np.full(LARGE, 0.7))
    assert sample.means([mae(np.zeros(LARGE), range=(0, 0.1))])[0] == 0.1


@pytest.mark.parametrize("groups", [None, BIG_G])
def test_parts_are_disjoint_equal_and_secret(groups: Any) -> None:
    sample = Sample.read(None, BIG_Y, groups=groups)
    with pytest.raises(ReadOnly):
        sample.members((0, 3))
    sample.seal(KEY)
    masks = np.array([sample.members((part, 3)) for part in range(3)])
    assert masks.sum(axis=1).tolist() == [sample.size // 3] * 3
    assert masks.sum(axis=0).max() == 1
    again = Sample.read(None, BIG_Y, groups=groups)
    again.seal(KEY)
    assert (again.members((0, 3)) == masks[0]).all()
    again.seal(b"other")
    assert (again.members((0, 3)) != masks[0]).any()
    question = brier(BIG_P)
    means = [float(sample.means([question], (part, 3))[0]) for part in range(3)]
    if groups is None:
        rows = masks[0]
        assert means[0] == pytest.approx(np.mean((BIG_P - BIG_Y)[rows] ** 2), rel=1e-12)
        assert sample.counts([accuracy(BIG_P > 0.5)], (0, 3))[0] == np.count_nonzero(((BIG_P > 0.5) == BIG_Y)[rows])
    assert len(set(means)) == 3
    for wrong in [(3, 3), (-1, 3), (0, 0), (0, LARGE + 1)]:
        with pytest.raises(Unaskable, match="no part"):
            sample.members(wrong)


def test_the_stream_separates_contexts() -> None:
    contexts: list[tuple[Any, ...]] = [
        ("a", "b"),
        ("ab",),
        (b"ab",),
        ("a", b"b"),
        (1,),
        ("1",),
        (-1,),
        (256,),
        (1, 0),
        (),
    ]
    first = {int(Stream(KEY, *context).words(1)[0]) for context in contexts}
    assert len(first) == len(contexts)
    stream = Stream(KEY, "x")
    assert [*stream.words(3), *stream.words(5)] == list(Stream(KEY, "x").words(8))


def test_permutations_are_uniform() -> None:
    # 24 orders of 4, 2,400 draws: chi-square with 23 degrees of freedom; P(> 90) < 1e-8. The keys are fixed.
    counts: dict[tuple[int, ...], int] = {}
    for index in range(2400):
        order = tuple(Stream(KEY, index).permutation(4).tolist())
        counts[order] = counts.get(order, 0) + 1
    assert len(counts) == 24
    assert sum((count - 100) ** 2 / 100 for count in counts.values()) < 90


@pytest.mark.parametrize("grouped", [False, True])
def test_a_row_stays_in_its_part_in_whatever_order_the_rows_come(grouped: bool) -> None:
    values, group = np.random.default_rng(0).normal(size=300), np.arange(300) // 3
    shuffled = np.random.default_rng(1).permutation(300)

    def part(order: Any, place: int) -> set[float]:
        sample = Sample.read({"x": values[order]}, groups=group[order] if grouped else None)
        sample.seal(KEY)
        inside = sample.members((place, 4))
        rows = inside[sample.unit_of_row] if sample.unit_of_row is not None else inside
        return set(values[order][rows].tolist())

    whole = np.arange(300)
    for place in range(4):
        assert part(shuffled, place) == part(whole, place)
    assert part(whole, 0).isdisjoint(part(shuffled, 1))


def test_labels_that_fit_no_byte_equal_no_prediction_that_does() -> None:
    labels = np.array([1.0, 300.0, 0.5, -128.0, np.nan, 0.0])
    assert Sample.read(None, labels).counts([accuracy([1, 44, 0, 0, 0, 0])])[0] == 2
    for dtype in (bool, np.int8, np.uint8, np.int64, np.uint64, np.float32):
        sample = Sample.read(None, np.array([0, 1, 1], dtype=dtype))
        assert sample.counts([accuracy([0, 1, 0]), accuracy(np.array([True, True, True]))]).tolist() == [2, 2]
    wide = np.array([-128, 127, 5], dtype=np.int8)
    assert Sample.read(None, wide).counts([accuracy(wide)])[0] == 3


def test_a_question_about_what_was_left_out_says_so() -> None:
    frame = pd.DataFrame({"age": [1, 2], "stay": pd.to_timedelta([1, 2], unit="D")})
    holdout = Holdout(frame, [0, 1], ledger=None, practice=0)
    for question in ("stay > 3", "age > 1 and stay is null"):
        with pytest.raises(Unaskable, match="column 'stay' was left out when the rows were read"):
            holdout.ask(question)
    with pytest.raises(Unaskable, match="there is no column 'sty'"):
        holdout.ask("sty > 3")
    with pytest.raises(Unaskable, match="column 'stay' was left out"):
        holdout.score([0, 1], where="stay > 3")
