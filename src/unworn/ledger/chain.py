"""Whether a chain of entries is what was signed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from unworn.errors import LedgerError, Tampered
from unworn.ledger.entry import GENESIS, Entry, digest
from unworn.ledger.keys import check_signature


@dataclass(frozen=True, slots=True)
class Link:
    """Where a chain stands: all that the next entry needs to know of the one before it."""

    holdout: str
    index: int
    hash: str


def verify(
    entries: Sequence[Entry],
    *,
    public: str | None = None,
    head: str | None = None,
    signatures: bool | Literal["last"] = True,
    after: Entry | Link | None = None,
) -> None:
    """Check order, links, hashes and signatures; raise ``Tampered`` at the first entry that is wrong.

    Parameters
    ----------
    entries
        The whole chain from entry 0, or what follows ``after``.
    public
        The public key that must have signed. Without it the chain is judged by the key its own entry 0
        names, which shows that it is consistent but not whose it is: a forger can sign a chain of their
        own from the start. Pass the key (or a head) noted on a card to rule that out.
    head
        A hash noted earlier, on a card for instance. A chain that does not contain it was cut off or
        replaced: no check of the remaining entries alone could tell.
    signatures
        ``True`` checks each, ``"last"`` only the last one, which covers every entry before it through
        the hashes (about 20 times faster), ``False`` none.
    after
        An entry already verified, which the first of ``entries`` must follow.

    Examples
    --------
    >>> from unworn.ledger import GENESIS, Entry, Key
    >>> key = Key(bytes(32))
    >>> terms = Entry.seal("ab" * 16, 0, GENESIS, {"public": key.public}, key)
    >>> answer = Entry.seal("ab" * 16, 1, terms.hash, {"symbol": 0}, key)
    >>> verify([terms, answer], head=answer.hash)
    >>> verify([terms], head=answer.hash)
    Traceback (most recent call last):
    unworn.errors.Tampered: the chain ends at entry 0 and does not contain the noted head 9af96e41b330…
      Entries were cut off or replaced: find the ledger that has this head.
    """
    if not entries and after is None:
        raise Tampered("the chain is empty: not even entry 0, the terms, is there")
    first = after if after is not None else entries[0]
    if signatures and public is None:
        public = _public(first)
    previous, start = (GENESIS, 0) if after is None else (after.hash, after.index + 1)
    seen = head is None or head == previous
    for index, entry in enumerate(entries, start):
        _check(entry, first.holdout, index, previous)
        if signatures is True or (signatures == "last" and index == start + len(entries) - 1):
            _check_signature(entry, str(public))
        previous = entry.hash
        seen = seen or previous == head
    if not seen:
        raise missing_head(start + len(entries) - 1, str(head))


def missing_head(last: int, head: str) -> Tampered:
    """Why a chain that ends at entry ``last`` is not the one that a noted head is of."""
    return Tampered(
        f"the chain ends at entry {last} and does not contain the noted head "
        f"{head[:12]}…\n  Entries were cut off or replaced: find the ledger that has this head.",
        entries=last + 1,
        head=head,
    )


def _check(entry: Entry, holdout: str, index: int, previous: str) -> None:
    if entry.holdout != holdout:
        raise _wrong(index, f"belongs to holdout {entry.holdout[:12]}…, not {holdout[:12]}…")
    if entry.index != index:
        raise _wrong(index, f"is missing or out of order: entry {entry.index} stands in its place")
    if entry.previous != previous:
        raise _wrong(index, f"does not follow the entry before it: {entry.previous[:12]}… is not {previous[:12]}…")
    try:
        hashed = digest(holdout, entry.index, previous, entry.text_to_verify)
    except LedgerError as error:
        raise _wrong(index, f"has a body that was never sealed: {error}") from None
    if hashed != entry.hash:
        raise _wrong(index, f"was changed: its hash is {hashed[:12]}…, not {entry.hash[:12]}…")


def _check_signature(entry: Entry, public: str) -> None:
    if not check_signature(public, entry.hash, entry.signature):
        raise _wrong(entry.index, f"has a signature that key {public[:12]}… did not make")


def _public(first: Entry | Link) -> str:
    public = first.body.get("public") if isinstance(first, Entry) and isinstance(first.body, dict) else None
    if first.index != 0 or not isinstance(public, str):
        raise Tampered(
            f"entry {first.index} comes first and names no public key to check against.\n"
            "  Read the chain from entry 0, or pass public=."
        )
    return public


def _wrong(index: int, what: str) -> Tampered:
    return Tampered(f"entry {index} {what}", index=index)
