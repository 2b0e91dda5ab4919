"""What to say where rows that are to be sealed have a ledger already, or had one."""

from __future__ import annotations

from typing import Any

from unworn.errors import Mismatch
from unworn.ledger.registry.known_rows import KnownRows


def sealed_elsewhere(known: KnownRows) -> Mismatch:
    """Another ledger has these rows, or it or this one has some of them."""
    ledger = ledger_place(known.ledger)
    if known.part:
        how = f"about {known.part:,} of these {known.of:,} rows were sealed in the ledger {ledger}"
        todo = "Open the rows as they were sealed, and ask about some of them by where= or given=; or seal other rows."
    elif known.same:
        how = f"these rows were sealed in another ledger, {ledger}"
        todo = "Leave the ledger out, or name that one, to go on with it (in Python, None is a ledger in memory)."
    else:
        how = f"these rows share {_columns(known)} with rows that were sealed in another ledger, {ledger}"
        todo = "Open the rows as they were sealed, and pass predictions to score() or ask() instead of adding columns."
    return Mismatch(
        f"{how}.\n  A second ledger for the same rows would be a second budget. {todo}"
        f"{_FORGETTING.format(ledger=ledger)}",
        ledger=known.ledger,
        same=known.same,
        part=known.part,
    )


def ledger_gone(known: KnownRows) -> Mismatch:
    """The ledger that has these rows, or some of them, is not there."""
    ledger = ledger_place(known.ledger)
    what = f"about {known.part:,} of these {known.of:,} rows" if known.part else "these rows"
    return Mismatch(
        f"{what} were sealed in the ledger {ledger}, which is not there any more.\n"
        "  Bring it back, with its .keys folder, from where it was moved or from a backup; if it has another name now, "
        f"name it.{_FORGETTING.format(ledger=ledger)}",
        ledger=known.ledger,
        gone=True,
    )


def ledger_replaced(known: KnownRows) -> Mismatch:
    """There is a ledger of that name, and these rows are not in it."""
    ledger = ledger_place(known.ledger)
    return Mismatch(
        f"these rows were sealed in {ledger} as holdout {known.holdout[:8]}…, and the file of that name does not have "
        "it any more: it was replaced, or restored from an older backup.\n"
        f"  Bring the ledger back that has it.{_FORGETTING.format(ledger=ledger)}",
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


def ledger_place(url: Any) -> str:
    """A ledger's URL as people write it."""
    return str(url).removeprefix("sqlite:///")
