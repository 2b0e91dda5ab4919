"""A store in this object's own memory: for trying things out, and for tests."""

from __future__ import annotations

import os
import threading
from collections.abc import Collection, Sequence

from unworn.errors import Conflict, LedgerError
from unworn.ledger.checkpoint import Checkpoint
from unworn.ledger.entry import GENESIS, Entry
from unworn.ledger.entry_pages import AT_HAND, PAGE, EntryPages
from unworn.ledger.keys import Key
from unworn.ledger.store import check_reentry, check_run, check_terms, newcomers, refusal


class MemoryStore:
    """Entries, packed, and keys in dictionaries; gone with the process.

    A forked process has a copy of the ledger that its parent cannot see. Both could spend the same
    budget, so the copy can be read but not extended.

    >>> store, key = MemoryStore(), Key(bytes(32))
    >>> terms = Entry.seal("ab" * 16, 0, GENESIS, {"public": key.public}, key)
    >>> store.create(terms, key)
    >>> store.append([Entry.seal("ab" * 16, 1, terms.hash, {"symbol": 0}, key)], expect=terms.hash)
    >>> [entry.index for entry in store.read("ab" * 16)]
    [0, 1]
    """

    url: str | None = None

    def __init__(self) -> None:
        self._chains: dict[str, EntryPages] = {}
        self._checkpoints: dict[str, dict[int, Checkpoint]] = {}
        self._keys: dict[str, Key] = {}
        self._lock, self._sealing = threading.RLock(), threading.Lock()
        self._pid = os.getpid()

    def holdouts(self) -> dict[str, Entry]:
        return {holdout: chain.first for holdout, chain in list(self._chains.items())}

    def read(self, holdout: str, start: int = 0, stop: int | None = None) -> list[Entry]:
        chain = self._chains.get(holdout)
        return [] if chain is None else chain.read(max(start, 0), stop)

    def length(self, holdout: str) -> int:
        chain = self._chains.get(holdout)
        return 0 if chain is None else chain.latest[-1].index + 1

    def checkpoints(self, holdout: str) -> list[Checkpoint]:
        kept = self._checkpoints.get(holdout, {})
        return [kept[index] for index in sorted(kept)]

    def keep_checkpoint(self, checkpoint: Checkpoint) -> None:
        self._checkpoints.setdefault(checkpoint.holdout, {})[checkpoint.index] = checkpoint

    def create(self, terms: Entry, key: Key, among: Collection[str] | None = None) -> None:
        check_terms(terms, key)
        if terms.holdout not in self._chains:
            self.keep_key(terms.holdout, key)
        with self._sealing:
            if error := newcomers(among, list(self._chains)):
                raise error
            self.append([terms], expect=GENESIS)

    def key(self, holdout: str) -> Key | None:
        return self._keys.get(holdout)

    def keep_key(self, holdout: str, key: Key) -> None:
        if self._keys.setdefault(holdout, key) != key:
            raise Conflict(f"another key is already kept for holdout {holdout[:12]}…", holdout=holdout)

    def append(self, entries: Sequence[Entry], expect: str) -> None:
        check_run(entries, expect)
        if self._pid != os.getpid():
            raise LedgerError(
                f"this ledger lives in the memory of process {self._pid}; a forked copy would spend it twice.\n"
                "  Nothing was charged. Use a ledger both can open, such as ledger='sqlite:///holdout.db'."
            )
        holdout = entries[0].holdout
        check_reentry(self._lock)
        with self._lock:
            chain = self._chains.get(holdout)
            last = (-1, GENESIS) if chain is None else (chain.latest[-1].index, chain.latest[-1].hash)
            error = refusal(entries[0], expect, *last)
            if error is not None:
                raise error
            # Each branch is one step: a reader, who takes no lock, sees all of the entries or none.
            if chain is None:
                chain = self._chains[holdout] = EntryPages(entries[0], list(entries))
            else:
                chain.latest += entries
            if len(chain.latest) >= AT_HAND + PAGE:
                self._chains[holdout] = chain.pack()

    def close(self) -> None:
        """Nothing is open."""
