"""A column's values as one digest without key, and whether unrelated rows would have another."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unworn.queries.arrays import number_words
from unworn.queries.row_protocol import Column
from unworn.rows.fingerprints.column_blocks import block_words
from unworn.rows.fingerprints.hash_sums import SORTED, tall_values
from unworn.rows.fingerprints.row_hashes import Fields, runs, text_digest, value_words

Counts = NDArray[np.int64]
Digest = Any  # of hashlib
CHANCE = math.log(1e-12)  # a column's digest counts when unrelated rows share it more rarely than this


@dataclass(frozen=True)
class Canonical:
    """Made once, and keyed for as many holdouts as there are."""

    kind: str
    sha256: bytes
    distinctive: bool
    sequence: bytes
    scattered: bool
    regular: bool = False
    """Whether the values are as evenly spaced as row numbers: different everywhere, and yet in unrelated rows too."""


def canonical_column(column: Column) -> Canonical:
    """The digests of a column's values in any order, and of their sequence.

    Up to 2^25 rows values are sorted. More are not: sums take their place, in memory that does not grow.
    """
    absent = 0 if column.missing is None else int(np.count_nonzero(column.missing))
    digest = hashlib.sha256(absent.to_bytes(8, "little"))
    if column.vocabulary is not None:
        repeats = _words(column, digest)
        regular = False
    elif len(column.values) > SORTED:
        repeats, regular = tall_values(column, digest)
    else:
        repeats, regular = _sorted(column, digest)
    counts = repeats if absent == 0 else np.append(repeats, absent)
    distinctive = bool(log_chance(counts) < CHANCE) and not regular
    sequence, scattered = _sequence(column, counts)
    return Canonical(column.kind, digest.digest(), distinctive, sequence, scattered and not regular, regular)


def canonical_block(kind: str, values: NDArray[Any]) -> list[Canonical]:
    """The same for many short columns of numbers or booleans, one per line of ``values``, none of them missing."""
    columns, rows = values.shape
    floats = values.astype(np.float64)
    words = np.sort(block_words(kind, values), axis=1)
    edges = np.ones((columns, rows + 1), dtype=bool)
    np.not_equal(words[:, 1:], words[:, :-1], out=edges[:, 1:-1])
    turns = np.count_nonzero(floats[:, 1:] != floats[:, :-1], axis=1).tolist()
    regular = _are_evenly_spaced(floats)
    sequences, values_sorted = _lines(number_words(floats)), _lines(words)
    absent, present = bytes(8), bytes(8 * rows)
    chances: dict[bytes, tuple[bool, float]] = {}  # of the counts there are: many columns have the same
    found: list[Canonical] = []
    # Of all lines together: between the last edge of one and the first of the next lies one more.
    together = np.diff(np.flatnonzero(edges))
    ends = np.cumsum(np.count_nonzero(edges, axis=1)).tolist()
    for place, (start, end) in enumerate(zip([0, *ends], ends, strict=False)):
        repeats = together[start : end - 1]
        known = repeats.tobytes()
        if known not in chances:
            chances[known] = bool(log_chance(repeats) < CHANCE), _nats(rows, repeats)
        distinctive, nats = chances[known]
        is_regular = len(repeats) == rows and bool(regular[place])
        scattered = min(_places(rows, turns[place]), nats) > -CHANCE
        found.append(
            Canonical(
                kind,
                hashlib.sha256(absent + values_sorted[place]).digest(),
                distinctive and not is_regular,
                hashlib.sha256(b"number" + sequences[place] + present).digest(),
                scattered and not is_regular,
                is_regular,
            )
        )
    return found


def _lines(words: NDArray[np.uint64]) -> list[bytes]:
    """The bytes of each line."""
    joined, size = words.astype("<u8", copy=False).tobytes(), 8 * words.shape[1]
    return [joined[start : start + size] for start in range(0, len(joined), size)]


def _are_evenly_spaced(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """:func:`_evenly_spaced` for each line."""
    numbers = np.sort(values, axis=1)
    with np.errstate(all="ignore"):
        steps = np.diff(numbers, axis=1)
        return np.asarray((steps == steps[:, :1]).all(axis=1))


def _words(column: Column, digest: Digest) -> Counts:
    """Text: how often each word comes."""
    words = [] if column.vocabulary is None else column.vocabulary.tolist()
    times = np.zeros(len(words), dtype=np.int64)
    for rows in runs(len(column.values)):
        part = column[rows]
        present = part.values if part.missing is None else part.values[~part.missing]
        if len(words) <= len(present):
            times += np.bincount(present, minlength=len(words))
        else:
            np.add.at(times, present, 1)
    used = [(text, count) for text, count in zip(words, times.tolist(), strict=True) if count]
    for entry, count in sorted((text_digest(text), count) for text, count in used):
        digest.update(entry + count.to_bytes(8, "little"))
    return times[times > 0]


def _sorted(column: Column, digest: Digest) -> tuple[Counts, bool]:
    """Other values, sorted: how often each comes, and whether they are as regular as row numbers."""
    present = slice(None) if column.missing is None else ~column.missing
    words = np.sort(value_words(column)[present])
    for rows in runs(len(words)):
        digest.update(words[rows].astype("<u8", copy=False).data)
    edges = np.flatnonzero(words[1:] != words[:-1]) + 1
    repeats = np.diff(np.concatenate(([0], edges, [len(words)]))) if len(words) else np.zeros(0, dtype=np.int64)
    return repeats, len(words) == len(repeats) and _evenly_spaced(column.values[present])


def _sequence(column: Column, counts: Counts) -> tuple[bytes, bool]:
    """A digest of the values in their order, and whether unrelated rows would have another.

    They would not if the values come in a few long runs, as sorted labels do, or change at every row: the number of
    ways to place so many changes, and the entropy of the values, must both be large.
    """
    rows, numeric = len(column.values), column.kind in ("number", "bool")
    digest = hashlib.sha256(b"number" if numeric else column.kind.encode())
    fields = Fields(column)
    for place in fields.places:
        for run in runs(rows):
            if numeric and place != 2:
                part = column[run]
                words = value_words(Column("number", part.values.astype(np.float64), None))
                words = words if part.missing is None else np.where(part.missing, np.uint64(0), words)
            else:
                words = fields.word(run, place)
            digest.update(words.astype("<u8", copy=False).data)
    turns = sum(_turns(column[max(run.start - 1, 0) : run.stop]) for run in runs(rows))
    return digest.digest(), min(_places(rows, turns), _nats(rows, counts)) > -CHANCE


def _places(rows: int, turns: int) -> float:
    """The logarithm of the number of ways to place so many changes."""
    size = max(rows - 1, 0)
    return math.lgamma(size + 1) - math.lgamma(turns + 1) - math.lgamma(size - turns + 1)


def _nats(rows: int, counts: Counts) -> float:
    """The entropy of the values, over all rows."""
    shares = counts[counts > 0] / max(counts.sum(), 1)
    return -rows * float(np.sum(shares * np.log(shares)))


def _turns(part: Column) -> int:
    """How often a row differs from the one before it. Words of text differ where their codes do."""
    values = part.values.astype(np.float64) if part.kind in ("number", "bool") else part.values
    changes = values[1:] != values[:-1]
    if part.missing is not None:
        both = part.missing[1:] & part.missing[:-1]
        changes = (changes & ~both) | (part.missing[1:] != part.missing[:-1])
    return int(np.count_nonzero(changes))


def log_chance(repeats: Counts) -> float:
    """About how likely, in logs, another sample of the same distribution has this histogram (Stirling)."""
    return float(0.5 * np.log(2 * np.pi * repeats.sum()) - 0.5 * np.log(2 * np.pi * repeats).sum())


def _evenly_spaced(values: NDArray[np.generic]) -> bool:
    """Row numbers and calendars are distinct everywhere, and yet the same in unrelated data."""
    numbers = np.sort(values.astype(np.float64))
    if len(numbers) < 2:
        return True
    with np.errstate(all="ignore"):
        return bool((np.diff(numbers) == numbers[1] - numbers[0]).all())
