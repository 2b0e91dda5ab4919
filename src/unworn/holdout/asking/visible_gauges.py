"""What visible rows let one declare beside a guess: how many rows will count, and how much values will vary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unworn.bounds.questions import (
    RankMoments,
    declared_rows,
    declared_variance,
    mean_error,
    part_rows,
    share_error,
)
from unworn.errors import Unaskable
from unworn.holdout.asking.code_on_train import run_on_train
from unworn.mechanisms import Guess
from unworn.queries.conditional_query import ConditionalQuery
from unworn.queries.query import Facts, Query

if TYPE_CHECKING:
    from unworn.rows import Sample

_TOO_FEW = 50
"""Rows of a subset of which an answer without a guess tells next to nothing: at 11 nats a half-width of a third."""


def gauged_guess(query: Query, facts: Facts, rows: Sample, origin: str, sealed: int | None) -> Guess | None:
    """The exact value with its standard error and, for so many sealed rows, a bound of its gauge.

    None where there are no rows to tell: none in the subset, or none of one class.
    """
    if facts.kind == "conditional":
        return _subset_guess(query, rows, origin, sealed)
    return (
        _ranking_guess(query, rows, origin, sealed)
        if facts.kind == "ranking"
        else _mean(query, facts, rows, origin, sealed)
    )


def known_rows(query: Query, sealed: int, rows: int) -> int | None:
    """How many sealed rows a subset has, of ``rows`` in all, where the asker's own array decides it."""
    share = query.subset_share() if isinstance(query, ConditionalQuery) else None
    return None if share is None else part_rows(share, sealed, rows)


def refuse_unseen(query: Query, rows: Sample, sealed: int) -> None:
    """Refuse a question about a subset that none of these rows is in, if too few sealed rows can be to tell anything.

    It would be answered with the whole range, for the price of a surprise, and is a misspelt value more often than not.
    """
    try:
        query.facts(rows.schema, rows.length)
    except Unaskable:  # these rows cannot tell
        return
    seen = run_on_train(query, rows, lambda: rows.statistics([query])[0])[1]
    most = sealed - declared_rows(1.0, rows.size, sealed)  # as many as four standard errors leave room for
    if seen or most > _TOO_FEW:
        return
    raise Unaskable(
        f"{query.label}: none of the {rows.size:,} rows that may be seen is among those that it is about, so of "
        f"{sealed:,} sealed ones hardly any can be, and the answer would be the whole range.\n"
        "  Nothing was charged. Compare names and values with those of your rows; if you know better, give guess= and "
        "gauge=, the fewest sealed rows to expect.",
        seen=rows.size,
        sealed=sealed,
    )


def _subset_guess(query: Query, rows: Sample, origin: str, sealed: int | None) -> Guess | None:
    count, size = run_on_train(query, rows, lambda: rows.statistics([query])[0])
    if not size:
        return None
    gauge = None if sealed is None else float(declared_rows(size / rows.size, rows.size, sealed))
    return Guess(count / size, share_error(count / size, size), None, origin, gauge)


def _ranking_guess(query: Query, rows: Sample, origin: str, sealed: int | None) -> Guess | None:
    positives, negatives, *numbers = run_on_train(query, rows, lambda: rows.moments([query])[0])
    if not positives or not negatives:
        return None
    moments = RankMoments(int(positives), int(negatives), *numbers)
    # The variance of an area is at most a(1 − a)/min(n₊, n₋) (Birnbaum and Klose 1957).
    most = share_error(moments.value, min(positives, negatives))
    error = min(max(moments.delong_error(), 1.0 / min(positives, negatives)), most)
    gauge = None
    if sealed is not None:
        gauge = float(min(declared_rows(size / rows.size, rows.size, sealed) for size in (positives, negatives)))
    return Guess(moments.value, error, None, origin, gauge)


def _mean(query: Query, facts: Facts, rows: Sample, origin: str, sealed: int | None) -> Guess:
    mean, variance, _, fourth = run_on_train(query, rows, lambda: rows.moments([query])[0])
    gauge = None if sealed is None else declared_variance(variance, fourth, rows.size, sealed)
    return Guess(mean, (facts.high - facts.low) * mean_error(variance, rows.size), None, origin, gauge)
