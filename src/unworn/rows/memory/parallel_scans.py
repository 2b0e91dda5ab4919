"""Every row looked at once for many questions of the language, over all the cores.

What a question is told is the same to the last bit whatever else is asked with it, however rows are cut into runs and
whoever looks at which. Counts are whole numbers. Of means, pieces of a fixed number of rows are added up by NumPy, and
the sums of pieces exactly, which gives the same in any order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from unworn.queries.language.expressions import Expression
from unworn.queries.language.means import Mean, Share
from unworn.queries.language.shared_parts import Kept, Keys
from unworn.queries.query import Query
from unworn.queries.row_protocol import Bools
from unworn.rows.memory import threshold_scan
from unworn.rows.memory.condition_bits import Bits, bits
from unworn.rows.memory.exact_sum import Exact
from unworn.rows.memory.row_runs import Chunk
from unworn.rows.memory.scan_threads import run_in_threads, thread_limit
from unworn.rows.memory.threshold_ranks import ENOUGH, RankedThresholds, rank_thresholds

if TYPE_CHECKING:
    from unworn.rows.memory.sample import Sample

WORTH = 2**14
"""With fewer rows a question is sooner answered than compared with all the others."""
ALONE = 2**20
"""Values up to which a pass is over before another thread has begun."""

Tally = tuple[list[int], list[Exact], list[NDArray[np.int64]]]


class Scan:
    """What has to be found on every run of rows, once for all the questions that need it.

    ``piece`` is how many rows are added up as one, on which the last bits of a mean depend; ``pieces`` make a run.
    """

    def __init__(
        self, sample: Sample, queries: Sequence[Query], members: Bools | None, piece: int, pieces: int = 1
    ) -> None:
        self._sample, self._members, self._piece, self._run = sample, members, piece, piece * pieces
        self._shares: list[Share] = []
        self._means: list[Mean] = []
        self._found: list[tuple[bool, int]] = []  # for each question: whether it is a share, and which of them
        self._ranks: list[RankedThresholds] = []
        self._bits: Bits | None = None
        self._shared: dict[int, int] = {}
        if len(queries) == 1 or sample.rows < WORTH:
            for query in queries:
                self._enlist(query)
            self._left = list(range(len(self._shares)))
        else:
            self._together(queries)

    def _enlist(self, query: Query) -> None:
        if isinstance(query, Share):
            self._found.append((True, len(self._shares)))
            self._shares.append(query)
        elif isinstance(query, Mean):
            self._found.append((False, len(self._means)))
            self._means.append(query)
        else:
            raise TypeError(f"{query.label} is not asked in the language of expressions")

    def _together(self, queries: Sequence[Query]) -> None:
        """Each question once, thresholds by ranks, and of the others once what they have in common."""
        keys = Keys(self._sample.columns)
        same: dict[int, tuple[bool, int]] = {}
        for query in queries:
            key = _number(keys, query)
            if key in same:
                self._found.append(same[key])
            else:
                self._enlist(query)
                same[key] = self._found[-1]
        self._ranks = rank_thresholds(keys, list(enumerate(self._shares)), ENOUGH)
        self._left = sorted(set(range(len(self._shares))).difference(*(group.places for group in self._ranks)))
        self._bits = bits(keys, (self._shares[place] for place in self._left))
        asked: list[Expression] = [query.of for query in self._means]
        asked += [expression for group in self._ranks for expression in group.rest]
        asked += self._bits.tests.values() if self._bits else [self._shares[place].where for place in self._left]
        self._shared = keys.shared(asked)

    def totals(self) -> list[float]:
        """For each question the sum of its values."""
        runs = range(0, self._sample.rows, self._run)
        values = self._sample.rows * (len(self._shares) + len(self._means))
        tallies = run_in_threads(self._tally, runs, _threads(values, runs))
        counts = [sum(tally[0][place] for tally in tallies) for place in range(len(self._shares))]
        for place, group in enumerate(self._ranks):
            found = group.counts(sum(tally[2][place] for tally in tallies))  # type: ignore[arg-type]
            for share, count in zip(group.places, found, strict=True):
                counts[share] = count
        sums = [Exact.of(tally[1][place] for tally in tallies).total for place in range(len(self._means))]
        return [float(counts[place]) if share else sums[place] for share, place in self._found]

    def _tally(self, starts: Iterator[int]) -> Tally:
        counts, sums = [0] * len(self._shares), [Exact() for _ in self._means]
        ranks = [group.begin() for group in self._ranks]
        with np.errstate(all="ignore"):
            for start in starts:
                run = Chunk(self._sample, start, min(self._run, self._sample.rows - start), {})
                run.kept = Kept(self._shared) if self._shared else None
                inside = None if self._members is None else self._members[run.span]
                if self._bits is not None:
                    self._bits.add(counts, self._left, run, inside)
                for place in self._left if self._bits is None else ():
                    yes = self._shares[place].values(run)
                    counts[place] += int(np.count_nonzero(yes if inside is None else yes & inside))
                for query, exact in zip(self._means, sums, strict=True):
                    self._add(exact, query.values(run), inside)
                for group, below in zip(self._ranks, ranks, strict=True):
                    group.add(below, run, inside)
        return counts, sums, ranks

    def _add(self, exact: Exact, values: NDArray[np.float64], inside: Bools | None) -> None:
        for start in range(0, len(values), self._piece):
            piece = slice(start, start + self._piece)
            exact.add(float(np.add.reduce(values[piece] if inside is None else values[piece][inside[piece]])))


def _number(keys: Keys, query: Query) -> int:
    """Equal for questions whose values are equal on every row."""
    if isinstance(query, Share):
        return keys.number(("share", keys.of(query.where)))
    return keys.number(("mean", keys.of(query.of), query.low, query.high) if isinstance(query, Mean) else id(query))


def scan(sample: Sample, queries: Sequence[Query], members: Bools | None, piece: int) -> list[float]:
    """The sum of each question's values over the rows, or over those that are members."""
    if not queries:
        return []
    if len(queries) == 1 and members is None and isinstance(queries[0], Share):
        tests = threshold_scan.tests(queries[0].where, sample.columns.__getitem__)
        if tests is not None:
            runs = threshold_scan.runs(tests, sample.rows)
            counts = run_in_threads(
                partial(threshold_scan.count_runs, tests, runs.step), runs, _threads(sample.rows, runs)
            )
            return [float(sum(counts))]
    return Scan(sample, queries, members, piece).totals()


def _threads(values: int, runs: range) -> int:
    if values <= ALONE:
        return 1
    if runs.step >= 2**14:
        # Memory for the values of a run is asked for and given back again and again. A large piece given back once
        # keeps the allocator from returning such pieces to the system each time, which takes longer than to fill them.
        np.empty(2**24, dtype=np.uint8)
    return min(thread_limit(), len(runs))
