"""Metrics that are shares of a subset of the rows: precision, recall, specificity, Jaccard, and any hit in a subgroup.

Which rows are counted depends on labels and predictions, so none of them is a mean over all rows: each is a
:class:`~unworn.queries.conditional_query.ConditionalQuery`, exact for however many rows its subset has.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NoReturn

import numpy as np

from unworn.errors import Unaskable
from unworn.queries.conditional_query import ConditionalQuery, conditional_facts
from unworn.queries.language.evaluation import truth
from unworn.queries.language.expression_codec import from_json
from unworn.queries.language.expressions import Expression
from unworn.queries.metrics.class_labels import Class, check_classes, is_class
from unworn.queries.metrics.group_metric import GroupMetric
from unworn.queries.metrics.hit_metrics import HitMetric
from unworn.queries.metrics.scored_query import Metric
from unworn.queries.predictions import SMALL, FeatureFrame, GivenPredictions, as_feature_frame, predictions_on
from unworn.queries.query import Facts, canonical
from unworn.queries.row_protocol import Bools, Column, Frame, Raised
from unworn.queries.schema import ColumnKind, Schema


@dataclass(frozen=True, eq=False)
class SubsetMetric(HitMetric, ConditionalQuery):
    """A share of the rows that are, or are called, ``positive``."""

    positive: Class

    @property
    def label(self) -> str:
        return f"{self.metric} of {self.source.label}" + ("" if self.positive == 1 else f" for {self.positive!r}")

    def settings(self) -> dict[str, Any]:
        return {"positive": self.positive}

    def fits(self, kind: ColumnKind) -> None:
        super().fits(kind)
        check_classes((self.positive,), kind, "positive")

    def _facts(self, schema: Schema, size: int) -> Facts:
        conditional_facts(schema, self.metric)  # refuses groups
        return conditional_facts(schema, self.metric, super()._facts(schema, size).runs_code)

    def values(self, frame: Frame) -> NoReturn:
        ConditionalQuery.values(self, frame)

    def tallies(self, frame: Frame) -> tuple[Bools, Bools]:
        rows = as_feature_frame(frame)
        guesses = predictions_on(self.source, rows)
        text = rows.labels.vocabulary is not None
        if guesses.values.ndim != 1 or (guesses.vocabulary is not None) != text:
            raise Raised
        called = is_class(guesses.compact(), self.positive)
        return self.count(called, self._actual(rows, guesses), rows)

    def _actual(self, rows: FeatureFrame, guesses: Column) -> Bools:
        """Which rows are positive; read from a byte each where the asker's own array and class fit into one."""
        labels, small = rows.labels, isinstance(self.source, GivenPredictions) and guesses.values.dtype == np.int8
        if not small or not isinstance(self.positive, int) or not -SMALL <= self.positive <= SMALL:
            return is_class(labels, self.positive)
        same: Bools = rows.small_labels == self.positive
        return same if labels.missing is None else same & ~labels.missing

    @abstractmethod
    def count(self, called: Bools, actual: Bools, rows: FeatureFrame) -> tuple[Bools, Bools]:
        """Yes and subset, from the rows that are called positive and those that are."""


@dataclass(frozen=True, eq=False)
class Precision(SubsetMetric):
    """Of the rows called positive, the share that are. A row without a label is not."""

    metric: ClassVar[str] = "precision"

    def count(self, called: Bools, actual: Bools, rows: FeatureFrame) -> tuple[Bools, Bools]:
        return called & actual, called

    def subset_share(self) -> float | None:
        """How often the asker's own array says positive is the asker's own number."""
        if not isinstance(self.source, GivenPredictions) or not self.source.shape[0]:
            return None
        return float(np.count_nonzero(is_class(self.source.column, self.positive)) / self.source.shape[0])


@dataclass(frozen=True, eq=False)
class Recall(SubsetMetric):
    """Of the positive rows, the share that are called so."""

    metric: ClassVar[str] = "recall"

    def count(self, called: Bools, actual: Bools, rows: FeatureFrame) -> tuple[Bools, Bools]:
        return called & actual, actual


@dataclass(frozen=True, eq=False)
class Specificity(SubsetMetric):
    """Of the rows with another label, the share that are called something else; no prediction is not something else."""

    metric: ClassVar[str] = "specificity"

    def count(self, called: Bools, actual: Bools, rows: FeatureFrame) -> tuple[Bools, Bools]:
        guesses = predictions_on(self.source, rows)
        named = guesses.missing is None and guesses.values.dtype.kind != "f"
        known = True if named else ~_nameless(guesses.values, guesses.missing)
        missing = rows.labels.missing
        others = ~actual if missing is None else ~actual & ~missing
        return others & ~called & known, others


@dataclass(frozen=True, eq=False)
class Prevalence(SubsetMetric):
    """Of the rows that have a label, the share that are positive: the predictions do not matter."""

    metric: ClassVar[str] = "prevalence"

    def count(self, called: Bools, actual: Bools, rows: FeatureFrame) -> tuple[Bools, Bools]:
        missing = rows.labels.missing
        return actual, np.ones_like(actual) if missing is None else ~missing


@dataclass(frozen=True, eq=False)
class Jaccard(SubsetMetric):
    """Of the rows that are positive or are called so, the share that are both. F1 is 2J/(1 + J) of it."""

    metric: ClassVar[str] = "jaccard"

    def count(self, called: Bools, actual: Bools, rows: FeatureFrame) -> tuple[Bools, Bools]:
        return called & actual, called | actual


def _nameless(values: Any, missing: Bools | None) -> Bools:
    """Which predictions name no class."""
    strange: Bools = ~np.isfinite(values) if values.dtype.kind == "f" else np.zeros(len(values), dtype=np.bool_)
    return strange if missing is None else strange | missing


SUBSET_METRICS: dict[str, type[SubsetMetric]] = {
    kind.metric: kind for kind in (Precision, Recall, Specificity, Jaccard)
}


@dataclass(frozen=True, eq=False)
class SubgroupMetric(GroupMetric, ConditionalQuery):
    """A metric of hits over the rows where a predicate holds: ``where=``."""

    zero_one: ClassVar[bool] = True

    def __init__(self, inner: Metric, where: Expression) -> None:
        super().__init__(inner, where)
        if not inner.zero_one or isinstance(inner, SubgroupMetric):
            raise Unaskable(f"{inner.metric} is not counted in hits, and so has no share of a subgroup")

    @property
    def bounds(self) -> tuple[float, float]:
        return 0.0, 1.0

    @property
    def label(self) -> str:
        return f"{self.inner.label} where {self.where!r}"

    @cached_property
    def family(self) -> str:
        return canonical({"of": self.inner.family, "where": self.where.to_json()})

    def to_json(self) -> dict[str, Any]:
        return {**self.inner.to_json(), "where": self.where.to_json()}

    def _facts(self, schema: Schema, size: int) -> Facts:
        conditional_facts(schema, f"{self.metric} where {self.where!r}")
        self.check_predicate(schema)
        return conditional_facts(schema, self.metric, self.inner.facts(schema, size).runs_code)

    def values(self, frame: Frame) -> NoReturn:
        ConditionalQuery.values(self, frame)

    def tallies(self, frame: Frame) -> tuple[Bools, Bools]:
        group = truth(self.where, frame)
        if isinstance(self.inner, ConditionalQuery):
            yes, subset = self.inner.tallies(frame)
            return yes & group, subset & group
        return np.asarray(self.inner.values(frame), dtype=np.bool_) & group, group


def subgroup_of(inner: Metric, data: Mapping[str, Any]) -> Metric:
    """A recorded metric, in the subgroup that its record names if it names one."""
    return SubgroupMetric(inner, from_json(data["where"])) if "where" in data else inner
