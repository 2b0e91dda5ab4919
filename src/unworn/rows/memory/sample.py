"""Sample: the rows, and the few things that may be done with them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from unworn.basics.display import show_value
from unworn.errors import ReadOnly, Unaskable
from unworn.queries.code.callables import plain
from unworn.queries.predictions import small_labels
from unworn.queries.query import Query
from unworn.queries.row_protocol import Bools, Column, Floats, Words
from unworn.queries.schema import Schema
from unworn.queries.statistic import Statistic
from unworn.rows.memory import row_draws, row_passes
from unworn.rows.memory.row_split import restrict_rows, shuffle_units
from unworn.rows.memory.sampled_units import SampledUnits
from unworn.rows.reading import given_data
from unworn.rows.reading.frame_reading import Table, Watch, series_name
from unworn.rows.reading.public_schema import Declared, public_schema


class Sample(SampledUnits):
    """Rows in memory, or in a file that is mapped into it, sealed: never changed, never shown.

    >>> sample = Sample.read({"age": np.array([30, 70])}, np.array([0, 1]))
    >>> sample
    Sample(2 rows; age: number, y: number)
    >>> from unworn.queries.metrics.named_metrics import accuracy
    >>> sample.counts([accuracy([0, 0])]).tolist()
    [1]
    """

    has_parts = True

    def __init__(
        self,
        columns: dict[str, Column],
        schema: Schema,
        *,
        rows: int,
        groups: Column | None = None,
        features: Any = None,
        left_out: tuple[str, ...] = (),
        path: Path | None = None,
        origin: NDArray[np.intp] | None = None,
        length: int | None = None,
        watch: Watch | None = None,
    ) -> None:
        self.columns, self.schema, self.rows = columns, schema, rows
        self.origin = origin  # where this part's rows lie among all that were sealed; None for all of them
        self.length = rows if length is None else length  # how many those are: what arrays of predictions run over
        self.groups, self.left_out, self.path = groups, left_out, path
        self.watch = watch  # raises where rows lie in a file that is no longer what it was
        self._features = features
        self._secret: bytes | None = None
        self.digests: dict[bytes, Any] = {}  # and what they keep under each holdout's secret
        self.row_hashes: NDArray[np.uint64] | None = None  # one word per row, under whichever secret came last
        self.canonical: dict[str, Any] = {}  # what fingerprints keep of a column, independent of any key

    @classmethod
    def read(
        cls,
        data: Any,
        y: Any = None,
        *,
        groups: Any = None,
        schema: Declared | None = None,
        train: Any = None,
    ) -> Sample:
        """Read rows given in any common form.

        Parameters
        ----------
        data
            A pandas, polars or Arrow frame, a DuckDB relation, a dictionary of arrays, a matrix (columns ``x0``,
            ``x1``, …), a path to Parquet, CSV, Arrow or Feather, or None when there are only labels.
        y
            Labels, or the name of the column that holds them. A series keeps its name; else they are ``y``.
        groups
            The sampled unit of each row, or the name of the column that holds it.
        schema
            What may be missing, by column: ``"number"``, or ``"number?"`` where it may be. The last word.
        train
            Rows the asker may see (a frame, ``(X, y)`` or a sample): says what may be missing.
        """
        path = Path(data) if isinstance(data, str | os.PathLike) else None
        return cls._of(given_data.read_given(data), y, groups=groups, schema=schema, train=train, path=path)

    @classmethod
    def _of(
        cls,
        table: Table,
        y: Any,
        *,
        groups: Any = None,
        schema: Declared | None = None,
        train: Any = None,
        path: Path | None = None,
        hidden: str | None = None,
    ) -> Sample:
        given_data.check_order(table, y, groups)
        columns, target = given_data.add_target(table, y)
        rows = len(next(iter(columns.values())).column.values) if columns else table.rows
        if rows == 0:
            raise Unaskable("the data has no rows")
        unit = None if groups is None else given_data.read_unit(columns, groups, rows)
        known = train._labelled(target) if isinstance(train, cls) else given_data.read_train_columns(train, target)
        public = public_schema(columns, target, unit is not None, known, schema)
        drop = [name for name in (y, groups, hidden) if isinstance(name, str)]
        return cls(
            {name: read.column for name, read in columns.items()},
            public,
            rows=rows,
            groups=unit,
            features=given_data.drop_columns(table.native, drop),
            left_out=table.left_out,
            path=path,
            watch=table.watch,
        )

    @classmethod
    def read_train(cls, train: Any, y: Any = None, groups: Any = None) -> Sample:
        """Rows the asker may see: a frame or path like ``data``, or ``(X, y)``.

        A frame like ``data`` holds its labels under the name that ``y`` gives, or that a series ``y`` bears. A column
        of ``groups`` is shown to no model, here as in ``data``.
        """
        if isinstance(train, cls):
            return train
        hidden = groups if isinstance(groups, str) else None
        if isinstance(train, tuple):
            if len(train) != 2:
                raise Unaskable(f"train is a frame or a pair (X, y), not {len(train)} things")
            return cls._of(given_data.read_given(train[0]), train[1], hidden=hidden)
        table = given_data.read_given(train)
        name = y if isinstance(y, str) else None if y is None else series_name(y) or "y"
        return cls._of(table, name if name in table.columns else None, hidden=hidden)

    def _labelled(self, target: str | None) -> dict[str, Column]:
        """The columns, those of the labels under another name."""
        columns = dict(self.columns)
        if target is not None and self.schema.target is not None:
            columns[target] = columns.pop(self.schema.target)
        return columns

    @property
    def is_in_memory(self) -> bool:
        """Whether the values lie in memory, and not in a file that is mapped."""
        return self.watch is None

    @property
    def backend(self) -> str:
        """The library the rows came in: answers go out the same way."""
        return type(self._features).__module__.partition(".")[0]

    def __repr__(self) -> str:
        kinds = ", ".join(f"{name}: {column.kind}" for name, column in list(self.schema.items())[:12])
        more = ", …" if len(self.schema) > 12 else ""
        units = "" if self.groups is None else f" in {self.size} groups"
        return f"Sample({self.rows} rows{units}; {kinds}{more})"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Sample cannot be pickled: rows do not travel; reopen it from its path")

    @property
    def features(self) -> Any:
        """What a model is shown: the owner's own frame without labels and groups; None for labels only."""
        return given_data.protect_features(self._features)

    @property
    def has_features(self) -> bool:
        """Whether there is anything to show a model."""
        return self._features is not None

    @cached_property
    def small_labels(self) -> NDArray[np.int8]:
        """Numeric labels in a byte each, for predictions that fit into one."""
        if self.schema.target is None:
            raise Unaskable("these rows have no labels")
        return small_labels(self.columns[self.schema.target])

    def check(self, query: Query) -> None:
        """Refuse what these rows cannot be asked: where they are in memory, what names a column that was left out."""
        if not self.left_out:
            return
        try:
            query.facts(self.schema, self.length)
        except Unaskable as refusal:
            name = refusal.numbers.get("column")
            if name not in self.left_out:
                raise
            raise Unaskable(
                f"column {show_value(name)} was left out when the rows were read, because its dtype has no kind: a "
                "column holds numbers, booleans, text or dates. Convert it before sealing (a duration to a number)",
                column=name,
            ) from None

    @property
    def title(self) -> str:
        """What the rows are called, unless somebody says otherwise."""
        return "holdout" if self.path is None else self.path.stem

    def close(self) -> None:
        """Rows in memory hold nothing that others wait for."""

    def seal(self, secret: bytes) -> None:
        """Fix the secret that decides which units lie in which part."""
        self._secret = bytes(secret)
        self.__dict__.pop("_order", None)

    @cached_property
    def _order(self) -> NDArray[np.intp]:
        if self._secret is None:
            raise ReadOnly("parts of the rows are secret, and this sample was not sealed with a key")
        return shuffle_units(self, self._secret, "parts")

    def restricted(self, secret: bytes, span: slice, shown: bool = False) -> Sample:
        """A sample of some of the units alone: those in this span of the order that the secret gives them all.

        With ``shown`` they may be seen, and so nothing of the others is left in what a model is shown.
        """
        place = b"uses" + secret
        if place not in self.digests:
            self.digests[place] = shuffle_units(self, secret, "uses")
        return restrict_rows(self, self.digests[place][span], shown)

    def emptied(self) -> Sample:
        """A sample of none of the rows: for whoever may see what was told about a part, and cannot know the part."""
        return restrict_rows(self, np.zeros(0, dtype=np.intp))

    def members(self, part: tuple[int, int] | None) -> Bools | None:
        """Which units lie in part ``j`` of ``parts`` equal ones; None for all of them."""
        if part is None:
            return None
        place, parts = part
        share = self.size // parts if parts > 0 else 0
        if share == 0 or not 0 <= place < parts:
            raise Unaskable(f"there is no part {place} of {parts} in {self.size} units", part=place, parts=parts)
        inside = np.zeros(self.size, dtype=bool)
        inside[self._order[place * share : (place + 1) * share]] = True
        return inside

    def reading(self) -> AbstractContextManager[None]:
        """While rows are read: they must be there before, and must be the same when all is read."""
        return nullcontext() if self.watch is None else self.watch.held()

    def statistics(self, queries: Sequence[Query], part: tuple[int, int] | None = None) -> list[Any]:
        """A count, a mean or a pair for each question, by its kind, in one pass over the rows (rankings: one each)."""
        if self.watch is None:  # what nearly all asks are
            return row_passes.statistics(self, queries, self.members(part))
        with self.watch.held():
            return row_passes.statistics(self, queries, self.members(part))

    def counts(self, queries: Sequence[Query], part: tuple[int, int] | None = None) -> NDArray[np.int64]:
        """For 0/1 questions: in how many rows the answer is yes."""
        with self.reading():
            return row_passes.counts(self, queries, self.members(part))

    def means(self, queries: Sequence[Query], part: tuple[int, int] | None = None) -> Floats:
        """The mean of each question over units, in its own units."""
        with self.reading():
            return row_passes.means(self, queries, self.members(part))

    def differences(self, queries: Sequence[Query], part: tuple[int, int] | None = None) -> Floats:
        """For paired questions: a row (mean difference, mean absolute difference) each."""
        with self.reading():
            return row_passes.differences(self, queries, self.members(part))

    def moments(self, queries: Sequence[Query], part: tuple[int, int] | None = None) -> list[tuple[float, ...]]:
        """For means: (mean, variance as a share of the squared length of the range) over units."""
        with self.reading():
            return row_passes.moments(self, queries, self.members(part))

    def rounded(self, queries: Sequence[Query], noises: Sequence[Words]) -> list[int]:
        """How many units came out 1, each rounded at random with its question's own stream, in one pass."""
        with self.reading():
            return row_draws.count_rounded(self, queries, noises)

    def drawn(self, query: Query, units: int, noise: Words, replace: bool = False) -> int:
        """The same over ``units`` fresh units drawn by the stream; no work that grows with the sample."""
        with self.reading():
            return row_draws.count_drawn(self, query, units, noise, replace)

    def statistic(self, query: Query) -> float:
        """The value of a statistic of the whole sample."""
        if not isinstance(query, Statistic):
            raise TypeError(f"{query.label} is not a statistic of the whole sample: ask for its count or mean")
        with self.reading(), np.errstate(all="ignore"):  # warnings would depend on rows
            return query.value({name: plain(column) for name, column in self.columns.items()})
