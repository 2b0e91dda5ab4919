"""Numbers that the asker brings, one per row: what a judge, a grader or any other programme made of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from unworn.errors import Unaskable
from unworn.queries.metrics.scaled_losses import declared_ends
from unworn.queries.metrics.scored_query import Metric, check_given, check_length
from unworn.queries.predictions import GivenPredictions, Source, as_feature_frame, predictions_on
from unworn.queries.query import Facts
from unworn.queries.recorded_predictions import RecordedPredictions
from unworn.queries.row_protocol import Bools, Floats, Frame
from unworn.queries.schema import Schema


@dataclass(frozen=True, eq=False)
class RowValues(Metric):
    """The mean of an array with one number per row, in a declared range. No labels are needed.

    Whether it is counted follows from the asker's own array, which is public to the asker.
    """

    low: float
    high: float
    counted: bool = False

    metric: ClassVar[str] = "values"
    greater_is_better: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_given(self.source, self.metric, sides=(1,), numbers=True)

    @classmethod
    def of(cls, source: Source, declared: Sequence[float]) -> RowValues:
        low, high = declared_ends(declared)
        if isinstance(source, RecordedPredictions):
            return cls(source, low, high)
        if not isinstance(source, GivenPredictions) or len(source.shape) != 1 or source.column.kind == "text":
            raise Unaskable("values takes an array with one number per row; a model is scored by a metric")
        array = source.column.values
        least, most = (float(array.min()), float(array.max())) if array.size else (low, low)
        if least < low or most > high:
            raise Unaskable(
                f"these values lie between {least:g} and {most:g}, outside of range=({low:g}, {high:g}): declare the "
                "range they come from"
            )
        counted = (low, high) == (0.0, 1.0) and bool(((array == 0) | (array == 1)).all())
        return cls(source, low, high, counted)

    @property
    def zero_one(self) -> bool:  # type: ignore[override]
        return self.counted

    @property
    def bounds(self) -> tuple[float, float]:
        return self.low, self.high

    def settings(self) -> dict[str, Any]:
        return {"range": [self.low, self.high], "zero_one": self.zero_one}

    def _facts(self, schema: Schema, size: int) -> Facts:
        if isinstance(self.source, RecordedPredictions):
            raise Unaskable("this record of a question has no values; supply them", metric=self.metric)
        check_length(self.source, size)
        exact = self.zero_one and not schema.grouped
        return Facts("binary" if exact else "unit", self.low, self.high)

    def values(self, frame: Frame) -> Floats | Bools:
        array: NDArray[Any] = predictions_on(self.source, as_feature_frame(frame)).values
        return array == 1 if self.zero_one else array.astype(np.float64, copy=False)
