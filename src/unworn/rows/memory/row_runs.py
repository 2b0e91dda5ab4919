"""Rows of a sample as a question sees them: a run of consecutive ones, or any that were drawn."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from unworn.errors import Unaskable
from unworn.queries.language.shared_parts import SharesParts
from unworn.queries.predictions import small_labels
from unworn.queries.row_protocol import Column, SharesWork

if TYPE_CHECKING:
    from unworn.rows.memory.sample import Sample

T = TypeVar("T")


class _Some(SharesParts, SharesWork):
    """What every choice of rows has; how rows are picked is all that differs."""

    __slots__ = ("_columns", "_memo", "_sample", "kept", "prepared", "size")

    def __init__(self, sample: Sample, size: int, memo: dict[Hashable, Any]) -> None:
        self._sample, self._memo, self.size = sample, memo, size
        self._columns: dict[str, Column] = {}
        self.prepared = {}  # for one question, and so for all that see these rows
        self.kept = None  # likewise, of parts that several questions have in common

    @abstractmethod
    def pick(self, values: NDArray[Any]) -> NDArray[Any]:
        """Of one entry for each row of the sample, those of these rows.

        Of a sample that is a part of the rows also where there is one entry for each of all the rows, as in an asker's
        array of predictions. A part is smaller than all of them, so that the length tells which it is.
        """

    @abstractmethod
    def column(self, name: str) -> Column:
        """A column over these rows, picked once."""

    @property
    def labels(self) -> Column:
        target = self._sample.schema.target
        if target is None:
            raise Unaskable("this holdout was sealed without labels: give y=")
        return self.column(target)

    @property
    def names(self) -> Sequence[str]:
        return tuple(self._sample.columns)

    @property
    def features(self) -> Any:
        return self._sample.features

    @property
    def whole(self) -> Chunk:
        return Chunk(self._sample, 0, self._sample.rows, self._memo)

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        if key not in self._memo:
            self._memo[key] = make()
        found: T = self._memo[key]
        return found

    def shared(self, key: Hashable, make: Callable[[], T]) -> T:
        """The latest rows' alone: a pass has one run of rows after another."""
        kept: dict[str, Any] = self.once(key, dict)
        if kept.get("rows") is not self:
            kept["rows"], kept["found"] = self, make()
        found: T = kept["found"]
        return found


class Chunk(_Some):
    """Consecutive rows. Picking them copies nothing; what is made ``once`` is kept for the whole pass."""

    __slots__ = ("span",)

    def __init__(self, sample: Sample, start: int, size: int, memo: dict[Hashable, Any]) -> None:
        super().__init__(sample, size, memo)
        self.span = slice(start, start + size)

    def pick(self, values: NDArray[Any]) -> NDArray[Any]:
        origin = self._sample.origin
        if origin is not None and len(values) == self._sample.length:
            return values.take(origin[self.span], axis=0, mode="clip")
        return values[self.span]

    def column(self, name: str) -> Column:
        found = self._columns.get(name)
        if found is None:
            found = self._columns[name] = self._sample.columns[name][self.span]
        return found

    @property
    def small_labels(self) -> NDArray[np.int8]:
        return self._sample.small_labels[self.span]


class PickedRows(_Some):
    """The rows at these places, in this order, one as often as it is named.

    Nothing here takes longer because the sample is larger: columns are gathered when they are asked for, and text
    comes with the words of these rows only. What is made ``once`` rests on those words, so it is not shared.
    """

    __slots__ = ("_rows",)

    def __init__(self, sample: Sample, rows: NDArray[np.int64]) -> None:
        super().__init__(sample, len(rows), {})
        self._rows = rows

    def pick(self, values: NDArray[Any]) -> NDArray[Any]:
        # Rows are inside, so nothing is clipped; but so told, NumPy gathers many times faster than by indexing.
        origin, rows = self._sample.origin, self._rows
        if origin is not None and len(values) == self._sample.length:
            rows = origin.take(rows, mode="clip")
        return values.take(rows, axis=0, mode="clip")

    def column(self, name: str) -> Column:
        found = self._columns.get(name)
        if found is None:
            column = self._sample.columns[name]
            if self._sample.watch is not None:
                self._sample.watch.ahead(column.values, self._rows)
            found = self._columns[name] = column.on(self).compact()
        return found

    @property
    def small_labels(self) -> NDArray[np.int8]:
        return small_labels(self.labels)
