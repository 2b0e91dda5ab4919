"""Rows without rows: a table of what each row says to each question, for a mechanism to be run on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unworn.errors import Unaskable
from unworn.noise import Stream
from unworn.queries.query import Facts, Query
from unworn.queries.row_protocol import Floats, Frame, Words
from unworn.queries.schema import Schema

SHARE = Facts("binary", 0.0, 1.0, zero_one=True)
"""What is public about every question here: its values are 0 and 1."""


@dataclass(frozen=True)
class CountedQuestion(Query):
    """The question of one line of a :class:`Counted` table."""

    place: int

    @property
    def label(self) -> str:
        return f"question {self.place + 1}"

    def to_json(self) -> dict[str, Any]:
        return {"ask": "audited", "place": self.place}

    def _facts(self, schema: Schema, size: int) -> Facts:
        return SHARE

    def values(self, frame: Frame) -> NDArray[np.bool_] | Floats:
        raise Unaskable("an audited question is answered from a table of counts, and has no values row by row")


@dataclass(frozen=True)
class Counted:
    """All a mechanism may do with rows, done on a table of 0 and 1: one line per question, one column per row.

    Examples
    --------
    >>> rows = Counted([[0, 0, 1, 1], [1, 1, 1, 1]])
    >>> first, second = CountedQuestion(0), CountedQuestion(1)
    >>> rows.size, rows.counts([first, second]).tolist(), float(rows.means([first])[0])
    (4, [2, 4], 0.5)
    """

    table: ArrayLike
    _values: NDArray[np.int64] = field(init=False, repr=False, compare=False)
    _counts: tuple[int, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        values = np.atleast_2d(np.asarray(self.table))
        if values.ndim != 2 or not values.size or not np.isin(values, (0, 1)).all():
            raise ValueError("a table has one line per question and one column per row, and holds only 0 and 1")
        object.__setattr__(self, "_values", values.astype(np.int64))
        object.__setattr__(self, "_counts", tuple(values.astype(np.int64).sum(axis=1).tolist()))

    has_parts = True

    @property
    def size(self) -> int:
        return int(self._values.shape[1])

    @property
    def asks(self) -> int:
        return len(self._counts)

    def differs(self, other: Counted) -> int:
        """In how many rows two tables differ: neighbours differ in one."""
        if self._values.shape != other._values.shape:
            raise ValueError(f"tables of shapes {self._values.shape} and {other._values.shape} are not neighbours")
        return int((self._values != other._values).any(axis=0).sum())

    def statistics(self, queries: Sequence[Query], part: tuple[int, int] | None = None) -> list[Any]:
        return list(self.counts(queries, part).tolist())

    def counts(self, queries: Sequence[Query], part: tuple[int, int] | None = None) -> NDArray[np.int64]:
        if part is not None:
            raise Unaskable("a table of counts has no random parts: sample splitting is not private, and not audited")
        return np.array([self._counts[_place(query)] for query in queries], dtype=np.int64)

    def means(self, queries: Sequence[Query], part: tuple[int, int] | None = None) -> Floats:
        return self.counts(queries, part) / self.size

    def differences(self, queries: Sequence[Query], part: tuple[int, int] | None = None) -> Floats:
        raise Unaskable("a table of counts has no pairs of values: only shares are audited")

    def moments(self, queries: Sequence[Query], part: tuple[int, int] | None = None) -> list[tuple[float, ...]]:
        return [(share, share * (1 - share)) for share in self.means(queries, part).tolist()]

    def rounded(self, queries: Sequence[Query], noises: Sequence[Words]) -> list[int]:
        return [self._counts[_place(query)] for query in queries]

    def drawn(self, query: Query, units: int, noise: Words, replace: bool = False) -> int:
        from unworn.noise.draws import indices

        if not isinstance(noise, Stream):
            raise TypeError(f"rows are drawn with a keyed Stream, not {type(noise).__name__}")
        return int(self._values[_place(query)][indices(noise, self.size, units, replace)].sum())

    def statistic(self, query: Query) -> float:
        return float(self._counts[_place(query)])


def _place(query: Query) -> int:
    if not isinstance(query, CountedQuestion):
        raise Unaskable(f"a table of counts answers its own questions, not a {type(query).__name__}")
    return query.place


def neighbours(
    rows: int, others: int | Sequence[int], first: Sequence[int], second: Sequence[int]
) -> tuple[Counted, Counted]:
    """Two tables that differ in their first row alone: what it says to each question, before and after.

    ``others`` is how many of the other rows say yes, to all questions or to each.

    >>> [table.counts([CountedQuestion(0), CountedQuestion(1)]).tolist() for table in neighbours(10, 4, [0, 1], [1, 0])]
    [[4, 5], [5, 4]]
    """
    counts = [others] * len(first) if isinstance(others, int) else list(others)
    if len(first) != len(second) or len(counts) != len(first) or not all(0 <= count < rows for count in counts):
        raise ValueError(
            f"the changed row says 0 or 1 to each question, before and after, and between 0 and {rows - 1} other rows "
            "say yes to it"
        )
    rest = np.arange(1, rows) <= np.array(counts)[:, np.newaxis]
    before, after = (Counted(np.column_stack([np.array(changed), rest])) for changed in (first, second))
    return before, after
