"""What an engine is: where rows lie, and the few things it does with them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NoReturn, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from unworn.errors import Unaskable
from unworn.queries.row_protocol import Column, SharesWork
from unworn.queries.schema import ColumnKind

T = TypeVar("T")
BATCH = 131_072
"""How many rows leave an engine at a time."""


@dataclass(frozen=True)
class Batch(SharesWork):
    """Some rows of some columns, brought out of an engine: a :class:`~unworn.queries.row_protocol.Frame`."""

    columns: Mapping[str, Column] = field(repr=False)  # no row shows
    size: int
    own: dict[Hashable, Any] = field(default_factory=dict, repr=False, compare=False)
    """What questions about these rows have in common, kept with them."""

    def column(self, name: str) -> Column:
        return self.columns[name]

    def shared(self, key: Hashable, make: Callable[[], T]) -> T:
        if key not in self.own:  # the latest alone, since a batch of questions may be about many points
            self.own.clear()
            self.own[key] = make()
        found: T = self.own[key]
        return found

    def pick(self, values: NDArray[Any]) -> NoReturn:
        raise Unaskable("rows in an engine have no order of their own, so an array of predictions cannot fit them")


Work = Callable[[int, Batch], NDArray[Any]]
"""What is made of consecutive rows where they lie, given the place of the first of them. It must be possible to pickle
it, and it may be done more than once."""


class Engine(Protocol):
    """Rows that stay where they are. Whatever fails is told by the kind of failure alone, since an engine's own
    message may quote a row; and rows that have changed since they were opened are a
    :class:`~unworn.errors.Mismatch`."""

    @property
    def name(self) -> str:
        """Which engine this is."""

    @property
    def rows(self) -> int:
        """How many rows there are."""

    @property
    def kinds(self) -> Mapping[str, ColumnKind]:
        """The columns that have a kind."""

    @property
    def left_out(self) -> tuple[str, ...]:
        """The columns that have none."""

    def sums(self, queries: Sequence[Any]) -> list[Fraction]:
        """For each question about columns the sum of its values, or of their squares, over all rows; one pass for many
        questions (:data:`unworn.rows.sql.sql_batch.Asked`)."""

    @property
    def local(self) -> bool:
        """Whether the rows are on this machine anyway: then a column may be brought into memory whole."""

    def map(self, columns: Sequence[str], work: Work) -> Iterator[NDArray[Any]]:
        """What ``work`` makes of every batch of rows, done where the rows lie: nothing else comes here.

        Rows keep their places while nothing changes. Local ones come in their order, others in any.
        """

    def draw(self, rows: NDArray[np.int64], columns: Sequence[str]) -> Batch:
        """The rows at these places, counted from 0 and sorted, in that order, in one pass."""

    def distinct(self, columns: Sequence[str]) -> list[int]:
        """About how many different values each column has."""

    def look(self) -> None:
        """Raise where it is plain, without reading rows, that they have changed; where it is not, do nothing."""

    def close(self) -> None:
        """Let go of files."""
