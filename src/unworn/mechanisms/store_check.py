"""Checking one holdout's chain where it is kept."""

from __future__ import annotations

from collections.abc import Collection

from unworn.ledger import Entry, Store
from unworn.mechanisms.chain_check import CheckedChain, Progress, check_chain
from unworn.mechanisms.chain_views import source_in
from unworn.mechanisms.check_workers import check_workers
from unworn.mechanisms.transcript import missing_entry


def check_stored_chain(
    store: Store,
    first: Entry,
    length: int,
    *,
    public: str | None = None,
    heads: Collection[str] = (),
    progress: Progress = lambda done: None,
    processes: int | None = None,
) -> CheckedChain:
    """Check every hash, signature and price of a chain, and its checkpoints; where it ends.

    ``length`` is how many entries it has, at least. A long chain is checked by several processes, one per processor (or
    ``processes``), if they can open its store.
    """
    source, kept = source_in(store, first.holdout), store.checkpoints(first.holdout)
    with check_workers(store.url, first, length, heads, processes) as submit:
        checked = check_chain(
            first, source, public=public, heads=heads, checkpoints=kept, submit=submit, progress=progress
        )
    if checked.index + 1 < length:
        raise missing_entry(checked.index + 1, length)
    return checked
