"""Marks of rows under a user's secret: what the registry knows them by, whatever ledger they were sealed in.

The digests are those of a ledger (:mod:`unworn.rows.fingerprints.fingerprint`), made once per opening, not once per
known holdout. Whole rows count as a mark only where unrelated rows would have others: a few labels coincide by chance.
"""

from __future__ import annotations

import hashlib
import hmac
import math
from typing import TYPE_CHECKING, cast

import numpy as np

from unworn.ledger.registry.known_rows import Candidate, RowMarks
from unworn.rows.fingerprints.column_digest import CHANCE, Counts, log_chance
from unworn.rows.fingerprints.fingerprint import (
    SUMMED,
    canonical_columns,
    keyed_columns,
    rows_header,
    sorted_lanes,
)
from unworn.rows.fingerprints.hash_sums import SORTED, Sums
from unworn.rows.fingerprints.row_hashes import Words, hash_runs, hashes
from unworn.rows.fingerprints.row_overlap import SmallestHashes, tells_rows
from unworn.rows.fingerprints.stored_digests import check_mapped, digests, known_as
from unworn.rows.sql.stored_rows import Stored

if TYPE_CHECKING:
    from unworn.rows.held_rows import HeldRows
    from unworn.rows.memory.sample import Sample


def row_marks(rows: HeldRows, secret: bytes) -> RowMarks:
    """The marks of these rows, wherever they lie, made once."""
    if isinstance(rows, Stored):
        return _stored(rows, secret)
    sample, place = cast("Sample", rows), b"marks" + secret
    if place not in sample.digests:
        with sample.reading():
            check_mapped(sample)
            sample.digests[place] = _here(sample, secret)
    found: RowMarks = sample.digests[place]
    return found


def is_candidate(rows: HeldRows, secret: bytes, candidate: Candidate) -> bool:
    """Whether these are a candidate's rows, with columns added."""
    return known_as(rows, secret, candidate.names, candidate.whole)


def _here(sample: Sample, secret: bytes) -> RowMarks:
    _, telling = keyed_columns(canonical_columns(sample), secret)
    names = sorted(sample.columns)
    columns = [sample.columns[name] for name in names]
    header = rows_header(names, columns, sample.rows)
    smallest = SmallestHashes()
    if sample.rows > SORTED:
        sums = Sums()
        for _, (first, second) in hash_runs(sample.rows, secret, columns):
            sums.add(first, second)
            smallest.add(first)
        whole = _finished(secret, header, sums.bytes())
        known = whole if telling else None
        sketch = smallest.sketch(sample.rows) if tells_rows(sample, 0) else None
        return RowMarks(sample.rows, frozenset(names), (whole,) if telling else (), telling, known, whole, sketch)
    lanes = hashes(sample.rows, secret, columns)
    keyed = hmac.new(secret, header, hashlib.sha256)
    sorted_lanes(keyed, lanes)
    whole, sums = keyed.hexdigest(), Sums()
    sums.add(lanes[0], lanes[1])
    order = hmac.new(secret, header + b"order\0", hashlib.sha256)
    order.update(lanes.astype("<u8", copy=False).data)
    words, counts = np.unique(lanes[0], return_counts=True)
    smallest.merge(words, counts)
    distinctive, scattered = _tells(lanes[0], counts)
    if not telling and any(sample.canonical[name].regular for name in names):
        distinctive = scattered = False  # what differs in every row may be no more than its number
    same = [whole, _finished(secret, header, sums.bytes())] if distinctive else []
    same += [order.hexdigest()] if scattered else []
    place = whole if distinctive else order.hexdigest()
    sketch = smallest.sketch(sample.rows) if tells_rows(sample, len(words)) else None
    return RowMarks(sample.rows, frozenset(names), tuple(same), telling, whole if distinctive else None, place, sketch)


def _stored(rows: Stored, secret: bytes) -> RowMarks:
    """Rows of an engine: known by all columns together where one of them tells."""
    told = digests(rows, secret)
    whole = told.rows.removeprefix(SUMMED)
    return RowMarks(
        rows.rows,
        frozenset(rows.columns),
        (whole,) if told.telling else (),
        told.telling,
        told.rows if told.telling else None,
        whole,
    )


def _tells(lane: Words, counts: Counts) -> tuple[bool, bool]:
    """Whether unrelated rows would have other rows, in any order and in theirs: as for a single column."""
    rows = len(lane)
    turns, size = int(np.count_nonzero(lane[1:] != lane[:-1])), max(rows - 1, 0)
    places = math.lgamma(size + 1) - math.lgamma(turns + 1) - math.lgamma(size - turns + 1)
    shares = counts / max(rows, 1)
    nats = -rows * float(np.sum(shares * np.log(shares)))
    every = turns == size and len(counts) == rows  # all different: in any order already another set of rows
    return log_chance(counts) < CHANCE, nats > -CHANCE if every else min(places, nats) > -CHANCE


def _finished(secret: bytes, header: bytes, words: bytes) -> str:
    keyed = hmac.new(secret, header, hashlib.sha256)
    keyed.update(words)
    return keyed.hexdigest()
