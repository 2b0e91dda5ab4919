"""What a distribution over a product domain can do, whether it is kept cell by cell or in factors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from unworn.noise import Stream
from unworn.queries.row_protocol import Floats

Axes = tuple[int, ...]
"""Some columns of a domain by their places, in increasing order."""
Codes = NDArray[np.int32]
"""Rows of a domain, one line each: for every column the place of its value on the column's axis."""


class Model(Protocol):
    """A distribution over the cells of a product domain that questions are put to and that learns from answers."""

    @property
    def shape(self) -> tuple[int, ...]:
        """How many values each column has."""

    def table(self, axes: Axes) -> Floats:
        """The marginal on some columns: an array of their sizes that sums to 1."""

    def tables(self, many: Sequence[Axes]) -> list[Floats]:
        """The same for many sets of columns, with the work shared."""

    def tilt(self, axes: Axes, exponents: Floats) -> None:
        """Multiply every cell by e to the power of its entry in a table over ``axes``, and renormalise.

        One step of multiplicative weights: the table has the shape of ``self.table(axes)``.
        """

    def copy(self) -> Self:
        """An independent copy."""

    def draw(self, stream: Stream, rows: int) -> Codes:
        """So many rows, drawn independently."""
