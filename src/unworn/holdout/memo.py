"""Rows whose answers are remembered for the length of one ask.

A batch is read in one pass, and an ask that another writer overtook is not read again: neither the rows nor,
above all, the user's model run twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unworn.mechanisms import Offer
from unworn.queries.query import Query
from unworn.queries.rows import Floats, Raised, Rows

Part = tuple[int, int] | None


class Memo:
    """The :class:`~unworn.queries.rows.Rows` a mechanism is handed."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self.interrupted = False
        self._known: dict[tuple[str, Part], Any] = {}

    @property
    def size(self) -> int:
        return self._rows.size

    def statistics(self, queries: Sequence[Query], part: Part = None) -> list[Any]:
        unknown = [query for query in queries if (query.fingerprint, part) not in self._known]
        if unknown:
            try:
                values = self._rows.statistics(unknown, part)
            except Raised as failure:
                self.interrupted |= failure.interrupted
                values = [Raised] * len(unknown)
            for query, value in zip(unknown, values, strict=True):
                self._known[query.fingerprint, part] = value
        told = [self._known[query.fingerprint, part] for query in queries]
        if any(value is Raised for value in told):
            raise Raised
        return told

    def counts(self, queries: Sequence[Query], part: Part = None) -> NDArray[np.int64]:
        return np.array(self.statistics(queries, part), dtype=np.int64)

    def means(self, queries: Sequence[Query], part: Part = None) -> Floats:
        return np.array(self.statistics(queries, part), dtype=np.float64)

    def differences(self, queries: Sequence[Query], part: Part = None) -> Floats:
        return np.array(self.statistics(queries, part), dtype=np.float64)

    def prefetch(self, asks: Sequence[tuple[Query, Offer]]) -> None:
        """Read all that runs no user code in one pass over each part of the rows."""
        together: dict[Part, list[Query]] = {}
        for query, offer in asks:
            if not offer.runs_code:
                together.setdefault(offer.part, []).append(query)
        for part, queries in together.items():
            self.statistics(queries, part)
