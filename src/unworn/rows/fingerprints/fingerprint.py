"""Fingerprints of rows: keyed, over values, blind to the order of rows and columns and to dtypes.

Keyed, because the digest of a column with few values could otherwise be looked up. One digest a column,
because rows that come back with a column added or renamed are the same rows, and must not get a new budget.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from unworn.ledger.keys import prepare_hmac
from unworn.queries.query import canonical
from unworn.queries.row_protocol import Column
from unworn.queries.schema import ColumnKind
from unworn.rows.fingerprints.column_blocks import column_blocks
from unworn.rows.fingerprints.column_digest import Canonical, canonical_block, canonical_column
from unworn.rows.fingerprints.hash_sums import SORTED, Sums
from unworn.rows.fingerprints.row_hashes import RUN, Words, hash_runs, hashes, runs

if TYPE_CHECKING:
    from unworn.rows.memory.sample import Sample

SUMMED = "sums:"
"""What a digest of sums begins with, where rows that are few were not sorted."""


class KindedColumn(Protocol):
    """A column, or as much of it as its type."""

    @property
    def kind(self) -> ColumnKind: ...


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
    columns, telling = keyed_columns(canonical_columns(sample), secret)
    names = sorted(sample.columns)
    kept = None if sample.rows > SORTED else hashes(sample.rows, secret, map(sample.columns.__getitem__, names))
    if kept is not None and sample.rows <= RUN:
        sample.row_hashes = kept[0]
    rows = _rows(sample, secret, names, grouped=False, lanes=kept)
    grouping = rows if sample.groups is None else _rows(sample, secret, names, grouped=True)
    return Digests(rows, grouping, _order(sample, secret, names, kept), columns, telling)


def canonical_columns(sample: Sample) -> dict[str, Canonical]:
    """All columns in canonical form, each worked out once for a sample."""
    names = [name for name in sample.columns if name not in sample.canonical]
    columns = [sample.columns[name] for name in names]
    for start, stop, values in column_blocks(columns, sample.rows):
        if values is None:
            sample.canonical[names[start]] = canonical_column(columns[start])
        else:
            found = canonical_block(columns[start].kind, values)
            sample.canonical |= dict(zip(names[start:stop], found, strict=True))
    return {name: sample.canonical[name] for name in sample.columns}


def keyed_columns(known: Mapping[str, Canonical], secret: bytes) -> tuple[dict[str, tuple[str, str]], dict[str, str]]:
    """Every column's two digests under a holdout's secret, and the names behind those that tell."""
    columns: dict[str, tuple[str, str]] = {}
    telling: dict[str, str] = {}
    keyed = prepare_hmac(secret)
    for name, found in known.items():
        common = b"common\0" + name.encode() + b"\0"
        values = b"column\0" if found.distinctive else common
        sequence = b"sequence\0" if found.scattered else common
        columns[name] = (
            keyed(values + found.kind.encode() + b"\0" + found.sha256).hex(),
            keyed(sequence + found.sequence).hex(),
        )
        if found.distinctive:
            telling[columns[name][0]] = name
        if found.scattered:
            telling[columns[name][1]] = name
    return columns, telling


def _order(sample: Sample, secret: bytes, names: list[str], lanes: Words | None) -> str:
    """The hashes of the rows as they come: first all of one lane, then all of the other."""
    keyed = hmac.new(secret, b"order\0", hashlib.sha256)
    if lanes is not None:
        keyed.update(lanes.astype("<u8", copy=False).data)
        return keyed.hexdigest()
    for lane in (0, 1):
        for _, (words,) in hash_runs(sample.rows, secret, map(sample.columns.__getitem__, names), (lane,)):
            keyed.update(words.astype("<u8", copy=False).data)
    return keyed.hexdigest()


def canonical_order(sample: Sample, secret: bytes) -> NDArray[np.intp]:
    """The sampled units in an order that does not depend on the one they came in; equal units are interchangeable."""
    lanes = hashes(sample.rows, secret, (sample.columns[name] for name in sorted(sample.columns)))
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


def digest_of_sums(names: list[str], columns: Sequence[KindedColumn], rows: int, secret: bytes, sums: Sums) -> str:
    """A digest that says of itself that it is made of sums."""
    keyed = hmac.new(secret, rows_header(names, columns, rows), hashlib.sha256)
    keyed.update(sums.bytes())
    return SUMMED + keyed.hexdigest()


def row_sums(rows: int, secret: bytes, columns: Iterable[Column]) -> Sums:
    """Sums over the hashes of rows, whatever their order."""
    sums = Sums()
    for _, (first, second) in hash_runs(rows, secret, columns):
        sums.add(first, second)
    return sums


def rows_header(names: list[str], columns: Sequence[KindedColumn], rows: int, grouped: bool = False) -> bytes:
    """What a digest of rows begins with."""
    told = {"names": names, "kinds": [column.kind for column in columns], "rows": rows, "grouped": grouped}
    return b"rows\0" + canonical(told).encode() + b"\0"


def sorted_lanes(keyed: hmac.HMAC, lanes: Words) -> None:
    """Take in the hashes of rows, sorted."""
    order = np.lexsort((lanes[1], lanes[0]))
    for lane in lanes:
        for rows in runs(lanes.shape[1]):
            keyed.update(lane.take(order[rows]).astype("<u8", copy=False).data)


def _rows(sample: Sample, secret: bytes, names: list[str], grouped: bool, lanes: Words | None = None) -> str:
    """HMAC over the 128-bit keyed hashes of the rows: sorted, or where there are too many, summed."""
    columns = [sample.columns[name] for name in names]
    grouped = grouped and sample.groups is not None
    if grouped and sample.groups is not None:
        columns.append(sample.groups)
    keyed = hmac.new(secret, rows_header(names, columns, sample.rows, grouped), hashlib.sha256)
    if sample.rows > SORTED:
        keyed.update(row_sums(sample.rows, secret, columns).bytes())
    else:
        sorted_lanes(keyed, hashes(sample.rows, secret, columns) if lanes is None else lanes)
    return keyed.hexdigest()
