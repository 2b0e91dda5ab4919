"""Fingerprints of rows: keyed, over values, blind to the order of rows and columns and to dtypes.

Keyed, because the digest of a column with few values could otherwise be looked up. One digest a column,
because rows that come back with a column added or renamed are the same rows, and must not get a new budget.
"""

from __future__ import annotations

import hashlib
import hmac
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from unworn.noise import Stream
from unworn.queries.arrays import number_words
from unworn.queries.query import canonical
from unworn.queries.rows import Column

if TYPE_CHECKING:
    from unworn.sample.sample import Sample

Words = NDArray[np.uint64]
CHANCE = math.log(1e-12)  # a column's digest counts when unrelated rows share it more rarely than this
_SHIFT = np.uint64(32)
_ONE, _TWO = np.uint64(0xD6E8FEB86659FD93), np.uint64(0xFF51AFD7ED558CCD)
_RUN = 65_536


@dataclass(frozen=True)
class Digests:
    """What a ledger keeps of the rows.

    ``rows`` and ``grouping`` are blind to the order of rows, ``order`` is not. A column has two digests, of its values
    in any order and of the sequence they come in, the second blind to the difference between numbers and booleans.
    ``telling`` holds those of them that unrelated rows would not share by chance, with the column's name. The others
    match nothing: which are telling depends on values, and must not be read off a ledger.
    """

    rows: str
    grouping: str
    order: str
    columns: dict[str, tuple[str, str]]
    telling: dict[str, str]


@dataclass(frozen=True)
class _Canonical:
    """A column's values as one digest, without key: made once, keyed for as many holdouts as there are."""

    kind: str
    sha256: bytes
    distinctive: bool
    sequence: bytes
    scattered: bool


def digests(sample: Sample, secret: bytes) -> Digests:
    """The digests of these rows under a holdout's secret, made once."""
    if secret not in sample.digests:
        sample.digests[secret] = _digests(sample, secret)
    told: Digests = sample.digests[secret]
    return told


def _digests(sample: Sample, secret: bytes) -> Digests:
    columns: dict[str, tuple[str, str]] = {}
    telling: dict[str, str] = {}
    for name, column in sample.columns.items():
        if name not in sample.canonical:
            sample.canonical[name] = _canonical(column)
        known: _Canonical = sample.canonical[name]
        common = b"common\0" + name.encode() + b"\0"
        values = b"column\0" if known.distinctive else common
        sequence = b"sequence\0" if known.scattered else common
        columns[name] = (
            _keyed(secret, values + known.kind.encode() + b"\0" + known.sha256),
            _keyed(secret, sequence + known.sequence),
        )
        told = zip(columns[name], (known.distinctive, known.scattered), strict=True)
        telling |= {digest: name for digest, tells in told if tells}
    names = sorted(sample.columns)
    rows = _rows(sample, secret, names, grouped=False)
    grouping = rows if sample.groups is None else _rows(sample, secret, names, grouped=True)
    order = _keyed(
        secret, b"order\0" + _hashes(sample, secret, map(sample.columns.__getitem__, names)).astype("<u8").tobytes()
    )
    return Digests(rows, grouping, order, columns, telling)


def canonical_order(sample: Sample, secret: bytes) -> NDArray[np.intp]:
    """The sampled units in an order that does not depend on the one they came in; equal units are interchangeable."""
    hashes = _hashes(sample, secret, (sample.columns[name] for name in sorted(sample.columns)))
    units = sample.unit_of_row
    if units is not None:
        sums = np.zeros((2, sample.size), dtype=np.uint64)
        for total, lane in zip(sums, hashes, strict=True):
            np.add.at(total, units, lane)
        hashes = sums
    return np.lexsort((hashes[1], hashes[0]))


def rows_digest(sample: Sample, secret: bytes, names: Iterable[str]) -> str:
    """The digest of the rows over some columns: do two samples agree as far as these columns go?"""
    return _rows(sample, secret, sorted(set(names)), grouped=False)


def _keyed(secret: bytes, message: bytes) -> str:
    return hmac.new(secret, message, hashlib.sha256).hexdigest()


def _canonical(column: Column) -> _Canonical:
    present = slice(None) if column.missing is None else ~column.missing
    absent = 0 if column.missing is None else int(np.count_nonzero(column.missing))
    digest = hashlib.sha256(absent.to_bytes(8, "little"))
    if column.vocabulary is not None:
        times = np.bincount(column.values[present], minlength=len(column.vocabulary))
        used = [(text, count) for text, count in zip(column.vocabulary.tolist(), times.tolist(), strict=True) if count]
        for entry, count in sorted((_text_digest(text), count) for text, count in used):
            digest.update(entry + count.to_bytes(8, "little"))
        repeats, regular = times[times > 0], False
    else:
        words = np.sort(_words(column)[present])
        digest.update(words.astype("<u8").tobytes())
        edges = np.flatnonzero(words[1:] != words[:-1]) + 1
        repeats = np.diff(np.concatenate(([0], edges, [len(words)]))) if len(words) else np.zeros(0, dtype=np.intp)
        regular = len(words) == len(repeats) and _evenly_spaced(column.values[present])
    counts = repeats if absent == 0 else np.append(repeats, absent)
    distinctive = bool(_log_chance(counts) < CHANCE) and not regular
    sequence, scattered = _sequence(column, counts)
    return _Canonical(column.kind, digest.digest(), distinctive, sequence, scattered and not regular)


def _sequence(column: Column, counts: NDArray[np.intp]) -> tuple[bytes, bool]:
    """A digest of the values in their order, and whether unrelated rows would have another.

    They would not if the values come in a few long runs, as sorted labels do, or change at every row: the number of
    ways to place so many changes, and the entropy of the values, must both be large.
    """
    numeric = column.kind in ("number", "bool")
    plain = Column("number", column.values.astype(np.float64), column.missing) if numeric else column
    digest = hashlib.sha256(b"number" if numeric else column.kind.encode())
    changes = np.zeros(max(len(plain.values) - 1, 0), dtype=bool)
    for words, _ in _fields(plain):
        digest.update(words.astype("<u8").tobytes())
        changes |= words[1:] != words[:-1]
    size, turns = len(changes), int(np.count_nonzero(changes))
    places = math.lgamma(size + 1) - math.lgamma(turns + 1) - math.lgamma(size - turns + 1)
    shares = counts[counts > 0] / max(counts.sum(), 1)
    nats = -len(plain.values) * float(np.sum(shares * np.log(shares)))
    return digest.digest(), min(places, nats) > -CHANCE


def _log_chance(repeats: NDArray[np.intp]) -> float:
    """About how likely, in logs, another sample of the same distribution has this histogram (Stirling)."""
    return float(0.5 * np.log(2 * np.pi * repeats.sum()) - 0.5 * np.log(2 * np.pi * repeats).sum())


def _evenly_spaced(values: NDArray[np.generic]) -> bool:
    """Row numbers and calendars are distinct everywhere, and yet the same in unrelated data."""
    numbers = np.sort(values.astype(np.float64))
    if len(numbers) < 2:
        return True
    with np.errstate(all="ignore"):
        return bool((np.diff(numbers) == numbers[1] - numbers[0]).all())


def _text_digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:16]


def _words(column: Column) -> Words:
    """One word a value that is no text; equal for equal values."""
    if column.kind == "date":
        return np.ascontiguousarray(column.values).view(np.int64).astype(np.uint64)
    if column.kind == "bool":
        return column.values.astype(np.uint64)
    return number_words(column.values)


def _rows(sample: Sample, secret: bytes, names: list[str], grouped: bool) -> str:
    """HMAC over the sorted 128-bit keyed hashes of the rows."""
    columns = [sample.columns[name] for name in names]
    if grouped and sample.groups is not None:
        columns.append(sample.groups)
    lanes = _hashes(sample, secret, columns)
    order = np.lexsort((lanes[1], lanes[0]))
    kinds = [column.kind for column in columns]
    header = canonical(
        {
            "names": names,
            "kinds": kinds,
            "rows": sample.rows,
            "grouped": grouped and sample.groups is not None,
        }
    )
    return _keyed(secret, b"rows\0" + header.encode() + b"\0" + lanes[:, order].astype("<u8").tobytes())


def _hashes(sample: Sample, secret: bytes, columns: Iterable[Column]) -> Words:
    """A 128-bit keyed hash for each row, in two lanes.

    Each folds in one word after another by multiply, add and mix with secret odd multipliers. Mixing between the words
    matters: a plain sum of products loses the sign bits of two floats.
    """
    stream = Stream(secret, "rows")
    lanes = np.zeros((2, sample.rows), dtype=np.uint64)
    for column in columns:
        keys = stream.words(12).reshape(2, 6) | np.uint64(1)
        for words, place in _fields(column):
            for lane, key in zip(lanes, keys, strict=True):
                _fold(lane, words, key[2 * place], key[2 * place + 1])
    return lanes


def _fields(column: Column) -> list[tuple[Words, int]]:
    """The words of a column's rows: its value (two words for text), then whether it is missing."""
    if column.vocabulary is not None:
        table = np.frombuffer(b"".join(map(_text_digest, column.vocabulary.tolist())), dtype="<u8").reshape(-1, 2)
        values = [table[column.values, 0].astype(np.uint64), table[column.values, 1].astype(np.uint64)]
    else:
        values = [_words(column)]
    if column.missing is not None:
        values = [np.where(column.missing, np.uint64(0), words) for words in values]
        return [
            *((words, place) for place, words in enumerate(values)),
            (column.missing.astype(np.uint64), 2),
        ]
    # A column without missing values still folds in "not missing", or one with a few could not agree with it.
    return [
        *((words, place) for place, words in enumerate(values)),
        (np.zeros(len(column.values), np.uint64), 2),
    ]


def _fold(lane: Words, words: Words, multiplier: np.uint64, offset: np.uint64) -> None:
    """Fold words into the hashes, in place and in runs that stay in cache."""
    for start in range(0, len(lane), _RUN):
        run = lane[start : start + _RUN]
        run += words[start : start + _RUN]
        run *= multiplier
        run += offset
        run ^= run >> _SHIFT
        run *= _ONE
        run ^= run >> _SHIFT
        run *= _TWO
        run ^= run >> _SHIFT
