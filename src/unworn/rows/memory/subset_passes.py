"""Passes for questions that are no plain mean: rankings, and means together with their variance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import astuple
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unworn.errors import Unaskable
from unworn.queries.query import Facts, Query
from unworn.queries.ranking_query import outranking_share
from unworn.queries.row_protocol import Bools, Floats
from unworn.rows.memory.exact_sum import Exact

if TYPE_CHECKING:
    from unworn.rows.memory.sample import Sample

Evaluate = Callable[[Sequence[Query], Sequence[Facts], Callable[[int, slice, Any], None]], None]


def rankings(
    queries: Sequence[Query], facts: Sequence[Facts], members: Bools | None, evaluate: Evaluate
) -> list[tuple[float, int]]:
    """For each question how often a positive row outranks a negative one, and how many rows the rarer class has."""
    classes = (_classes(query, fact, members, evaluate) for query, fact in zip(queries, facts, strict=True))
    return [outranking_share(above, under) for above, under in classes]  # one at a time: each keeps all the scores


def _classes(query: Query, fact: Facts, members: Bools | None, evaluate: Evaluate) -> tuple[NDArray[Any], NDArray[Any]]:
    """The scores of positive rows, and those of negative ones."""
    above: list[NDArray[Any]] = []
    under: list[NDArray[Any]] = []

    def take(_: int, rows: slice, ranked: Any) -> None:
        scores, positive, negative = ranked
        if members is not None:
            positive, negative = positive & members[rows], negative & members[rows]
        above.append(scores[positive])
        under.append(scores[negative])

    evaluate([query], [fact], take)
    return np.concatenate(above), np.concatenate(under)


def moments(
    sample: Sample,
    queries: Sequence[Query],
    facts: Sequence[Facts],
    members: Bools | None,
    evaluate: Evaluate,
    unit_means: Callable[[], list[Floats]],
) -> list[tuple[float, ...]]:
    """For each question the mean over units, and three central moments on the scale of [0, 1].

    Rankings, which are asked apart from means, get what :class:`~unworn.bounds.questions.RankMoments` has.
    """
    if facts and all(fact.kind == "ranking" for fact in facts):
        from unworn.bounds.questions import rank_moments  # loaded by those who rank

        return [
            astuple(rank_moments(*_classes(query, fact, members, evaluate)))
            for query, fact in zip(queries, facts, strict=True)
        ]
    for query, fact in zip(queries, facts, strict=True):
        if fact.kind not in ("binary", "unit", "paired"):
            raise Unaskable(f"{query.label} is not a mean over rows, and has no variance")
    if sample.unit_of_row is not None:
        groups = [
            (values - fact.low) / (fact.high - fact.low) for fact, values in zip(facts, unit_means(), strict=True)
        ]
        return [
            central_moments(fact, [float(np.sum(v**power)) for power in (1, 2, 3, 4)], len(v))
            for fact, v in zip(facts, groups, strict=True)
        ]
    exact = [(Exact(), Exact(), Exact(), Exact()) for _ in queries]

    def take(place: int, rows: slice, values: NDArray[Any]) -> None:
        fact = facts[place]
        own = values if members is None else values[members[rows]]
        # From the low end: losses are mostly small beside their range, and so are their squares.
        scaled = (own.astype(np.float64, copy=False) - fact.low) / (fact.high - fact.low)
        squares = scaled * scaled
        for total, powers in zip(exact[place], (scaled, squares, squares * scaled, squares * squares), strict=True):
            total.add(float(np.sum(powers)))

    evaluate(queries, facts, take)
    size = sample.rows if members is None else int(np.count_nonzero(members))
    return [central_moments(fact, [each.total for each in sums], size) for fact, sums in zip(facts, exact, strict=True)]


def spread(fact: Facts, total: float, squares: float, size: int) -> tuple[float, float]:
    """(mean, scaled variance) from sums of values scaled to [0, 1] and of their squares.

    A value in [0, 1] with mean m has a variance of at most m(1 − m).
    """
    mean = min(max(total / size, 0.0), 1.0)
    variance = min(max(squares / size - mean * mean, 0.0), mean * (1.0 - mean))
    return min(max(fact.low + mean * (fact.high - fact.low), fact.low), fact.high), variance


def central_moments(fact: Facts, totals: Sequence[float], size: int) -> tuple[float, float, float, float]:
    """(mean, and three central moments on the scale of [0, 1]) from sums of the first four powers of scaled values.

    >>> central_moments(Facts("unit", 0.0, 10.0), [1.0, 1.0, 1.0, 1.0], 2)
    (5.0, 0.25, 0.0, 0.0625)
    """
    value, variance = spread(fact, totals[0], totals[1], size)
    mean, square, cube, fourth = (total / size for total in totals)
    third = cube - mean * (3.0 * square - 2.0 * mean * mean)
    fourth -= mean * (4.0 * cube - mean * (6.0 * square - 3.0 * mean * mean))
    # No value is further than 1 from the mean: so neither moment is larger than the variance.
    return value, variance, min(max(third, -variance), variance), min(max(fourth, variance * variance), variance)
