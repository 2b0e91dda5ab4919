"""Two models in one question: the mean difference of a metric, row by row.

Where both models are right or both wrong the difference is 0, so its spread is that of the disagreement
alone: one paired question tells two good models apart where two separate answers cannot.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unworn.errors import Unaskable
from unworn.queries.composite import Composite, Question, check_same
from unworn.queries.conditional_query import ConditionalQuery
from unworn.queries.metrics.named_metrics import metric_from_json
from unworn.queries.metrics.scored_query import Metric
from unworn.queries.query import Facts, Query, canonical
from unworn.queries.ranking_query import RankingQuery
from unworn.queries.row_protocol import Floats, Frame
from unworn.queries.schema import Schema


@dataclass(frozen=True, eq=False)
class Difference(Query):
    """The mean of a − b for two metric questions of one family."""

    a: Metric
    b: Metric

    @property
    def label(self) -> str:
        return f"{self.a.metric}: {self.a.source.label} − {self.b.source.label}"

    @property
    def family(self) -> str:
        return canonical({"difference": self.a.family})

    @property
    def portable(self) -> bool:
        return self.a.portable and self.b.portable

    @property
    def needs_features(self) -> bool:
        return self.a.needs_features or self.b.needs_features

    def to_json(self) -> dict[str, Any]:
        return {"ask": "difference", "a": self.a.to_json(), "b": self.b.to_json()}

    def __eq__(self, other: object) -> bool:
        return self.fingerprint == other.fingerprint if isinstance(other, Difference) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def _facts(self, schema: Schema, size: int) -> Facts:
        a, b = self.a.facts(schema, size), self.b.facts(schema, size)
        reach = a.high - a.low
        exact = self.a.zero_one and self.b.zero_one and not schema.grouped
        return Facts("paired", -reach, reach, zero_one=exact, runs_code=a.runs_code or b.runs_code)

    def values(self, frame: Frame) -> Floats:
        a, b = self.a.values(frame), self.b.values(frame)
        return np.subtract(a, b, dtype=np.float64)


def compare(a: Any, b: Any, metric: str = "accuracy", **options: Any) -> Difference:
    """How much higher the metric of ``a`` is than that of ``b``: two questions of one metric, or two predictions.

    >>> from unworn.queries.metrics.named_metrics import accuracy
    >>> compare(accuracy([1, 0]), accuracy([1, 1])).family
    '{"difference":"{\\\\"metric\\\\":\\\\"accuracy\\\\"}"}'
    >>> compare([1, 0], [1, 1]) == compare(accuracy([1, 0]), accuracy([1, 1]))
    True
    """
    if not isinstance(a, Query | Composite) and not isinstance(b, Query | Composite):
        from unworn.queries.metrics.metric_catalogue import metric as named  # which knows every metric

        a, b = named(metric, a, **options), named(metric, b, **options)
    if not isinstance(a, Metric) or not isinstance(b, Metric) or isinstance(a, ConditionalQuery | RankingQuery):
        raise Unaskable(
            "compare takes two questions of one metric that is a mean over rows, as in compare(accuracy(a), "
            "accuracy(b)); of other metrics ask the difference, as in f1(a) - f1(b) or holdout.compare(a, b, "
            "metric='f1')"
        )
    if a.family != b.family:
        raise Unaskable(f"compare takes one metric with one setting, not {a.family} and {b.family}")
    if a.needs_features and b.needs_features:
        check_same(a, b)
    return Difference(a, b)


def compare_questions(a: Question, b: Question) -> Question:
    """The same for whatever two metrics are: a paired question where it can be one, else the difference of two."""
    if isinstance(a, Metric) and isinstance(b, Metric) and not isinstance(a, ConditionalQuery | RankingQuery):
        return compare(a, b)
    if type(a) is not type(b):
        raise Unaskable(f"compare takes one metric with one setting, not {a.label} and {b.label}")
    return replace(a - b, name=f"{a.label} − {b.label}")


def difference_from_json(data: Mapping[str, Any]) -> Difference:
    """A recorded comparison, without predictions."""
    return Difference(metric_from_json(data["a"]), metric_from_json(data["b"]))
