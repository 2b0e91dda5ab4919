"""The ledger of some rows: the one that has them already, or the one they will be sealed in.

Rows have one ledger. Left out, ``ledger`` is whichever has them, wherever it lies, or a new file in the per-user
directory. Named, it is refused where another has them: a second ledger would be a second budget. ``None`` is memory,
and the promise then ends with the object; whoever spells it out for rows that have a ledger is warned.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from unworn.errors import LedgerError, Mismatch, SecondLedger
from unworn.holdout.ledger_conflicts import ledger_gone, ledger_place, ledger_replaced, sealed_elsewhere
from unworn.holdout.row_recognition import known_terms, knows
from unworn.ledger import Store, ledger_exists, ledger_url, open_store
from unworn.ledger.registry import PER_USER, PerUser
from unworn.ledger.registry.home import LEDGERS, Unwritable
from unworn.ledger.registry.known_rows import KnownRows, Registry, RowMarks
from unworn.ledger.store import RehearsalStore, RepeatableStore
from unworn.mechanisms.sealed_release import Released
from unworn.rows.fingerprints.row_marks import is_candidate, row_marks
from unworn.rows.fingerprints.row_overlap import shared_part

if TYPE_CHECKING:
    from unworn.rows.held_rows import HeldRows

Named = str | os.PathLike[str] | Store | None | PerUser


class FoundLedger(str):
    """The URL of a ledger that another process has found to be these rows' own: a worker need not look again."""


class RowsLedger:
    """A store for some rows, and what the registry must hear once they are sealed in it.

    ``elsewhere`` is the ledger that has these rows already, where this one is memory beside it.
    """

    def __init__(self, store: Store, *, owned: bool, elsewhere: str | None = None) -> None:
        self.store, self.elsewhere, self._owned = store, elsewhere, owned
        self._registry: Registry | None = None
        self._marks: RowMarks | None = None
        self._url = ""

    def _register(self, registry: Registry, marks: RowMarks, url: str) -> RowsLedger:
        self._registry, self._marks, self._url = registry, marks, url
        return self

    def confirm(self, holdout: str) -> None:
        """The rows are sealed here; refused where another ledger was quicker. Nothing has been asked so far."""
        if self._registry is not None and self._marks is not None:
            other = self._registry.confirm(self._marks, self._url, holdout)
            if other is not None:
                raise sealed_elsewhere(other)

    def withdraw(self) -> None:
        """The rows were not opened: let go of what was claimed, and of what was opened for them."""
        if self._registry is not None and self._marks is not None:
            with suppress(LedgerError):  # what kept the rows from being opened is what the caller must hear
                self._registry.withdraw(self._marks, self._url)
        self.close()

    def close(self) -> None:
        """Close the store, unless it is the caller's own."""
        if self._owned:
            self.store.close()


def find_ledger(sample: HeldRows, ledger: Named) -> RowsLedger:
    """The ledger for these rows; ``Mismatch`` where another one has them."""
    rehearsed = ledger.stands_for if isinstance(ledger, RehearsalStore) else None
    if ledger is None or (isinstance(ledger, Store) and (ledger.url or rehearsed) is None):
        return RowsLedger(open_store(ledger), owned=ledger is None, elsewhere=_warn_of_other(sample, ledger))
    if isinstance(ledger, FoundLedger) or not isinstance(ledger, str | os.PathLike | Store | PerUser):
        return RowsLedger(open_store(ledger), owned=True)  # which refuses what is no ledger at all
    try:
        registry = Registry.open()
    except Unwritable as why:
        if ledger is PER_USER:
            raise
        warnings.warn(
            f"{why.message.splitlines()[0].partition(', and')[0]}: another ledger of the same rows goes unnoticed. Set "
            "UNWORN_HOME to a directory that can be written.",
            UserWarning,
            stacklevel=4,
        )
        return RowsLedger(open_store(ledger), owned=not isinstance(ledger, Store))
    marks = row_marks(sample, registry.secret)
    while True:
        found = _known(sample, registry, marks)
        url = _url_of(ledger, registry, marks, found) if rehearsed is None else rehearsed
        chosen = _open_chosen(sample, ledger, url, registry, found)
        if rehearsed is not None:
            return chosen
        if registry.claim(marks, url, [known.id for known in found]):
            return chosen._register(registry, marks, url)
        chosen.close()


def is_known(sample: HeldRows) -> bool:
    """Whether the registry knows these rows, or rows that share columns with them."""
    registry = Registry.existing()
    return registry is not None and bool(_known(sample, registry, row_marks(sample, registry.secret)))


def check_domain_readable(sample: HeldRows, ledger: Named) -> None:
    """Refuse to read a domain off rows that a ledger has on other terms: which values occur would be revealed for free.

    Memory beside a ledger is allowed, as ever, and whoever spells it out is warned.
    """
    registry = Registry.existing()
    found = [] if registry is None else _known(sample, registry, row_marks(sample, registry.secret))
    urls = {known.ledger for known in found if ledger is not None}
    urls |= {ledger_url(ledger)} if isinstance(ledger, str | os.PathLike) else set()
    stores = [ledger] if isinstance(ledger, Store) else []
    stores += [open_store(url) for url in sorted(urls) if ledger_exists(url)]
    try:
        terms = [terms for store in stores for terms in known_terms(sample, store)]
    finally:
        for store in stores:
            if store is not ledger:
                store.close()
    for known in terms:
        if not (isinstance(known.sealed_for, Released) and known.sealed_for.domain.get("origin") == "rows"):
            raise Mismatch(
                f"these rows were sealed as {known.name!r}, and no domain is read off them: which values occur would "
                "be revealed for free.\n  Declare the domain, or read it off rows that may be seen (train).",
                holdout=known.name,
            )


def check_unsealed(columns: Mapping[str, Any], ledger: str | os.PathLike[str]) -> None:
    """Refuse rows whose columns, in this order, another ledger than this one has: they will be sealed in another."""
    from unworn.rows.memory.sample import Sample

    registry = Registry.existing()
    if registry is not None:
        sample = Sample.read(dict(columns))
        _others(sample, ledger_url(ledger), _known(sample, registry, row_marks(sample, registry.secret)))


def known_ledger(sample: HeldRows) -> str | None:
    """The URL of the ledger that has these very rows, if the registry knows one."""
    registry = Registry.existing()
    found = [] if registry is None else registry.find(row_marks(sample, registry.secret))[0]
    return next((known.ledger for known in found if known.same), None)


def _known(sample: HeldRows, registry: Registry, marks: RowMarks) -> list[KnownRows]:
    """Whoever has these rows, or some of them, or shares columns with them, in whatever ledger."""
    found, candidates = registry.find(marks)
    seen = {known.id for known in found}
    more = (candidate for candidate in candidates if candidate.known.id not in seen)
    found += [candidate.known for candidate in more if is_candidate(sample, registry.secret, candidate)]
    if marks.sketch is None or any(known.holdout for known in found):  # known, or refused, whatever they are a part of
        return found
    parts = ((known, shared_part(marks.sketch, sketch)) for known, sketch in registry.sketches(marks))
    return [*found, *(replace(known, part=part, of=marks.size) for known, part in parts if part)]


def _url_of(ledger: Named, registry: Registry, marks: RowMarks, found: Sequence[KnownRows]) -> str:
    if isinstance(ledger, str | os.PathLike):
        return ledger_url(ledger)
    if isinstance(ledger, Store):
        return str(ledger.url)
    having = sorted({known.ledger for known in found if known.same and (known.holdout or ledger_exists(known.ledger))})
    if len(having) > 1:
        raise Mismatch(
            f"these rows were sealed in {len(having)} ledgers: {', '.join(map(ledger_place, having))}.\n"
            "  Keep the one they were first sealed in, name it, and retire the others.",
            ledgers=having,
        )
    return having[0] if having else ledger_url(registry.folder / LEDGERS / f"{marks.place[:32]}.db")


def _open_chosen(
    sample: HeldRows, ledger: Named, url: str, registry: Registry, found: Sequence[KnownRows]
) -> RowsLedger:
    """The store at this URL, once nothing else has these rows and it still has those that it had."""
    mine = [known for known in found if known.ledger == url and known.same and known.holdout]
    if mine and not ledger_exists(url):
        raise ledger_gone(mine[0])
    others = _others(sample, url, found)
    owned = not isinstance(ledger, Store)
    store = open_store(url) if owned else ledger
    assert isinstance(store, Store)
    chosen = RowsLedger(store, owned=owned)
    try:
        holdouts = store.holdouts()
        for known in others:
            if not known.holdout:
                registry.drop(known)  # somebody meant to seal them there, and has not
            elif known.holdout in holdouts:
                registry.move(known, url)
                if known.part:
                    raise sealed_elsewhere(replace(known, ledger=url))
            else:
                raise ledger_gone(known)
        for known in mine:
            if known.holdout not in holdouts:
                raise ledger_replaced(known)
    except BaseException:
        chosen.close()
        raise
    return chosen


def _others(sample: HeldRows, url: str, found: Sequence[KnownRows]) -> list[KnownRows]:
    """Whatever is known of other ledgers; refused where one of them has these rows, or had them and is gone."""
    others = [known for known in found if known.ledger != url or known.part]
    for known in others:
        if ledger_exists(known.ledger) and (known.holdout or _is_sealed(sample, known)):
            raise sealed_elsewhere(known)
    gone = [known for known in others if known.holdout]
    if gone and not ledger_exists(url):
        raise ledger_gone(gone[0])
    return others


def _is_sealed(sample: HeldRows, known: KnownRows) -> bool:
    """Whether a ledger that somebody meant to seal these rows in has them: they may have crashed before they did.

    If they are about to, this look comes too soon; then they are refused once they have sealed them (``confirm``).
    """
    store = open_store(known.ledger)
    try:
        return knows(sample, store)
    finally:
        store.close()


def _warn_of_other(sample: HeldRows, ledger: Store | None) -> str | None:
    """Memory for rows that have a ledger: allowed, because it was spelled out, and said once."""
    if isinstance(ledger, RepeatableStore):
        return None  # a simulation
    try:
        known = known_ledger(sample)
    except LedgerError:
        return None  # a registry that cannot be used is a matter for ledgers that are kept
    if known is not None:
        warnings.warn(
            f"these rows have a ledger already, {ledger_place(known)}, and this one is kept in memory beside it: what "
            "is asked here is not counted there, nor what is asked there here.\n  Leave ledger= out to go on with "
            "theirs.",
            SecondLedger,
            stacklevel=5,
        )
    return known
