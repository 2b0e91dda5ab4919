"""Metrics that grade: a number near enough to the right one, and what somebody's own code says of a prediction."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from unworn.errors import Unaskable
from unworn.queries.code.callables import plain
from unworn.queries.language.literals import as_float
from unworn.queries.metrics.scored_query import Metric, check_given
from unworn.queries.predictions import as_feature_frame, as_source, predictions_on
from unworn.queries.query import Facts
from unworn.queries.row_protocol import Bools, Floats, Frame, Raised, run_code
from unworn.queries.schema import ColumnKind, Schema

NO_NUMBER = 1.7e308
"""Stands for an answer without a number, which is near to none."""


@dataclass(frozen=True, eq=False)
class WithinTolerance(Metric):
    """The share of rows whose predicted number is near enough: |p − y| ≤ max(tolerance, relative·|y|).

    >>> from unworn.queries.predictions import GivenPredictions
    >>> WithinTolerance(GivenPredictions([1.0, 2.0]), 0.5, 0.0).bounds
    (0.0, 1.0)
    """

    tolerance: float
    relative: float

    metric: ClassVar[str] = "within_tolerance"
    greater_is_better: ClassVar[bool] = True
    zero_one: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_given(self.source, self.metric, sides=(1,), numbers=True)

    @property
    def bounds(self) -> tuple[float, float]:
        return 0.0, 1.0

    def settings(self) -> dict[str, Any]:
        return {"tolerance": self.tolerance, "relative": self.relative}

    def fits(self, kind: ColumnKind) -> None:
        if kind != "number":
            raise Unaskable(f"{self.metric} needs numbers as labels; the target is of kind {kind}")

    def values(self, frame: Frame) -> Bools:
        rows = as_feature_frame(frame)
        guesses = predictions_on(self.source, rows)
        if guesses.kind == "text" or guesses.values.ndim != 1:
            raise Raised
        right = rows.labels.values.astype(np.float64, copy=False)
        error = np.abs(guesses.values.astype(np.float64, copy=False) - right)
        near: Bools = error <= np.maximum(self.tolerance, self.relative * np.abs(right))
        return near if rows.labels.missing is None else near & ~rows.labels.missing


def within_tolerance(predictions: Any, tolerance: float, relative: float = 0.0) -> WithinTolerance:
    """The share of rows whose error is at most ``tolerance``, or at most ``relative`` times the size of the label.

    Asked for several tolerances it says how errors are spread: their median is the tolerance that half of them keep.

    >>> within_tolerance([1.0, 2.0], tolerance=5).label[:24]
    'within_tolerance of pred'
    >>> within_tolerance([1.0, 2.0], tolerance=-1)
    Traceback (most recent call last):
        ...
    unworn.errors.Unaskable: tolerance is a finite number of at least 0, not -1.0
    """
    numbers = {"tolerance": as_float(tolerance, "tolerance"), "relative": as_float(relative, "relative")}
    for name, number in numbers.items():
        if not 0 <= number < math.inf:  # also refuses NaN
            raise Unaskable(f"{name} is a finite number of at least 0, not {number}")
    return WithinTolerance(as_source(predictions), **numbers)


class RowGrader(Protocol):
    """Code that says of each prediction, beside its reference, how good it is: numbers in [0, 1]."""

    @property
    def digest(self) -> str:
        """What the code is known by."""

    def grade(self, predictions: list[Any], references: list[Any]) -> NDArray[np.float64]:
        """A number in [0, 1] each; whatever it raises is a failure."""


@dataclass(frozen=True, eq=False)
class GradedRows(Metric):
    """The mean of what a grader says of each row's prediction.

    It is known by the predictions and by the grader's own code, never by what the grader said. What it said is kept
    with the question, because the practice rows and the sealed rows are each looked at more than once.
    """

    grader: RowGrader = field(metadata={"code": True})
    kept: dict[Hashable, NDArray[np.float64] | None] = field(default_factory=dict, repr=False, metadata={"code": True})

    metric: ClassVar[str] = "graded"
    greater_is_better: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_given(self.source, self.metric, sides=(1,), numbers=False)

    @property
    def bounds(self) -> tuple[float, float]:
        return 0.0, 1.0

    def settings(self) -> dict[str, Any]:
        return {"grader": self.grader.digest}

    def _facts(self, schema: Schema, size: int) -> Facts:
        known = super()._facts(schema, size)
        return Facts(known.kind, known.low, known.high, runs_code=True)

    def values(self, frame: Frame) -> Floats:
        rows = as_feature_frame(frame)
        column = predictions_on(self.source, rows)
        positions = rows.pick(np.arange(self.source.shape[0])) if hasattr(self.source, "shape") else np.arange(0)
        key = (len(positions), positions.tobytes())
        if key not in self.kept:
            self.kept[key] = None
            self.kept[key] = run_code(self._grading(plain(column).tolist(), plain(rows.labels).tolist()))
        told = self.kept[key]
        if told is None:  # it failed before, and would again
            raise Raised
        return told

    def _grading(self, predictions: list[Any], references: list[Any]) -> Callable[[], NDArray[np.float64]]:
        def grade() -> NDArray[np.float64]:
            told = np.asarray(self.grader.grade(predictions, references), dtype=np.float64)
            if told.shape != (len(references),) or not bool(((told >= 0) & (told <= 1)).all()):
                raise ValueError("a grader returns one number in [0, 1] for each row")
            return told

        return grade


@dataclass(frozen=True)
class RecordedGrader:
    """A grader as a ledger keeps it: known by its digest, and not here to be run."""

    digest: str

    def grade(self, predictions: list[Any], references: list[Any]) -> NDArray[np.float64]:
        raise RuntimeError("this record of a question has no grader")
