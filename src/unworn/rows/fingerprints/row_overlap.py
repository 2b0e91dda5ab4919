"""Rows of which some are known: a part of a holdout, a holdout and more, or every row of one twice.

Digests of whole columns are silent as soon as one row is left out. So the registry keeps a few hashes of rows, always
the smallest, and those of other rows are compared with them. Two independent samples coincide where rows are few, and
then as often within one of them as across: whether they share more than that is judged as between a holdout and its
``train`` (:mod:`unworn.rows.fingerprints.shared_rows`). The values looked at are the smallest of both samples taken
together, which does not depend on what is in which of them.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unworn.ledger.registry.row_sketch import RowSketch
from unworn.rows.fingerprints.repeated_rows import is_fine
from unworn.rows.fingerprints.row_hashes import Words
from unworn.rows.fingerprints.shared_rows import log_tail

if TYPE_CHECKING:
    from unworn.queries.row_protocol import Column
    from unworn.rows.memory.sample import Sample

KEPT = 1024
"""Hashes of different rows that are kept: they show a tenth that two sets of one size share, or a fiftieth of one."""
_CHANCE = math.log(1e-9)
"""How often two independent samples may be taken for one another, at most."""
_DIFFERENT = 0.95
_FEW_PAIRS = 3.0
_LOOKED_AT = 4096
_DIGITS = re.compile(r"\d+")


class SmallestHashes:
    """The smallest hashes of rows that come a run at a time, and how often each of them came."""

    def __init__(self) -> None:
        self._words, self._times = np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.int64)

    def add(self, lane: Words) -> None:
        """Take in some rows."""
        if len(self._words) == KEPT:
            lane = lane[lane <= self._words[-1]]
        words, times = np.unique(lane, return_counts=True)
        self.merge(words, times)

    def merge(self, words: Words, times: NDArray[Any]) -> None:
        """Take in rows that were counted already, in ascending order."""
        joined = np.concatenate([self._words, words[:KEPT]])
        counts = np.concatenate([self._times, times[:KEPT]])
        known, places = np.unique(joined, return_inverse=True)
        self._words = known[:KEPT]
        self._times = np.bincount(places, weights=counts).astype(np.int64)[:KEPT]

    def sketch(self, size: int) -> RowSketch:
        """What the registry keeps of them."""
        times = np.minimum(self._times, 2**32 - 1)
        return RowSketch(size, self._words.astype("<u8").tobytes(), times.astype("<u4").tobytes())


def tells_rows(sample: Sample, different: int) -> bool:
    """Whether rows are known again one by one: by a number that nobody writes twice, or because hardly any repeat.

    Row numbers, calendars and ids differ everywhere, and are the same in unrelated data. And rows that differ because
    repeated ones were dropped say nothing: so many as there are must not come about by chance, column by column.
    """
    columns = sample.columns.values()
    if any(map(is_fine, columns)):
        return True
    if len(sample.columns) < 2 or different < _DIFFERENT * sample.rows:
        return False
    if any(sample.canonical[name].regular for name in sample.columns) or any(map(_is_numbered, columns)):
        return False
    pairs = sample.rows**2 / 2
    for column in columns:
        if pairs < _FEW_PAIRS:
            break
        pairs *= _repetition(column)
    return pairs < _FEW_PAIRS


def _is_numbered(column: Column) -> bool:
    """Whether all words differ, and most only in their digits, as in ``img_007.png``."""
    words = () if column.vocabulary is None else column.vocabulary
    if len(words) < _DIFFERENT * len(column.values):
        return False
    shown = words[:_LOOKED_AT]
    return len({_DIGITS.sub("", word) for word in shown}) <= len(shown) / 2


def _repetition(column: Column) -> float:
    """How often two rows have the same value, as far as a look at some of them tells."""
    values = column.values[np.arange(0, len(column.values), -(-len(column.values) // _LOOKED_AT))]
    counts = np.unique(values, return_counts=True)[1]
    return float((counts * (counts - 1)).sum() / (len(values) * (len(values) - 1)))


def shared_part(here: RowSketch, known: RowSketch) -> int:
    """About how many of the rows here are among the known ones; 0 where chance explains them.

    >>> first, second = SmallestHashes(), SmallestHashes()
    >>> first.add(np.arange(1_000, dtype=np.uint64))
    >>> second.add(np.arange(100, 600, dtype=np.uint64))
    >>> shared_part(second.sketch(500), first.sketch(1_000))
    500
    >>> second.add(np.arange(1_000, 1_500, dtype=np.uint64))
    >>> shared_part(SmallestHashes().sketch(0), first.sketch(1_000))
    0
    """
    words = [np.frombuffer(each.words, dtype="<u8") for each in (here, known)]
    times = [np.frombuffer(each.times, dtype="<u4").astype(np.int64) for each in (here, known)]
    smallest = np.unique(np.concatenate(words))
    if max(map(len, words)) == KEPT:  # of larger ones one of the two may have been dropped
        smallest = smallest[:KEPT]
    counts = [_counts(smallest, own, often) for own, often in zip(words, times, strict=True)]
    both, together = (counts[0] > 0) & (counts[1] > 0), counts[0] + counts[1]
    sizes, often = np.unique(together[together > 1], return_counts=True)
    if log_tail(sizes, often, int(np.count_nonzero(both)), here.size, known.size) >= _CHANCE:
        return 0
    return max(1, round(here.size * float(counts[0][both].sum() / counts[0].sum())))


def _counts(smallest: Words, words: Words, times: NDArray[Any]) -> NDArray[np.int64]:
    found = np.zeros(len(smallest), dtype=np.int64)
    places = np.searchsorted(smallest, words)
    inside = places < len(smallest)
    found[places[inside]] = times[inside]
    return found
