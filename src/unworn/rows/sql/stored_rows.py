"""Stored: rows that stay in an engine, behind the same few verbs as rows in memory.

An engine is asked about columns: shares and means. Questions that bring arrays or code along are refused from their
type, before anything is read. Whatever needs rows one by one, random rounding and draws, takes them a batch at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from unworn.errors import Unaskable
from unworn.noise import Stream
from unworn.noise.draws import indices
from unworn.queries.query import Facts, Query
from unworn.queries.row_protocol import Column, Floats, Words
from unworn.queries.schema import Schema
from unworn.rows.contract import BATCH, Batch, Engine
from unworn.rows.memory import row_draws
from unworn.rows.memory.subset_passes import spread
from unworn.rows.reading.frame_reading import Read
from unworn.rows.reading.public_schema import Declared, public_schema
from unworn.rows.sql.duckdb.duckdb_sources import title_of
from unworn.rows.sql.engine_choice import is_stored, open_engine
from unworn.rows.sql.sql_batch import Squares, columns_of, counted_shares, plain_question

__all__ = ["Stored", "is_stored"]


class Stored:
    """Rows in an engine, sealed: never changed while they are asked, never shown.

    >>> import duckdb
    >>> from unworn.queries import col, share
    >>> rows = Stored.read(duckdb.sql("select range as age from range(100)"))
    >>> rows
    Stored(100 rows in duckdb; age: number)
    >>> rows.counts([share(col("age") >= 65)]).tolist()
    [35]
    """

    has_features = False
    backend = "pyarrow"
    path = None
    groups = None
    origin = None
    unit_of_row = None
    has_parts = False
    is_in_memory = False

    def __init__(self, engine: Engine, schema: Schema, title: str = "holdout") -> None:
        self.engine, self.schema, self.title = engine, schema, title
        self.rows = self.size = self.length = engine.rows
        self.columns: Mapping[str, Any] = dict.fromkeys(engine.kinds)  # names only: the values stay where they are
        self.left_out = engine.left_out
        self.digests: dict[bytes, Any] = {}
        self.canonical: dict[str, Any] = {}

    @classmethod
    def read(
        cls, data: Any, y: Any = None, *, groups: Any = None, schema: Declared | None = None, train: Any = None
    ) -> Stored:
        """Open rows in an engine: a DuckDB relation, a text like ``duckdb:people.parquet``, a Spark frame.

        ``y`` names the column of labels. Every column may be missing, unless ``train`` (a sample) or ``schema=`` says
        that it is not.
        """
        if groups is not None:
            raise Unaskable("rows in groups are read into memory: give a frame or a path, not rows kept in an engine")
        if y is not None and not isinstance(y, str):
            raise Unaskable("rows kept in an engine have their labels among them: give y= the name of a column")
        engine = open_engine(data)
        try:
            return cls(engine, _schema(engine, y, train, schema), title_of(data))
        except BaseException:
            engine.close()  # or a database stays locked for as long as the error is looked at
            raise

    def __repr__(self) -> str:
        kinds = ", ".join(f"{name}: {column.kind}" for name, column in list(self.schema.items())[:12])
        return f"Stored({self.rows} rows in {self.engine.name}; {kinds}{', …' if len(self.schema) > 12 else ''})"

    def __reduce__(self) -> NoReturn:
        raise TypeError("stored rows cannot be pickled: rows do not travel; open them again")

    def check(self, query: Query) -> None:
        """Refuse what an engine cannot be asked."""
        for part in counted_shares(query):
            plain_question(part)

    def close(self) -> None:
        """Let go of the engine's files."""
        self.engine.close()

    def seal(self, secret: bytes) -> None:
        """Nothing here depends on the secret: rows in an engine are not parted."""

    def restricted(self, secret: bytes, span: slice, shown: bool = False) -> NoReturn:
        raise self._whole()

    def emptied(self) -> NoReturn:
        raise self._whole()

    def _whole(self) -> Unaskable:
        return Unaskable(
            "rows kept in an engine have one use, all of them together: read them into memory to part them"
        )

    def statistics(self, queries: Sequence[Query], part: tuple[int, int] | None = None) -> list[Any]:
        """A count or a mean for each question, by its kind; one pass over the rows for a hundred of them."""
        if part is not None:
            raise self._whole()
        facts = self._facts(queries)
        told: list[Any] = []
        parts = [counted_shares(query) for query in queries]
        totals = iter(self.engine.sums([part for several in parts for part in several]))
        for fact in facts:
            total = next(totals)
            if fact.kind == "conditional":
                told.append((int(total), int(next(totals))))
                continue
            mean = min(max(float(total / self.rows), fact.low), fact.high)
            told.append(int(total) if fact.kind == "binary" else mean)
        return told

    def counts(self, queries: Sequence[Query], part: tuple[int, int] | None = None) -> NDArray[np.int64]:
        """For 0/1 questions: in how many rows the answer is yes."""
        if any(fact.kind != "binary" for fact in self._facts(queries)):
            raise Unaskable("only a 0/1 question can be counted; ask for its mean")
        return np.array(self.statistics(queries, part), dtype=np.int64)

    def means(self, queries: Sequence[Query], part: tuple[int, int] | None = None) -> Floats:
        """The mean of each question, in its own units."""
        told = zip(self.statistics(queries, part), self._facts(queries), strict=True)
        return np.array([value / self.rows if fact.kind == "binary" else value for value, fact in told])

    def differences(self, queries: Sequence[Query], part: tuple[int, int] | None = None) -> NoReturn:
        raise Unaskable("paired questions compare predictions, which rows kept in an engine do not take")

    def moments(self, queries: Sequence[Query], part: tuple[int, int] | None = None) -> list[tuple[float, ...]]:
        """For means: (mean, variance as a share of the squared length of the range), in one pass."""
        if part is not None:
            raise self._whole()
        facts = self._facts(queries)
        if any(fact.kind not in ("binary", "unit") for fact in facts):
            raise Unaskable("only means over rows have a variance: ask for a share or a mean")
        squares = [Squares(q, f.low, f.high) for q, f in zip(queries, facts, strict=True) if f.kind == "unit"]
        sums = self.engine.sums([*queries, *squares])
        squared = iter(sums[len(queries) :])
        told: list[tuple[float, ...]] = []
        for fact, total in zip(facts, sums, strict=False):
            scaled = float((total - Fraction(fact.low) * self.rows) / Fraction(fact.high - fact.low))
            told.append(spread(fact, scaled, scaled if fact.kind == "binary" else float(next(squared)), self.rows))
        return told

    def statistic(self, query: Query) -> NoReturn:
        plain_question(query)
        raise TypeError(f"{query.label} is not a statistic of the whole sample: ask for its count or mean")

    def rounded(self, queries: Sequence[Query], noises: Sequence[Words]) -> list[int]:
        """Counts of 0/1 questions are sums; for the others coins are thrown where the rows lie."""
        facts = self._facts(queries)
        if len(noises) != len(queries) or len({id(noise) for noise in noises}) < len(noises):
            raise ValueError(f"{len(queries)} questions need as many streams, each its own, not {len(noises)}")
        exact = [place for place, fact in enumerate(facts) if fact.kind == "binary"]
        ones = [0] * len(queries)
        for place, total in zip(exact, self.engine.sums([queries[place] for place in exact]), strict=True):
            ones[place] = int(total)
        others = [place for place, fact in enumerate(facts) if fact.kind != "binary"]
        if others:
            names = {name: None for place in others for name in columns_of(queries[place])}
            # Not the stream itself: it holds the key of the holdout, which is none of a worker's business.
            keyed = [(facts[place], queries[place], _key(noises[place])) for place in others]
            for told in self.engine.map(tuple(names), partial(_coins, keyed)):
                for place, count in zip(others, told.tolist(), strict=True):
                    ones[place] += count
        return ones

    def drawn(self, query: Query, units: int, noise: Words, replace: bool = False) -> int:
        """The same over fresh rows drawn by the stream, which the engine hands out in one pass."""
        self._facts([query])
        if units < 1 or (units > self.size and not replace):
            raise ValueError(
                f"cannot draw {units} of {self.size} units: draw from 1 to {self.size}, or with replace=True"
            )
        return self.ones_at(query, indices(row_draws.secret(noise), self.size, units, replace), noise)

    def ones_at(self, query: Query, chosen: NDArray[np.int64], noise: Words) -> int:
        """How many of the rows at these places come out 1."""
        (runs,) = self.fetched([chosen], columns_of(query))
        return self.ones(query, runs, noise)

    def ones(self, query: Query, runs: Iterable[Batch], noise: Words) -> int:
        """How many of rows that were fetched before come out 1."""
        (fact,) = self._facts([query])
        with np.errstate(all="ignore"):
            return row_draws.total(fact, query, runs, noise)

    def fetched(self, chosen: Sequence[NDArray[np.int64]], names: Sequence[str]) -> Iterator[Iterator[Batch]]:
        """For each of several choices of places the rows there, in that order, all of them brought in one pass."""
        rows, places = np.unique(np.concatenate(chosen), return_inverse=True)
        batch = self.engine.draw(rows, names) if names else Batch({}, len(rows))
        ends = np.cumsum([len(each) for each in chosen])
        return (_runs(batch, some) for some in np.split(places, ends[:-1]))

    def _facts(self, queries: Sequence[Query]) -> list[Facts]:
        for query in queries:
            self.check(query)
        return [query.facts(self.schema, self.length) for query in queries]


def _schema(engine: Engine, y: str | None, train: Any, declared: Declared | None) -> Schema:
    if engine.rows == 0:
        raise Unaskable("the data has no rows")
    if not engine.kinds:
        raise Unaskable("no column is a number, a truth value, a text or a date, so nothing can be asked")
    if y is not None and y not in engine.kinds:
        raise Unaskable(f"there is no column {y!r} to be the target; the columns are: {', '.join(engine.kinds)[:200]}")
    reads = {name: Read(Column(kind, np.zeros(0)), nullable=True) for name, kind in engine.kinds.items()}
    return public_schema(reads, y, False, None if train is None else dict(train.columns), declared)


def _key(noise: Words) -> bytes:
    return row_draws.secret(noise).words(4).tobytes()


def _coins(keyed: Sequence[tuple[Facts, Query, bytes]], first: int, batch: Batch) -> NDArray[np.int64]:
    """For each question how many of these rows come out 1; the coin of a row is the same in whatever batch it comes."""
    with np.errstate(all="ignore"):
        told = [row_draws.total(fact, query, [batch], Stream(key, "coins").at(first)) for fact, query, key in keyed]
    return np.array(told, dtype=np.int64)


def _runs(batch: Batch, places: NDArray[np.intp]) -> Iterator[Batch]:
    """The rows of a batch in another order, one as often as it is named, a run at a time."""
    for start in range(0, len(places), BATCH):
        here = places[start : start + BATCH]
        columns = {
            name: Column(
                column.kind,
                column.values.take(here),
                None if column.missing is None else column.missing.take(here),
                column.vocabulary,
            ).compact()
            for name, column in batch.columns.items()
        }
        yield Batch(columns, len(here))
