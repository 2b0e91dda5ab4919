from __future__ import annotations

from typing import Any

import pytest

from unworn.boards.board_config import BoardConfig
from unworn.boards.board_errors import InvalidBoard
from unworn.boards.files.prediction_shapes import prediction_shape
from unworn.queries.metrics import metric_catalogue


def config(metric: str, **more: Any) -> BoardConfig:
    return BoardConfig("b", "t", "id", "label", metric, **more)


@pytest.mark.parametrize(
    ("metric", "form"),
    [
        ("accuracy", "labels"),
        ("f1", "labels"),
        ("cohen_kappa", "labels"),
        ("brier", "probability"),
        ("neg_log_loss", "probability"),
        ("roc_auc", "score"),
        ("mae", "number"),
        ("neg_root_mean_squared_error", "number"),
        ("r2", "number"),
    ],
)
def test_the_metric_says_what_a_file_must_have(metric: str, form: str) -> None:
    shape = prediction_shape(config(metric))
    assert (shape.form, shape.columns) == (form, ("prediction",))
    assert "prediction" in shape.words


def test_a_column_per_class() -> None:
    shape = prediction_shape(config("log_loss", options={"classes": [0, 1, 2]}))
    assert (shape.form, shape.columns, shape.sums_to_one) == ("columns", ("0", "1", "2"), True)
    assert not prediction_shape(config("top_k_accuracy", options={"classes": ["a", "b"], "k": 1})).sums_to_one
    with pytest.raises(InvalidBoard, match="name the classes"):
        prediction_shape(config("roc_auc_ovr"))


def test_a_grader_takes_text_whatever_it_is_called() -> None:
    assert prediction_shape(config("accuracy", grader="numeric", kind="number")).form == "text"


def test_every_metric_of_the_package_has_a_form() -> None:
    for name in metric_catalogue._MAKERS:
        if name == "values":
            continue
        shape = prediction_shape(config(name, options={"classes": [0, 1]}))
        assert shape.form in ("labels", "probability", "score", "number", "columns")
