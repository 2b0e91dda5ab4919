"""Rows drawn before the question comes: what is left to do when it does is to look at them.

A draw must be fresh and secret, and must serve one answer only. One that is made with its question is all that by its
key: the entry, the head before it and the question. One that is made ahead knows none of these, so it is keyed by a
number of its own instead: which pool, drawn at random when the pool begins, and which draw of that pool. Whoever asks
knows no row of it, so a question cannot depend on it; and its number is entered with the answer, where no number may
stand twice. So neither a crash (a new pool has a new name, and what was gathered is gone), nor a fork, nor a copy of
the whole process that goes on beside it, can put two answers to the same rows: the ledger takes only one of them.

Rows in memory and in mapped files are copied draw by draw; an engine's come together, in one pass over all its rows.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NoReturn, cast

import numpy as np

from unworn.errors import Unaskable
from unworn.noise import Stream
from unworn.noise.draws import indices
from unworn.queries.language.evaluation import prepare
from unworn.queries.query import Query
from unworn.queries.row_protocol import Words
from unworn.rows.memory import row_draws, row_passes
from unworn.rows.memory.row_runs import PickedRows
from unworn.rows.sql.stored_pool import Draw, StoredDraw, gather_draws
from unworn.rows.sql.stored_rows import Stored

if TYPE_CHECKING:
    from unworn.rows.held_rows import HeldRows
    from unworn.rows.memory.sample import Sample


class GatheredRows:
    """Fresh rows for one answer, their columns copied together."""

    def __init__(self, sample: Sample, draw: Draw, key: bytes, units: int, replace: bool, names: Sequence[str]) -> None:
        self.draw, self.units, self.replace = draw, units, replace
        self._sample = sample
        chosen = indices(Stream(key, "pool", *draw), sample.size, units, replace)
        runs = range(0, units, row_passes.CHUNK)
        self._runs = [PickedRows(sample, chosen[start : start + row_passes.CHUNK]) for start in runs]
        with sample.reading(), np.errstate(all="ignore"):
            for run in self._runs:
                for name in names:
                    run.prepared[name] = prepare(run.column(name))

    def count(self, query: Query, noise: Words) -> int:
        """How many of these rows come out 1."""
        with self._sample.reading(), np.errstate(all="ignore"):
            return row_draws.ones(self._sample, query, self._runs, noise)

    def __reduce__(self) -> NoReturn:
        raise TypeError("drawn rows cannot be pickled: rows do not travel")


class Pool:
    """Fresh rows for the next answers, each used once."""

    def __init__(self, sample: HeldRows, key: bytes) -> None:
        if sample.groups is not None:
            raise Unaskable("rows in groups are drawn when they are asked: a pool holds rows that stand for themselves")
        self._sample, self._key = sample, key
        self.has_failed = False
        """Whether rows could not be drawn: then nobody tries again, for it is a fact about rows."""
        self._begin()

    def _begin(self) -> None:
        self._pid, self._name, self._made = os.getpid(), os.urandom(16).hex(), 0
        self._ready: deque[GatheredRows | StoredDraw] = deque()

    def __len__(self) -> int:
        self._mine()
        return len(self._ready)

    def _mine(self) -> None:
        if self._pid != os.getpid():
            self._begin()  # what was gathered before the fork is the parent's to use

    def gather(self, samples: int, units: int, replace: bool, names: Sequence[str] | None = None) -> None:
        """Draw rows for so many more answers, and copy these columns of them (all, unless named)."""
        self._mine()
        wanted = list(self._sample.columns) if names is None else list(names)
        for name in wanted:
            self._sample.schema.of(name)
        first, self._made = self._made + 1, self._made + samples
        drawn = [(self._name, number) for number in range(first, first + samples)]
        self._ready.extend(list(self._gathered(drawn, units, replace, wanted)))

    def _gathered(
        self, drawn: Sequence[Draw], units: int, replace: bool, names: Sequence[str]
    ) -> Iterable[GatheredRows | StoredDraw]:
        sample, key = self._sample, self._key
        if isinstance(sample, Stored):
            return gather_draws(sample, key, drawn, units, replace, names)
        return (GatheredRows(cast("Sample", sample), draw, key, units, replace, names) for draw in drawn)

    def take(self, used: Callable[[Draw], bool]) -> GatheredRows | StoredDraw | None:
        """The next rows that no answer has used; None when there are none."""
        self._mine()
        while self._ready:
            found = self._ready.popleft()
            if not used(found.draw):
                return found
        return None
