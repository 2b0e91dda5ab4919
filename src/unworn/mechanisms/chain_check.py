"""A whole chain, checked: every hash, signature and price, and every checkpoint, in memory that does not grow."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable
from concurrent.futures import Future
from typing import NamedTuple

from unworn.errors import Tampered
from unworn.ledger import Entry, verify
from unworn.ledger.chain import Link, missing_head
from unworn.ledger.checkpoint import CHECKPOINT_EVERY, Checkpoint
from unworn.mechanisms.chain_views import Source
from unworn.mechanisms.chunk_check import Checked, ChunkCheck
from unworn.mechanisms.fold_base import FoldBase

Progress = Callable[[int], None]
"""Told how many entries have been checked so far."""
Submit = Callable[[FoldBase], "Future[Checked | None]"]
"""Has a piece checked from where it begins."""


class CheckedChain(NamedTuple):
    """The last entry of a chain that is as it should be, and which of the heads looked for are in it."""

    index: int
    hash: str
    heads: frozenset[str]

    def require(self, head: str) -> None:
        """``Tampered`` if a head that was noted is not in the chain."""
        if head not in self.heads:
            raise missing_head(self.index, head)


def check_chain(
    first: Entry,
    source: Source,
    *,
    public: str | None = None,
    heads: Collection[str] = (),
    signatures: bool = True,
    checkpoints: Iterable[Checkpoint] = (),
    submit: Submit | None = None,
    progress: Progress = lambda done: None,
) -> CheckedChain:
    """Check a chain from entry 0 on; where it ends. ``Tampered`` at the first entry, or checkpoint, that is wrong.

    Pieces between checkpoints are checked apart, by whoever ``submit`` hands them to: each from the state that the
    checkpoint before it claims, and each must end in the state that the next one claims. So all of them hold, or the
    first that does not is found. Where there is no checkpoint a piece waits for the one before it. ``heads`` are hashes
    noted earlier, which are looked for.
    """
    check = ChunkCheck(first, source)
    if signatures:
        verify([first], public=check.terms.public if public is None else public)
    claimed = _claims(check, checkpoints)
    found = {head for head in heads if head == first.hash}
    here = submit if submit is not None and not check.is_serial else _at_once(check, heads, signatures)
    waiting: deque[tuple[FoldBase, Future[Checked | None]]] = deque()
    base: FoldBase | None = check.begin()
    end = Link(first.holdout, 0, first.hash)
    while base is not None or waiting:
        while base is not None and len(waiting) < (1 if here is not submit else _AHEAD):
            waiting.append((base, here(base)))
            base = None if base.index + CHECKPOINT_EVERY not in claimed else _follow(base, claimed, check)
        before, pending = waiting.popleft()
        checked = pending.result()
        if checked is None:
            if waiting:
                raise Tampered(
                    f"the chain ends at entry {before.index}, and a checkpoint is of more", index=before.index
                )
            break
        after = checked.after
        found |= checked.heads
        kept = claimed.get(after.index)
        if kept is not None:
            after.check(kept, before, check.terms.public)
        if waiting and waiting[0][0].hash != after.hash:
            raise Tampered(
                f"the chain changed while it was read: entry {after.index} is another now", index=after.index
            )
        end = Link(first.holdout, after.index, after.hash)
        progress(after.index + 1)
        if not waiting and base is None and after.index - before.index == CHECKPOINT_EVERY:
            base = after.without_questions()
    return CheckedChain(*end[1:], frozenset(found))


_AHEAD = 8
"""Pieces that are handed out before the first of them is back."""


def _claims(check: ChunkCheck, checkpoints: Iterable[Checkpoint]) -> dict[int, Checkpoint]:
    """The checkpoints that opening the ledger would count, by the entry that each is of."""
    found: dict[int, Checkpoint] = {}
    base = check.begin()
    for checkpoint in checkpoints:
        try:
            base = base.follow(checkpoint, check.terms.public).without_questions()
        except Tampered:
            break
        found[base.index] = checkpoint
    return found


def _follow(base: FoldBase, claimed: dict[int, Checkpoint], check: ChunkCheck) -> FoldBase:
    return base.follow(claimed[base.index + CHECKPOINT_EVERY], check.terms.public).without_questions()


def _at_once(check: ChunkCheck, heads: Collection[str], signatures: bool) -> Submit:
    """Have every piece checked here and now."""

    def submit(base: FoldBase) -> Future[Checked | None]:
        done: Future[Checked | None] = Future()
        done.set_result(check.check(base, heads=heads, signatures=signatures))
        return done

    return submit
