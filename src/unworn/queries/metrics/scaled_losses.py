"""Losses with a scale of their own (percentages, quantiles), and any loss in a subgroup of the rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from unworn.errors import Unaskable
from unworn.queries.language.evaluation import truth
from unworn.queries.language.expressions import Expression
from unworn.queries.language.literals import as_float
from unworn.queries.metrics.group_metric import GroupMetric
from unworn.queries.metrics.loss_metrics import NumberError
from unworn.queries.metrics.scored_query import Metric
from unworn.queries.query import Facts, canonical
from unworn.queries.row_protocol import Floats, Frame
from unworn.queries.schema import Schema


@dataclass(frozen=True, eq=False)
class PercentageError(NumberError):
    """The mean of |prediction − label|/|label|, each cut to the declared range; of a label of 0 it is the high end."""

    metric: ClassVar[str] = "mape"

    def values(self, frame: Frame) -> Floats:
        with np.errstate(all="ignore"):
            error, rows = self.error(frame)
            return self.cut(np.abs(error) / np.abs(rows.labels.values.astype(np.float64, copy=False)), rows)


@dataclass(frozen=True, eq=False)
class PinballLoss(NumberError):
    """The mean of q·(label − prediction) below the label, (1 − q)·(prediction − label) above it, cut to the range."""

    quantile: float = 0.5

    metric: ClassVar[str] = "pinball"

    def __post_init__(self) -> None:
        super().__post_init__()
        quantile = as_float(self.quantile, "alpha")
        if not 0 < quantile < 1:
            raise Unaskable(f"alpha is the quantile that was predicted, between 0 and 1, not {quantile}")
        object.__setattr__(self, "quantile", quantile)

    def settings(self) -> dict[str, Any]:
        return {**super().settings(), "quantile": self.quantile}

    def values(self, frame: Frame) -> Floats:
        with np.errstate(all="ignore"):
            error, rows = self.error(frame)
            return self.cut(np.maximum(-self.quantile * error, (1 - self.quantile) * error), rows)


@dataclass(frozen=True, eq=False, init=False)
class MaskedLoss(GroupMetric):
    """A loss where a predicate holds, 0 elsewhere: over the share of those rows it is the loss in the subgroup.

    With a ``centre``, a number that is near the loss in the subgroup, it is the distance of the loss from there.
    """

    centre: float | None = None

    def __init__(self, inner: Metric, where: Expression, centre: float | None = None) -> None:
        super().__init__(inner, where)
        if centre is not None:
            low, high = inner.bounds
            centre = as_float(centre, "a centre")
            if not low <= centre <= high:  # also refuses NaN
                raise Unaskable(f"the centre of a loss lies in its range [{low:g}, {high:g}], unlike {centre}")
        object.__setattr__(self, "centre", centre)

    @property
    def zero_one(self) -> bool:  # type: ignore[override]
        return self.inner.zero_one and self.centre is None

    @property
    def bounds(self) -> tuple[float, float]:
        low, high = self.inner.bounds
        return (min(low, 0.0), high) if self.centre is None else (low - self.centre, high - self.centre)

    @property
    def label(self) -> str:
        inner = self.inner.label
        less = inner if self.centre is None else f"({inner} less {self.centre:g})"
        return f"{less} times ({self.where!r})"

    @cached_property
    def family(self) -> str:
        # Distances from centres of their own are drawn side by side, and none of them is the best.
        centred = {} if self.centre is None else {"centred": True}
        return canonical({"of": self.inner.family, "masked": self.where.to_json(), **centred})

    def to_json(self) -> dict[str, Any]:
        centre = {} if self.centre is None else {"centre": self.centre}
        return {**self.inner.to_json(), "where": self.where.to_json(), "masked": True, **centre}

    def _facts(self, schema: Schema, size: int) -> Facts:
        self.check_predicate(schema)
        return Facts("unit", *self.bounds, runs_code=self.inner.facts(schema, size).runs_code)

    def values(self, frame: Frame) -> Floats:
        values = self.inner.values(frame)
        loss: Floats = np.where(truth(self.where, frame), values if self.centre is None else values - self.centre, 0.0)
        return loss


def declared_ends(declared: Sequence[float]) -> tuple[float, float]:
    """Two finite numbers in order, of any sign."""
    try:
        low, high = (as_float(end, "an end of a range") for end in declared)
    except (TypeError, ValueError):
        raise Unaskable("range must be two numbers (low, high)") from None
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise Unaskable(f"range must be finite with low < high, not ({low}, {high})", low=low, high=high)
    return low, high
