"""One pass over the rows for many questions: counts, means, differences, counts within subsets.

Rows are taken 131,072 at a time, so that the values of a question stay in cache, and every question is
evaluated on a run of rows before the next run. The result of a question is the same to the last bit
whatever else is asked with it: a mean that moved with its company would be a channel.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unworn.errors import Unaskable
from unworn.queries.conditional_query import ConditionalQuery
from unworn.queries.hypothesis import Hypothesis
from unworn.queries.language.means import Mean, Share
from unworn.queries.query import SUBSETS, Facts, Query
from unworn.queries.ranking_query import RankingQuery
from unworn.queries.row_protocol import Bools, Floats, run_guarded
from unworn.rows.memory import subset_passes, threshold_scan
from unworn.rows.memory.exact_sum import Exact
from unworn.rows.memory.parallel_scans import scan
from unworn.rows.memory.row_runs import Chunk

if TYPE_CHECKING:
    from unworn.rows.memory.sample import Sample

CHUNK = 131_072
CELLS = 2**25
"""How many sums of groups are kept at once: a quarter of a gigabyte. A batch with more takes more than one pass."""

Values = NDArray[Any]


def evaluate(
    sample: Sample,
    queries: Sequence[Query],
    facts: Sequence[Facts],
    take: Callable[[int, slice, Any], None],
) -> None:
    """Hand what every question reads of every run of rows to ``take``: values, or what is counted or ranked.

    Questions that run user code go one after another, each with a memory of its own, so that the
    predictions of one model are gone before the next model runs.
    """
    together = [place for place, fact in enumerate(facts) if not fact.runs_code]
    alone = [[place] for place, fact in enumerate(facts) if fact.runs_code]
    # NumPy's warnings would depend on rows, and where warnings are errors so would the outcome.
    with np.errstate(all="ignore"):
        for batch in [together, *alone]:
            memo: dict[Hashable, Any] = {}
            for start in range(0, sample.rows if batch else 0, CHUNK):
                chunk = Chunk(sample, start, min(CHUNK, sample.rows - start), memo)
                for place in batch:
                    read = _reader(queries[place], facts[place])
                    # What code returned may upset even us: that too is its failure, and no other.
                    values = run_guarded(partial(read, chunk)) if facts[place].runs_code else read(chunk)
                    take(place, chunk.span, values)


def _reader(query: Query, fact: Facts) -> Callable[[Chunk], Any]:
    """What a question makes of a run of rows."""
    if fact.kind not in SUBSETS:
        return query.values
    asked = query.query if isinstance(query, Hypothesis) else query
    if isinstance(asked, ConditionalQuery):
        return asked.tallies
    return asked.ranked if isinstance(asked, RankingQuery) else asked.values


def check_queries(sample: Sample, queries: Sequence[Query]) -> list[Facts]:
    """What is public about each question; a refusal of one that has no values row by row."""
    facts: list[Facts] = []
    for query in queries:
        facts.append(query.facts(sample.schema, sample.length))
        if facts[-1].kind == "statistic":
            raise Unaskable(f"{query.label} is a statistic of the whole sample, and has no value for each row")
    return facts


def statistics(sample: Sample, queries: Sequence[Query], members: Bools | None) -> list[Any]:
    """What each question is about, all in one pass: a count of yes, a mean, or a mean difference with its spread.

    Means are kept inside the declared range, which rounding could leave by the last bit. Rankings take a pass each.
    """
    facts = check_queries(sample, queries)
    _check_sums(sample, queries, facts)
    if len(queries) == 1 and members is None and _is_quick(sample, facts[0]):
        query = queries[0]
        tests = threshold_scan.tests(query.where, sample.columns.__getitem__) if type(query) is Share else None
        return [_at_once(sample, query, facts[0]) if tests is None else threshold_scan.count(tests)]
    ranked = [place for place, fact in enumerate(facts) if fact.kind == "ranking"]
    if ranked:
        others = [place for place, fact in enumerate(facts) if fact.kind != "ranking"]
        apart: list[Any] = [None] * len(queries)
        rankings = subset_passes.rankings(
            [queries[place] for place in ranked], [facts[place] for place in ranked], members, partial(evaluate, sample)
        )
        rest = statistics(sample, [queries[place] for place in others], members) if others else []
        for place, value in zip([*ranked, *others], [*rankings, *rest], strict=True):
            apart[place] = value
        return apart
    if sample.unit_of_row is not None:
        told: list[Any] = []
        several = max(1, CELLS // sample.size)
        for start in range(0, len(queries), several):
            block = slice(start, start + several)
            units = _unit_means(sample, queries[block], facts[block], members)
            totals = [[float(np.mean(values)), float(np.mean(np.abs(values)))] for values in units]
            told += [_statistic(fact, total, 1) for fact, total in zip(facts[block], totals, strict=True)]
        return told
    size = sample.rows if members is None else int(np.count_nonzero(members))
    sums = _sums(sample, queries, facts, members)
    return [_statistic(fact, total, size) for fact, total in zip(facts, sums, strict=True)]


def _check_sums(sample: Sample, queries: Sequence[Query], facts: Sequence[Facts]) -> None:
    """Said from what is public: otherwise rows would decide whether a sum is a number at all."""
    for query, fact in zip(queries, facts, strict=True):
        if not math.isfinite(2.0 * max(abs(fact.low), abs(fact.high)) * sample.length):
            raise Unaskable(f"{query.label} has too wide a range: no float holds a sum of so many values")


def _is_quick(sample: Sample, fact: Facts) -> bool:
    """Whether a question about few rows is summed at once: nothing is shared, and there is nothing to come back to."""
    alone = sample.rows <= CHUNK and sample.unit_of_row is None
    return alone and not fact.runs_code and fact.kind != "ranking"


def _at_once(sample: Sample, query: Query, fact: Facts) -> Any:
    """The same as for many questions, and for many rows, in one step."""
    if type(query) is not Share and (parts := _in_columns(query, fact)):
        summed = scan(sample, parts, None, CHUNK)
        return _statistic(fact, (summed[0], summed[1] if len(summed) > 1 else 0.0), sample.rows)
    read, rows = _reader(query, fact), Chunk(sample, 0, sample.rows, {})
    with np.errstate(all="ignore"):
        total = _added(fact, read(rows))
    return _statistic(fact, total, sample.rows)


def _added(fact: Facts, values: Any, inside: Bools | None = None) -> tuple[float, float]:
    """The sum of values and, where the question is paired, of their sizes; of a subset, how many say yes of how many.

    Only of rows that are ``inside``.
    """
    if fact.kind == "conditional":
        yes, subset = (np.count_nonzero(each if inside is None else each & inside) for each in values)
        return float(yes), float(subset)
    values = values if inside is None else values[inside]
    total = float(np.count_nonzero(values) if values.dtype == np.bool_ else np.sum(values))
    return total, float(np.sum(np.abs(values))) if fact.kind == "paired" else 0.0


def _statistic(fact: Facts, totals: Sequence[float], size: int) -> Any:
    if fact.kind == "binary":
        return int(totals[0])
    if fact.kind == "conditional":
        return int(totals[0]), int(totals[1])
    mean = min(max(totals[0] / size, fact.low), fact.high)
    return mean if fact.kind == "unit" else (mean, min(max(totals[1] / size, abs(mean)), fact.high))


def counts(sample: Sample, queries: Sequence[Query], members: Bools | None) -> NDArray[np.int64]:
    """How many rows say yes."""
    if any(fact.kind != "binary" for fact in check_queries(sample, queries)):
        raise Unaskable("only a 0/1 question about ungrouped rows can be counted; ask for its mean")
    return np.array(statistics(sample, queries, members), dtype=np.int64)


def means(sample: Sample, queries: Sequence[Query], members: Bools | None) -> Floats:
    """Means over units."""
    size = sample.rows if members is None else int(np.count_nonzero(members))
    told = zip(statistics(sample, queries, members), check_queries(sample, queries), strict=True)
    return np.array([value / size if fact.kind == "binary" else value for value, fact in told])


def differences(sample: Sample, queries: Sequence[Query], members: Bools | None) -> Floats:
    """Mean difference and mean absolute difference over units."""
    return np.array(statistics(sample, queries, members)).reshape(len(queries), 2)


def moments(sample: Sample, queries: Sequence[Query], members: Bools | None) -> list[tuple[float, ...]]:
    """Mean and scaled central moments over units."""
    facts = check_queries(sample, queries)
    groups = partial(_unit_means, sample, queries, facts, members)
    return subset_passes.moments(sample, queries, facts, members, partial(evaluate, sample), groups)


def _sums(
    sample: Sample, queries: Sequence[Query], facts: Sequence[Facts], members: Bools | None
) -> list[tuple[float, float]]:
    """The sum of each question's values, and what :func:`_added` finds besides.

    Questions in the language of expressions go together, and over the cores; all others one after another, here.
    """
    sums: list[tuple[float, float]] = [(0.0, 0.0)] * len(queries)
    spoken = {place: parts for place, query in enumerate(queries) if (parts := _in_columns(query, facts[place]))}
    if spoken:
        told = iter(scan(sample, [part for parts in spoken.values() for part in parts], members, CHUNK))
        for place, parts in spoken.items():
            sums[place] = (next(told), next(told) if len(parts) > 1 else 0.0)
    others = [place for place in range(len(queries)) if place not in spoken]
    if not others:
        return sums
    exact = [(Exact(), Exact()) for _ in others]

    def take(place: int, rows: slice, values: Any) -> None:
        added = _added(facts[others[place]], values, None if members is None else members[rows])
        for sum_so_far, more in zip(exact[place], added, strict=True):
            sum_so_far.add(more)

    evaluate(sample, [queries[place] for place in others], [facts[place] for place in others], take)
    for place, (plain, absolute) in zip(others, exact, strict=True):
        sums[place] = (plain.total, absolute.total)
    return sums


def _in_columns(query: Query, fact: Facts) -> tuple[Query, ...]:
    """The question in the language of expressions: itself, the two shares it is made of, or nothing."""
    if type(query) in (Share, Mean):
        return (query,)
    if fact.kind != "conditional":
        return ()
    return (query.as_shares() if isinstance(query, ConditionalQuery) else None) or ()


def _unit_means(
    sample: Sample, queries: Sequence[Query], facts: Sequence[Facts], members: Bools | None
) -> list[Floats]:
    """For each question its mean within every group, so that groups weigh the same."""
    units, weights = sample.unit_of_row, sample.rows_of_unit
    if units is None or weights is None:
        raise TypeError("these rows are not grouped")
    sums = [np.zeros(sample.size) for _ in queries]

    def take(place: int, rows: slice, values: Values) -> None:
        sums[place] += np.bincount(units[rows], weights=values, minlength=sample.size)

    evaluate(sample, queries, facts, take)
    return [(total / weights)[slice(None) if members is None else members] for total in sums]
