from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from unworn import Holdout
from unworn.errors import Failed, Unaskable
from unworn.queries import parse
from unworn.queries.metrics.graded_metrics import NO_NUMBER, GradedRows, RecordedGrader, WithinTolerance
from unworn.queries.metrics.named_metrics import metric_from_json
from unworn.queries.predictions import GivenPredictions

ROWS = 1000
LABELS = np.arange(ROWS, dtype=float)


def within(values: Any, tolerance: float = 0.5, relative: float = 0.0) -> WithinTolerance:
    return WithinTolerance(GivenPredictions(values), tolerance, relative)


def test_a_number_is_right_within_its_tolerance() -> None:
    holdout = Holdout(None, LABELS, practice=0.5, ledger=None)
    assert holdout.practice.ask(within(LABELS + 0.5)).value == 1.0
    assert holdout.practice.ask(within(LABELS + 0.51)).value == 0.0
    assert holdout.practice.ask(within(1.1 * LABELS, 0.0, 0.1000001)).value == 1.0
    assert holdout.practice.ask(within(np.full(ROWS, NO_NUMBER))).value == 0.0
    answer = holdout.ask(within(np.where(LABELS % 2, LABELS, -1.0)))
    assert answer.low < 0.5 < answer.high
    assert answer.certificate.record.offer.kind == "binary"
    holdout.verify()


def test_text_is_no_number() -> None:
    with pytest.raises(Unaskable, match="numbers"):
        within(["one"] * ROWS)
    with pytest.raises(Unaskable, match="needs numbers as labels"):
        Holdout(None, np.array(["a"] * ROWS), practice=0, ledger=None).ask(within(np.zeros(ROWS)), guess=0.5)


@dataclass
class Counting:
    """Half of what is equal; fails where it is told to."""

    digest: str = "d" * 64
    fails: bool = False
    lots: list[int] = field(default_factory=list)

    def grade(self, predictions: list[Any], references: list[Any]) -> NDArray[np.float64]:
        self.lots.append(len(references))
        if self.fails:
            raise RuntimeError("secret reference: " + str(references[0]))
        return np.array([0.5 * (one == other) for one, other in zip(predictions, references, strict=True)])


def test_a_grader_sees_each_row_once_and_failures_are_entries() -> None:
    labels = np.array([f"t{k % 5}" for k in range(ROWS)])
    holdout = Holdout(None, labels, practice=0.5, ledger=None)
    grader = Counting()
    question = GradedRows(GivenPredictions(labels), grader)
    before = question.fingerprint
    assert holdout.practice.ask(question).value == 0.5
    answer = holdout.ask(question)
    assert answer.low <= 0.5 <= answer.high
    assert question.fingerprint == before
    assert sorted(lot for lot in grader.lots if lot > 10) == [500, 500]
    failing = Counting(digest="e" * 64)
    other = GradedRows(GivenPredictions(labels), failing)
    holdout.practice.ask(other)
    holdout._few_rows.statistics([other])
    failing.fails = True  # on the sealed rows alone
    with pytest.raises(Failed) as caught:
        holdout.ask(other)
    assert "secret" not in str(caught.value)
    assert holdout.meter.surprises == 1
    holdout.verify()


@pytest.mark.parametrize("told", [[2.0] * 500, [0.5] * 3, [float("nan")] * 500, None])
def test_what_are_no_scores_is_a_failure(told: Any) -> None:
    class Wrong(Counting):
        def grade(self, predictions: list[Any], references: list[Any]) -> NDArray[np.float64]:
            return np.array(told)

    holdout = Holdout(None, np.array(["a"] * ROWS), practice=0.5, ledger=None)
    with pytest.raises((Unaskable, ValueError)):
        holdout.practice.ask(GradedRows(GivenPredictions(["a"] * ROWS), Wrong()))


def test_recorded_questions_are_equal_to_those_that_were_asked() -> None:
    for question in (within([1.0, 2.0]), GradedRows(GivenPredictions(["a"]), RecordedGrader("d" * 64))):
        assert metric_from_json(question.to_json()) == question
        assert parse(question.to_json()) == question
    other = GradedRows(GivenPredictions(["a"]), RecordedGrader("e" * 64))
    assert other.fingerprint != GradedRows(GivenPredictions(["a"]), RecordedGrader("d" * 64)).fingerprint
    with pytest.raises(RuntimeError, match="no grader"):
        RecordedGrader("d").grade([], [])


def test_errors_within_a_tolerance_are_counted_by_name() -> None:
    """The median error is refused, and this says how errors are spread."""
    rng = np.random.default_rng(0)
    y = rng.normal(size=2_000)
    said = y + rng.normal(size=2_000)
    holdout = Holdout(None, y, ledger=None, practice=0)
    told = holdout.score(said, metric="within_tolerance", tolerance=0.7, guess=0.5)
    assert told.low < (np.abs(said - y) <= 0.7).mean() < told.high
    assert told.certificate.record.facts.kind == "binary"
    inside = holdout.score(said, metric="within_tolerance", tolerance=0.7, guess=0.5, where="y > 0", gauge=500)
    assert inside.low < (np.abs(said - y) <= 0.7)[y > 0].mean() < inside.high
    holdout.verify()
    with pytest.raises(Unaskable, match="needs tolerance="):
        holdout.score(said, metric="within_tolerance")
