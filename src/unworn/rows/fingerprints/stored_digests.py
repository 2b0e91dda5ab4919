"""Fingerprints of rows in an engine, made where the rows lie: the same rows are known again, wherever they are opened.

Rows of this machine get the digests they would have in memory. Rows of a cluster stay there: what comes is sums over
keyed hashes of rows, and their digest says so, for whoever opens them in memory makes the same sums. Only where a
ledger knows as many rows in the same columns by sorted hashes, do hashes (keyed, 16 bytes per row) come too. Columns
are told by sums past 2^25 rows and in a cluster: one that was borrowed is then found among rows of the same engine.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from unworn.rows.contract import Batch
from unworn.rows.fingerprints import fingerprint
from unworn.rows.fingerprints.column_digest import Canonical, canonical_column
from unworn.rows.fingerprints.fingerprint import (
    SUMMED,
    Digests,
    digest_of_sums,
    keyed_columns,
    row_sums,
    rows_header,
    sorted_lanes,
)
from unworn.rows.fingerprints.hash_sums import SORTED, Sums
from unworn.rows.fingerprints.row_hashes import Fields, Words, hash_runs, hashes
from unworn.rows.mapped.mapped_rows import check_values
from unworn.rows.sql.stored_rows import Stored

if TYPE_CHECKING:
    from unworn.rows.held_rows import HeldRows
    from unworn.rows.memory.sample import Sample

_TELLING = 1000
"""So many different values are not shared by chance (43 would do at 10^9 rows), and can be counted roughly."""
_ROUNDED = 2.0**53
"""From here on a float need not be a whole number that has followed another."""


def digests(rows: HeldRows, secret: bytes) -> Digests:
    """The digests of these rows under a holdout's secret, wherever they lie."""
    if not isinstance(rows, Stored):
        sample = cast("Sample", rows)
        with nullcontext() if secret in sample.digests else sample.reading():
            check_mapped(sample)
            return fingerprint.digests(sample, secret)
    if secret not in rows.digests:
        if not rows.canonical:
            whole = rows.engine.local and rows.rows <= SORTED
            rows.canonical |= {name: _column(rows, name) for name in rows.columns} if whole else _tall_columns(rows)
        columns, telling = keyed_columns(rows.canonical, secret)
        told, order = _rows(rows, secret, sorted(rows.columns))
        rows.digests[secret] = Digests(told, told, order, columns, telling)
    found: Digests = rows.digests[secret]
    return found


def check_mapped(rows: Sample) -> None:
    """Once, before anything is made of rows in a mapped file: that its values are what its layout says."""
    if rows.watch is not None and not rows.canonical:
        check_values(rows.path, rows.columns)


def known_as(rows: HeldRows, secret: bytes, names: Iterable[str], digest: str) -> bool:
    """Whether the rows, as far as these columns go, are those that a ledger knows by this digest."""
    ordered, told = sorted(set(names)), digests(rows, secret).rows
    if ordered == sorted(rows.columns) and told.startswith(SUMMED) == digest.startswith(SUMMED):
        found = told
    elif isinstance(rows, Stored):
        sums = digest.startswith(SUMMED)
        found = _summed(rows, secret, ordered) if sums else _sorted(rows, secret, ordered)[0]
    elif digest.startswith(SUMMED):
        found = _summed_here(rows, secret, ordered)
    else:
        found = fingerprint.rows_digest(cast("Sample", rows), secret, ordered)
    return hmac.compare_digest(found, digest)


def _summed_here(rows: HeldRows, secret: bytes, names: list[str]) -> str:
    columns = [rows.columns[name] for name in names]
    return digest_of_sums(names, columns, rows.rows, secret, row_sums(rows.rows, secret, columns))


def _rows(rows: Stored, secret: bytes, names: list[str]) -> tuple[str, str]:
    """The digest of the rows in any order, and that of the order they come in."""
    return _sorted(rows, secret, names) if rows.engine.local else (_summed(rows, secret, names), _disordered(secret))


def _summed(rows: Stored, secret: bytes, names: list[str]) -> str:
    return digest_of_sums(names, _kinds(rows, names), rows.rows, secret, _all_sums(rows, secret, names))


def _sorted(rows: Stored, secret: bytes, names: list[str]) -> tuple[str, str]:
    """As in memory: by the sorted hashes of rows or, where there are too many, by sums."""
    keyed = hmac.new(secret, rows_header(names, _kinds(rows, names), rows.rows), hashlib.sha256)
    if rows.rows > SORTED:
        keyed.update(_all_sums(rows, secret, names).bytes())
        return keyed.hexdigest(), _disordered(secret)
    lanes = np.concatenate(list(rows.engine.map(names, partial(_hashed, secret, names))), axis=1)
    sorted_lanes(keyed, lanes)
    ordered = hmac.new(secret, b"order\0", hashlib.sha256)
    for lane in lanes:
        ordered.update(lane.astype("<u8", copy=False).data)
    return keyed.hexdigest(), ordered.hexdigest()


def _disordered(secret: bytes) -> str:
    """No array of predictions is taken by these rows, so their order does not matter."""
    return hmac.new(secret, b"order\0none", hashlib.sha256).hexdigest()


def _all_sums(rows: Stored, secret: bytes, names: list[str]) -> Sums:
    sums = Sums()
    for totals in rows.engine.map(names, partial(_row_sums, secret, names)):
        sums.take(totals)
    return sums


def _kinds(rows: Stored, names: list[str]) -> list[Any]:
    return [rows.schema[name] for name in names]


def _hashed(secret: bytes, names: list[str], place: int, batch: Batch) -> Words:
    return hashes(batch.size, secret, [batch.columns[name] for name in names])


def hashed_lane(secret: bytes, names: list[str], place: int, batch: Batch) -> Words:
    """Half of the coarse hashes of a batch's rows: enough to compare rows with others."""
    lanes = hash_runs(batch.size, secret, [batch.columns[name] for name in names], (0,), coarse=True)
    return np.concatenate([part[0] for _, part in lanes])


def _row_sums(secret: bytes, names: list[str], place: int, batch: Batch) -> Words:
    return row_sums(batch.size, secret, [batch.columns[name] for name in names]).totals


def _column(rows: Stored, name: str) -> Canonical:
    """A column brought into memory whole, told as it is there, and let go."""
    return canonical_column(rows.engine.draw(np.arange(rows.rows), [name]).columns[name])


def _tall_columns(rows: Stored) -> dict[str, Canonical]:
    """All columns in one pass, each by sums over the words of its values."""
    names = list(rows.columns)
    sums, counted = {name: Sums() for name in names}, np.zeros((len(names), 4), dtype=np.uint64)
    for told in rows.engine.map(names, partial(_column_sums, names)):
        counted += told[:, 4:]
        for name, words in zip(names, told, strict=True):
            sums[name].take(words[:4])
    different = dict(zip(names, rows.engine.distinct(names), strict=True))
    found: dict[str, Canonical] = {}
    for name, (absent, *powers) in zip(names, counted.tolist(), strict=True):
        digest = hashlib.sha256(absent.to_bytes(8, "little"))
        digest.update(sums[name].bytes())
        tells = different[name] >= _TELLING and not _numbered(rows.rows - absent, *powers)
        found[name] = Canonical(rows.schema[name].kind, digest.digest(), tells, b"", False)
    return found


def _numbered(count: int, broken: int, total: int, squares: int) -> bool:
    """Whether so many numbers follow one another as row numbers do, wherever they begin: by their variance, mod 2^64.

    >>> _numbered(5, 0, 10 + 11 + 12 + 13 + 14, 10**2 + 11**2 + 12**2 + 13**2 + 14**2)
    True
    """
    return not broken and (count * squares - total**2 - count**2 * (count**2 - 1) // 12) % 2**64 == 0


def _column_sums(names: list[str], place: int, batch: Batch) -> NDArray[np.uint64]:
    """For each column four sums of its values' words, how many are missing, how many are no whole numbers, and sums of
    whole numbers and of their squares."""
    told = np.zeros((len(names), 8), dtype=np.uint64)
    for words, name in zip(told, names, strict=True):
        column = batch.columns[name]
        present = slice(None) if column.missing is None else ~column.missing
        fields, sums = Fields(column), Sums()
        sums.add(*(fields.word(slice(0, batch.size), place)[present] for place in fields.places[:-1]))
        words[:4], words[4] = sums.totals, 0 if column.missing is None else np.count_nonzero(column.missing)
        values = column.values[present]
        if column.kind == "number":
            whole = values[np.abs(values) < _ROUNDED] if values.dtype.kind == "f" else values
            whole = whole.astype(np.int64)[whole == np.floor(whole)].view(np.uint64)
            words[5:] = len(values) - len(whole), whole.sum(), (whole * whole).sum()
        else:
            words[5] = len(values)
    return told
