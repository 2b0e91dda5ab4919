"""Ledgers and keys as files: one line an entry, and a key apart from them."""

from __future__ import annotations

import os
from pathlib import Path

from unworn.basics.display import show_line
from unworn.basics.output_files import as_path
from unworn.errors import Conflict, LedgerError, Mismatch, Tampered
from unworn.ledger.chain import verify
from unworn.ledger.entry import Entry
from unworn.ledger.key_files import read_key, write_key, write_new
from unworn.ledger.open_ledgers import check_not_live
from unworn.ledger.store import Store, check_public
from unworn.queries.query import canonical


def export(store: Store, path: str | os.PathLike[str]) -> int:
    """Write all entries of all holdouts as JSON lines, without keys; return how many.

    Others may go on writing: each holdout is read in one step, and every prefix of a chain is a chain.
    An existing file is never replaced: it may be an older backup, or the ledger itself.
    """
    target = _free_name(path)
    lines = [canonical(entry.to_json()) for holdout in sorted(store.holdouts()) for entry in store.read(holdout)]
    data = "".join(f"{line}\n" for line in lines).encode()
    if not write_new(target, data, mode=0o644):
        raise _taken(path)
    return len(lines)


def restore(path: str | os.PathLike[str], store: Store) -> int:
    """Load a backup, after checking every hash and signature in it; return how many entries were added.

    A chain the store knows can only grow: by a longer backup of the same chain. A shorter one would give
    back budget that was spent, another one would replace it; both are refused, before anything is written.
    """
    missing = {holdout: _missing(chain, store.read(holdout)) for holdout, chain in _load(Path(path)).items()}
    for entries in missing.values():
        if entries:
            store.append(entries, expect=entries[0].previous)
    return sum(map(len, missing.values()))


def export_key(store: Store, holdout: str, path: str | os.PathLike[str]) -> None:
    """Copy a holdout's key into a file of mode 0600. Whoever has it can repeat the noise: keep it apart."""
    key = store.key(holdout)
    if key is None:
        raise LedgerError(f"no key for holdout {holdout[:32]} is kept here", holdout=holdout)
    if not write_key(_free_name(path), key):
        raise _taken(path)


def import_key(path: str | os.PathLike[str], store: Store, holdout: str) -> None:
    """Keep the key in this file for a holdout, if entry 0 names it; else ``Mismatch``."""
    key = read_key(Path(path))
    if key is None:
        raise LedgerError(f"there is no key file {path}")
    terms = store.holdouts().get(holdout)
    if terms is None:
        raise Mismatch(f"the ledger has no holdout {holdout[:32]}: restore its entries first", holdout=holdout)
    check_public(terms, key)
    verify([terms], public=key.public)
    store.keep_key(holdout, key)


def _free_name(path: str | os.PathLike[str]) -> Path:
    """The path of a file to be made; refused before anything is read for it."""
    try:
        target = as_path(path)
    except OSError as error:
        raise LedgerError(f"{show_line(path)[:200]} could not be written: {error.strerror}") from None
    if target.exists():
        raise _taken(target)
    return target


def _taken(path: str | os.PathLike[str]) -> LedgerError:
    return LedgerError(f"{path} exists already: move it away or choose another name")


def _load(path: Path) -> dict[str, list[Entry]]:
    """The chains in a backup, each verified."""
    check_not_live(path)
    chains: dict[str, list[Entry]] = {}
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                try:
                    entry = Entry.from_line(line)
                except Tampered as error:
                    raise Tampered(f"line {number} of {path}: {error.message}", line=number) from None
                chains.setdefault(entry.holdout, []).append(entry)
    except OSError as error:
        raise LedgerError(f"the backup {path} cannot be read: {error.strerror}") from error
    if not chains:
        raise Tampered(f"the backup {path} is empty")
    for chain in chains.values():
        verify(chain)
    return chains


def _missing(chain: list[Entry], known: list[Entry]) -> list[Entry]:
    """What the backup has beyond the store."""
    for ours, theirs in zip(known, chain, strict=False):
        if ours.hash != theirs.hash:
            raise Mismatch(
                f"holdout {ours.holdout[:12]}…: entry {ours.index} of the backup is not the store's; "
                "a ledger is never replaced",
                index=ours.index,
            )
    if len(chain) < len(known):
        raise Conflict(
            f"holdout {chain[0].holdout[:12]}…: the store has {len(known)} entries, the backup {len(chain)}; "
            "going back would return budget that was spent",
            known=len(known),
            backup=len(chain),
        )
    return chain[len(known) :]
