from __future__ import annotations

import stat
from pathlib import Path

import numpy as np
import pytest

from unworn.boards.board_errors import InvalidBoard
from unworn.boards.files.sealed_labels import FILE, SealedLabels, seal_labels


@pytest.mark.parametrize(
    ("values", "kind", "held"),
    [
        (["1", "0", "1"], "number", [1, 0, 1]),
        (["1.5", "0", "1"], "number", [1.5, 0.0, 1.0]),
        (["True", "false", "TRUE"], "bool", [True, False, True]),
        (["yes", "no", "1"], "text", ["yes", "no", "1"]),
    ],
)
def test_a_column_is_what_all_of_its_values_are(values: list[str], kind: str, held: list[object]) -> None:
    sealed, found = seal_labels({"id": ["a", "b", "c"], "label": values}, id="id", target="label")
    assert (found, sealed.columns["label"].tolist()) == (kind, held)


def test_sealed_labels_come_back_and_only_their_owner_can_read_them(tmp_path: Path) -> None:
    table = {"id": ["ü", "b\nc"], "label": ["x", "ÿ, z"], "age": ["1", "2.5"], "left": ["p", "q"]}
    sealed, _ = seal_labels(table, id="id", target="label", columns=["age"])
    path = sealed.save(tmp_path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    again = SealedLabels.load(tmp_path)
    assert again.ids == ["b\nc", "ü"]  # in their own order, whatever that of the labels was
    assert {name: values.tolist() for name, values in again.columns.items()} == {
        "label": ["ÿ, z", "x"],
        "age": [2.5, 1.0],
    }
    with pytest.raises(InvalidBoard, match="sealed once"):
        sealed.save(tmp_path)


def test_nothing_is_run_when_labels_are_read(tmp_path: Path) -> None:
    with open(tmp_path / FILE, "wb") as file:
        np.savez(file, ids=np.array([print], dtype=object), names=np.zeros(1, dtype=np.uint8))
    with pytest.raises(InvalidBoard, match="backup"):
        SealedLabels.load(tmp_path)


def test_wrong_labels_are_told_with_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "y.csv"
    path.write_text("id,label\na,1\nb,\na,0\n,1\n")
    with pytest.raises(InvalidBoard) as caught:
        seal_labels(path, id="id", target="label")
    for words in (
        "line 3: there is no label",
        "line 4: the id 'a' was there before, in line 2",
        "line 5: there is no id",
    ):
        assert words in str(caught.value)
    with pytest.raises(InvalidBoard, match="no column 'target'; there are: id, label"):
        seal_labels(path, id="id", target="target")
    path.write_text("id,label\na,1\nb,x\n")
    with pytest.raises(InvalidBoard, match="line 3: column label: 'x' is not a number"):
        seal_labels(path, id="id", target="label", kind="number")


def test_the_order_of_the_labels_is_not_kept() -> None:
    """Labels are often sorted, and ids are public: their order would tell which rows are alike."""
    one, _ = seal_labels({"id": ["c", "a", "b"], "label": [0, 0, 1]}, id="id", target="label")
    other, _ = seal_labels({"id": ["b", "c", "a"], "label": [1, 0, 0]}, id="id", target="label")
    assert one.ids == other.ids
    assert one.columns["label"].tolist() == other.columns["label"].tolist()


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (["1", "inf", "0"], "row 2: column label: 'inf' is not a finite number"),
        ([1.0, 2.0, -np.inf], "row 3: column label: -inf is not a finite number"),
        ([[1], [0], [1]], r"row 1: column label: \[1\] is not text"),
        ([{"a": 1}, "b", "c"], "row 1: column label: {'a': 1} is not text"),
        (["a", "b\0", "c"], "row 2: column label: the text has"),
        (["a", "b", "\ud800"], "row 3: column label: the text has"),
    ],
)
def test_labels_that_nobody_could_predict_are_not_sealed(values: list[object], words: str) -> None:
    with pytest.raises(InvalidBoard, match=words):
        seal_labels({"id": ["a", "b", "c"], "label": values}, id="id", target="label")


def test_a_column_beside_the_labels_is_not_text_for_being_infinite_somewhere() -> None:
    columns = {"id": ["a", "b", "c"], "label": [0, 1, 1], "x": [0.5, np.inf, 2.0], "y": [0.5, None, 2.0]}
    with pytest.raises(InvalidBoard, match="row 2: column x: inf is not a finite number"):
        seal_labels(columns, id="id", target="label", columns=["x"])
    assert seal_labels(columns, id="id", target="label", columns=["y"])[0].columns["y"].tolist() == ["0.5", "", "2"]


def test_names_of_classes_that_no_float_tells_apart_stay_apart() -> None:
    values = [2**60, 2**60 + 1, 2**60]
    sealed, kind = seal_labels({"id": ["a", "b", "c"], "label": values}, id="id", target="label")
    assert (kind, sealed.columns["label"].tolist()) == ("text", [str(value) for value in values])
    sealed, kind = seal_labels({"id": ["a", "b"], "label": [1e300, 2e300]}, id="id", target="label")
    assert (kind, sealed.columns["label"].tolist()) == ("number", [1e300, 2e300])


def test_mixed_labels_are_the_texts_that_predictions_are_read_as() -> None:
    sealed, kind = seal_labels({"id": ["a", "b"], "label": [1.0, "x"]}, id="id", target="label")
    assert (kind, sealed.columns["label"].tolist()) == ("text", ["1", "x"])


def test_what_is_missing_beside_the_labels_is_an_empty_text() -> None:
    table = {"id": ["a", "b"], "label": ["1", "0"], "region": ["north", None]}
    sealed, _ = seal_labels(table, id="id", target="label", columns=["region"])
    assert sealed.columns["region"].tolist() == ["north", ""]
