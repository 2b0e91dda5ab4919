"""Counts that noise is added to: of every unit rounded to 0 or 1 at random, or of a few fresh units.

A question with values between 0 and 1 becomes a 0/1 question unit by unit: a value v counts as 1 with probability v.
The mean stays what it was, and one unit can change the count by 1 and no more. The coins of a question come from its
own stream, in the order of the units, so that neither the questions asked beside it nor the runs in which rows are read
change what it is told.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from unworn.noise import Stream
from unworn.noise.draws import coins, indices
from unworn.queries.language.means import Share
from unworn.queries.query import Facts, Query
from unworn.queries.row_protocol import Floats, Frame, Words
from unworn.rows.memory import row_passes, threshold_scan
from unworn.rows.memory.row_runs import PickedRows

if TYPE_CHECKING:
    from unworn.rows.memory.sample import Sample


def count_rounded(sample: Sample, queries: Sequence[Query], noises: Sequence[Words]) -> list[int]:
    """How many units come out 1, for each question, in one pass over the rows."""
    facts = _without_code(sample, queries)
    if len(noises) != len(queries) or len({id(noise) for noise in noises}) < len(noises):
        raise ValueError(f"{len(queries)} questions need as many streams, each its own, not {len(noises)}")
    if sample.unit_of_row is None:
        # A count needs no coin: it is a scan like any other, and its stream stays as it is.
        plain = [place for place, fact in enumerate(facts) if fact.kind == "binary"]
        ones = [0] * len(queries)
        counted = row_passes.statistics(sample, [queries[place] for place in plain], None)
        for place, found in zip(plain, counted, strict=True):
            ones[place] = found
        others = [place for place, fact in enumerate(facts) if fact.kind != "binary"]

        def take(place: int, rows: slice, values: row_passes.Values) -> None:
            ones[others[place]] += _ones(facts[others[place]], values, noises[others[place]])

        row_passes.evaluate(sample, [queries[place] for place in others], [facts[place] for place in others], take)
        return ones
    several = max(1, row_passes.CELLS // sample.size)
    told: list[int] = []
    for start in range(0, len(queries), several):
        block = slice(start, start + several)
        means = _unit_means(sample, queries[block], facts[block])
        told += [
            _count(fact, mean, noise) for fact, mean, noise in zip(facts[block], means, noises[block], strict=True)
        ]
    return told


def count_drawn(sample: Sample, query: Query, units: int, noise: Words, replace: bool) -> int:
    """How many of ``units`` fresh units come out 1. The work grows with them, and not with the sample."""
    (fact,) = _without_code(sample, [query])
    if units < 1 or (units > sample.size and not replace):
        raise ValueError(
            f"cannot draw {units} of {sample.size} units: draw from 1 to {sample.size}, or with replace=True"
        )
    chosen = indices(secret(noise), sample.size, units, replace)
    if fact.kind == "binary" and replace:
        chosen.sort()  # a count has no order, and rows in theirs are gathered in half the time
    with np.errstate(all="ignore"):
        if sample.unit_of_row is not None:
            return _count(fact, _drawn_means(sample, query, chosen), noise)
        runs = range(0, units, row_passes.CHUNK)
        return total(
            fact, query, (PickedRows(sample, chosen[start : start + row_passes.CHUNK]) for start in runs), noise
        )


def ones(sample: Sample, query: Query, runs: Iterable[Frame], noise: Words) -> int:
    """The same over rows that were drawn before."""
    (fact,) = _without_code(sample, [query])
    return total(fact, query, runs, noise)


def total(fact: Facts, query: Query, runs: Iterable[Frame], noise: Words) -> int:
    """The same for a question that was checked before."""
    ones = 0
    for run in runs:
        tests = (
            threshold_scan.tests(query.where, run.column) if type(query) is Share and fact.kind == "binary" else None
        )
        ones += _ones(fact, query.values(run), noise) if tests is None else threshold_scan.count(tests)
    return ones


def secret(noise: Words) -> Stream:
    """The same stream. Questions lie below noise and cannot name it; a generator that can be predicted is none."""
    if not isinstance(noise, Stream):
        raise TypeError(f"rows are drawn and rounded with a keyed Stream, not {type(noise).__name__}")
    return noise


def _without_code(sample: Sample, queries: Sequence[Query]) -> list[Facts]:
    """A failure of user code would be one more outcome, which these counts have no room for."""
    facts = row_passes.check_queries(sample, queries)
    for query, fact in zip(queries, facts, strict=True):
        if fact.runs_code:
            raise TypeError(f"{query.label} runs code on the rows, and can neither be rounded nor put to drawn rows")
    return facts


def _ones(fact: Facts, values: row_passes.Values, noise: Words) -> int:
    if fact.kind == "binary":
        return int(np.count_nonzero(values))
    # Whatever is no number counts as the low end, as everywhere: `fmax` prefers the number.
    chances = np.minimum(np.fmax((values - fact.low) / (fact.high - fact.low), 0.0), 1.0)
    return int(np.count_nonzero(coins(secret(noise), chances)))


def _count(fact: Facts, means: Floats, noise: Words) -> int:
    """The same over means of groups, a run at a time, so that coins take no more room than rows do."""
    runs = range(0, len(means), row_passes.CHUNK)
    return sum(_ones(fact, means[start : start + row_passes.CHUNK], noise) for start in runs)


def _unit_means(sample: Sample, queries: Sequence[Query], facts: Sequence[Facts]) -> list[Floats]:
    """For each question its mean within every group, added row by row: no run of rows changes the last bit."""
    units, weights = sample.unit_of_row, sample.rows_of_unit
    if units is None or weights is None:
        raise TypeError("these rows are not grouped")
    sums = [np.zeros(sample.size) for _ in queries]

    def take(place: int, rows: slice, values: row_passes.Values) -> None:
        np.add.at(sums[place], units[rows], values.astype(np.float64, copy=False))

    row_passes.evaluate(sample, queries, facts, take)
    return [np.divide(total, weights, out=total) for total in sums]


def _drawn_means(sample: Sample, query: Query, chosen: NDArray[np.int64]) -> Floats:
    """The question's mean within each of these groups, added in the same order as over all rows."""
    sums = np.zeros(len(chosen))
    sizes = np.zeros(len(chosen))
    for rows, places in _runs(sample, chosen):
        values = query.values(PickedRows(sample, rows))
        np.add.at(sums, places, values.astype(np.float64, copy=False))
        np.add.at(sizes, places, 1.0)
    return np.divide(sums, sizes, out=sums)


def _runs(sample: Sample, chosen: NDArray[np.int64]) -> Iterator[tuple[NDArray[np.int64], NDArray[np.intp]]]:
    """The rows of these groups a run at a time, and for each of them the place of its group among the chosen."""
    order, starts = sample.rows_by_unit
    first = starts.take(chosen)
    ends = np.cumsum(starts.take(chosen + 1) - first)
    begins = ends - (starts.take(chosen + 1) - first)
    for start in range(0, int(ends[-1]), row_passes.CHUNK):
        stop = min(start + row_passes.CHUNK, int(ends[-1]))
        low, high = np.searchsorted(ends, [start, stop - 1], side="right")
        here = slice(int(low), int(high) + 1)
        inside = np.minimum(ends[here], stop) - np.maximum(begins[here], start)
        places = np.repeat(np.arange(here.start, here.stop), inside)
        yield order.take(first.take(places) - begins.take(places) + np.arange(start, stop)), places
