"""Fingerprints of rows in an engine: the same as those of the same rows in memory, made a batch at a time.

So rows that were sealed in memory are recognised in an engine, and the other way round. Rows go by once for each
holdout of the ledger, and once for its columns. Past 2^25 rows columns are told by sums of hashes, and only the digest
of whole rows is shared with memory: a column that was borrowed is then found among rows of the same engine.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Iterator
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from unworn.queries.query import canonical
from unworn.queries.rows import Column
from unworn.sample import fingerprint
from unworn.sample.canonical import Canonical, canonical_column
from unworn.sample.fingerprint import Digests, keyed_columns
from unworn.sample.hashes import Fields, Words, hash_runs, runs
from unworn.sample.stored import Stored
from unworn.sample.tall import SORTED, Sums

if TYPE_CHECKING:
    from unworn.sample.sample import Sample

_TELLING = 1000
"""So many different values are not shared by chance (43 would do at 10^9 rows), and can be counted roughly."""


def digests(rows: Sample | Stored, secret: bytes) -> Digests:
    """The digests of these rows under a holdout's secret, wherever they lie."""
    if not isinstance(rows, Stored):
        return fingerprint.digests(rows, secret)
    if secret not in rows.digests:
        if not rows.canonical:
            tall = rows.rows > SORTED
            rows.canonical |= _tall_columns(rows) if tall else {name: _column(rows, name) for name in rows.columns}
        columns, telling = keyed_columns(rows.canonical, secret)
        whole, order = _rows(rows, secret, sorted(rows.columns))
        rows.digests[secret] = Digests(whole, whole, order, columns, telling)
    told: Digests = rows.digests[secret]
    return told


def rows_digest(rows: Sample | Stored, secret: bytes, names: Iterable[str]) -> str:
    """The digest of the rows over some columns."""
    if not isinstance(rows, Stored):
        return fingerprint.rows_digest(rows, secret, names)
    return _rows(rows, secret, sorted(set(names)))[0]


def _rows(rows: Stored, secret: bytes, names: list[str]) -> tuple[str, str]:
    """The digest of the rows in any order, and that of the order they come in."""
    kinds = [rows.schema[name].kind for name in names]
    header = canonical({"names": names, "kinds": kinds, "rows": rows.rows, "grouped": False})
    keyed = hmac.new(secret, b"rows\0" + header.encode() + b"\0", hashlib.sha256)
    ordered = hmac.new(secret, b"order\0", hashlib.sha256)
    if rows.rows > SORTED:
        sums = Sums()
        for first, second in _lanes(rows, secret, names):
            sums.add(first, second)
        keyed.update(sums.bytes())
        ordered.update(b"none")  # no array of predictions is taken here, so the order does not matter
        return keyed.hexdigest(), ordered.hexdigest()
    lanes = np.concatenate(list(_lanes(rows, secret, names)), axis=1)
    order = np.lexsort((lanes[1], lanes[0]))
    for lane in lanes:
        ordered.update(lane.astype("<u8", copy=False).data)
        for run in runs(rows.rows):
            keyed.update(lane.take(order[run]).astype("<u8", copy=False).data)
    return keyed.hexdigest(), ordered.hexdigest()


def _lanes(rows: Stored, secret: bytes, names: list[str]) -> Iterator[Words]:
    for batch in rows.engine.batches(names):
        part = cast("Sample", SimpleNamespace(rows=batch.size))
        for _, lanes in hash_runs(part, secret, [batch.columns[name] for name in names]):
            yield lanes


def _column(rows: Stored, name: str) -> Canonical:
    """A column brought into memory whole, told as it is there, and let go."""
    parts = [batch.columns[name] for batch in rows.engine.batches([name])]
    values: list[NDArray[Any]] = []
    words: dict[str, int] = {}
    for part in parts:
        codes = part.values
        if part.vocabulary is not None:
            codes = np.array([words.setdefault(word, len(words)) for word in part.vocabulary], dtype=np.int32)[codes]
        values.append(codes)
    missing = None
    if any(part.missing is not None for part in parts):
        missing = np.concatenate([np.zeros(len(p.values), bool) if p.missing is None else p.missing for p in parts])
    vocabulary = None
    if parts[0].vocabulary is not None:
        vocabulary = np.empty(len(words), dtype=object)
        vocabulary[:] = list(words)
    whole = np.concatenate(values)
    if missing is not None:
        whole = np.where(missing, np.zeros(1, dtype=whole.dtype), whole)
    return canonical_column(Column(parts[0].kind, whole, missing, vocabulary))


def _tall_columns(rows: Stored) -> dict[str, Canonical]:
    """All columns in one pass, each by sums over the words of its values."""
    names = list(rows.columns)
    sums = {name: Sums() for name in names}
    absent = dict.fromkeys(names, 0)
    ends: dict[str, tuple[float, float]] = dict.fromkeys(names, (np.inf, -np.inf))
    for batch in rows.engine.batches(names):
        every = slice(0, batch.size)
        for name in names:
            column = batch.columns[name]
            present = slice(None) if column.missing is None else ~column.missing
            fields = Fields(column)
            absent[name] += 0 if column.missing is None else int(np.count_nonzero(column.missing))
            sums[name].add(*(fields.word(every, place)[present] for place in fields.places[:-1]))
            values = column.values[present]
            if column.vocabulary is None and values.size:
                low, high = float(values.astype(np.float64).min()), float(values.astype(np.float64).max())
                ends[name] = min(low, ends[name][0]), max(high, ends[name][1])
    different = dict(zip(names, rows.engine.distinct(names), strict=True))
    told: dict[str, Canonical] = {}
    for name in names:
        digest = hashlib.sha256(absent[name].to_bytes(8, "little"))
        digest.update(sums[name].bytes())
        low, high = ends[name]
        numbered = high - low == rows.rows - 1  # as row numbers are
        tells = different[name] >= _TELLING and not numbered
        told[name] = Canonical(rows.schema[name].kind, digest.digest(), tells, b"", False)
    return told
