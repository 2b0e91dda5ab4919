"""What wrong guesses teach: which data sets their answers leave.

All of it follows from released answers, so that a restart, and whoever replays the ledger, finds the same.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unworn.events import Crossed
from unworn.mechanisms.synthetic.version_space import GRID, VersionSpace, on_grid
from unworn.mechanisms.threshold.checked_guess import guessed_rows
from unworn.mechanisms.threshold.secret_threshold import released_count
from unworn.queries import parse
from unworn.queries.query import Query, canonical
from unworn.universe.domain.domain import Domain

if TYPE_CHECKING:
    from unworn.mechanisms.contract.record import Record


_CHUNK = 1024


@dataclass(frozen=True, slots=True)
class Wrong:
    """A wrong guess and its answer: what rules data sets out, all of it released."""

    question: str
    low: float
    high: float
    rows: int
    guess: int
    answer: int
    level: int
    counted: bool = True
    """Whether rows say yes or no; what lies between is rounded at random before it is counted."""

    def ends(self, size: int) -> tuple[int, int]:
        """Between which sums a data set stays: near the answer, and by a row at least on its side of the guess.

        The median itself is less than a row from the guess, so half of all go, even where noise was large.
        """
        low, high = self.answer - self.level, self.answer + self.level
        if self.answer > self.guess:
            low = max(low, self.guess + 1)
        if self.answer < self.guess:
            high = min(high, self.guess - 1)
        whole = size * GRID
        first, last = -(-low * whole // self.rows), high * whole // self.rows
        return min(max(first, 0), whole + 1), max(min(last, whole), -1)


@dataclass
class FollowedRecords:
    """The wrong guesses among a list of records that grows and shrinks at its end only: each is read once.

    ``level`` is the threshold in rows, of so many rows. What was seen is no part of a copy.
    """

    level: Callable[[int], int]
    _seen: tuple[int, Record | None, tuple[Wrong, ...]] = field(default=(0, None, ()))

    def wrong(self, records: Sequence[Record]) -> tuple[Wrong, ...]:
        count, last, wrong = self._seen
        if count > len(records) or (count and records[count - 1] != last):
            count, wrong = 0, ()
        for start in range(count, len(records), _CHUNK):  # they may be read from far away, and are not all kept
            news = records[start : start + _CHUNK]
            wrong += tuple(self._read(record) for record in news if record.event == Crossed(True))
        self._seen = (len(records), records[-1] if records else None, wrong)  # at once: another thread may look
        return wrong

    def _read(self, record: Record) -> Wrong:
        offer, guess, answer = record.offer, guessed_rows(record.offer), released_count(record.symbol)
        counted, level = offer.kind == "binary", self.level(offer.rows)
        return Wrong(canonical(record.question), offer.low, offer.high, offer.rows, guess, answer, level, counted)

    def __reduce__(self) -> tuple[Any, ...]:
        return FollowedRecords, (self.level,)


@lru_cache(maxsize=8)
def surviving(domain: Domain, size: int, wrong: tuple[Wrong, ...]) -> VersionSpace:
    """The data sets that all answers to wrong guesses leave. The last few are kept: an ask replays nothing."""
    if not wrong:
        return VersionSpace.of(domain.size, size)
    last = wrong[-1]
    weights = weights_of(domain, parse(json.loads(last.question)), last.low, last.high)
    return surviving(domain, size, wrong[:-1]).within(weights, *last.ends(size))


def weights_of(domain: Domain, query: Query, low: float, high: float) -> NDArray[np.int64]:
    return on_grid((domain.values(query) - low) / (high - low))
