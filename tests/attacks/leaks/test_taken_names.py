"""A name is not taken over: neither by code that has no digest, nor on the way of an answer that is followed.

Every model here that comes later is wrong on every row, and would be told the answer of one that is right: [.99, 1].
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from unworn import Holdout, function
from unworn.errors import Unaskable
from unworn.queries import FromModel, NamedPredictions, compare, metric

ROWS = 2_000
Y = np.arange(ROWS) % 2
X = np.random.default_rng(5).normal(size=(ROWS, 1))
TAKEN = "this name stands for something else"


class Good:
    def predict(self, X: Any) -> Any:
        return Y


class Wrong:
    def predict(self, X: Any) -> Any:
        return 1 - Y


class Hidden:
    """A model that cannot be pickled, and so has no digest."""

    def __init__(self, right: bool) -> None:
        self.right, self.nothing = right, (each for each in ())

    def predict(self, X: Any) -> Any:
        return Y if self.right else 1 - Y


def opened() -> Holdout:
    return Holdout(X, Y, practice=0, ledger=None)


@pytest.mark.parametrize(
    ("before", "after"), [(Good(), Hidden(False)), (Hidden(True), Wrong())], ids=["a digest", "none"]
)
@pytest.mark.parametrize("close", [None, False, True])
def test_what_has_a_digest_is_never_what_has_none(before: Any, after: Any, close: bool | None) -> None:
    holdout = opened()
    assert holdout.score(before, 1.0, name="v3").value == 1.0
    question = metric("accuracy", NamedPredictions(after, "v3"))
    with pytest.raises(Unaskable, match=TAKEN):
        holdout.ask(question) if close is None else holdout.final(question, close=close)
    assert holdout.meter.asked == 1
    assert holdout.score(before, name="v3").index == 1


def test_functions_likewise() -> None:
    holdout, hidden = opened(), (each for each in ())
    assert holdout.ask(function(lambda columns: np.ones(ROWS), binary=True, name="f"), 1.0).value == 1.0
    with pytest.raises(Unaskable, match=TAKEN):
        holdout.ask(function(lambda columns: [0 for _ in hidden] or np.zeros(ROWS), binary=True, name="f"))
    assert holdout.meter.asked == 1


def test_on_the_askers_word_it_still_is() -> None:
    holdout = opened()
    assert holdout.score(Good(), 1.0, name="v3").index == 1
    assert holdout.score(NamedPredictions(Hidden(True), "v3", watch=False)).index == 1
    assert holdout.score(NamedPredictions(Hidden(True), "v4", watch=False), 1.0).index == 2
    assert holdout.score(Good(), name="v4").index == 2  # nothing was noted to compare with
    assert holdout.score(Hidden(True), 1.0, name="v5").index == 3
    assert holdout.score(Hidden(True), name="v5").index == 3  # neither was ever looked at


@pytest.mark.parametrize("later", [Wrong(), Hidden(False)], ids=["a digest", "none"])
@pytest.mark.parametrize("verb", ["sharpen", "final", "quote_final"])
def test_an_answer_is_followed_by_what_it_was_given_to(later: Any, verb: str) -> None:
    holdout = opened()
    answer = holdout.score(Good(), 0.9, guess_se=0.05, name="v3")
    changed = replace(answer, query=metric("accuracy", NamedPredictions(later, "v3")))
    with pytest.raises(Unaskable, match=TAKEN):
        getattr(holdout, verb)(changed)
    assert holdout.meter.asked == 1
    assert getattr(holdout, verb)(answer)  # what it was given to is what it is followed by


def test_what_follows_an_answer_notes_its_code_too() -> None:
    holdout = opened()
    answer = holdout.score(Good(), 0.9, guess_se=0.05, name="v3")
    sharper = holdout.sharpen(answer)
    last = holdout.final(sharper)
    codes = {each.certificate.record.code for each in (answer, sharper, last)}
    assert len(codes) == 1
    assert None not in codes
    holdout.verify()


def test_two_models_of_a_comparison_do_not_share_a_name() -> None:
    holdout = opened()
    one, other = NamedPredictions(Good(), "z"), NamedPredictions(Wrong(), "z")
    attempts: list[Callable[[], Any]] = [
        lambda: holdout.compare(one, other),
        lambda: holdout.ask(compare(metric("accuracy", one), metric("accuracy", other))),
        lambda: holdout.compare(one, NamedPredictions(Hidden(False), "z")),
    ]
    for attempt in attempts:
        with pytest.raises(Unaskable, match="two things with other bytes or code go by this name"):
            attempt()
    assert holdout.meter.asked == 0
    assert holdout.compare(one, NamedPredictions(Good(), "z"), 0.0).value == 0.0


# ---------------------------------------------------------------- names around names


def refitted() -> FromModel:
    """A source made of a model that was fitted again since."""
    model = LogisticRegression().fit(X, X[:, 0] > 0)
    source = FromModel(model)
    model.fit(X, X[:, 0] <= 0)
    return source


class Shifting(NamedPredictions):
    """Names one thing when it is looked at, and another when it is asked."""

    looks = 0

    @property
    def predictions(self) -> Any:  # type: ignore[override]
        type(self).looks += 1
        return Y if type(self).looks <= 3 else refitted()

    @predictions.setter
    def predictions(self, value: Any) -> None: ...


def test_no_name_hides_that_a_model_changed() -> None:
    holdout = opened()
    with pytest.raises(Unaskable, match="changed since the question was made"):
        holdout.score(NamedPredictions(refitted(), "a"))
    with pytest.raises(Unaskable, match="changed since the question was made"):
        holdout.score(NamedPredictions(refitted(), "a"), name="b")
    with pytest.raises(Unaskable):
        holdout.score(Shifting(None, "a"))
    assert holdout.meter.asked == 0


def test_names_do_not_nest() -> None:
    with pytest.raises(Unaskable, match="have a name already"):
        NamedPredictions(NamedPredictions(Y, "a"), "b")
    holdout = opened()
    answer = holdout.score(NamedPredictions(Good(), "a"), 1.0, name="b")  # known by its own name, and labelled
    assert (answer.certificate.record.label, answer.name) == ("accuracy of a", "b")
