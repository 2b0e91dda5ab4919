"""Metrics agree with scikit-learn on clean data, and are total on the rest."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pytest
from sklearn import metrics as theirs
from sklearn.linear_model import LogisticRegression

from unworn.errors import Unaskable
from unworn.queries.metrics.metric_catalogue import greater_is_better, metric, metric_name
from unworn.queries.metrics.named_metrics import (
    accuracy,
    balanced_accuracy,
    brier,
    log_loss,
    mae,
    metric_from_json,
    mse,
    top_k,
)
from unworn.queries.metrics.scored_query import Metric
from unworn.queries.predictions import FromModel, GivenPredictions
from unworn.queries.row_protocol import Raised
from unworn.rows import Sample

RNG = np.random.default_rng(7)
N = 700
X = RNG.normal(size=(N, 3))
Y = (X[:, 0] + RNG.normal(size=N) > 0).astype(int)
CHANCE = 1 / (1 + np.exp(-2 * X[:, 0]))
THREE = RNG.integers(0, 3, N)
SCORES = RNG.dirichlet(np.ones(3), N)


class Says:
    """A model that says what it was told to, or fails as it was told to."""

    def __init__(self, says: Any) -> None:
        self.says = says

    def predict(self, X: Any) -> Any:
        if isinstance(self.says, BaseException):
            raise self.says
        return self.says

    predict_proba = predict


def ask(question: Metric, y: Any = Y, X: Any = X) -> float:
    return float(Sample.read(X, y).means([question])[0])


def says(values: Any, method: str = "predict") -> FromModel:
    return FromModel(Says(values), method, name="told")


@pytest.mark.parametrize(
    ("question", "y", "expected"),
    [
        (accuracy(CHANCE > 0.5), Y, theirs.accuracy_score(Y, CHANCE > 0.5)),
        (
            accuracy(np.array(["n", "y"])[Y]),
            np.array(["n", "y"])[THREE % 2],
            theirs.accuracy_score(Y, THREE % 2),
        ),
        (brier(CHANCE), Y, theirs.brier_score_loss(Y, CHANCE)),
        (log_loss(CHANCE, range=(0, 50)), Y, theirs.log_loss(Y, CHANCE)),
        (log_loss(SCORES, range=(0, 50)), THREE, theirs.log_loss(THREE, SCORES)),
        (mae(X[:, 1], range=(0, 100)), X[:, 0], theirs.mean_absolute_error(X[:, 0], X[:, 1])),
        (mse(X[:, 1], range=(0, 100)), X[:, 0], theirs.mean_squared_error(X[:, 0], X[:, 1])),
        (top_k(SCORES, k=2), THREE, theirs.top_k_accuracy_score(THREE, SCORES, k=2)),
    ],
    ids=lambda value: value.metric if isinstance(value, Metric) else "",
)
def test_agrees_with_scikit_learn(question: Metric, y: Any, expected: float) -> None:
    assert ask(question, y) == pytest.approx(expected, rel=1e-12)


def test_balanced_accuracy_with_the_true_shares_is_balanced_accuracy() -> None:
    shares = {value: float(np.mean(value == THREE)) for value in (0, 1, 2)}
    guesses = SCORES.argmax(axis=1)
    expected = theirs.balanced_accuracy_score(THREE, guesses)
    assert ask(balanced_accuracy(guesses, shares=shares), THREE) == pytest.approx(expected, rel=1e-12)
    assert balanced_accuracy(guesses, weights={0: 2.0, 1: 1}).bounds == (0, 2)


def test_balanced_accuracy_of_an_undeclared_label_is_zero() -> None:
    assert ask(balanced_accuracy([5, 1], weights={1: 1.0}), np.array([5, 1]), None) == 0.5


@pytest.mark.parametrize("text", [False, True])
def test_a_model_is_asked_for_what_the_metric_needs(text: bool) -> None:
    y = np.array(["no", "yes"], dtype=object)[Y] if text else Y
    positive = "yes" if text else 1
    model = LogisticRegression().fit(X, y)
    chances = model.predict_proba(X)
    assert ask(accuracy(model), y) == pytest.approx(model.score(X, y), rel=1e-12)
    assert ask(brier(model, positive), y) == pytest.approx(theirs.brier_score_loss(Y, chances[:, 1]), rel=1e-12)
    assert ask(log_loss(model, range=(0, 50)), y) == pytest.approx(theirs.log_loss(Y, chances[:, 1]), rel=1e-12)
    assert ask(top_k(model, 1), y) == pytest.approx(model.score(X, y), rel=1e-12)
    assert accuracy(model).facts(Sample.read(X, y).schema, N).runs_code


@pytest.mark.parametrize("poison", [np.nan, np.inf, -np.inf, -0.1, 1.1])
def test_a_bad_probability_from_a_model_takes_the_worst_value(poison: float) -> None:
    chance = np.where(np.arange(N) % 2 == 0, poison, Y)
    assert ask(brier(says(chance, "predict_proba"))) == 0.5
    both = np.column_stack([1 - chance, chance])
    expected = 0.5 * 7
    assert ask(log_loss(says(both, "predict_proba"))) == pytest.approx(expected, rel=1e-12)
    assert ask(top_k(says(both, "predict_proba"), 1)) == (0.5 if not np.isfinite(poison) else ask(top_k(both, 1)))


@pytest.mark.parametrize("poison", [np.nan, np.inf, 1e300])
def test_a_bad_number_from_a_model_takes_the_worst_value(poison: float) -> None:
    y = X[:, 0]
    guesses = says(np.where(np.arange(N) % 2 == 0, poison, y))
    assert ask(mae(guesses, range=(0, 3)), y) == 1.5
    assert ask(mse(guesses, range=(0, 9)), y) == 4.5


def test_probabilities_that_do_not_sum_to_one_cannot_cheat() -> None:
    assert ask(log_loss(says(np.ones((N, 2)), "predict_proba"))) == 7
    with pytest.raises(Unaskable, match="sum to 1"):
        log_loss(np.ones((N, 2)))


def test_a_missing_label_takes_the_worst_value() -> None:
    y = np.array([1.0, np.nan])
    for question, worst in [
        (accuracy([1, 0]), 0.5),
        (brier([1.0, 0.0]), 0.5),
        (log_loss([1.0, 0.0]), 3.5),
        (mae([1, 0], range=(0, 4)), 2.0),
        (mse([1, 0], range=(0, 4)), 2.0),
        (top_k([[0, 1], [1, 0]], 1), 0.5),
        (log_loss([[0, 1], [1, 0]]), 3.5),
    ]:
        assert ask(question, y, None) == worst, question.label
    texts = np.array(["a", None], dtype=object)
    assert ask(accuracy(["a", "a"]), texts, None) == 0.5


def test_unknown_and_missing_text_from_a_model_is_wrong_not_an_error() -> None:
    y = np.array(["a", "b", "a", "b"])
    guesses = np.array(["a", "never seen", None, float("nan")], dtype=object)
    assert ask(accuracy(says(guesses)), y, np.zeros((4, 1))) == 0.25


def test_small_integers_do_not_wrap() -> None:
    assert ask(mae(np.uint8([0]), range=(0, 1000)), np.uint8([200]), None) == 200
    assert ask(mse(np.int8([-100]), range=(0, 1e6)), np.int8([100]), None) == 40_000


@pytest.mark.parametrize(
    "failure",
    [
        ValueError("row 17 holds 42"),
        MemoryError(),
        np.ones(N - 1),
        np.ones((N, 1, 1)),
        np.ones((N, 2)),
        np.array(["x"] * N),
        np.ones(N, dtype=complex),
        None,
        "text",
        np.full(N, b"x"),
        3,
    ],
    ids=lambda failure: type(failure).__name__,
)
def test_a_failing_model_says_nothing_about_the_rows(failure: Any) -> None:
    with pytest.raises(Raised) as caught:
        ask(accuracy(says(failure)))
    assert caught.value.__context__ is None
    assert caught.value.__cause__ is None
    assert str(caught.value) == ""


@pytest.mark.parametrize(("error", "interrupted"), [(KeyboardInterrupt(), True), (SystemExit(3), False)])
def test_what_is_not_an_exception_does_not_escape_either(error: BaseException, interrupted: bool) -> None:
    with pytest.raises(Raised) as caught:
        ask(accuracy(says(error)))
    assert caught.value.interrupted is interrupted
    assert caught.value.__context__ is None


def test_ties_count_against() -> None:
    y = np.array([0, 0, 0])
    assert ask(top_k([[1, 1, 1], [1, 1, 0], [1, 0, 0]], k=1), y, None) == pytest.approx(1 / 3)
    assert ask(top_k([[1, 1, 1], [1, 1, 0], [1, 0, 0]], k=2), y, None) == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    "array",
    [[0.5, np.nan], [np.inf, 0.0], np.array(["a", None], dtype=object), None, [[[1]]], [1j], [[1], [2, 3]]],
)
def test_an_askers_own_array_is_checked_at_once(array: Any) -> None:
    with pytest.raises(Unaskable):
        GivenPredictions(array)


def test_probabilities_out_of_range_are_refused() -> None:
    for make in (brier, log_loss):
        with pytest.raises(Unaskable, match="probabilities"):
            make([0.5, 1.5])


def test_digests_follow_values_not_dtypes_or_makers() -> None:
    import pandas as pd
    import polars as pl

    base = GivenPredictions([1, 0, 2]).digest
    for same in (
        np.int8([1, 0, 2]),
        np.float32([1, 0, 2]),
        pd.Series([1, 0, 2], dtype="Int64"),
        pl.Series([1, 0, 2]),
    ):
        assert GivenPredictions(same).digest == base
    assert (
        GivenPredictions(["a", "b"]).digest
        == GivenPredictions(pd.Series(["a", "b"])).digest
        == GivenPredictions(pl.Series(["a", "b"])).digest
    )
    different = [
        [1, 0, 3],
        [1, 2, 0],
        [[1, 0, 2]],
        ["1", "0", "2"],
        [1, 0],
        [2**60, 2**60 + 1],
        [2**60, 2**60 + 2],
    ]
    assert len({base, *(GivenPredictions(other).digest for other in different)}) == len(different) + 1


def test_a_question_keeps_the_array_it_was_fingerprinted_with() -> None:
    array = np.array([1, 0])
    question = accuracy(array)
    array[0] = 0
    assert ask(question, np.array([1, 0]), None) == 1
    with pytest.raises(ValueError, match="read-only"):
        question.source.column.values[0] = 0  # type: ignore[union-attr]


def test_a_model_without_a_pickle_needs_a_name() -> None:
    model = Says(step for step in range(3))
    with pytest.raises(Unaskable, match="name="):
        accuracy(model)
    assert accuracy(FromModel(model, name="v1")).fingerprint != accuracy(FromModel(model, name="v2")).fingerprint


def test_a_models_own_bytes_are_its_fingerprint() -> None:
    assert accuracy(Says(1)) == accuracy(Says(1))
    assert accuracy(Says(1)) != accuracy(Says(2))
    assert accuracy(Says(1)) != metric("accuracy", FromModel(Says(1), "predict_proba"))


def test_public_facts_decide_refusals() -> None:
    number, text = Sample.read(X, Y).schema, Sample.read(X, np.array(["n", "y"])[Y]).schema
    with pytest.raises(Unaskable, match="needs labels"):
        accuracy(Y).facts(Sample.read(X).schema, N)
    with pytest.raises(Unaskable, match="3 predictions for 700 rows") as caught:
        accuracy([1, 0, 1]).facts(number, N)
    assert caught.value.numbers == {"predictions": 3, "rows": 700}
    for question in (accuracy(Y), brier(CHANCE), log_loss(SCORES), mae(Y, range=(0, 1)), top_k(SCORES, 1)):
        with pytest.raises(Unaskable):
            question.facts(text, N)
    with pytest.raises(Unaskable):
        accuracy(np.array(["n", "y"])[Y]).facts(number, N)
    with pytest.raises(Unaskable, match="date"):
        accuracy(Y).facts(Sample.read(None, np.full(N, "2024-01-01", dtype="datetime64[D]")).schema, N)
    assert accuracy(says(Y)).needs_features
    assert not accuracy(Y).needs_features


def test_kinds_follow_type_and_schema() -> None:
    rows, grouped = Sample.read(X, Y).schema, Sample.read(X, Y, groups=np.arange(N) // 2).schema
    assert accuracy(Y).facts(rows, N).kind == "binary"
    assert accuracy(Y).facts(grouped, N).kind == "unit"
    assert top_k(SCORES, 1).facts(rows, N).kind == "binary"
    facts = log_loss(CHANCE).facts(rows, N)
    assert (facts.kind, facts.low, facts.high, facts.runs_code) == ("unit", 0, 7, False)
    assert math.exp(-7) == pytest.approx(0.0009, abs=1e-4)


QUESTIONS: list[Metric] = [
    accuracy(Y),
    accuracy(np.array(["n", "y"])[Y]),
    accuracy(FromModel(Says(1), name="m")),
    balanced_accuracy(Y, shares={0: 0.25, 1: 0.75}),
    balanced_accuracy(["a"], weights={"a": 1, "b": 2}),
    brier(CHANCE),
    log_loss(CHANCE),
    log_loss(SCORES, range=(0, 3), classes=["a", "b", "c"]),
    mae(CHANCE, range=(0, 1)),
    mse(CHANCE, range=(0, 1)),
    top_k(SCORES, 2),
]


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.metric)
def test_a_record_is_the_same_question_without_predictions(question: Metric) -> None:
    import json

    record = metric_from_json(json.loads(json.dumps(question.to_json())))
    assert record == question
    assert hash(record) == hash(question)
    assert record.family == question.family
    assert record.bounds == question.bounds
    with pytest.raises(Unaskable, match="has no predictions; supply them"):
        record.facts(Sample.read(X, Y).schema, N)
    assert pickle.loads(pickle.dumps(question)) == question


def test_all_questions_differ() -> None:
    assert len({question.fingerprint for question in QUESTIONS}) == len(QUESTIONS)


@pytest.mark.parametrize(
    ("name", "own"),
    [
        ("accuracy", "accuracy"),
        ("brier_score", "brier"),
        ("brier_score_loss", "brier"),
        ("log_loss", "log_loss"),
        ("mean_absolute_error", "mae"),
        ("mean_squared_error", "mse"),
        ("top_k_accuracy", "top_k_accuracy"),
    ],
)
def test_names(name: str, own: str) -> None:
    options: dict[str, dict[str, Any]] = {
        "mae": {"range": (0, 1)},
        "mse": {"range": (0, 1)},
        "top_k_accuracy": {"k": 1},
    }
    predictions = SCORES if own == "top_k_accuracy" else CHANCE
    question = metric(name, predictions, **options.get(own, {}))
    assert isinstance(question, Metric)
    assert question.metric == metric_name(name) == own
    assert greater_is_better(name) == (own in ("accuracy", "top_k_accuracy"))


@pytest.mark.parametrize("make", [mae, mse])
@pytest.mark.parametrize("declared", [None, (0, np.inf), (1, 1), (-1, 1), 3, (0, "x"), (0, 1, 2)])
def test_an_error_needs_a_sound_range(make: Any, declared: Any) -> None:
    with pytest.raises(Unaskable, match="range"):
        make([1.0], range=declared)


def test_settings_are_checked() -> None:
    for wrong in (
        lambda: balanced_accuracy(Y),
        lambda: balanced_accuracy(Y, shares={0: 0.5, 1: 0.6}),
        lambda: balanced_accuracy(Y, weights={0: -1}),
        lambda: balanced_accuracy(Y, weights={0: 0}),
        lambda: top_k(SCORES, 0),
        lambda: top_k(SCORES, 1, classes=[0, 1]),
        lambda: top_k(SCORES, 1, classes=[0, 1, 1]),
        lambda: top_k(CHANCE, 1),
        lambda: accuracy(SCORES),
        lambda: brier(SCORES),
        lambda: brier(["a"]),
        lambda: log_loss(CHANCE, classes=[0, 1]),
        lambda: brier(LogisticRegression().fit(X, Y), positive="yes"),
        lambda: metric("accuracy", Y, k=3),
        lambda: metric("top_k_accuracy", SCORES),
    ):
        with pytest.raises(Unaskable):
            wrong()
