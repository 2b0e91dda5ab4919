"""The asker's own rows, as a question reads columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unworn.errors import Unaskable
from unworn.queries.row_protocol import Column


class GivenColumns:
    """Columns of numbers or truth values, all of one length: what a model that was learned by asking is applied to.

    >>> GivenColumns({"x": [1, 2, 3]}).column("x").values.tolist()
    [1, 2, 3]
    """

    def __init__(self, columns: Mapping[str, Any]) -> None:
        self._columns = {name: np.asarray(values) for name, values in columns.items()}
        sizes = {values.shape for values in self._columns.values()}
        if len(sizes) != 1 or len(next(iter(sizes))) != 1:
            raise ValueError(f"columns are arrays of one length, not of the shapes {sorted(sizes)}")
        self.size = int(next(iter(sizes))[0])

    def column(self, name: str) -> Column:
        if name not in self._columns:
            raise Unaskable(f"there is no column {name!r}: the columns are {', '.join(map(repr, self._columns))}")
        values = self._columns[name]
        if values.dtype.kind not in "biuf":
            raise Unaskable(f"the column {name!r} must hold numbers or truth values, not {values.dtype}")
        return Column("bool" if values.dtype.kind == "b" else "number", values)

    def pick(self, values: NDArray[Any]) -> NDArray[Any]:
        return values
