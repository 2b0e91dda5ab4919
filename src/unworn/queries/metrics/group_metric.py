"""A metric of the rows where a predicate holds: ``where=``."""

from __future__ import annotations

from dataclasses import dataclass

from unworn.queries.language.expressions import Expression, require_predicate, wrap
from unworn.queries.language.schema_check import check
from unworn.queries.metrics.scored_query import Metric
from unworn.queries.schema import Schema

_WANTED = "where= needs a predicate"


@dataclass(frozen=True, eq=False)
class GroupMetric(Metric):
    """Another metric, ``inner``, and the rows that it is about. How the two are put together is for subclasses."""

    inner: Metric
    where: Expression

    def __init__(self, inner: Metric, where: Expression) -> None:
        for name, value in (("source", inner.source), ("inner", inner), ("where", wrap(where))):
            object.__setattr__(self, name, value)
        require_predicate(self.where, self.where.kind, _WANTED)

    @property
    def metric(self) -> str:  # type: ignore[override]
        return self.inner.metric

    @property
    def greater_is_better(self) -> bool:  # type: ignore[override]
        return self.inner.greater_is_better

    def check_predicate(self, schema: Schema) -> None:
        """Refuse what these columns cannot be asked, or what is no predicate of them."""
        require_predicate(self.where, check(self.where, schema).kind, _WANTED)
