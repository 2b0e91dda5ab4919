"""Rows that the holdout and ``train`` have in common, and whether chance explains them.

Two independent samples of one population coincide where values are few, and then as often within one of them as across.
Given all n + m rows, which of them are the holdout's is a draw without replacement: a value that occurs k times in all
lies on both sides with probability P(k) = 1 - q^k - (1 - q)^k, where q = n / (n + m), were the draws independent; that
they come to exactly n costs a factor of at most sqrt(8 n m / (n + m)). So the number of values on both sides has a tail
that holds for every population (Chernoff), and a copy is far out in it: of values that occur twice chance puts about
half on both sides, a copy all of them.

It holds for any function of rows too. So numbers are compared as a ``float32`` holds them, and rows that went through
one are found all the same.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from unworn.rows.fingerprints.row_hashes import Words, hash_runs
from unworn.rows.fingerprints.stored_digests import hashed_lane
from unworn.rows.sql.stored_rows import Stored

if TYPE_CHECKING:
    from unworn.queries.row_protocol import Column
    from unworn.queries.schema import Schema
    from unworn.rows.held_rows import HeldRows
    from unworn.rows.memory.sample import Sample

_COMPARED = 2**23
"""So many rows are compared one by one; of more, those whose hash falls into a part of all hashes."""
_ORDERED = 40.0
"""Nats: two samples as varied as this do not come in the same order by chance (e^-40)."""


@dataclass(frozen=True)
class SharedRows:
    """``rows`` of the holdout whose values are in ``train`` too (about so many, unless ``exact``).

    ``log_chance`` bounds, in logs, how likely independent samples have so many values on both sides.
    """

    rows: int
    exact: bool
    log_chance: float


def shared_rows(holdout: HeldRows, train: Sample, secret: bytes) -> SharedRows | None:
    """Compare the two over the columns they have in common; ``None`` where none is, or rows stay in a cluster."""
    pairs = _common(holdout.schema, train.schema)
    if not pairs or (isinstance(holdout, Stored) and not holdout.engine.local):
        return None
    bits = max(0, math.ceil(math.log2(max(holdout.rows, train.rows) / _COMPARED)))
    if isinstance(holdout, Stored):
        lanes = holdout.engine.map(list(pairs), partial(hashed_lane, secret, list(pairs)))
        here = _part(lanes, bits)
    else:
        with cast("Sample", holdout).reading():
            here = _lane(holdout.rows, secret, [holdout.columns[name] for name in pairs], bits)
    with train.reading():
        theirs = _lane(train.rows, secret, [train.columns[name] for name in pairs.values()], bits)
    if not bits and np.array_equal(here, theirs) and _nats(theirs) > _ORDERED:
        return SharedRows(len(here), True, -_nats(theirs))
    found = compare(here, theirs)
    return SharedRows(found.rows << bits, not bits, found.log_chance)


def _common(here: Schema, there: Schema) -> dict[str, str]:
    """The columns of the holdout that ``train`` has too, with their names there.

    The labels go with the labels. Where no feature's name is in both, as between a frame and a matrix, but as many of
    the same kinds are, they go by their places: so they are shown to models.
    """
    mine, theirs = ([name for name in schema if name != schema.target] for schema in (here, there))
    pairs = {name: name for name in mine if name in theirs}
    if not pairs and [here[name].kind for name in mine] == [there[name].kind for name in theirs]:
        pairs = dict(zip(mine, theirs, strict=True))
    if here.target is not None and there.target is not None:
        pairs[here.target] = there.target
    elif here.target is not None and here.target in there:
        pairs[here.target] = here.target
    return {name: other for name, other in sorted(pairs.items()) if here[name].kind == there[other].kind}


def compare(here: Words, there: Words) -> SharedRows:
    """The same for hashes of rows.

    >>> rows = np.arange(1_000, dtype=np.uint64)
    >>> compare(rows[:500], rows[500:]).rows
    0
    >>> compare(rows[:500], rows[450:]).log_chance < -25
    True
    """
    values, counts = np.unique(np.concatenate([here, there]), return_counts=True)
    mine = np.bincount(np.searchsorted(values, here), minlength=len(values))
    both = (mine > 0) & (mine < counts)
    sizes, times = np.unique(counts[counts > 1], return_counts=True)
    log_chance = log_tail(sizes, times, int(np.count_nonzero(both)), len(here), len(there))
    return SharedRows(int(mine[both].sum()), True, log_chance)


def log_tail(sizes: NDArray[Any], times: NDArray[Any], both: int, n: int, m: int) -> float:
    """Chernoff's bound, in logs, on at least so many values on both sides."""
    if not both:
        return 0.0
    q = n / (n + m)
    apart = np.logaddexp(sizes * math.log(q), sizes * math.log1p(-q))  # the log of 1 - P(k)
    together = np.log(-np.expm1(apart))
    tilts = np.linspace(0.0, 30.0, 601)
    grown = np.logaddexp(apart[:, None], together[:, None] + tilts)  # a row per size
    best = float(np.min(times @ grown - tilts * both))
    return min(0.0, best + 0.5 * math.log(max(8 * n * m / (n + m), 1.0)))


def _lane(rows: int, secret: bytes, columns: list[Column], bits: int) -> Words:
    return _part((part[0] for _, part in hash_runs(rows, secret, columns, (0,), coarse=True)), bits)


def _part(lanes: Iterable[Words], bits: int) -> Words:
    """Of many rows those whose hashes begin with so many zeros: the same values on both sides."""
    kept = [lane[lane >> np.uint64(64 - bits) == 0] if bits else lane for lane in lanes]
    return np.concatenate(kept) if kept else np.zeros(0, dtype=np.uint64)


def _nats(lane: Words) -> float:
    shares = np.unique(lane, return_counts=True)[1] / len(lane)
    return -len(lane) * float(np.sum(shares * np.log(shares)))
