"""The ledger of some rows: the one that has them already, or the one they will be sealed in.

Rows have one ledger. Left out, ``ledger`` is whichever has them, wherever it lies, or a new file in the per-user
directory. Named, it is refused where another has them: a second ledger would be a second budget. ``None`` is memory,
and the promise then ends with the object; whoever spells it out for rows that have a ledger is warned.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from unworn.errors import LedgerError, Mismatch, SecondLedger
from unworn.holdout.row_recognition import known_terms, knows
from unworn.ledger import Store, ledger_exists, ledger_url, open_store
from unworn.ledger.registry import PER_USER, PerUser
from unworn.ledger.registry.home import LEDGERS, Unwritable
from unworn.ledger.registry.known_rows import KnownRows, Registry, RowMarks
from unworn.ledger.store import RehearsalStore, RepeatableStore
from unworn.mechanisms.sealed_release import Released
from unworn.rows.fingerprints.row_marks import is_candidate, row_marks

if TYPE_CHECKING:
    from unworn.rows import Sample

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
                raise _elsewhere(other)

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


def find_ledger(sample: Sample, ledger: Named) -> RowsLedger:
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


def is_known(sample: Sample) -> bool:
    """Whether the registry knows these rows, or rows that share columns with them."""
    registry = Registry.existing()
    return registry is not None and bool(_known(sample, registry, row_marks(sample, registry.secret)))


def check_domain_readable(sample: Sample, ledger: Named) -> None:
    """Refuse to read a domain off rows that a ledger has on other terms: which values occur would be told for nothing.

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
                "be told for nothing.\n  Declare the domain, or read it off rows that may be seen (train).",
                holdout=known.name,
            )


def known_ledger(sample: Sample) -> str | None:
    """The URL of the ledger that has these very rows, if the registry knows one."""
    registry = Registry.existing()
    found = [] if registry is None else registry.find(row_marks(sample, registry.secret))[0]
    return next((known.ledger for known in found if known.same), None)


def _known(sample: Sample, registry: Registry, marks: RowMarks) -> list[KnownRows]:
    """Whoever has these rows, or shares columns with them, in whatever ledger."""
    found, candidates = registry.find(marks)
    seen = {known.id for known in found}
    more = (candidate for candidate in candidates if candidate.known.id not in seen)
    return found + [candidate.known for candidate in more if is_candidate(sample, registry.secret, candidate)]


def _url_of(ledger: Named, registry: Registry, marks: RowMarks, found: Sequence[KnownRows]) -> str:
    if isinstance(ledger, str | os.PathLike):
        return ledger_url(ledger)
    if isinstance(ledger, Store):
        return str(ledger.url)
    having = sorted({known.ledger for known in found if known.same and (known.holdout or ledger_exists(known.ledger))})
    if len(having) > 1:
        raise Mismatch(
            f"these rows were sealed in {len(having)} ledgers: {', '.join(map(_place, having))}.\n"
            "  Keep the one they were first sealed in, name it, and retire the others.",
            ledgers=having,
        )
    return having[0] if having else ledger_url(registry.folder / LEDGERS / f"{marks.place[:32]}.db")


def _open_chosen(sample: Sample, ledger: Named, url: str, registry: Registry, found: Sequence[KnownRows]) -> RowsLedger:
    """The store at this URL, once nothing else has these rows and it still has those that it had."""
    mine = [known for known in found if known.ledger == url and known.same and known.holdout]
    if mine and not ledger_exists(url):
        raise _gone(mine[0])
    others = [known for known in found if known.ledger != url]
    for known in others:
        if ledger_exists(known.ledger) and (known.holdout or _is_sealed(sample, known)):
            raise _elsewhere(known)
    if not ledger_exists(url) and any(known.holdout for known in others):
        raise _gone(next(known for known in others if known.holdout))
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
            else:
                raise _gone(known)
        for known in mine:
            if known.holdout not in holdouts:
                raise _replaced(known)
    except BaseException:
        chosen.close()
        raise
    return chosen


def _is_sealed(sample: Sample, known: KnownRows) -> bool:
    """Whether a ledger that somebody meant to seal these rows in has them: they may have crashed before they did.

    If they are about to, this look comes too soon; then they are refused once they have sealed them (``confirm``).
    """
    store = open_store(known.ledger)
    try:
        return knows(sample, store)
    finally:
        store.close()


def _warn_of_other(sample: Sample, ledger: Store | None) -> str | None:
    """Memory for rows that have a ledger: allowed, because it was spelled out, and said once."""
    if isinstance(ledger, RepeatableStore):
        return None  # a simulation
    try:
        known = known_ledger(sample)
    except LedgerError:
        return None  # a registry that cannot be used is a matter for ledgers that are kept
    if known is not None:
        warnings.warn(
            f"these rows have a ledger already, {_place(known)}, and this one is kept in memory beside it: what is "
            "asked here is not counted there, nor what is asked there here.\n  Leave ledger= out to go on with theirs.",
            SecondLedger,
            stacklevel=5,
        )
    return known


def _elsewhere(known: KnownRows) -> Mismatch:
    how = "these rows were sealed" if known.same else f"these rows share {_columns(known)} with rows that were sealed"
    todo = (
        "Leave the ledger out, or name that one, to go on with it (in Python, None is a scratch ledger in memory)."
        if known.same
        else "Open the rows as they were sealed, and pass predictions to score() or ask() instead of adding columns."
    )
    return Mismatch(
        f"{how} in another ledger, {_place(known.ledger)}.\n  A second ledger for the same rows would be a second "
        f"budget. {todo}{_FORGETTING.format(ledger=_place(known.ledger))}",
        ledger=known.ledger,
        same=known.same,
    )


def _gone(known: KnownRows) -> Mismatch:
    return Mismatch(
        f"these rows were sealed in the ledger {_place(known.ledger)}, which is not there any more.\n"
        "  Bring it back, with its .keys folder, from where it was moved or from a backup; if it has another name now, "
        f"name it.{_FORGETTING.format(ledger=_place(known.ledger))}",
        ledger=known.ledger,
        gone=True,
    )


def _replaced(known: KnownRows) -> Mismatch:
    return Mismatch(
        f"these rows were sealed in {_place(known.ledger)} as holdout {known.holdout[:8]}…, and the file of that name "
        "does not have it any more: it was replaced, or restored from an older backup.\n"
        f"  Bring the ledger back that has it.{_FORGETTING.format(ledger=_place(known.ledger))}",
        ledger=known.ledger,
        gone=True,
    )


_FORGETTING = (
    "\n  If nothing that was told there counts (nobody has seen an answer, or they were other rows after all), "
    "`unworn ledger {ledger} --forget` lets these rows be sealed anew."
)


def _columns(known: KnownRows) -> str:
    shown = sorted(known.shared)[:5]
    more = ", …" if len(known.shared) > len(shown) else ""
    return f"the column(s) {', '.join(map(repr, shown))}{more}" if shown else "all columns but those that were added"


def _place(url: Any) -> str:
    return str(url).removeprefix("sqlite:///")
