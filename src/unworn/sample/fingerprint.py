"""Fingerprints of rows: keyed, over values, blind to the order of rows and columns and to dtypes.

Keyed, because the digest of a column with few values could otherwise be looked up. One digest a column,
because rows that come back with a column added or renamed are the same rows, and must not get a new budget.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from unworn.queries.query import canonical
from unworn.sample.canonical import Canonical, canonical_column
from unworn.sample.hashes import hash_runs, hashes, runs
from unworn.sample.tall import SORTED, tall_rows

if TYPE_CHECKING:
    from unworn.sample.sample import Sample


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


def digests(sample: Sample, secret: bytes) -> Digests:
    """The digests of these rows under a holdout's secret, made once."""
    if secret not in sample.digests:
        sample.digests[secret] = _digests(sample, secret)
    told: Digests = sample.digests[secret]
    return told


def _digests(sample: Sample, secret: bytes) -> Digests:
    for name, column in sample.columns.items():
        if name not in sample.canonical:
            sample.canonical[name] = canonical_column(column)
    columns, telling = keyed_columns({name: sample.canonical[name] for name in sample.columns}, secret)
    names = sorted(sample.columns)
    rows = _rows(sample, secret, names, grouped=False)
    grouping = rows if sample.groups is None else _rows(sample, secret, names, grouped=True)
    return Digests(rows, grouping, _order(sample, secret, names), columns, telling)


def keyed_columns(known: Mapping[str, Canonical], secret: bytes) -> tuple[dict[str, tuple[str, str]], dict[str, str]]:
    """Every column's two digests under a holdout's secret, and the names behind those that tell."""
    columns: dict[str, tuple[str, str]] = {}
    telling: dict[str, str] = {}
    for name, found in known.items():
        common = b"common\0" + name.encode() + b"\0"
        values = b"column\0" if found.distinctive else common
        sequence = b"sequence\0" if found.scattered else common
        columns[name] = (
            _keyed(secret, values + found.kind.encode() + b"\0" + found.sha256),
            _keyed(secret, sequence + found.sequence),
        )
        told = zip(columns[name], (found.distinctive, found.scattered), strict=True)
        telling |= {digest: name for digest, tells in told if tells}
    return columns, telling


def _order(sample: Sample, secret: bytes, names: list[str]) -> str:
    """The hashes of the rows as they come: first all of one lane, then all of the other."""
    keyed = hmac.new(secret, b"order\0", hashlib.sha256)
    for lane in (0, 1):
        for _, (words,) in hash_runs(sample, secret, map(sample.columns.__getitem__, names), (lane,)):
            keyed.update(words.astype("<u8", copy=False).data)
    return keyed.hexdigest()


def canonical_order(sample: Sample, secret: bytes) -> NDArray[np.intp]:
    """The sampled units in an order that does not depend on the one they came in; equal units are interchangeable."""
    lanes = hashes(sample, secret, (sample.columns[name] for name in sorted(sample.columns)))
    units = sample.unit_of_row
    if units is not None:
        sums = np.zeros((2, sample.size), dtype=np.uint64)
        for total, lane in zip(sums, lanes, strict=True):
            np.add.at(total, units, lane)
        lanes = sums
    return np.lexsort((lanes[1], lanes[0]))


def rows_digest(sample: Sample, secret: bytes, names: Iterable[str]) -> str:
    """The digest of the rows over some columns: do two samples agree as far as these columns go?"""
    return _rows(sample, secret, sorted(set(names)), grouped=False)


def _keyed(secret: bytes, message: bytes) -> str:
    return hmac.new(secret, message, hashlib.sha256).hexdigest()


def _rows(sample: Sample, secret: bytes, names: list[str], grouped: bool) -> str:
    """HMAC over the 128-bit keyed hashes of the rows: sorted, or where there are too many, summed."""
    columns = [sample.columns[name] for name in names]
    if grouped and sample.groups is not None:
        columns.append(sample.groups)
    kinds = [column.kind for column in columns]
    header = canonical(
        {
            "names": names,
            "kinds": kinds,
            "rows": sample.rows,
            "grouped": grouped and sample.groups is not None,
        }
    )
    keyed = hmac.new(secret, b"rows\0" + header.encode() + b"\0", hashlib.sha256)
    if sample.rows > SORTED:
        keyed.update(tall_rows(lanes for _, lanes in hash_runs(sample, secret, columns)))
        return keyed.hexdigest()
    lanes = hashes(sample, secret, columns)
    order = np.lexsort((lanes[1], lanes[0]))
    for lane in lanes:
        for rows in runs(sample.rows):
            keyed.update(lane.take(order[rows]).astype("<u8", copy=False).data)
    return keyed.hexdigest()
