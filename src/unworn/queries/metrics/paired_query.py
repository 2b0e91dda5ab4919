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
from unworn.queries.language.means import share
from unworn.queries.metrics.named_metrics import metric_from_json
from unworn.queries.metrics.scaled_losses import MaskedLoss
from unworn.queries.metrics.scored_query import Metric
from unworn.queries.metrics.subset_metrics import SubgroupMetric
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
    if (losses := _losses_of(a, b)) is not None:
        b, a = losses
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
    """The same for whatever two metrics are: a paired question where it can be one, else the difference of two.

    Of two ``neg_…`` metrics it is the difference of the losses the other way around, which is the same number.
    """
    if (losses := _losses_of(a, b)) is not None:
        b, a = losses
    if isinstance(a, Metric) and isinstance(b, Metric) and not isinstance(a, ConditionalQuery | RankingQuery):
        return compare(a, b)
    if (inside := _compare_inside(a, b)) is not None:
        return inside
    if type(a) is not type(b):
        raise Unaskable(f"compare takes one metric with one setting, not {a.label} and {b.label}")
    return replace(a - b, name=f"{a.label} − {b.label}")


def _compare_inside(a: Question, b: Question) -> Composite | None:
    """The difference of two models in one subgroup: that of all rows, 0 outside of it, over the subgroup's share."""
    one, other = _inside(a), _inside(b)
    if one is None or other is None or one.where.to_json() != other.where.to_json():
        return None
    inner = compare(one.inner, other.inner)  # of one family
    reach = inner.a.bounds[1] - inner.a.bounds[0]
    parts = Difference(one, other), share(one.where)
    return Composite("subgroup", parts, (-reach, reach, 0.0), f"{a.label} − {b.label}")


def _inside(question: Question) -> MaskedLoss | None:
    """What is 0 outside of a subgroup, of a metric that is a mean over the rows inside."""
    if isinstance(question, SubgroupMetric) and not isinstance(question.inner, ConditionalQuery):
        return MaskedLoss(question.inner, question.where)
    if isinstance(question, Composite) and question.combination in ("ratio", "subgroup"):
        loss = question.parts[0]
        return MaskedLoss(loss.inner, loss.where) if isinstance(loss, MaskedLoss) else None
    return None


_MINUS = "linear", (-1.0,)


def _losses_of(a: Any, b: Any) -> tuple[Question, Question] | None:
    """The two losses that both are minus of; None where they are anything else."""
    parts = [
        each.parts[0] for each in (a, b) if isinstance(each, Composite) and (each.combination, each.numbers) == _MINUS
    ]
    one, other = parts if len(parts) == 2 else (None, None)
    comparable = all(isinstance(each, Metric) or (each is not None and _inside(each)) for each in (one, other))
    return (one, other) if one is not None and other is not None and comparable else None


def difference_from_json(data: Mapping[str, Any]) -> Difference:
    """A recorded comparison, without predictions."""
    return Difference(metric_from_json(data["a"]), metric_from_json(data["b"]))
