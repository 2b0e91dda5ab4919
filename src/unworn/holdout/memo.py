"""Rows whose answers are remembered for the length of one ask.

A batch is read in one pass, and an ask that another writer overtook is not read again: neither the rows nor,
above all, the user's model run twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
        self._known: dict[tuple[str, str, Part], Any] = {}

    @property
    def size(self) -> int:
        return self._rows.size

    def counts(self, queries: Sequence[Query], part: Part = None) -> NDArray[np.int64]:
        return np.array(self._read("counts", self._rows.counts, queries, part), dtype=np.int64)

    def means(self, queries: Sequence[Query], part: Part = None) -> Floats:
        return np.array(self._read("means", self._rows.means, queries, part), dtype=np.float64)

    def differences(self, queries: Sequence[Query], part: Part = None) -> Floats:
        return np.array(self._read("differences", self._rows.differences, queries, part), dtype=np.float64)

    def prefetch(self, asks: Sequence[tuple[Query, Offer]]) -> None:
        """Read all that runs no user code in one pass for each kind and part."""
        together: dict[tuple[str, Part], list[Query]] = {}
        for query, offer in asks:
            if not offer.runs_code:
                together.setdefault((offer.kind, offer.part), []).append(query)
        for (kind, part), queries in together.items():
            read = {"binary": self.counts, "unit": self.means, "paired": self.differences}[kind]
            read(queries, part)

    def _read(
        self, what: str, read: Callable[[Sequence[Query], Part], Any], queries: Sequence[Query], part: Part
    ) -> list[Any]:
        unknown = [query for query in queries if (what, query.fingerprint, part) not in self._known]
        if unknown:
            try:
                for query, value in zip(unknown, read(unknown, part), strict=True):
                    self._known[what, query.fingerprint, part] = value
            except Raised as failure:
                self.interrupted |= failure.interrupted
                for query in unknown:
                    self._known[what, query.fingerprint, part] = Raised
        values = [self._known[what, query.fingerprint, part] for query in queries]
        if any(value is Raised for value in values):
            raise Raised
        return values
