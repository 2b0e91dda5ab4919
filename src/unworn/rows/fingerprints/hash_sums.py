"""Digests of more rows than are worth sorting: sums of hashes, which are as blind to the order of rows.

A sum of mixed words modulo 2^64 is the same in any order, takes one pass, and holds nothing. Four of them, mixed in
different ways, agree for different rows by chance only: about one in 2^128. Fewer rows are sorted, as they always
were, so that a ledger that was sealed before still knows its rows; the number of rows alone decides which it is.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unworn.queries.row_protocol import Column
from unworn.rows.fingerprints.row_hashes import Words, mix_words, runs, value_words

SORTED = 2**25
"""So many rows are still sorted, in about a gigabyte."""

_MANY = 2**20
"""More different values than these are not counted one by one: the column tells rows apart, and that is enough."""

_SALTS = np.array([0, 0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9], dtype=np.uint64)


class Sums:
    """Four sums over rows of one or two words each."""

    def __init__(self) -> None:
        self.totals = np.zeros(len(_SALTS), dtype=np.uint64)

    def add(self, first: Words, second: Words | None = None, *, times: NDArray[np.int64] | None = None) -> None:
        """Take in some rows, each as often as ``times`` says."""
        if second is None:
            parts = [mix_words(first + salt) for salt in _SALTS]
        else:  # two lanes of a keyed hash are mixed already
            parts = [first, second, mix_words(first + second * _SALTS[1]), mix_words(first * _SALTS[2] + second)]
        for place, words in enumerate(parts):
            counted = words if times is None else words * times.astype(np.uint64)
            self.totals[place : place + 1] += counted.sum(dtype=np.uint64)

    def take(self, totals: Words) -> None:
        """Take in what was summed elsewhere."""
        self.totals += totals

    def bytes(self) -> bytes:
        return b"sums\0" + self.totals.astype("<u8").tobytes()


def tall_values(column: Column, digest: Any) -> tuple[NDArray[np.int64], bool]:
    """Take the values into a digest; how often each comes (or that there are many), and whether they are regular."""
    sums = Sums()
    if column.values.dtype.itemsize == 1:
        words, times = _bytes(column)
        sums.add(words, times=times)
    else:
        for rows in runs(len(column.values)):
            sums.add(_present_words(column[rows]))
        times = _counted(column)
    digest.update(sums.bytes())
    if len(times) < _MANY:
        return times, False  # far fewer values than rows
    return times, _regular(column)


def _present_words(part: Column) -> Words:
    words = value_words(part)
    return words if part.missing is None else words[~part.missing]


def _bytes(column: Column) -> tuple[Words, NDArray[np.int64]]:
    """Values of a byte each: 256 at most, and how often each comes."""
    times = np.zeros(256, dtype=np.int64)
    for rows in runs(len(column.values)):
        part = column[rows]
        times += np.bincount(_present(part).view(np.uint8), minlength=256)
    found = np.flatnonzero(times)
    values = found.astype(np.uint8).view(column.values.dtype)
    return value_words(Column(column.kind, values)), times[found]


def _present(part: Column) -> NDArray[Any]:
    return part.values if part.missing is None else part.values[~part.missing]


def _counted(column: Column) -> NDArray[np.int64]:
    """How often each value comes; as soon as there are many, one for each of as many."""
    known, times = np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.int64)
    for rows in runs(len(column.values)):
        words, counts = np.unique(_present_words(column[rows]), return_counts=True)
        known, places = np.unique(np.concatenate([known, words]), return_inverse=True)
        times = np.bincount(places, weights=np.concatenate([times, counts])).astype(np.int64)
        if len(known) >= _MANY:
            return np.ones(_MANY, dtype=np.int64)
    return times


def _regular(column: Column) -> bool:
    """Row numbers and calendars: every step from the least to the greatest value taken once."""
    ends = [_ends(_present(column[rows]).astype(np.float64)) for rows in runs(len(column.values))]
    low, high = min(end[0] for end in ends), max(end[1] for end in ends)
    rows = len(column.values) if column.missing is None else int(np.count_nonzero(~column.missing))
    step = (high - low) / (rows - 1)
    if not step > 0 or not np.isfinite(step):
        return False
    taken, wanted = Sums(), Sums()
    start = 0
    for run in runs(len(column.values)):
        with np.errstate(all="ignore"):
            steps = (_present(column[run]).astype(np.float64) - low) / step
            places = np.rint(steps)
            if not bool((steps == places).all()):
                return False
        taken.add(places.astype(np.uint64))
        wanted.add(np.arange(start, start + len(places), dtype=np.uint64))
        start += len(places)
    return taken.bytes() == wanted.bytes()


def _ends(values: NDArray[np.float64]) -> tuple[float, float]:
    return (float(values.min()), float(values.max())) if values.size else (np.inf, -np.inf)
