"""Rows of an engine drawn ahead: those of many answers come in one pass, and are then parted.

An engine reads all its rows to hand out a few, and takes no longer for many. So the places of all draws are chosen
first, each by the key of its own as everywhere, and the engine is asked for all of them together; where they are too
many to be held twice, in several passes.

What was gathered were the sealed rows when it was gathered, and it stays what it is. At the ask only what can be seen
without reading is looked at once more: files, by their size, date and identity. A question about a column that was not
copied ahead takes a pass for all its columns, at the same places: what two passes read is never mixed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from unworn.noise import Stream
from unworn.noise.draws import indices
from unworn.queries.query import Query
from unworn.queries.row_protocol import Words
from unworn.rows.contract import Batch
from unworn.rows.sql.sql_batch import columns_of
from unworn.rows.sql.stored_rows import Stored

CELLS = 2**24
"""How many values one pass brings at most, unless a single draw has more."""

Draw = tuple[str, int]
"""The name of a pool, and the number of the draw in it."""


class StoredDraw:
    """Fresh rows for one answer, of an engine, their columns copied together."""

    def __init__(
        self,
        rows: Stored,
        draw: Draw,
        places: NDArray[np.int64],
        replace: bool,
        names: Sequence[str],
        runs: Sequence[Batch],
    ) -> None:
        self.draw, self.units, self.replace = draw, len(places), replace
        self._rows, self._places = rows, places
        self._names, self._runs = frozenset(names), runs

    def count(self, query: Query, noise: Words) -> int:
        """How many of these rows come out 1."""
        self._rows.engine.look()
        if self._names.issuperset(columns_of(query)):
            return self._rows.ones(query, self._runs, noise)
        return self._rows.ones_at(query, self._places, noise)

    def __reduce__(self) -> NoReturn:
        raise TypeError("drawn rows cannot be pickled: rows do not travel")


def gather_draws(
    rows: Stored, key: bytes, draws: Sequence[Draw], units: int, replace: bool, names: Sequence[str]
) -> Iterator[StoredDraw]:
    """The rows of all these draws, in as few passes as memory allows."""
    several = max(1, CELLS // (units * max(1, len(names))))
    for start in range(0, len(draws), several):
        some = draws[start : start + several]
        chosen = [indices(Stream(key, "pool", *draw), rows.size, units, replace) for draw in some]
        for draw, places, runs in zip(some, chosen, rows.fetched(chosen, names), strict=True):
            yield StoredDraw(rows, draw, places, replace, names, list(runs))
