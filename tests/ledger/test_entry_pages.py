from __future__ import annotations

from collections.abc import Callable

import pytest

from unworn.ledger import GENESIS, Entry, Key, MemoryStore, verify
from unworn.ledger.entry_pages import AT_HAND, PAGE, EntryPage

Chain = Callable[..., list[Entry]]


@pytest.mark.parametrize("signed", [True, False])
def test_a_page_gives_back_its_entries(chain: Chain, key: Key, holdout: str, signed: bool) -> None:
    """Signatures are kept where they were made already, and else the key that will make them."""
    entries = chain(9)
    if signed:
        entries = [Entry.from_text(holdout, e.index, e.previous, e.text, e.hash, e.signature) for e in entries]
    page = EntryPage.of(entries[3:])
    assert isinstance(page.signed, bytes if signed else Key)
    again = page.read(holdout, 3, entries[2].hash)
    assert again == entries[3:]
    assert [entry.signature for entry in again] == [entry.signature for entry in chain(9)[3:]]
    verify([*EntryPage.of(entries[:3]).read(holdout, 0, GENESIS), *again], public=key.public)


def test_a_long_ledger_in_memory_is_read_from_any_place_to_any_other(chain: Chain, key: Key, holdout: str) -> None:
    entries = chain(AT_HAND + 2 * PAGE + 5)
    store = MemoryStore()
    store.create(entries[0], key)
    for start in range(1, len(entries), 300):
        store.append(entries[start : start + 300], expect=entries[start - 1].hash)
    assert len(store._chains[holdout].latest) < AT_HAND + PAGE < len(entries)  # so there are pages
    assert store.length(holdout) == len(entries)
    assert store.read(holdout) == entries
    edges = [0, 1, PAGE - 1, PAGE, PAGE + 1, 2 * PAGE - 1, 2 * PAGE, 2 * PAGE + 1, 3 * PAGE]
    for start in edges:
        for stop in (*edges, len(entries) - 1):
            assert store.read(holdout, start, stop) == entries[start:stop]
    assert [e.previous for e in store.read(holdout, 0, 3 * PAGE)] == [e.previous for e in entries[: 3 * PAGE]]
