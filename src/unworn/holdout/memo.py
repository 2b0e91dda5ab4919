"""Rows whose answers are remembered for the length of one ask.

A batch is read in one pass, and an ask that another writer overtook is not read again: neither the rows nor,
above all, the user's model run twice. What depends on noise is remembered only together with the very stream it was
made with: an ask that was overtaken has another.

From the moment rows are touched, whatever is raised, by whomever, is one and the same: the answer could not be made.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unworn.errors import MissingExtra, Unavailable
from unworn.mechanisms import Offer
from unworn.queries.query import Query
from unworn.queries.row_protocol import Floats, Raised, Rows, Words

if TYPE_CHECKING:
    from unworn.rows.memory.draw_pool import GatheredRows
    from unworn.rows.sql.stored_pool import StoredDraw

Part = tuple[int, int] | None


class Memo:
    """The :class:`~unworn.queries.row_protocol.Rows` a mechanism is handed."""

    def __init__(self, rows: Rows) -> None:
        self._rows, self._thread = rows, threading.get_ident()
        self.has_parts = rows.has_parts
        self.touched = False
        self.interrupt: BaseException | None = None
        self.failures: dict[int, bool] = {}  # by the question's place: whether it was interrupted
        self._interrupted: tuple[str, ...] = ()
        self.ready: GatheredRows | StoredDraw | None = None
        self.draw: tuple[str, int] | None = None
        self._known: dict[tuple[str, Part], Any] = {}
        self._moments: dict[tuple[str, Part], tuple[float, ...] | None] = {}  # None where its code failed
        self._whole: dict[str, float] = {}
        self._counts: dict[str, int] = {}
        self._waiting: list[tuple[Query, Words]] = []
        self._rounded: dict[tuple[str, int], tuple[int, Words]] = {}  # the stream is kept, so that its id stays its own

    def is_mine(self) -> bool:
        """Whether this thread's own question is read, and not one it reads for another."""
        return self._thread == threading.get_ident()

    @property
    def interrupted(self) -> bool:
        """Whether an interrupt ended the reading of rows, by the asker's code or by ours."""
        return self.interrupt is not None

    def attempt(self, place: int) -> Attempt:
        """``with`` this, rows are read for the question at this place."""
        return Attempt(self, place)

    def was_interrupted(self, query: Query) -> bool:
        """Whether the question's own code ended by an interrupt."""
        return query.fingerprint in self._interrupted

    @property
    def size(self) -> int:
        return self._rows.size

    def statistics(self, queries: Sequence[Query], part: Part = None) -> list[Any]:
        unknown = [query for query in queries if (query.fingerprint, part) not in self._known]
        if unknown:
            try:
                values = self._rows.statistics(unknown, part)
            except Raised as failure:
                if len(unknown) > 1:
                    raise  # which of them it was is not known: each is read by itself, when it is its turn
                if failure.interrupted:
                    self.interrupt = KeyboardInterrupt()
                    self._interrupted += (unknown[0].fingerprint,)
                values = [Raised] * len(unknown)
            for query, value in zip(unknown, values, strict=True):
                self._known[query.fingerprint, part] = value
        told = [self._known[query.fingerprint, part] for query in queries]
        if any(value is Raised for value in told):
            raise Raised
        return told

    def counts(self, queries: Sequence[Query], part: Part = None) -> NDArray[np.int64]:
        return np.array(self.statistics(queries, part), dtype=np.int64)

    def means(self, queries: Sequence[Query], part: Part = None) -> Floats:
        return np.array(self.statistics(queries, part), dtype=np.float64)

    def differences(self, queries: Sequence[Query], part: Part = None) -> Floats:
        return np.array(self.statistics(queries, part), dtype=np.float64)

    def moments(self, queries: Sequence[Query], part: Part = None) -> list[tuple[float, ...]]:
        """Read once, however often the ask is tried: a pass of its own, since nothing else wants the variance."""
        told: list[tuple[float, ...]] = []
        for query in queries:
            if (query.fingerprint, part) not in self._moments:
                self._moments[query.fingerprint, part] = self._told_moments(query, part)
            found = self._moments[query.fingerprint, part]
            if found is None:
                raise Raised
            told.append(found)
        return told

    def _told_moments(self, query: Query, part: Part) -> tuple[float, ...] | None:
        try:
            return self._rows.moments([query], part)[0]
        except Raised as failure:
            if failure.interrupted:
                self.interrupt = KeyboardInterrupt()
                self._interrupted += (query.fingerprint,)
            return None

    def rounded(self, queries: Sequence[Query], noises: Sequence[Words]) -> list[int]:
        """Asked again with the same streams, the same: so a batch read together is told one by one."""
        asks = list(zip(queries, noises, strict=True))
        unknown = [ask for ask in asks if self._known_count(*ask) is None]
        if unknown:
            wanted = {id(noise) for _, noise in unknown}
            waiting, self._waiting = [ask for ask in self._waiting if id(ask[1]) not in wanted], []
            try:
                self._round([*unknown, *waiting])
            except Exception:
                if not waiting:
                    raise
                self._round(
                    unknown
                )  # which of them it was is not known: the others fail, or not, when it is their turn
        return [count for count in (self._known_count(*ask) for ask in asks) if count is not None]

    def _round(self, asks: Sequence[tuple[Query, Words]]) -> None:
        counts = self._rows.rounded([query for query, _ in asks], [noise for _, noise in asks])
        for (query, noise), count in zip(asks, counts, strict=True):
            self._rounded[query.fingerprint, id(noise)] = count, noise

    def _known_count(self, query: Query, noise: Words) -> int | None:
        found = self._rounded.get((query.fingerprint, id(noise)))
        return self._counts.get(query.fingerprint) if found is None else found[0]

    def drawn(self, query: Query, units: int, noise: Words, replace: bool = False) -> int:
        """Never remembered: every draw is of fresh units, and those that were drawn ahead serve once."""
        ready, self.ready = self.ready, None
        if ready is None or (ready.units, ready.replace) != (units, replace):
            return self._rows.drawn(query, units, noise, replace)
        self.draw = ready.draw
        return ready.count(query, noise)

    def offered(self, ready: GatheredRows | StoredDraw | None) -> None:
        """Rows drawn ahead for the next answer; until it says so, it was not made from them."""
        self.ready, self.draw = ready, None

    def statistic(self, query: Query) -> float:
        """Run once, however often the ask is tried."""
        if query.fingerprint not in self._whole:
            self._whole[query.fingerprint] = self._rows.statistic(query)
        return self._whole[query.fingerprint]

    def prefetch(
        self, asks: Sequence[tuple[Query, Offer]], noises: Sequence[Words] | None = None, all_noisy: bool = True
    ) -> None:
        """Read all that runs no user code in one pass over each part of the rows.

        With ``noises``, one for each ask, the units are rounded with them, for a mechanism that asks for
        :meth:`rounded`. After an ask was overtaken its streams are others, and only 0/1 questions are still known.
        Unless they are ``all_noisy``, counts are read with the rest and serve noisy answers too; what has to be rounded
        waits for the first that is, because the answers before decide which are, and is then rounded all at once.
        """
        self._rounded.clear()
        if noises is not None and all_noisy:
            plain = [(ask, noise) for ask, noise in zip(asks, noises, strict=True) if not ask[1].runs_code]
            counts = self.rounded([query for (query, _), _ in plain], [noise for _, noise in plain])
            for ((query, offer), _), count in zip(plain, counts, strict=True):
                if offer.kind == "binary":
                    self._counts[query.fingerprint] = count
            return
        together: dict[Part, list[Query]] = {}
        counted: list[Query] = []
        self._waiting = []
        streams: Sequence[Words | None] = [None] * len(asks) if noises is None else noises
        for (query, offer), noise in zip(asks, streams, strict=True):
            if offer.runs_code:
                continue
            payload = offer.payload
            if offer.kind == "unit" and payload.gauge is not None:
                continue  # its variance is read with it, in a pass of its own
            if offer.kind == "binary" and payload.part is None and noise is not None:
                counted.append(query)
            elif payload.may_be_rounded and noise is not None and offer.kind in ("binary", "unit", "paired"):
                self._waiting.append((query, noise))
            if offer.kind == "binary" or not payload.is_rounded:
                together.setdefault(payload.part, []).append(query)
        for part, queries in together.items():
            self.statistics(queries, part)
        for query in counted:
            self._counts[query.fingerprint] = self._known[query.fingerprint, None]


class Attempt:
    """While rows are read for one question of an ask: whatever is raised meanwhile is a failure, and goes no further.

    What was raised, its text and its traceback are facts about rows, and are gone. An interrupt is noted, unless
    another thread's question was being read: its owner reads it again. What keeps the rows from being read at all is
    decided by the world outside, and goes to the asker as it is, where it is our own engine that says so.
    """

    __slots__ = ("_memo", "_place")

    def __init__(self, memo: Memo, place: int) -> None:
        self._memo, self._place = memo, place

    def __enter__(self) -> None:
        self._memo.touched = True

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> bool:
        if error is None:
            return False
        if isinstance(error, Unavailable | MissingExtra) and _is_of_an_engine(error):
            error.with_traceback(None).__cause__ = None
            return False
        if isinstance(error, Exception):
            self._memo.failures[self._place] = False
        elif self._memo.is_mine():
            self._memo.failures[self._place] = True
            self._memo.interrupt = error.with_traceback(None)
        else:
            return False
        return True


def _is_of_an_engine(error: Exception) -> bool:
    """Whether the code that reads rows raised it itself: what a class of the asker's own says is a fact about rows."""
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    raised_in = "" if last is None else str(last.tb_frame.f_globals.get("__name__"))
    return type(error) in (Unavailable, MissingExtra) and raised_in.startswith("unworn.rows.")
