"""An honest slip costs nothing: code is tried on rows that may be seen, and what fails there is told in full.

Untried, ten models that were never fitted are ten surprises, and widen every later interval by a fifth.
"""

from __future__ import annotations

import re
import traceback
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from unworn import Holdout, col, function, share, statistic
from unworn.errors import Failed, Unaskable
from unworn.mechanisms import Gaussian
from unworn.queries import accuracy


def draw(rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 3))
    return X, (X[:, 0] + rng.normal(size=rows) > 0).astype(int)


HOLD, TRAIN = draw(2_000, 1), draw(400, 2)
FITTED = LogisticRegression().fit(*draw(400, 3))


class Says:
    """A model that returns what a function makes of the rows."""

    def __init__(self, what: Callable[[Any], Any]) -> None:
        self.what = what

    def predict(self, X: Any) -> Any:
        return self.what(X)

    predict_proba = predict


def test_models_that_were_never_fitted_leave_everything_as_it_was() -> None:
    tried, fresh = (Holdout(*HOLD, train=TRAIN, ledger=None) for _ in range(2))
    for strength in range(1, 11):
        with pytest.raises(Unaskable, match="NotFittedError") as caught:
            tried.score(LogisticRegression(C=strength), guess=0.7)
        assert isinstance(caught.value.__cause__, NotFittedError)
        assert "in predict" in "".join(traceback.format_exception(caught.value))  # where in their own code
    assert tried.meter.asked == tried.meter.surprises == 0
    answers = [holdout.score(FITTED) for holdout in (tried, fresh)]
    assert (answers[0].low, answers[0].high) == (answers[1].low, answers[1].high)
    assert answers[0].index == 1


WRONG: dict[str, tuple[Callable[[Any], Any], str]] = {
    "a column that is not there": (lambda X: X["nowhere"], "IndexError"),
    "another number of columns": (
        lambda X: LogisticRegression().fit(X[:, :2], np.arange(len(X)) % 2).predict(X),
        "feat",
    ),
    "text where numbers are": (lambda X: ["yes"] * len(X), "text of shape"),
    "too few": (lambda X: X[1:, 0], r"shape \(4,\) for 5 rows"),
    "no array at all": (lambda X: None, "returned nothing"),
    "scores instead of classes": (lambda X: X[:, :2], r"float64 of shape \(5, 2\)"),
    "an end": (lambda X: exit(3), "SystemExit"),
    "a failure on some rows": (lambda X: 1 / 0 if len(X) > 5 else X[:, 0] > 0, "ZeroDivisionError"),
}


@pytest.mark.parametrize("what", WRONG)
@pytest.mark.parametrize("verb", ["score", "compare", "ask", "ask_many", "test"])
def test_every_mistake_is_told_for_nothing(what: str, verb: str) -> None:
    code, told = WRONG[what]
    model = Says(code)
    holdout = Holdout(*HOLD, train=TRAIN)
    verbs: dict[str, Callable[[], Any]] = {
        "score": lambda: holdout.score(model),
        "compare": lambda: holdout.compare(FITTED, model),
        "ask": lambda: holdout.ask(accuracy(model)),
        "ask_many": lambda: holdout.ask_many([share(col("x0") > 0), accuracy(model)]),
        "test": lambda: holdout.test(accuracy(model), above=0.5),
    }
    if verb == "test" and what == "a failure on some rows":
        pytest.skip("a test has no guess, and so sees a few rows of train only")
    with pytest.raises(Unaskable, match=told) as caught:
        verbs[verb]()
    assert "nothing was charged" in str(caught.value)
    assert holdout.meter.asked == 0


def test_a_few_rows_first_and_then_all_for_the_guess() -> None:
    seen: list[int] = []

    def count(X: Any) -> Any:
        seen.append(len(X))
        return X[:, 0] > 0

    holdout = Holdout(*HOLD, train=TRAIN)
    holdout.score(Says(count), name="a")
    assert seen == [5, 400, 2_000]
    seen.clear()
    holdout.score(Says(count), guess=0.7, name="b")  # with a guess of their own, a few rows are enough
    assert seen == [5, 2_000]


def test_what_code_says_on_train_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    def speak(X: Any) -> Any:
        print("printed for", len(X))
        warnings.warn(f"warned for {len(X)}", stacklevel=1)
        np.ones(1) / np.zeros(1)
        return X[:, 0] > 0

    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        Holdout(*HOLD, train=TRAIN).score(Says(speak))
    assert capsys.readouterr().out == "printed for 5\nprinted for 400\n"
    told = [str(warning.message) for warning in seen]
    assert [re.sub("divide.*", "divide", text) for text in told] == [
        "warned for 5",
        "divide",
        "warned for 400",
        "divide",
    ]


def test_a_holdout_that_code_asks_on_train_is_as_silent_as_ever(capsys: pytest.CaptureFixture[str]) -> None:
    """Rows that may be seen are no licence for those of another holdout."""
    other = Holdout(*draw(777, 9), practice=0)

    def pry(X: Any) -> Any:
        print("rows", len(X))
        raise ValueError("found")

    def ask(X: Any) -> Any:
        with pytest.raises(Failed) as caught:
            other.score(Says(pry), name=f"pry {len(X)}")
        assert caught.value.__cause__ is caught.value.__context__ is None
        return X[:, 0] > 0

    assert Holdout(*HOLD, train=TRAIN).score(Says(ask), name="asks").index == 1
    assert "777" not in capsys.readouterr().out


def test_functions_and_statistics_are_tried_too() -> None:
    holdout = Holdout(*HOLD, train=TRAIN, ledger=None)
    with pytest.raises(Unaskable, match="KeyError: 'x7'"):
        holdout.ask(function(lambda columns: columns["x7"], range=(0, 1)))
    with pytest.raises(Unaskable, match=r"4 numbers for 5 rows"):
        holdout.ask(function(lambda columns: columns["x0"][1:], range=(0, 1)))
    assert holdout.meter.asked == 0
    noisy = Holdout(*HOLD, train=TRAIN, asks=5, mechanism=Gaussian(accounting="D2"), ledger=None)
    with pytest.raises(Unaskable, match="KeyError: 'x7'"):
        noisy.ask(statistic(lambda columns: columns["x7"].mean(), sensitivity=0.1, range=(0, 1)))
    seen: list[int] = []

    def median(columns: Any) -> Any:
        seen.append(len(columns["x0"]))
        return np.median(columns["x0"])

    noisy.ask(statistic(median, sensitivity=0.1, range=(0, 1), name="median"))
    assert seen == [400, 2_000]  # a statistic of five rows would be another statistic
    assert noisy.meter.asked == 1


def test_a_function_of_a_column_that_train_lacks_is_not_refused() -> None:
    holdout = Holdout(*HOLD, train=pd.DataFrame(TRAIN[0], columns=["x0", "x1", "x2"]))
    assert holdout.ask(function(lambda columns: columns["y"], binary=True), 0.5).index == 1


def test_models_are_tried_on_train_without_labels() -> None:
    holdout = Holdout(*HOLD, train=pd.DataFrame(TRAIN[0], columns=["x0", "x1", "x2"]))
    with pytest.raises(Unaskable, match="NotFittedError"):
        holdout.score(LogisticRegression(), guess=0.5)
    assert holdout.meter.asked == 0


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_a_column_of_groups_is_shown_to_no_model_in_train_either(library: Any) -> None:
    def frame(data: tuple[np.ndarray, np.ndarray]) -> Any:
        X, y = data
        return library({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "who": np.arange(len(X)) // 2, "label": y})

    seen: set[tuple[str, ...]] = set()

    def look(X: Any) -> Any:
        seen.add(tuple(X.columns))
        return np.asarray(X["a"]) > 0

    holdout = Holdout(frame(HOLD), "label", groups="who", train=frame(TRAIN))
    assert holdout.score(Says(look), name="look").index == 1
    assert seen == {("a", "b", "c")}


def test_an_interrupt_on_train_is_the_users_own() -> None:
    def interrupt(X: Any) -> Any:
        raise KeyboardInterrupt

    holdout = Holdout(*HOLD, train=TRAIN)
    with pytest.raises(KeyboardInterrupt):
        holdout.score(Says(interrupt))
    assert holdout.meter.asked == 0


class OneColumnTooMany(LogisticRegression):
    def predict_proba(self, X: Any) -> Any:
        return np.column_stack([super().predict_proba(X), np.zeros(len(X))])


@pytest.mark.parametrize("jobs", [None, 2])
def test_a_search_is_told_what_fails_on_its_fold(jobs: int | None) -> None:
    """The fold is there to be seen: no estimator that fails on it is shown the rows."""
    holdout = Holdout(*HOLD, practice=0)
    with pytest.raises(Unaskable, match=r"float64 of shape \(200, 3\), which does not fit"):
        cross_val_score(
            OneColumnTooMany(),
            *TRAIN,
            cv=KFold(2),
            scoring=holdout.scorer("neg_log_loss"),
            n_jobs=jobs,
            error_score="raise",
        )
    assert holdout.meter.asked == 0
    holdout.close()


def test_without_train_a_failure_is_charged_and_says_what_would_help() -> None:
    holdout = Holdout(*HOLD, practice=0)
    with pytest.raises(Failed, match="train="):
        holdout.score(make_pipeline(LogisticRegression()), guess=0.5)
    assert holdout.meter.asked == 1
    assert list(holdout.answers["source"]) == ["failed"]
    assert (holdout.answers["low"][0], holdout.answers["high"][0]) == (0, 1)


@pytest.mark.parametrize("model", [LogisticRegression(), DecisionTreeClassifier(), SVC()], ids=repr)
def test_without_train_an_estimator_that_was_never_fitted_is_refused_by_its_looks(model: Any) -> None:
    holdout = Holdout(*HOLD, practice=0)
    with pytest.raises(Unaskable, match="not fitted yet"):
        holdout.score(model, guess=0.5)
    assert holdout.meter.asked == 0
    assert holdout.score(model.fit(*TRAIN), guess=0.5).index == 1


def test_what_is_no_model_is_refused_in_words_before_rows_are_touched() -> None:
    class Predictor:
        def predict(self, X: Any) -> Any:
            return X[:, 0] > 0

    class ByItself:
        @staticmethod
        def predict(X: Any) -> Any:
            return X[:, 0] > 0

    holdout = Holdout(*HOLD, practice=0)
    with pytest.raises(Unaskable, match="Predictor is a class, not a model"):
        holdout.score(Predictor, guess=0.5)
    assert holdout.meter.asked == 0
    assert holdout.score(ByItself, guess=0.5).index == 1
    assert holdout.score(lambda X: X[:, 0] > 0, guess=0.5).index == 2  # a function is one


@pytest.mark.parametrize("visible", ["train", "practice"])
@pytest.mark.parametrize("metric", ["accuracy", "f1", "balanced_accuracy", "recall_macro"])
def test_functions_that_return_chances_or_numbers_are_no_classifiers(metric: str, visible: str) -> None:
    """Their accuracy is 0, which is true and helps nobody: an array of the same numbers is refused by its type."""
    shown: dict[str, Any] = {"train": TRAIN} if visible == "train" else {"practice": 0.25}
    holdout = Holdout(*HOLD, ledger=None, **shown)
    options: dict[str, Any] = {"classes": [0, 1]} if metric == "recall_macro" else {}
    for returned, words in (
        (lambda X: 1 / (1 + np.exp(-X[:, 0])), "returned probabilities: ask brier"),
        (lambda X: X[:, 0], "returned predicted numbers: ask r2"),
    ):
        for model in (returned, Says(returned)):
            with pytest.raises(Unaskable, match=words):
                holdout.score(model, metric=metric, **options)
    with pytest.raises(Unaskable, match="returned probabilities"):
        holdout.score(lambda X: 0.1 + 0.2 * (X[:, 0] > 0), where=col("x0") > 0)
    with pytest.raises(Unaskable, match="returned probabilities"):
        holdout.compare(lambda X: 1 / (1 + np.exp(-X[:, 0])), lambda X: (X[:, 0] > 0).astype(int))
    assert holdout.meter.asked == 0
    holdout.score(lambda X: np.where(X[:, 1] > 2, np.nan, (X[:, 0] > 0).astype(float)), metric=metric, **options)
    holdout.score(Says(lambda X: 1 / (1 + np.exp(-X[:, 0]))), metric="brier")
