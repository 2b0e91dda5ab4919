"""Where entries are kept: the contract every store meets."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Sequence
from typing import Protocol, runtime_checkable

from unworn.errors import Conflict, LedgerError, Mismatch
from unworn.ledger.checkpoint import Checkpoint
from unworn.ledger.entry import GENESIS, Entry, is_holdout
from unworn.ledger.keys import Key


@runtime_checkable
class Store(Protocol):
    """A place for the entries, and beside them the keys, of any number of holdouts.

    A store orders and keeps; it does not judge. Whether entries are authentic is for
    :func:`unworn.ledger.verify`, so that a store need not be trusted.
    """

    url: str | None
    """What :func:`unworn.ledger.open_store` opens again; ``None`` when nothing else can reach it."""

    def holdouts(self) -> dict[str, Entry]:
        """Entry 0, the terms, of each holdout."""

    def read(self, holdout: str, start: int = 0, stop: int | None = None) -> list[Entry]:
        """The durable entries from index ``start`` up to ``stop``, in order; none for an unknown holdout."""

    def length(self, holdout: str) -> int:
        """One more than the index of the last entry of a holdout; 0 for an unknown one."""

    def checkpoints(self, holdout: str) -> list[Checkpoint]:
        """What was kept of them, in order; whether they count is for the reader to see."""

    def keep_checkpoint(self, checkpoint: Checkpoint) -> None:
        """Keep one beside the entries, in place of another of the same index."""

    def create(self, terms: Entry, key: Key, among: Collection[str] | None = None) -> None:
        """Keep the key, then entry 0, both durably; ``Conflict`` if the holdout exists.

        With ``among``, also ``Conflict`` if other holdouts than these are here by now: whoever seals rows because
        none of these has them must not be the second to do so. In this order a crash leaves a key without a
        holdout, never a holdout nobody can ask.
        """

    def key(self, holdout: str) -> Key | None:
        """The holdout's key, or ``None`` where it is not kept: such a holdout can only be read."""

    def keep_key(self, holdout: str, key: Key) -> None:
        """Keep a key durably; ``Conflict`` if another one is kept for this holdout."""

    def append(self, entries: Sequence[Entry], expect: str) -> None:
        """Add entries of one holdout, durably, all or none, to follow the entry whose hash is ``expect``.

        ``Conflict`` if another entry is the last by now, and ``LedgerError`` if they could not be written. With
        ``expect=GENESIS`` the entries start a holdout. What was returned from is durable; what was interrupted may be.
        """

    def close(self) -> None:
        """Let go of files. Safe to call twice."""


@runtime_checkable
class RepeatableStore(Protocol):
    """A store that makes keys and tells the time so that what was asked can be asked again to the same numbers."""

    def new_key(self) -> Key:
        """The key of the next holdout, from which its name follows too."""

    def clock(self) -> float:
        """The time of every entry."""


@runtime_checkable
class RehearsalStore(Protocol):
    """A copy in memory of a ledger, to ask a price of: nothing is sealed in it.

    Rows are opened there, or refused, as they would be in the ledger itself.
    """

    stands_for: str
    """The URL of that ledger."""


@runtime_checkable
class KeyFinder(Protocol):
    """A store that can say where a key is that is not where it should be."""

    def explain_missing_key(self, holdout: str) -> str:
        """A sentence for whoever misses it, or none."""


def check_run(entries: Sequence[Entry], expect: str) -> None:
    """Refuse entries that could never be appended together."""
    if not entries:
        raise LedgerError("nothing to append: hand in at least one entry")
    holdout, previous, index = entries[0].holdout, expect, entries[0].index
    for entry in entries:
        if entry.holdout != holdout or not is_holdout(holdout):
            raise LedgerError("entries appended together belong to one holdout, named by 32 hex digits")
        if entry.previous != previous or entry.index != index:
            raise LedgerError(
                f"entry {entry.index} does not follow {previous[:12]}…\n"
                "  Entries appended together are consecutive, and the first follows expect."
            )
        previous, index = entry.hash, index + 1


def check_reentry(lock: threading.RLock) -> None:
    """Refuse a signal's handler, which runs in the middle of what its own thread does: it would wait for itself, or end
    the transaction that it interrupts."""
    if lock._is_owned():  # type: ignore[attr-defined]
        raise LedgerError(
            "a signal handler used the ledger while its own thread was in the middle of using it.\n"
            "  Nothing was charged. Ask after the handler has returned, or in a thread of its own."
        )


def check_terms(terms: Entry, key: Key) -> None:
    """Refuse terms that are not entry 0, or that name another key than the one kept beside them."""
    if terms.index != 0 or terms.previous != GENESIS:
        raise LedgerError(f"a holdout starts with entry 0, not with entry {terms.index}", index=terms.index)
    check_public(terms, key)


def newcomers(among: Collection[str] | None, known: Iterable[str]) -> Conflict | None:
    """Why terms made for want of a holdout may not be entered: one has come meanwhile, and may be it."""
    if among is None or set(known) <= set(among):
        return None
    return Conflict("another holdout was sealed here meanwhile: look again whether it has these rows")


def check_public(terms: Entry, key: Key) -> None:
    """Refuse a key whose public half is not the one entry 0 names."""
    if terms.body.get("public") != key.public:
        raise Mismatch(
            f"this key is {key.public[:12]}…, but entry 0 of holdout {terms.holdout[:12]}… names "
            f"{str(terms.body.get('public'))[:12]}… as its public key",
            holdout=terms.holdout,
        )


def refusal(first: Entry, expect: str, index: int, head: str) -> LedgerError | None:
    """Why an entry made to follow ``expect`` cannot follow the last there is, ``index`` with hash ``head``; or none.

    A holdout without entries is at index -1 and ``GENESIS``.
    """
    if expect != head:
        what = "holdout exists already" if first.index == 0 else "ledger has moved on"
        return Conflict(
            f"the {what}: its head is entry {index} ({head[:12]}…), not {expect[:12]}…\n"
            "  Nothing was charged. Read the new entries and try again.",
            index=index,
            head=head,
            expect=expect,
        )
    if first.index != index + 1:
        return LedgerError(f"the next entry is {index + 1}, not {first.index}", index=index, head=head)
    return None
