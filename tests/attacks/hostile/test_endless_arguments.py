"""What is too long is refused after a look at its beginning, and what a composite cannot be is no guess of it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from unworn import Holdout, col, share
from unworn.errors import Unaskable
from unworn.queries import average, metric

ROWS = 400
MOST_CLASSES, MOST_COLUMNS = 1_000, 100_000
LABELS = np.arange(ROWS) % 2
SCORES = np.full((ROWS, 2), 0.5)
QUESTION = share(col("x") > 0.5)


@pytest.fixture
def holdout() -> Holdout:
    return Holdout({"x": np.linspace(0, 1, ROWS)}, LABELS, practice=0, ledger=None)


class Counted:
    """Values without end, which note how many were taken."""

    def __init__(self, make: Callable[[int], Any]) -> None:
        self.make, self.taken = make, 0

    def __iter__(self) -> Iterator[Any]:
        for place in itertools.count():
            self.taken += 1
            if self.taken > 2 * MOST_COLUMNS:
                raise AssertionError("this would never end")
            yield self.make(place)


LISTS: dict[str, tuple[Callable[[Any], Any], Callable[[int], Any], int]] = {
    "isin": (col("x").isin, float, 1_000),
    "ordered": (col("x").ordered, str, 1_000),
    "average": (average, lambda place: share(col("x") > place), 1_000),
    "f1_macro": (lambda given: metric("f1_macro", LABELS, classes=given), int, MOST_CLASSES),
    "balanced_accuracy": (lambda given: metric("balanced_accuracy", LABELS, classes=given), int, MOST_CLASSES),
    "roc_auc_ovr": (lambda given: metric("roc_auc_ovr", SCORES, classes=given), int, MOST_CLASSES),
    "top_k": (lambda given: metric("top_k", SCORES, k=1, classes=given), int, MOST_CLASSES),
    "log_loss": (lambda given: metric("log_loss", SCORES, classes=given), int, MOST_CLASSES),
    "roc_auc": (lambda given: metric("roc_auc", SCORES[:, 0], classes=given), int, MOST_COLUMNS),
    "a model": (lambda given: metric("top_k", lambda rows: SCORES, k=1, classes=given), int, MOST_COLUMNS),
}


@pytest.mark.parametrize("name", LISTS)
def test_no_more_is_read_than_can_be_used(name: str) -> None:
    use, make, most = LISTS[name]
    endless = Counted(make)
    with pytest.raises(Unaskable, match=f"{most:,}"):
        use(endless)
    assert endless.taken == most + 1
    for wrong in (3, None if name in ("isin", "ordered", "average") else 0.5, "text", QUESTION):
        with pytest.raises(Unaskable):
            use(wrong)


def test_many_classes_are_refused_and_not_asked(holdout: Holdout) -> None:
    for name, options in (
        ("f1_macro", {"classes": range(100_000)}),
        ("balanced_accuracy", {"shares": dict.fromkeys(range(2000), 1 / 2000)}),
        ("balanced_accuracy", {"weights": dict.fromkeys(range(2_000), 1.0)}),
    ):
        with pytest.raises(Unaskable, match="1,000"):
            holdout.score(LABELS, metric=name, **options)
    part = average([share(col("x") > place / 1_000) for place in range(600)], "half of it")
    with pytest.raises(Unaskable, match="1,200 questions is too large"):
        part - part.named("the other half")
    assert holdout.meter.asked == 0


def test_a_batch_without_end_is_refused(holdout: Holdout, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unworn.holdout.asking.argument_checks.MOST_AT_ONCE", 100)
    for call in (
        lambda: holdout.ask_many(itertools.repeat(QUESTION)),
        lambda: holdout.final(itertools.repeat(QUESTION)),
    ):
        with pytest.raises(Unaskable, match="more than 100"):
            call()
    assert holdout.meter.asked == 0


def test_columns_of_many_classes_can_be_scored() -> None:
    scores = np.eye(1_500)
    labels = np.arange(1_500)
    question = metric("top_k", scores, k=1, classes=range(1_500))
    assert float(Holdout(None, labels, practice=0, ledger=None).final(question)) == 1.0


def test_an_average_takes_any_questions(holdout: Holdout) -> None:
    listed = [share(col("x") > place) for place in (0.25, 0.5)]
    assert average(iter(listed)) == average(tuple(listed)) == average(listed)
    assert len(holdout.ask(average(each for each in listed), guess=[0.75, 0.5]).parts) == 2


COMPOSITES: dict[str, tuple[dict[str, Any], float, list[float]]] = {
    "f1": ({}, 1.0, [2.0, -0.1, 1.0001, 3.0]),
    "jaccard_micro": ({}, 1.0, [-1.0, 2.0]),
    "rmse": ({"range": (0, 4)}, 1.0, [-1.0, -1e-9]),
    "neg_rmse": ({"range": (0, 4)}, -1.0, [1.0]),
}


@pytest.mark.parametrize("name", COMPOSITES)
def test_what_a_composite_cannot_be_is_no_guess(name: str, holdout: Holdout) -> None:
    options, fine, wrong = COMPOSITES[name]
    for guess in (*wrong, float("nan"), float("inf"), float("-inf")):
        for call in (holdout.ask, holdout.quote):
            with pytest.raises(Unaskable):
                call(metric(name, LABELS, **options), guess)
    assert holdout.meter.asked == 0
    for guess in (fine, 0.0, fine / 2):  # the ends belong to it, also with an error
        holdout.ask(metric(name, LABELS, **options), guess, guess_se=0.01, again=True)
    assert holdout.meter.asked == 3
