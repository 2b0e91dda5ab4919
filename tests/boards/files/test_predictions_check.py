from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

from unworn.boards.board_errors import InvalidSubmission
from unworn.boards.files.prediction_shapes import PredictionShape
from unworn.boards.files.predictions_check import Predictions, check_predictions
from unworn.boards.files.table_files import read_table_file

PLACES = {"a": 0, "b": 1, "c": 2}
LABELS = PredictionShape("labels", ("prediction",), "number")


def check(source: Any, shape: PredictionShape = LABELS) -> Predictions:
    table = read_table_file(source, max_bytes=10**6, max_rows=100)
    return check_predictions(table, shape, "id", "label", PLACES)


def test_predictions_are_joined_by_id_in_whatever_order_they_come() -> None:
    first = check(b"id,prediction\na,1\nb,2\nc,3\n")
    assert first.values.tolist() == [1, 2, 3]
    other = check(b'{"id":"c","prediction":3.0}\n{"id":"a","prediction":1}\n{"id":"b","prediction":2}\n')
    assert other.values.tolist() == [1, 2, 3]
    assert first.digest == other.digest
    assert check(b"id,other,label\nc,x,3\na,x,1\nb,x,2\n").digest == first.digest


def test_all_problems_are_told_at_once_with_their_lines() -> None:
    with pytest.raises(InvalidSubmission) as caught:
        check(b"id,prediction\na,1\na,2\nz,1\n,3\nb,x\n")
    assert caught.value.numbers["problems"] == [
        "line 3: the id 'a' was there before, in line 2",
        "line 4: the id 'z' is not one of the board's",
        "line 5: there is no id",
        "line 6: 'x' is not a number",
        "id 'c' is missing",
    ]
    assert "5 problems" in str(caught.value)


def test_the_first_twenty_are_told_and_the_rest_counted() -> None:
    rows = b"".join(b"z%d,x\n" % k for k in range(50))
    with pytest.raises(InvalidSubmission, match="103 problems") as caught:
        check(b"id,prediction\n" + rows)
    assert len(caught.value.numbers["problems"]) == 20
    assert "… and 83 more" in str(caught.value)


@pytest.mark.parametrize(
    ("shape", "value", "words"),
    [
        (LABELS, "nan", "is not a finite number"),
        (LABELS, "inf", "is not a finite number"),
        (LABELS, "", "the prediction is missing"),
        (PredictionShape("labels", ("prediction",), "bool"), "maybe", "is not true or false"),
        (PredictionShape("labels", ("prediction",), "number", (0, 1)), "2", "none of the classes 0, 1"),
        (PredictionShape("labels", ("prediction",), "text", ("cat", "dog")), "catt", "did you mean cat"),
        (PredictionShape("labels", ("prediction",), "text"), " ", "the prediction is missing"),
        (PredictionShape("probability", ("prediction",)), "1.5", r"outside of \[0, 1\]"),
        (PredictionShape("score", ("prediction",)), "high", "is not a number"),
        (PredictionShape("number", ("prediction",)), "1,5", "is not a number"),
        (PredictionShape("number", ("prediction",)), "1_0", "is not a number"),
        (PredictionShape("number", ("prediction",)), "١", "is not a number"),
        (PredictionShape("labels", ("prediction",), "number"), "１", "is not a number"),
        (PredictionShape("text", ("prediction",)), "nul\0l", "cannot be written"),
    ],
)
def test_a_wrong_value_is_told_with_its_line(shape: PredictionShape, value: str, words: str) -> None:
    with pytest.raises(InvalidSubmission, match=f"line 3: .*{words}|row 3: .*{words}"):
        check(_csv(value), shape)


def _csv(value: str) -> bytes:
    return f'id,prediction\na,0\nb,"{value}"\nc,0\n'.replace("0\n", "cat\n" if value == "catt" else "0\n").encode()


def test_a_missing_column_is_told_with_what_may_be_meant() -> None:
    with pytest.raises(InvalidSubmission, match="no column 'prediction'; did you mean to call 'predictions' so"):
        check(b"id,predictions\na,1\n")
    with pytest.raises(InvalidSubmission, match="no column 'id'; did you mean to call 'ID' so"):
        check(b"ID,prediction\na,1\n")
    with pytest.raises(InvalidSubmission, match="no column 'id'; there are: row, p"):
        check(b"row,p\na,1\n")


def test_a_column_per_class_goes_by_name_and_sums_to_one() -> None:
    shape = PredictionShape("columns", ("cat", "dog"), "text", ("cat", "dog"), True)
    table = {"id": ["b", "a", "c"], "dog": [0.25, 0.5, 1.0], "cat": [0.75, 0.5, 0.0]}
    assert check(table, shape).values.tolist() == [[0.5, 0.5], [0.75, 0.25], [0.0, 1.0]]
    with pytest.raises(InvalidSubmission, match=r"row 2: the probabilities sum to 1\.5"):
        check({**table, "cat": [0.75, 1.0, 0.0]}, shape)
    with pytest.raises(InvalidSubmission, match=r"column cat: -0\.75 lies outside"):
        check({**table, "cat": [-0.75, 0.5, 0.0]}, shape)


def test_bools_and_ids_are_read_as_they_are_meant() -> None:
    shape = PredictionShape("labels", ("prediction",), "bool")
    assert check(b"id,prediction\na,True\nb,false\nc,1\n", shape).values.tolist() == [1, 0, 1]
    numbers = {"1": 0, "2": 1}
    table = read_table_file({"id": [2.0, 1.0], "prediction": [0, 1]}, max_bytes=1, max_rows=9)
    assert check_predictions(table, LABELS, "id", "label", numbers).values.tolist() == [1, 0]


def test_equal_numbers_of_any_kind_are_one_submission() -> None:
    assert Predictions(np.array([1, 0]), 2).digest == Predictions(np.array([1.0, 0.0]), 2).digest


@pytest.mark.parametrize("form", ["labels", "number", "probability", "score"])
def test_a_list_is_no_prediction_even_of_one_number(form: Any) -> None:
    lines = b'{"id": "a", "prediction": [1]}\n{"id": "b", "prediction": [0]}\n{"id": "c", "prediction": [1]}\n'
    with pytest.raises(InvalidSubmission, match=r"line 1: \[1\] is not a number"):
        check(lines, PredictionShape(form, ("prediction",), "number"))


@pytest.mark.parametrize("kind", ["labels", "text"])
def test_texts_that_a_parquet_file_calls_bytes_are_texts(kind: Any) -> None:
    """Some writers leave out that they are: read as Python shows bytes, every one of them would be wrong."""
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    shape = PredictionShape(kind, ("prediction",), "text")

    def sent(words: list[bytes]) -> bytes:
        file = io.BytesIO()
        parquet.write_table(arrow.table({"id": [b"a", b"b", b"c"], "prediction": words}), file)
        return file.getvalue()

    found = check(sent([b"yes", "né".encode(), b" no"]), shape)
    assert found.digest == check({"id": ["a", "b", "c"], "prediction": ["yes", "né", " no"]}, shape).digest
    with pytest.raises(InvalidSubmission, match=r"row 2: .* is not text"):
        check(sent([b"yes", b"\xff", b"no"]), shape)
