"""The sampled units: rows that stand for themselves, or groups of rows."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from unworn.queries.row_protocol import Column, Floats


class SampledUnits:
    """The half of a sample that knows which rows belong together. Each fact is worked out once, when it is needed."""

    rows: int
    groups: Column | None

    @cached_property
    def unit_of_row(self) -> NDArray[np.intp] | None:
        """For each row its group, numbered from 0; None when every row is its own unit."""
        if self.groups is None:
            return None
        return np.unique(self.groups.values, return_inverse=True)[1].astype(np.intp)

    @cached_property
    def size(self) -> int:
        """The number of sampled units: rows, or groups."""
        return self.rows if self.unit_of_row is None else int(self.unit_of_row.max()) + 1

    @cached_property
    def rows_of_unit(self) -> Floats | None:
        units = self.unit_of_row
        return None if units is None else np.bincount(units, minlength=self.size).astype(np.float64)

    @cached_property
    def rows_by_unit(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The rows, those of each group together and in their order, and where each group begins; made once."""
        units = self.unit_of_row
        if units is None:
            raise TypeError("these rows are not grouped")
        starts = np.zeros(self.size + 1, dtype=np.int64)
        np.cumsum(np.bincount(units, minlength=self.size), out=starts[1:])
        return np.argsort(units, kind="stable").astype(np.int64, copy=False), starts
