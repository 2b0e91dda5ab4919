"""Rows that stay in DuckDB: relations, Parquet, CSV and tables that do not fit memory.

Questions become sums that DuckDB works out, many in one pass and in memory that does not grow with the rows. What else
is needed of rows, fingerprints, draws and random rounding, goes through in batches.

Rows must not change under a sealed holdout. Every statement counts the rows again; of files the size, date and identity
are looked at before and after; and of a relation, whose rows the owner's connection may change at any time, and of a
view, whose rows are made anew for every statement, each statement adds up hashes of the columns it reads as it reads
them, and the sums must be those noted at the opening.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from unworn.errors import Mismatch, MissingExtra, Unaskable, Unavailable
from unworn.queries.schema import ColumnKind
from unworn.rows.contract import BATCH, Batch, Work
from unworn.rows.reading.arrow_batches import column_of, take_entries
from unworn.rows.sql.duckdb.duckdb_sources import RelationSource, is_duckdb, open_source
from unworn.rows.sql.duckdb.duckdb_types import bare, held_columns
from unworn.rows.sql.sql_batch import Asked, statement
from unworn.rows.sql.sql_expressions import sqlglot_exp

T = TypeVar("T")
AGGREGATES = 100
"""How many sums one statement has."""
_OUTSIDE = frozenset({"CatalogException", "ConnectionException", "InterruptException", "TransactionException"})
"""Failures of DuckDB's that no value can cause: a table that is gone, a connection that was closed, a statement that
its owner stopped, another transaction's change. They may pass as quickly as they came."""

__all__ = ["DuckDB", "is_duckdb"]


class DuckDB:
    """The rows of a relation, of files, or of a table: an :class:`~unworn.rows.contract.Engine`.

    >>> import duckdb
    >>> from unworn.queries import col, mean, share
    >>> people = DuckDB(duckdb.sql("select range as age from range(100)"))
    >>> [float(total) for total in people.sums([share(col("age") >= 65), mean(col("age").fill(0), range=(0, 10))])]
    [35.0, 945.0]
    """

    name = "duckdb"
    local = True

    def __init__(self, data: Any) -> None:
        self._source: RelationSource = open_source(data)
        self._lock, self._pid, self._open = threading.RLock(), os.getpid(), False
        try:
            self._begin(self._source.relation)
            self._open = True
        except BaseException:
            self._source.close()  # or a database stays open for as long as the error is looked at
            raise

    def _begin(self, relation: Any) -> None:
        """Which columns there are, how many rows, and what shows that they are still the same."""
        names = list(relation.columns)
        if len({name.lower() for name in names}) < len(names):
            raise Unaskable("DuckDB does not distinguish upper and lower case in names: columns need different names")
        self._held, self.left_out = held_columns(names, relation.types)
        self._watched = self._source.alive
        self._stamp = self._attempt(self._source.stamp)
        self._sums: dict[str, int] = {}
        self.rows = int(self._fetch(relation, ["count(*)"])[0])
        if self._watched:
            noted = self._fetch(relation, [self._hashed(name) for name in self._held] or ["count(*)"])
            self._sums = dict(zip(self._held, noted, strict=False))

    @property
    def kinds(self) -> Mapping[str, ColumnKind]:
        return {name: held.kind for name, held in self._held.items()}

    def sums(self, queries: Sequence[Asked]) -> list[Fraction]:
        totals: list[Fraction] = []
        for start in range(0, len(queries), AGGREGATES):
            told = statement(queries[start : start + AGGREGATES], self._held, "duckdb")
            found = self._checked(told.layers, told.sums, told.used)
            totals += [int(each or 0) * unit for each, unit in zip(found, told.units, strict=True)]
        return totals

    def map(self, columns: Sequence[str], work: Work) -> Iterator[NDArray[Any]]:
        for first, size, arrays in self._arrow(columns):
            yield work(first, Batch({name: column_of(arrays[name], self._held[name].kind) for name in columns}, size))

    def draw(self, rows: NDArray[np.int64], columns: Sequence[str]) -> Batch:
        import pyarrow as pa

        pieces = {name: list[Any]() for name in columns}
        for first, size, arrays in self._arrow(columns):
            low, high = np.searchsorted(rows, [first, first + size])
            if high > low:
                places = pa.array(rows[low:high] - first)
                for name in columns:
                    pieces[name].append(take_entries(arrays[name], places))
        whole = {name: pa.concat_arrays(pieces[name]) for name in columns}
        return Batch({name: column_of(whole[name], self._held[name].kind) for name in columns}, len(rows))

    def look(self) -> None:
        with self._unchanged():
            pass

    def distinct(self, columns: Sequence[str]) -> list[int]:
        exp = sqlglot_exp()
        counts = [exp.ApproxDistinct(this=exp.column(name, quoted=True)).sql(dialect="duckdb") for name in columns]
        return [int(count) for count in self._checked((), counts, ())] if counts else []

    def close(self) -> None:
        """Close the connection, if it is this engine's own, and not the parent's of this fork."""
        if self._pid == os.getpid():
            self._source.close()

    def _arrow(self, columns: Sequence[str]) -> Iterator[tuple[int, int, dict[str, Any]]]:
        """The rows in Arrow arrays, in the order DuckDB keeps them in: the place of the first, how many, and they.

        Whether all of them were those that were opened is known at the end, and an error if not.
        """
        chosen = [bare(name, self._held[name]).sql(dialect="duckdb") for name in columns] or ['TRUE AS "none"']
        watched = list(columns) if self._watched else []
        texts = ", ".join([*chosen, *map(self._hash, watched)])
        seen, sums = 0, dict.fromkeys(watched, 0)
        with self._lock, self._unchanged():
            reader = self._attempt(lambda: self._source.relation.project(texts).to_arrow_reader(BATCH), columns)
            try:
                while (batch := self._attempt(lambda: _next(reader), columns)) is not None:
                    for name, hashes in zip(watched, batch.columns[len(chosen) :], strict=True):
                        sums[name] += _total(hashes)
                    yield seen, batch.num_rows, dict(zip(columns, batch.columns, strict=False))
                    seen += batch.num_rows
            finally:
                reader.close()
        if seen != self.rows or any(sums[name] != self._sums[name] for name in watched):
            raise self._changed()

    def _checked(self, layers: Sequence[Sequence[str]], sums: Sequence[str], used: Sequence[str]) -> tuple[Any, ...]:
        """The sums over the rows, if they are still those that were opened."""
        watched = [name for name in used if self._watched]
        relation = self._source.relation
        with self._lock, self._unchanged():
            if watched:
                first, *others = layers
                hashes = [f'{self._hash(name)} AS "unworn hash {place}"' for place, name in enumerate(watched)]
                layers = [[*first, *hashes], *others]
            for layer in layers:
                relation = self._attempt(partial(relation.project, ", ".join(layer)), used)
            noted = [f'sum("unworn hash {place}")' for place in range(len(watched))]
            count, *found = self._fetch(relation, ["count(*)", *noted, *sums], used)
        if count != self.rows or found[: len(watched)] != [self._sums[name] for name in watched]:
            raise self._changed()
        return tuple(found[len(watched) :])

    def _hash(self, name: str) -> str:
        column: str = sqlglot_exp().column(name, quoted=True).sql(dialect="duckdb")
        return f"hash({column})"

    def _hashed(self, name: str) -> str:
        return f"sum({self._hash(name)})"

    def _fetch(self, relation: Any, sums: Sequence[str], used: Sequence[str] = ()) -> tuple[Any, ...]:
        rows = self._attempt(lambda: relation.aggregate(", ".join(sums)).fetchall(), used)
        (found,) = rows
        return tuple(found)

    @contextmanager
    def _unchanged(self) -> Iterator[None]:
        """The files must be the same before rows are read and after."""
        for look in range(2):
            if self._attempt(self._source.stamp) != self._stamp:
                raise self._changed()
            if not look:
                yield

    def _attempt(self, run: Callable[[], T], used: Sequence[str] | None = None) -> T:
        """What DuckDB returns; a failure is told by its kind alone, because its message may quote a row.

        A question about columns that are open (``used``) may fail at what they hold, and its kind would tell of that
        too. So these columns are read once more, in a way that no value makes fail: if they can be, it was the
        question, on these rows, and that is for the desk to enter; if not, they are out of reach, whatever they hold.
        """
        if self._pid != os.getpid():
            raise Unavailable(
                "this process was forked from the one that opened the rows, and DuckDB's threads stayed there.\n"
                "  Nothing was charged. Open the holdout in this process, or start it by spawn instead of fork."
            )
        try:
            return run()
        except ImportError:
            raise MissingExtra.of("sql", "bringing rows out of DuckDB") from None
        except Exception as error:
            name, interrupted = type(error).__name__, str(error) == "Query interrupted"
        if interrupted:
            raise KeyboardInterrupt  # which DuckDB turns into an error of its own
        if self._open and used is not None and name not in _OUTSIDE:
            name = self._unreadable(used) or ""
            if not name:
                raise Mismatch("DuckDB failed at this question on these rows")
        raise (Unavailable if self._open else Mismatch)(
            f"DuckDB could not read the rows ({name}): the table or file behind them may be gone, changed or in use.\n"
            "  Nothing was charged. Bring it back as it was, and open the holdout again.",
            failure=name,
        )

    def _unreadable(self, used: Sequence[str]) -> str | None:
        """The kind of failure with which these columns cannot be read at all; None if they can, and are the same."""
        try:
            same = self._source.stamp() == self._stamp
            told = self._source.relation.aggregate(", ".join(["count(*)", *map(self._hashed, used)])).fetchall()
        except Exception as error:
            return type(error).__name__
        noted = [self.rows, *(self._sums[name] for name in used)] if self._watched else [self.rows]
        if not same or list(told[0][: len(noted)]) != noted:
            raise self._changed()
        return None

    def _changed(self) -> Unavailable:
        return Unavailable(
            f"the rows in DuckDB are no longer the {self.rows} rows that were opened, so nothing is read from them.\n"
            "  Nothing was charged. Bring them back as they were, and open the holdout again. (What random() or now()\n"
            "  makes is new each time: put such rows into a table.)"
        )


def _total(hashes: Any) -> int:
    """The sum of 64-bit words, which no 64 bits hold: of their halves."""
    words: NDArray[np.uint64] = hashes.to_numpy(zero_copy_only=False)
    return (int((words >> np.uint64(32)).sum()) << 32) + int((words & np.uint64(2**32 - 1)).sum())


def _next(reader: Any) -> Any | None:
    try:
        return reader.read_next_batch()
    except StopIteration:
        return None
