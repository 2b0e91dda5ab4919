"""Where rows lie in Spark: in partitions, each with an order of its own.

A place counts rows from 0 through all partitions. Spark itself names a row by its partition and its position there
(``monotonically_increasing_id()``: 2^33 times the one, plus the other). How many rows each partition has turns places
into names, and back. Partitions are cut anew by every statement, and not always alike: by what a statement does with
the rows, by how many machines there are. So each statement tells the partitions it had, and has them only if they are
those that were assumed; if not, it is made again with these.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_POSITION = 33
ID = "monotonically_increasing_id()"


@dataclass(frozen=True)
class Layout:
    """How many rows each partition has, up to the last that has any."""

    counts: tuple[int, ...] = ()

    @classmethod
    def of(cls, told: Iterable[tuple[int, int]]) -> Layout:
        """From partitions and numbers of rows, in any order and several times the same partition.

        >>> Layout.of([(2, 5), (0, 3), (2, 1)])
        Layout(counts=(3, 0, 6))
        """
        found: dict[int, int] = {}
        for part, count in told:
            found[part] = found.get(part, 0) + count
        last = max((part for part, count in found.items() if count), default=-1)
        return cls(tuple(found.get(part, 0) for part in range(last + 1)))

    @property
    def rows(self) -> int:
        return sum(self.counts)

    @property
    def first(self) -> NDArray[np.int64]:
        """The place of the first row of each partition, and at the end the number of all rows."""
        return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(self.counts, dtype=np.int64)])

    def names(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """What Spark calls the rows at these places.

        >>> Layout((3, 0, 5)).names(np.array([2, 3])).tolist() == [2, 2 << 33]
        True
        """
        first = self.first
        parts = np.searchsorted(first, places, side="right") - 1
        found: NDArray[np.int64] = (parts << _POSITION) + places - first[parts]
        return found


def part_of(name: str) -> str:
    """The partition in a row's name, as Spark works it out."""
    return f"CAST(shiftright({name}, {_POSITION}) AS INT)"
