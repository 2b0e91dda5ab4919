"""What a column of a finite domain is: a list of cells, each with one value or many."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from unworn.noise import Stream
from unworn.queries.language.literals import Scalar
from unworn.queries.row_protocol import Bools, Column
from unworn.queries.schema import ColumnKind

Places = NDArray[np.int32]
"""For each row the place of its cell on the axis; -1 where no cell holds it."""
MISSING = "missing"
"""How a missing value reads."""


class Axis(ABC):
    """The cells of one column, in their order; a missing value is the last of them."""

    @property
    @abstractmethod
    def missing(self) -> bool:
        """Whether a missing value is one of the cells."""

    @property
    @abstractmethod
    def kind(self) -> ColumnKind:
        """What the column holds."""

    @abstractmethod
    def __len__(self) -> int:
        """How many cells."""

    @property
    @abstractmethod
    def labels(self) -> tuple[str, ...]:
        """How the cells read."""

    @property
    @abstractmethod
    def ordered(self) -> bool:
        """Whether thresholds make sense: each cell lies wholly before the next."""

    @property
    @abstractmethod
    def coarse(self) -> bool:
        """Whether a cell stands for more than one value, so that not every question has an answer there."""

    @abstractmethod
    def unsettled(self, op: str, constants: Sequence[Scalar]) -> str | None:
        """Why a comparison with constants is not the same for all values of some cell; None where it is."""

    @abstractmethod
    def points(self) -> Column:
        """One value of each cell."""

    @abstractmethod
    def places(self, column: Column) -> Places:
        """The cell of each row."""

    @abstractmethod
    def drawn(self, places: NDArray[Any], stream: Stream) -> Column:
        """A value for each place: the cell's own, or one drawn from it."""

    @abstractmethod
    def with_missing(self) -> Self:
        """The same with a cell for missing values."""

    @property
    @abstractmethod
    def remedy(self) -> str:
        """What to declare so that more values have a cell."""

    @abstractmethod
    def to_json(self) -> Any:
        """Plain JSON."""

    def _mark(self, places: NDArray[Any], unknown: Bools | None) -> Places:
        """Places as they are kept, with what is missing in its own cell, or in none."""
        marked: Places = places.astype(np.int32, copy=False)
        if unknown is not None:
            marked[unknown] = len(self) - 1 if self.missing else -1
        return marked


def unknown_in(column: Column) -> Bools | None:
    """What a question takes for missing: NaN and infinities too, as everywhere in the language."""
    if column.kind != "number" or column.values.dtype.kind != "f":
        return column.missing
    wild: Bools = ~np.isfinite(column.values)
    return wild if column.missing is None else wild | column.missing


def small(size: int) -> np.dtype[Any]:
    """The smallest whole-number type with room for this many places.

    >>> small(256), small(257)
    (dtype('uint8'), dtype('uint16'))
    """
    return np.dtype(np.uint8 if size <= 2**8 else np.uint16 if size <= 2**16 else np.int32)
