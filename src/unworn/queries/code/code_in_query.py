"""Which code of the asker's a question would run on rows."""

from __future__ import annotations

from unworn.queries.code.callables import Function
from unworn.queries.code.live_code import Code
from unworn.queries.hypothesis import Hypothesis
from unworn.queries.metrics.group_metric import GroupMetric
from unworn.queries.metrics.hit_metrics import BalancedAccuracy, HitMetric
from unworn.queries.metrics.paired_query import Difference
from unworn.queries.metrics.scored_query import Metric
from unworn.queries.predictions import FromModel
from unworn.queries.query import Query
from unworn.queries.statistic import Statistic

UNKNOWN = "-"
"""Stands for code that has no digest: only other code without one can go by its name."""
VOUCHED = "*"
"""Stands for code that nobody looks at: what goes by its name is on the asker's word alone."""


def models_of(query: Query) -> list[FromModel]:
    """The models that a question shows rows to."""
    if isinstance(query, Hypothesis):
        return models_of(query.query)
    if isinstance(query, Difference):
        return [*models_of(query.a), *models_of(query.b)]
    return [query.source] if isinstance(query, Metric) and isinstance(query.source, FromModel) else []


def label_counters(query: Query) -> list[tuple[str, FromModel]]:
    """The metrics of a question that count predicted labels, each with its model."""
    if isinstance(query, Hypothesis):
        return label_counters(query.query)
    if isinstance(query, Difference):
        return [*label_counters(query.a), *label_counters(query.b)]
    counted = query.inner if isinstance(query, GroupMetric) else query
    if isinstance(counted, HitMetric | BalancedAccuracy) and isinstance(counted.source, FromModel):
        return [(counted.metric, counted.source)]
    return []


def code_of(query: Query) -> list[Code]:
    """All of that code, each piece with what it was when the question was made."""
    if isinstance(query, Hypothesis):
        return code_of(query.query)
    if isinstance(query, Function | Statistic):
        return [query.code]
    return [model.code for model in models_of(query)]


def named_code(query: Query) -> str | None:
    """The digests of what goes by a name in a question, in its order; none where nothing does."""
    named = [code for code in code_of(query) if code.name is not None]
    return " ".join(code.digest or (UNKNOWN if code.watch else VOUCHED) for code in named) if named else None


def is_other_code(noted: str | None, now: str | None) -> bool:
    """Whether a name stands for something else now, as far as the digests of both times tell.

    What has a digest is never what has none, or whoever leaves nothing to be read could take over any name.

    >>> is_other_code("ab", "cd"), is_other_code("ab", UNKNOWN), is_other_code(UNKNOWN, UNKNOWN)
    (True, True, False)
    >>> is_other_code("ab", VOUCHED), is_other_code(None, "cd")
    (False, False)
    """
    if noted is None or now is None:  # entered by an earlier version: then the name alone says what it is
        return False
    return any(a != b and VOUCHED not in (a, b) for a, b in zip(noted.split(), now.split(), strict=False))


def check_code(query: Query) -> None:
    """Refuse a question that would now run something else than what it is known by.

    An estimator is often one object that is fitted again and again: a question that was made of it earlier would ask
    about today's fit under the name of an older one.
    """
    for code in code_of(query):
        code.check_unchanged()
