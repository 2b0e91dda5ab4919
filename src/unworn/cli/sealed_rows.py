"""Opening a file's rows on the terms they were sealed with, so that nobody has to repeat them on every command."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from glob import has_magic
from pathlib import Path
from typing import Any

from unworn.cli.output import BadInput, bad_input, note
from unworn.errors import Mismatch, PracticeRows, RepeatedRows, SecondLedger, SmallHoldout
from unworn.holdout import Holdout
from unworn.ledger import GENESIS, MemoryStore, Store, ledger_url
from unworn.record.transcript import Terms
from unworn.rows.sql.duckdb.duckdb_sources import is_duckdb, place_of, title_of


@dataclass(frozen=True)
class RowOptions:
    """What was said about the rows on the command line; what was not is ``None``."""

    data: str
    target: str | None = None
    groups: str | None = None
    train: Path | None = None
    asks: int | None = None
    confidence: float | None = None
    name: str | None = None
    max_width: float | None = None
    practice: float | None = None
    rows: Any = None
    """What is opened instead of all that the file has."""

    def open(self, store: Store) -> Holdout:
        """The holdout of these rows: on its sealed terms where the ledger knows them, else sealed now.

        Rows are recognised by their values. A file is first tried on the terms of the holdout that bears its
        name, which is nearly always right and saves reading it twice.
        """
        likely = [Terms.from_body(first.body) for first in store.holdouts().values()]
        likely = [terms for terms in likely if terms.name == (self.name or title(self.data))]
        if len(likely) == 1:
            try:
                return self._on(store, likely[0], name=likely[0].name)
            except Mismatch as error:
                if self._insisted(error) or self.name is not None:
                    raise
        try:
            return self._on(store, None)
        except Mismatch as error:
            if self._insisted(error) or "differing" not in error.numbers:
                raise
            known = error.numbers["holdout"]
            refused = error
        for first in store.holdouts().values():
            terms = Terms.from_body(first.body)
            if terms.name == known:
                try:
                    return self._on(store, terms)
                except Mismatch as error:
                    refused = error
        raise refused

    def _on(self, store: Store, terms: Terms | None, name: str | None = None) -> Holdout:
        """Open on given terms; what the command line says comes first, and may then be refused.

        With a ``name`` other rows are refused instead of sealed on terms that are not theirs.
        """
        options: dict[str, Any] = {"asks": self.asks, "name": name or self.name, "max_width": self.max_width}
        target = self.target
        if self.confidence is not None:
            options["confidence"] = self.confidence
        if terms is not None:
            if terms.schema.grouped and self.groups is None:
                raise Mismatch(
                    f"these rows were sealed as {terms.name!r} in groups.\n  Name the column again: --groups COLUMN.",
                    holdout=terms.name,
                    needs="groups",
                )
            target = target if target is not None else terms.schema.target
            options["asks"] = self.asks if self.asks is not None else terms.asks
            options["confidence"] = self.confidence if self.confidence is not None else terms.confidence
            options["mechanism"] = terms.mechanism
            options["schema"] = terms.schema
        if self.practice is not None:
            options["practice"] = self.practice
        train = None if self.train is None else str(self.train)
        if self.rows is not None:
            options["name"] = options["name"] or title(self.data)
        with bad_input(), _notes(quiet=isinstance(store, Rehearsal)):
            return Holdout(
                self.data if self.rows is None else self.rows,
                target,
                groups=self.groups,
                ledger=store,
                train=train,
                **options,
            )

    def _insisted(self, error: Mismatch) -> bool:
        """Whether the command line itself asked for what does not fit, or leaves out what nothing else knows."""
        said = {"asks": self.asks, "confidence": self.confidence, "name": self.name, "practice": self.practice}
        differing = error.numbers.get("differing", ())
        return error.numbers.get("needs") == "groups" or any(said.get(what) is not None for what in differing)


def check_data(data: str) -> None:
    """Rows that should be there: a file, or what an engine opens, which says itself what is wrong."""
    if not is_duckdb(data):
        check_file(Path(data), "data file")


def title(data: str) -> str:
    """What rows are called where nobody has named them."""
    return title_of(data) if is_duckdb(data) else Path(data).stem


def ledger_beside(data: str) -> str:
    """Where answers are recorded unless said otherwise: the same place whether a file is read or stays in an engine.

    >>> ledger_beside("people.parquet"), ledger_beside("duckdb:people.parquet"), ledger_beside("duckdb:b.duckdb#people")
    ('people.parquet.ledger.db', 'people.parquet.ledger.db', 'b.duckdb.people.ledger.db')
    """
    place, table = place_of(data) if is_duckdb(data) else (data, "")
    if is_duckdb(data) and has_magic(place) and not Path(place).is_file():
        raise BadInput(
            f"{place} names many files, and the ledger belongs beside one of them.\n  Say where: --ledger FILE."
        )
    return f"{place}{'.' if table else ''}{table}.ledger.db"


def check_file(path: Path, what: str) -> None:
    """A file that should be there."""
    if not path.is_file():
        raise BadInput(f"there is no {what} {path}.\n  Check the path.")


class Rehearsal(MemoryStore):
    """A copy of a ledger in memory: a price can be asked there without sealing anything.

    Opening rows in it is refused as in the ledger that it ``stands_for``.
    """

    def __init__(self, stands_for: str) -> None:
        super().__init__()
        self.stands_for = stands_for


def rehearsal(where: str, store: Store | None = None) -> Store:
    """A copy of the ledger at a path or URL, or a new one in its place."""
    copy = Rehearsal(ledger_url(where))
    if store is not None:
        for holdout, first in store.holdouts().items():
            entries, key = store.read(holdout), store.key(holdout)
            if key is not None:
                copy.keep_key(first.holdout, key)
            copy.append(entries, expect=GENESIS)
    return copy


@contextmanager
def _notes(*, quiet: bool) -> Iterator[None]:
    """What opening rows warns of, as notes; a rehearsal keeps it to itself, because the rows are opened again."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for each in caught:
        if not issubclass(each.category, SmallHoldout | RepeatedRows | SecondLedger | PracticeRows):
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
        elif not quiet:
            note(str(each.message))
