"""What every metric shares: predictions, labels, a declared range, and a family."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, ClassVar

import numpy as np

from unworn.basics.display import show_value
from unworn.errors import Unaskable
from unworn.queries.language.literals import as_float
from unworn.queries.metrics.class_labels import check_classes
from unworn.queries.predictions import FromModel, GivenPredictions, Source
from unworn.queries.query import Facts, Query, canonical
from unworn.queries.recorded_predictions import RecordedPredictions
from unworn.queries.schema import ColumnKind, Schema


@dataclass(frozen=True, eq=False)
class Metric(Query):
    """A mean over rows of a value that compares a prediction with a label.

    It is total: a prediction that is missing, infinite, out of range or of the wrong type takes the worst
    value of the declared range, and so does a row without a label.
    """

    source: Source

    metric: ClassVar[str]
    greater_is_better: ClassVar[bool]
    zero_one: ClassVar[bool] = False

    @property
    @abstractmethod
    def bounds(self) -> tuple[float, float]:
        """The declared range of a row's value."""

    def settings(self) -> dict[str, Any]:
        """What makes this metric another metric: the family."""
        return {}

    def layout(self) -> dict[str, Any]:
        """How the predictions are to be read; not part of the family."""
        return {}

    def fits(self, kind: ColumnKind) -> None:
        """Refuse labels of a kind this metric cannot score."""

    @property
    def label(self) -> str:
        return f"{self.metric} of {self.source.label}"

    @cached_property
    def family(self) -> str:
        settings = self.settings()
        return canonical({"metric": self.metric, **settings}) if settings else _plain_family(self.metric)

    @property
    def portable(self) -> bool:
        return not isinstance(self.source, GivenPredictions)

    @property
    def needs_features(self) -> bool:
        return isinstance(self.source, FromModel)

    def to_json(self) -> dict[str, Any]:
        return {
            "ask": "metric",
            "metric": self.metric,
            **self.settings(),
            **self.layout(),
            "predictions": self.source.to_json(),
        }

    def __eq__(self, other: object) -> bool:
        return self.fingerprint == other.fingerprint if isinstance(other, Metric) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def _facts(self, schema: Schema, size: int) -> Facts:
        """``size`` is the number of rows, also where the sampled unit is a group of rows."""
        if isinstance(self.source, RecordedPredictions):
            raise Unaskable("this record of a question has no predictions; supply them", metric=self.metric)
        if schema.target is None:
            raise Unaskable(f"{self.metric} needs labels, and this holdout was sealed without: give y=")
        kind = schema.of(schema.target).kind
        if kind == "date":
            raise Unaskable(f"{self.metric} cannot score the target {schema.target!r}, which is a date")
        self.fits(kind)
        check_length(self.source, size)
        low, high = self.bounds
        exact = self.zero_one and not schema.grouped
        return Facts("binary" if exact else "unit", low, high, runs_code=self.source.runs_code)


@cache
def _plain_family(metric: str) -> str:
    return canonical({"metric": metric})


def as_range(metric: str, declared: Sequence[float] | None) -> tuple[float, float]:
    """A declared range of losses, or a refusal that says how to declare one."""
    if declared is None:
        raise Unaskable(
            f"{metric} has no range of its own, and an interval needs one: "
            "give range=(0, largest loss that matters); larger losses count as that one"
        )
    try:
        low, high = (as_float(end, "an end of a range") for end in declared)
    except (TypeError, ValueError):
        raise Unaskable(f"range must be two numbers (low, high), not {show_value(declared)}") from None
    if not (np.isfinite(low) and np.isfinite(high) and 0 <= low < high):
        raise Unaskable(f"range must be finite with 0 <= low < high, not ({low}, {high})", low=low, high=high)
    return low, high


def check_length(source: Source, size: int) -> None:
    """Refuse an asker's own array that does not have one entry for each row."""
    if isinstance(source, GivenPredictions) and source.shape[0] != size:
        raise Unaskable(
            f"there are {source.shape[0]} predictions for {size} rows: "
            "give one per row, in the order of the holdout's rows",
            predictions=source.shape[0],
            rows=size,
        )


def check_given(source: Source, metric: str, *, sides: tuple[int, ...], numbers: bool) -> None:
    """Refuse an asker's own array of the wrong shape or type, while nothing has been read."""
    if not isinstance(source, GivenPredictions):
        return
    if len(source.shape) not in sides:
        wanted = " or ".join({1: "one value per row", 2: "rows × classes of scores"}[side] for side in sides)
        raise Unaskable(f"{metric} needs {wanted}, not an array of shape {source.shape}", shape=list(source.shape))
    if numbers and source.column.kind == "text":
        raise Unaskable(f"{metric} needs numbers as predictions, not text")


def check_probabilities(source: Source, metric: str, tolerance: float) -> None:
    """Refuse an asker's own array that does not hold probabilities."""
    if not isinstance(source, GivenPredictions):
        return
    values = source.column.values
    if values.size and (values.min() < 0 or values.max() > 1):
        raise Unaskable(
            f"{metric} needs probabilities; these lie between {values.min():g} and {values.max():g}",
            lowest=float(values.min()),
            highest=float(values.max()),
        )
    if values.ndim == 2:
        worst = float(np.max(np.abs(values.sum(axis=1) - 1), initial=0.0))
        if worst > tolerance:
            raise Unaskable(f"the probabilities of a row must sum to 1; one row is off by {worst:.3g}", off=worst)


__all__ = ["Metric", "as_range", "check_classes", "check_given", "check_length", "check_probabilities"]
