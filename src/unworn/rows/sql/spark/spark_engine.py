"""Rows that stay in Spark, classic or Connect: tables that outgrow one machine.

Questions become sums that the cluster works out, some dozens in one pass. Work on rows goes to the workers, and what
comes back is what it made of them; of rows themselves only those that were drawn.

Spark keeps no rows: a frame is a recipe, followed anew by every statement. So every statement also counts the rows and
adds up hashes of the columns it reads, and both must be what was noted at the opening: a table that was written to, and
a recipe that gives other rows each time, are found so. The session is the owner's, and stays as it is.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from importlib import import_module
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from unworn.errors import Mismatch, Unavailable
from unworn.queries.language.means import Share
from unworn.queries.schema import ColumnKind
from unworn.rows.contract import Batch, Work
from unworn.rows.reading.arrow_batches import column_of, take_entries
from unworn.rows.sql.spark.spark_hashes import HIGH, LOW, row_hash, sum_hashes, total
from unworn.rows.sql.spark.spark_places import ID, Layout, part_of
from unworn.rows.sql.spark.spark_sources import attempt, is_spark, open_frame
from unworn.rows.sql.spark.spark_types import held_columns
from unworn.rows.sql.spark.spark_work import SENT, on_batches, read_reply
from unworn.rows.sql.sql_batch import Asked, statement

T = TypeVar("T")
PlacedRows = tuple[Layout, int, T]
"""What a statement tells of itself (the partitions it had, the sum of their hashes), and what it was made for."""

AGGREGATES = 30
"""How much one statement adds up, its count and its hash included: with many more Spark is slow out of proportion."""
_TRIES = 3

__all__ = ["Spark", "is_spark"]


class Spark:
    """The rows of a Spark frame: an :class:`~unworn.rows.contract.Engine`."""

    name = "spark"
    local = False

    def __init__(self, frame: Any) -> None:
        self._lock, self._pid, self._open = threading.RLock(), os.getpid(), False
        self._frame, fields = open_frame(frame)
        self._session = self._frame.sparkSession
        self._columns = held_columns(fields, self._attempt(lambda: self._session.version))
        self.left_out = self._columns.left_out
        self._numbers = {name: place for place, name in enumerate(self._columns.held)}
        self._layouts: dict[str, Layout] = {}
        self._sums: dict[str, int] = {}
        names = list(self._columns.held)
        for here in _some(names, [2] * len(names)) or [[]]:
            hashes = [f"{self._hash([name])} AS h{place}" for place, name in enumerate(here)] or ["true"]
            sums = [sum_hashes(f"h{place}") for place in range(len(here))]
            self.rows, *noted = self._fetch([hashes], ["count(*)", *sums])
            self._sums |= {name: int(each or 0) for name, each in zip(here, noted, strict=True)}
        self._open = True

    @property
    def kinds(self) -> Mapping[str, ColumnKind]:
        return {name: held.kind for name, held in self._columns.held.items()}

    def sums(self, queries: Sequence[Asked]) -> list[Fraction]:
        totals: list[Fraction] = []
        for here in _some(queries, [1 if isinstance(query, Share) else 2 for query in queries]):
            told = statement(here, self._columns.held, "spark", self.rows)
            found = self._checked(told.layers, told.sums, told.used)
            totals += [int(each or 0) * unit for each, unit in zip(found, told.units, strict=True)]
        return totals

    def map(self, columns: Sequence[str], work: Work) -> Iterator[NDArray[Any]]:
        kinds = {name: self._columns.held[name].kind for name in columns}
        chosen = [*self._bare(columns), self._hash(columns)]

        def done(layout: Layout) -> PlacedRows[Any]:
            run = on_batches(kinds, layout.first.tolist(), work)
            sent = self._attempt(lambda: self._frame.selectExpr(*chosen).mapInArrow(run, SENT).toArrow(), columns)
            part, size, high, low, told = sent.columns
            counted = zip(part.to_pylist(), size.to_pylist(), strict=True)
            halves = zip(high.to_pylist(), low.to_pylist(), strict=True)
            return Layout.of(counted), total(halves), told

        for told in self._rows_in_place("map", columns, done):
            yield read_reply(told.as_buffer())

    def draw(self, rows: NDArray[np.int64], columns: Sequence[str]) -> Batch:
        pa = attempt(lambda: import_module("pyarrow"))
        wanted, again = np.unique(rows, return_inverse=True)
        bare = [f"{text} AS b{place}" for place, text in enumerate(self._bare(columns))]
        chosen = ", ".join(["id", *(f"b{place}" for place in range(len(bare)))])

        def done(layout: Layout) -> PlacedRows[Any]:
            names = pa.table({"id": layout.names(wanted), "wanted": np.ones(len(wanted), dtype=np.bool_)})
            found = self._attempt(
                lambda: self._picked(names, [*bare, f"{self._hash(columns)} AS hash"], chosen), columns
            )
            part, noted, brought = (column.combine_chunks() for column in found.columns)
            count, high, low = (each.to_pylist() for each in noted.flatten())
            return Layout.of(zip(part.to_pylist(), count, strict=True)), total(zip(high, low, strict=True)), brought

        found = self._rows_in_place("draw", columns, done).flatten()
        # Names are in the order of places, so the drawn rows are put in theirs by sorting, and repeated as asked.
        places = pa.array(np.argsort(found.field("id").to_numpy())[again])
        arrays = {name: take_entries(found.field(place + 1), places) for place, name in enumerate(columns)}
        return Batch({name: column_of(arrays[name], self._columns.held[name].kind) for name in columns}, len(rows))

    def look(self) -> None:
        """Nothing is plain without reading rows: every statement looks for itself."""

    def distinct(self, columns: Sequence[str]) -> list[int]:
        found: list[int] = []
        for here in _some(columns, [1] * len(columns)):
            layer = [f"{text} AS b{place}" for place, text in enumerate(self._bare(here))]
            counts = [f"approx_count_distinct(b{place})" for place in range(len(here))]
            found += [int(count) for count in self._checked([layer], counts, here)]
        return found

    def close(self) -> None:
        """The session is the owner's, and stays as it is."""

    def _bare(self, columns: Sequence[str]) -> list[str]:
        return [self._columns.bare[name].sql(dialect="spark") for name in columns]

    def _hash(self, columns: Sequence[str]) -> str:
        numbers = (self._numbers[name] for name in columns)
        return row_hash(dict(zip(numbers, self._bare(columns), strict=True)))

    def _checked(self, layers: Sequence[Sequence[str]], sums: Sequence[str], used: Sequence[str]) -> tuple[Any, ...]:
        """The sums over the rows, if they are still those that were opened."""
        first, *others = layers
        layers = [[*first, f"{self._hash(used)} AS hash"], *others]
        count, hashed, *found = self._fetch(layers, ["count(*)", sum_hashes("hash"), *sums], used)
        self._compare(count, int(hashed or 0), used)
        return tuple(found)

    def _picked(self, names: Any, columns: Sequence[str], chosen: str) -> Any:
        """For each partition how many rows it has, what their hashes add up to, and the rows that are named."""
        marked = self._session.createDataFrame(names).hint("broadcast")
        named = self._frame.selectExpr(f"{ID} AS id", *columns).join(marked, "id", "left")
        halves = (f"{each.format('hash')} AS {name}" for each, name in ((HIGH, "high"), (LOW, "low")))
        row = f"CASE WHEN wanted THEN struct({chosen}) END AS row"
        parts = named.selectExpr(f"{part_of('id')} AS part", *halves, row).groupBy("part")
        told = parts.agg({"part": "count", "high": "sum", "low": "sum", "row": "collect_list"})  # in no order
        noted = "struct(`count(part)`, `sum(high)`, `sum(low)`)"
        return told.selectExpr("part", noted, "`collect_list(row)`").toArrow()

    def _rows_in_place(self, kind: str, columns: Sequence[str], done: Callable[[Layout], PlacedRows[T]]) -> T:
        """What comes of rows at their places, once partitions are as they were assumed to be."""
        with self._lock:
            layout = self._layouts.get(kind) or self._layout()
            for _ in range(_TRIES):
                seen, hashed, found = done(layout)
                self._compare(seen.rows, hashed, columns)
                assumed, layout = layout, seen
                self._layouts[kind] = layout
                if layout == assumed:
                    return found
        raise self._changed()

    def _layout(self) -> Layout:
        """How many rows each partition has, to begin with."""
        parts = self._frame.selectExpr(f"{part_of(ID)} AS part").groupBy("part")
        return Layout.of(self._attempt(lambda: parts.count().collect()))

    def _compare(self, count: int, hashed: int, used: Sequence[str]) -> None:
        if count != self.rows or hashed != sum(self._sums[name] for name in used):
            raise self._changed()

    def _fetch(self, layers: Sequence[Sequence[str]], sums: Sequence[str], used: Sequence[str] = ()) -> tuple[Any, ...]:
        def run() -> Any:
            frame = self._frame
            for layer in (*layers, sums):
                frame = frame.selectExpr(*layer)
            return frame.collect()

        (found,) = self._attempt(run, used)
        return tuple(found)

    def _attempt(self, run: Callable[[], T], used: Sequence[str] | None = None) -> T:
        """What Spark returns.

        Where it fails once the rows are open, the columns that were ``used`` are read once more, by their hashes, as at
        the opening: if they can be, what failed was the question, on these rows, and that is for the desk to enter; if
        not, the rows are out of reach, whatever they hold.
        """
        if self._pid != os.getpid():
            raise Unavailable(
                "this process was forked from the one that opened the rows, and Spark's session stayed there.\n"
                "  Nothing was charged. Open the holdout in this process, or start it by spawn instead of fork."
            )
        with self._lock:
            try:
                return attempt(run, self._session)
            except Unavailable:
                raise
            except Mismatch as error:
                failed = error
            if not self._open:
                raise failed
            lost = failed if used is None else self._unreadable(used)
        if lost is not None:
            raise Unavailable(lost.message, **lost.numbers)
        raise Mismatch("Spark failed at this question on these rows")

    def _unreadable(self, used: Sequence[str]) -> Mismatch | None:
        """Why these columns cannot be read at all; None if they can, and are the same."""

        def run() -> Any:  # all of it: where the session is gone, even naming columns fails
            hashed = self._frame.selectExpr(f"{self._hash(used)} AS hash")
            return hashed.selectExpr("count(*)", sum_hashes("hash")).collect()

        try:
            ((count, hashes),) = attempt(run, self._session)
        except Mismatch as error:
            return error
        self._compare(count, int(hashes or 0), used)
        return None

    def _changed(self) -> Unavailable:
        return Unavailable(
            f"the rows in Spark are no longer the {self.rows} rows that were opened, so nothing is read from them.\n"
            "  Nothing was charged. Bring them back as they were, and open the holdout again. (What comes out\n"
            "  differently each time, by rand, sample, limit or sums of floats, is written to a table first.)"
        )


def _some(items: Sequence[T], sums: Sequence[int]) -> list[list[T]]:
    """As many at a time as one statement takes beside its count and its hash, which is added up in two halves."""
    found: list[list[T]] = []
    room = 0
    for item, needed in zip(items, sums, strict=True):
        if needed > room:
            found.append([])
            room = AGGREGATES - 3
        found[-1].append(item)
        room -= needed
    return found
