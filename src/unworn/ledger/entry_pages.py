"""Entries in little room: a fifth of their text, in pages that are opened when somebody reads them."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

from unworn.ledger.entry import GENESIS, Entry
from unworn.ledger.keys import Key

PAGE = 256
"""Entries on a page."""
AT_HAND = 4096
"""The latest entries, which stay as they are."""


@dataclass(frozen=True, slots=True)
class EntryPage:
    """Consecutive entries: their text packed, their hashes, and their signatures or the key that makes them."""

    packed: bytes
    hashes: bytes
    signed: Key | bytes

    @classmethod
    def of(cls, entries: Sequence[Entry]) -> EntryPage:
        texts = "\n".join(entry.text for entry in entries)  # a canonical text has no line break
        keys = {entry.signed if isinstance(entry.signed, Key) else None for entry in entries}
        key = keys.pop() if len(keys) == 1 else None
        signed = bytes.fromhex("".join(entry.signature for entry in entries)) if key is None else key
        hashes = bytes.fromhex("".join(entry.hash for entry in entries))
        return cls(zlib.compress(texts.encode(), 1), hashes, signed)

    def read(self, holdout: str, first: int, previous: str) -> list[Entry]:
        """The entries again, the first of which has this index and follows ``previous``."""
        entries = []
        for place, text in enumerate(zlib.decompress(self.packed).decode().split("\n")):
            hashed = self.hashes[32 * place : 32 * place + 32].hex()
            entry = Entry.from_text(holdout, first + place, previous, text, hashed, self._signed(place))
            entries.append(entry)
            previous = hashed
        return entries

    def _signed(self, place: int) -> Key | str:
        return self.signed if isinstance(self.signed, Key) else self.signed[64 * place : 64 * place + 64].hex()


class EntryPages:
    """One chain: full pages, and the latest entries.

    Nothing is ever changed that a reader could be looking at: pages are only added, and whoever packs some makes
    another of these, which takes the place of this one in one step.
    """

    __slots__ = ("_count", "_pages", "first", "latest")

    def __init__(self, first: Entry, latest: list[Entry], pages: list[EntryPage] | None = None) -> None:
        self.first, self.latest = first, latest
        self._pages = [] if pages is None else pages
        self._count = len(self._pages)

    def pack(self) -> EntryPages:
        """The same chain, with the oldest of the latest entries packed."""
        latest = self.latest
        while len(latest) >= AT_HAND + PAGE:
            self._pages.append(EntryPage.of(latest[:PAGE]))
            latest = latest[PAGE:]
        return EntryPages(self.first, latest, self._pages)

    def read(self, start: int, stop: int | None) -> list[Entry]:
        """The entries from one index up to another."""
        pages, packed = self._pages, PAGE * self._count
        found: list[Entry] = []
        for page in range(start // PAGE, self._count if stop is None else min(-(-stop // PAGE), self._count)):
            previous = pages[page - 1].hashes[-32:].hex() if page else GENESIS
            entries = pages[page].read(self.first.holdout, PAGE * page, previous)
            found += entries[max(start - PAGE * page, 0) : None if stop is None else stop - PAGE * page]
        return found + self.latest[max(start - packed, 0) : None if stop is None else max(stop - packed, 0)]
