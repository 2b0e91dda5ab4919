"""A whole chain, checked: every hash, signature and price, and every checkpoint, in memory that does not grow."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable
from concurrent.futures import Future
from dataclasses import dataclass, replace

from unworn.errors import Tampered
from unworn.ledger import Entry, verify
from unworn.ledger.chain import missing_head
from unworn.ledger.checkpoint import CHECKPOINT_EVERY, Checkpoint
from unworn.mechanisms.chain_views import Source
from unworn.mechanisms.chunk_check import Checked, ChunkCheck
from unworn.mechanisms.fold_base import FoldBase

Progress = Callable[[int], None]
"""Told how many entries have been checked so far."""
Submit = Callable[[FoldBase, int], "Future[Checked | None]"]
"""Has a piece checked, from where it begins up to an entry."""


@dataclass(frozen=True, slots=True)
class CheckedChain:
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
    if submit is None or check.is_serial:
        submit, ahead = _at_once(check, heads, signatures), 1
    else:
        ahead = _AHEAD
    claims = _claims(check, checkpoints)
    found = {head for head in heads if head == first.hash}
    waiting: deque[tuple[FoldBase, Future[Checked | None]]] = deque()
    base: FoldBase | None = check.begin()
    end = CheckedChain(0, first.hash, frozenset())
    while base is not None or waiting:
        while base is not None and len(waiting) < ahead:
            claim = claims.get(base.index)
            stop = (base.index + CHECKPOINT_EVERY if claim is None else claim.index) + 1
            waiting.append((base, submit(base, stop)))
            base = None if claim is None else base.follow(claim, check.terms.public).without_questions()
        before, pending = waiting.popleft()
        checked, claim = pending.result(), claims.get(before.index)
        if checked is None and claim is None:
            break
        if checked is None or (claim is not None and claim.index != checked.after.index):
            raise Tampered(f"the chain ends where checkpoint {claim and claim.index} says that there was more")
        if claim is not None:
            checked.after.check(claim, before, check.terms.public)
        end = CheckedChain(checked.after.index, checked.after.hash, frozenset())
        found |= checked.heads
        progress(end.index + 1)
        if claim is None:
            base = checked.after.without_questions()
    return replace(end, heads=frozenset(found))


_AHEAD = 8
"""Pieces that are handed out before the first of them is back."""


def _claims(check: ChunkCheck, checkpoints: Iterable[Checkpoint]) -> dict[int, Checkpoint]:
    """The checkpoints that opening the ledger would count, by the entry that each goes on from."""
    found: dict[int, Checkpoint] = {}
    base = check.begin()
    for checkpoint in checkpoints:
        try:
            after = base.follow(checkpoint, check.terms.public).without_questions()
        except Tampered:
            break
        found[base.index] = checkpoint
        base = after
    return found


def _at_once(check: ChunkCheck, heads: Collection[str], signatures: bool) -> Submit:
    """Have every piece checked here and now."""

    def submit(base: FoldBase, stop: int) -> Future[Checked | None]:
        done: Future[Checked | None] = Future()
        done.set_result(check.check(base, stop, heads=heads, signatures=signatures))
        return done

    return submit
