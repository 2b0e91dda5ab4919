"""A frame of scores is read by its columns' names where those are classes, and refused where they half are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.metrics import log_loss, roc_auc_score

from unworn import Holdout
from unworn.errors import Failed, Unaskable
from unworn.queries import metric

RNG = np.random.default_rng(5)
P = RNG.random(600)
Y = (RNG.random(600) < P).astype(int)
WORDS = np.where(Y == 1, "yes", "no")
TRUTH = {"log_loss": log_loss(Y, P), "roc_auc": roc_auc_score(Y, P), "top_k": float(np.mean((P > 0.5) == Y))}
OPTIONS: dict[str, dict[str, Any]] = {"log_loss": {}, "roc_auc": {}, "top_k": {"k": 1}}


def exact(question: Any, labels: Any = Y, **features: Any) -> float:
    return float(Holdout(features or None, labels, practice=0, ledger=None).final(question))


def frames(first: Any, second: Any) -> list[Any]:
    columns = {first: P, second: 1 - P}
    text = {str(name): values for name, values in columns.items()}
    return [pd.DataFrame(columns), pl.DataFrame(text), pa.table(text), pd.DataFrame(text).astype("Float64")]


@pytest.mark.parametrize("name", TRUTH)
@pytest.mark.parametrize("names", [(1, 0), (1.0, 0.0), (True, False), ("1", "0"), ("1.0", "0.0"), ("true", "FALSE")])
def test_columns_are_found_by_name(name: str, names: tuple[Any, Any]) -> None:
    for frame in frames(*names):
        for classes in ({}, {"classes": [0, 1]}, {"classes": [1, 0]}, {"classes": [False, True]}):
            question = metric(name, frame, **OPTIONS[name], **classes)
            assert exact(question) == pytest.approx(TRUTH[name], abs=1e-9)


@pytest.mark.parametrize("name", TRUTH)
def test_columns_named_by_text_classes(name: str) -> None:
    positive = {"positive": "yes"} if name == "roc_auc" else {}
    for frame in frames("yes", "no"):
        for classes in (["no", "yes"], ["yes", "no"]):
            question = metric(name, frame, classes=classes, **positive, **OPTIONS[name])
            assert exact(question, WORDS) == pytest.approx(TRUTH[name], abs=1e-9)
    numerals = pd.DataFrame({1: P, 0: 1 - P})  # numbers that are the text of a class
    question = metric("log_loss", numerals, classes=["0", "1"])
    assert exact(question, Y.astype(str)) == pytest.approx(TRUTH["log_loss"], abs=1e-9)


@pytest.mark.parametrize("names", [[0, 1], ["p0", "p1"], ["yes", "no"], ["column_0", "column_1"], [("p", 0), ("p", 1)]])
def test_names_that_are_no_classes_leave_the_order(names: list[Any]) -> None:
    scores = pd.DataFrame(np.stack([1 - P, P], axis=1))
    scores.columns = pd.Index(names, tupleize_cols=False)
    assert exact(metric("log_loss", scores)) == pytest.approx(TRUTH["log_loss"])
    turned = metric("log_loss", scores[names[::-1]], classes=[1, 0])
    if names != [0, 1]:
        assert exact(turned) == pytest.approx(TRUTH["log_loss"])


@pytest.mark.parametrize(
    ("names", "classes", "why"),
    [
        ([0, 1], [1, 0], "may be classes or positions"),
        ([1, 2], None, "some names are classes"),
        ([1, "other"], None, "some names are classes"),
        (["yes", "maybe"], ["no", "yes"], "some names are classes"),
        ([5, 6], None, "the names are numbers"),
        (["5", "6"], [0, 1], "the names are numbers"),
    ],
)
@pytest.mark.parametrize("name", TRUTH)
def test_what_cannot_be_told_is_refused(name: str, names: list[Any], classes: list[Any] | None, why: str) -> None:
    scores = pd.DataFrame(np.stack([1 - P, P], axis=1))
    scores.columns = names
    with pytest.raises(Unaskable, match=why):
        metric(name, scores, **OPTIONS[name], **({} if classes is None else {"classes": classes}))
    positive = {} if classes is None or 1 in classes or name != "roc_auc" else {"positive": "yes"}
    array = {} if classes is None else {"classes": classes}
    metric(name, scores.to_numpy(), **OPTIONS[name], **array, **positive)  # as it says


def test_questions_differ_where_their_columns_do() -> None:
    one, other = (
        metric("log_loss", pd.DataFrame(np.stack([P, 1 - P], axis=1), columns=names)) for names in ((0, 1), (1, 0))
    )
    assert one.fingerprint != other.fingerprint


class Framed:
    """A classifier whose probabilities are a frame, as some libraries give them."""

    def __init__(self, names: list[Any], classes: list[Any] | None) -> None:
        self.names = names
        if classes is not None:
            self.classes_ = np.array(classes)

    def predict_proba(self, rows: Any) -> pd.DataFrame:
        p = np.asarray(rows["p"])
        frame = pd.DataFrame({self.names[0]: p, self.names[1]: 1 - p})
        frame.columns = self.names
        return frame


@pytest.mark.parametrize(
    "make",
    [
        lambda model: metric("log_loss", model),
        lambda model: metric("roc_auc", model, positive="yes"),
        lambda model: metric("brier", model, positive="yes"),
        lambda model: metric("top_k", model, k=1),
    ],
)
def test_frames_that_models_return(make: Callable[[Any], Any]) -> None:
    question = make(Framed(["yes", "no"], ["no", "yes"]))
    kind = getattr(question, "metric")  # noqa: B009  a question of any kind
    truth = {**TRUTH, "brier": float(np.mean((P - Y) ** 2)), "top_k_accuracy": TRUTH["top_k"]}[kind]
    assert exact(question, WORDS, p=P) == pytest.approx(truth, abs=1e-9)
    holdout = Holdout({"p": P}, WORDS, practice=0, ledger=None)
    with pytest.raises(Failed):
        holdout.ask(make(Framed(["yes", "other"], ["no", "yes"])))


def test_a_model_that_names_its_columns_only() -> None:
    question = metric("brier", Framed(["yes", "no"], None), positive="yes")
    assert exact(question, WORDS, p=P) == pytest.approx(float(np.mean((P - Y) ** 2)), abs=1e-9)


@pytest.fixture(scope="module")
def machines() -> dict[str, Any]:
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import SVC, LinearSVC

    rows = RNG.normal(size=(90, 2))
    three = np.arange(90) % 3
    return {
        "two": LinearSVC().fit(rows, three > 0),
        "piped": make_pipeline(LinearSVC()).fit(rows, three > 0),
        "three": LinearSVC().fit(rows, three),
        "pairs": SVC(decision_function_shape="ovo").fit(rows, three),
    }


def test_scores_without_a_column_per_class_are_refused_for_nothing(machines: dict[str, Any]) -> None:
    holdout = Holdout(RNG.normal(size=(300, 2)), np.arange(300) % 3, practice=0, ledger=None)
    for name in ("two", "piped"):
        with pytest.raises(Unaskable, match="one column for both"):
            holdout.score(machines[name], metric="top_k", k=1)
        metric("roc_auc", machines[name], positive=1)
    for name, options in (("top_k", {"k": 1}), ("roc_auc", {"positive": 1})):
        with pytest.raises(Unaskable, match="a column per pair"):
            metric(name, machines["pairs"], **options)
    assert holdout.meter.asked == 0
    holdout.score(machines["three"], metric="top_k", k=1)
    assert holdout.meter.asked == 1


def test_a_models_own_classes_have_their_own_order(machines: dict[str, Any]) -> None:
    for classes in ([0, 1], range(4)):
        with pytest.raises(Unaskable, match="the model has 3 classes"):
            metric("top_k", machines["three"], k=1, classes=classes)
    assert metric("top_k", machines["three"], k=1, classes=[2, 0, 1]) == metric("top_k", machines["three"], k=1)
    question = metric("roc_auc", Framed(["yes", "no"], ["no", "yes"]), positive="yes", classes=["yes", "no"])
    assert exact(question, WORDS, p=P) == pytest.approx(TRUTH["roc_auc"])
    encoded = metric("top_k", machines["three"], k=1, classes=["a", "b", "c"])  # labels under other names
    assert getattr(encoded, "classes") == ("a", "b", "c")  # noqa: B009
