"""One reader of columns: the same column is the same values, or the same refusal, wherever it is given."""

from __future__ import annotations

import json
import math
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from tests.queries.column_matrix import CASES, Case
from unworn.errors import Unaskable
from unworn.queries.code.callables import function
from unworn.queries.column_reader import column_type_of, read_column, read_predictions
from unworn.queries.predictions import FromModel, GivenPredictions
from unworn.queries.row_protocol import Column, Raised
from unworn.queries.schema import column_type
from unworn.rows import Sample
from unworn.rows.fingerprints.column_digest import canonical_column
from unworn.rows.mapped.mapped_writing import write_mapped
from unworn.universe.domain.domain import Domain
from unworn.universe.domain.domain_frames import read_columns
from unworn.universe.domain.dtype_domains import _frame_types

DIGESTS: dict[str, str] = json.loads((Path(__file__).parent / "column_digests.json").read_text())
"""Of columns of rows, as they were before there was one reader: ledgers know rows by them."""

REFUSALS = "with a dtype|cannot be read|masks are not read|one value per row"

every = pytest.mark.parametrize("name", CASES)


def listed(column: Column) -> tuple[Any, ...]:
    """The values as Python has them, None where one is missing."""
    values = column.values.tolist()
    if column.vocabulary is not None:
        values = [column.vocabulary[code] for code in values]
    missing = [False] * len(values) if column.missing is None else column.missing.tolist()
    return tuple(None if absent else value for value, absent in zip(values, missing, strict=True))


def frame_of(data: Any) -> Any | None:
    """A frame with this column, of the library it came from."""
    if isinstance(data, pd.Series | pd.Index):
        return pd.DataFrame({"c": data})
    if isinstance(data, pl.Series):
        return pl.DataFrame({"c": data})
    return pa.table({"c": data}) if isinstance(data, pa.ChunkedArray | pa.Array) else None


def as_rows(case: Case, data: Any, column: str = "c", **given: Any) -> None:
    """Rows with this column are read as the case says; without a kind it is left out."""
    if case.how in ("untyped", "refused"):
        with pytest.raises(Unaskable, match=REFUSALS):
            Sample.read(data, **given)
        return
    sample = Sample.read(data, **given)
    if case.how == "no kind":
        assert sample.left_out == (column,)
        return
    assert (sample.schema[column].kind, sample.schema[column].nullable) == (case.kind, case.nullable)
    assert listed(sample.columns[column]) == case.values


@every
def test_rows_out_of_a_dictionary(name: str) -> None:
    as_rows(CASES[name], {"c": CASES[name].data})


@every
def test_rows_out_of_a_frame(name: str) -> None:
    frame = frame_of(CASES[name].data)
    if frame is not None:
        as_rows(CASES[name], frame)


@every
def test_labels(name: str) -> None:
    case = CASES[name]
    if case.how == "no kind":
        with pytest.raises(Unaskable, match="y must be numbers, booleans, text or dates"):
            Sample.read(None, case.data)
    else:
        target = "q" if "frame of one" in name else "c" if isinstance(case.data, pl.Series) else "y"
        as_rows(case, None, target, y=case.data)


@every
def test_domains(name: str) -> None:
    case = CASES[name]
    given = [{"c": case.data}, frame_of(case.data)]
    for data in given:
        if data is None:
            continue
        if case.how in ("no kind", "refused"):
            with pytest.raises(Unaskable, match=f"'c' holds neither|{REFUSALS}"):
                read_columns(data)
        else:
            column = read_columns(data)["c"]
            assert (column.kind, listed(column)) == (case.kind, case.values)


@every
def test_dtypes_say_the_same_without_values(name: str) -> None:
    case = CASES[name]
    if case.how == "typed":
        known = (case.kind, case.nullable)
        assert next(_frame_types({"c": case.data}))[1:3] == known
        if not isinstance(case.data, list | tuple | range):
            assert column_type_of(case.data[:0], "c") == column_type(*known)  # type: ignore[arg-type]
    elif name != "list: ragged":
        assert next(_frame_types({"c": case.data}))[1] in ("no kind", "number")  # a mask has a dtype, and no values


def predicted(case: Case) -> tuple[str, tuple[Any, ...]] | None:
    """What predictions like these are: numbers with NaN where one is missing; no dates."""
    if case.how in ("no kind", "refused") or case.kind == "date":
        return None
    if case.kind == "text" or None not in case.values:
        return case.kind, case.values
    return "number", tuple(NAN if value is None else float(value) for value in case.values)


NAN = math.nan


def comparable(value: Any) -> Any:
    return "NaN" if value != value else value


@every
def test_predictions(name: str) -> None:
    case = CASES[name]
    wanted = predicted(case)

    class Model:
        def predict(self, X: Any) -> Any:
            return case.data

    model = FromModel(Model(), name=name)
    if wanted is None:
        for reads in (read_predictions, GivenPredictions):
            with pytest.raises(Unaskable, match=f"must be numbers, booleans or text|{REFUSALS}"):
                reads(case.data)
        with pytest.raises(Raised):
            model.run(np.zeros(3), len(case.data))
        return
    for column in (read_predictions(case.data), model.run(np.zeros(3), len(case.values))):
        assert column.kind == wanted[0]
        assert list(map(comparable, listed(column))) == list(map(comparable, wanted[1]))
    bad = sum(value is None or (isinstance(value, float) and not math.isfinite(value)) for value in case.values)
    if bad:
        with pytest.raises(Unaskable, match=f"{bad} of the {len(case.values)} predictions are missing"):
            GivenPredictions(case.data)
    else:
        assert GivenPredictions(case.data).column.kind == wanted[0]


@every
def test_what_functions_return(name: str) -> None:
    case = CASES[name]
    sample = Sample.read({"row": np.arange(len(case.data))})
    question = function(lambda columns: case.data, range=(0.0, 1.0), name=name)
    if case.kind not in ("number", "bool"):
        with pytest.raises(Raised):
            sample.means([question])
    else:
        known = [0.0 if value is None else min(max(float(value), 0.0), 1.0) for value in case.values]
        assert sample.means([question])[0] == pytest.approx(sum(known) / len(known), abs=1e-12)


@every
def test_rows_that_were_read_before_have_the_digests_they_had(name: str) -> None:
    case = CASES[name]
    if case.how != "typed":
        assert name not in DIGESTS or "masked" in name, "this column could be read before"
    elif name in DIGESTS:
        column = Sample.read({"c": case.data}).columns["c"]
        assert canonical_column(column).sha256.hex() == DIGESTS[name]


IMPORTED = {"arrow: date64", "arrow: decimal256"}
"""What an import has always read and memory has not: one of the two would get other digests if they were to agree."""


@pytest.mark.parametrize("name", [name for name in CASES if name.startswith("arrow: ") and "bare" not in name])
def test_rows_that_were_imported(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    table = pa.table({"c": case.data, "other": pa.array(np.arange(len(case.data)))})
    left_out = write_mapped(tmp_path / "a.arrow", table.schema, len(table), iter(table.to_batches()))
    sample = Sample.read(tmp_path / "a.arrow")
    if name in IMPORTED:
        assert (left_out, sample.schema["c"].kind) == ((), "date" if "date" in name else "number")
    elif case.how == "no kind":
        assert (left_out, list(sample.schema)) == (("c",), ["other"])
    else:
        assert (sample.schema["c"].kind, sample.schema["c"].nullable) == (case.kind, case.nullable)
        assert listed(sample.columns["c"]) == case.values


@pytest.mark.parametrize(
    "given",
    [
        [1, None, 2],
        [1, pd.NA, 2],
        np.array([1.0, np.nan, 2.0]),
        pd.Series([1, None, 2], dtype="Int64"),
        pl.Series([1, None, 2]),
        pl.Series([1, None, 2], dtype=pl.Int128),
        pa.array([1, None, 2]),
    ],
    ids=lambda given: type(given).__module__ + " " + str(getattr(given, "dtype", "")),
)
def test_a_domain_of_numbers_is_one_of_numbers(given: Any) -> None:
    domain = Domain.of_frame({"a": given})
    assert domain == Domain({"a": [1, 2, None]})
    assert Domain.of_train({"a": given}) == domain


def test_a_domain_takes_infinities_for_missing_as_questions_do() -> None:
    assert Domain.of_frame({"a": [1.0, math.inf, math.nan]}) == Domain({"a": [1, None]})


def test_a_domain_fits_the_rows_it_was_read_off_whatever_their_dtypes() -> None:
    from unworn.rows.memory.domain_coding import CodedRows

    for name, case in CASES.items():
        large = any(isinstance(value, int | float) and abs(value) > 2**53 for value in case.values)
        far = name == "polars: Datetime, far"
        if case.how == "typed" and any(value is not None for value in case.values) and not large and not far:
            domain = Domain.of_train({"c": case.data})
            assert CodedRows(Sample.read({"c": case.data}), domain).size == len(case.values), name


def test_whole_numbers_stay_whole_where_some_are_missing() -> None:
    train = pl.DataFrame({"age": [*range(100), None]})
    axis: Any = Domain.of_train(train, bins=4).axis("age")
    assert axis.whole
    assert axis.missing


def test_scores_in_a_frame_of_any_dtypes() -> None:
    scores = [[0.25, 0.75], [1.0, 0.0]]
    plain = GivenPredictions(np.array(scores)).digest
    frames = [
        pd.DataFrame(scores),
        pd.DataFrame(scores).astype("Float64"),
        pd.DataFrame(scores).astype({1: "float32"}),
        pd.DataFrame(scores).convert_dtypes(dtype_backend="pyarrow"),
        pl.DataFrame(scores, schema=["a", "b"], orient="row"),
        pa.table({"a": [0.25, 1.0], "b": pa.array([0.75, 0.0], pa.float32())}),
    ]
    assert [GivenPredictions(frame).digest for frame in frames] == [plain] * len(frames)
    whole = pl.DataFrame({"a": [1, 0], "b": [False, True]}, schema={"a": pl.Int128, "b": pl.Boolean})
    assert GivenPredictions(whole).digest == GivenPredictions([[1.0, 0.0], [0.0, 1.0]]).digest
    holes = pl.DataFrame({"a": [1, None], "b": [0, 1]})
    assert np.isnan(read_predictions(holes).values).tolist() == [[False, False], [True, False]]
    with pytest.raises(Unaskable, match="must be numbers, booleans or text"):
        GivenPredictions(pd.DataFrame({"a": ["x", "y"], "b": [1, 2]}))


def test_lists_of_rows_have_no_kinds_by_value_either() -> None:
    with pytest.raises(Unaskable, match="mixed or missing"):
        Sample.read([[1, None], [2, 3]])
    assert list(Sample.read(np.array([[1, None], [2, 3]], dtype=object)).schema) == ["x0", "x1"]
    with pytest.raises(Unaskable, match="masks are not read"):
        Sample.read(np.ma.array([[1.0, 2.0]], mask=[[0, 1]]))


def test_a_model_is_shown_128_bits_as_floats() -> None:
    shown = Sample.read({"c": pl.Series([1, None, 2], dtype=pl.Int128)}).features
    assert shown["c"].dtype == np.float64
    assert not shown["c"].flags.writeable


class Secret:
    def __str__(self) -> str:
        raise ValueError("a secret of this row")


@pytest.mark.parametrize("reads", [Sample.read, read_columns, lambda data: read_predictions(data["c"])])
def test_no_error_of_another_library_is_told(reads: Callable[[Any], Any]) -> None:
    for given in (np.array([Secret(), Secret()]), pd.Series([Secret()], dtype=object), [[1], [2, 3]]):
        with pytest.raises(Unaskable) as caught:
            reads({"c": given})
        assert "secret" not in "".join(traceback.format_exception(caught.value))
        assert caught.value.__context__ is None


def test_what_a_reader_copies() -> None:
    values = np.array([1.0, 2.0])
    kept, shared = read_column(values, "a"), read_column(values, "a", copy=False)
    values[0] = 5.0
    assert kept is not None
    assert shared is not None
    assert kept.column.values.tolist() == [1.0, 2.0]
    assert shared.column.values.tolist() == [5.0, 2.0]
    assert not shared.column.values.flags.writeable
