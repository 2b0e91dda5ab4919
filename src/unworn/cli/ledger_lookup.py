"""Ledgers as commands see them: found by path or URL, holdouts picked by name, meters read without rows."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from unworn.cli.output import BadInput
from unworn.errors import Mismatch
from unworn.ledger import Entry, Store, open_store
from unworn.mechanisms.sealed_release import Released
from unworn.record.chain_views import source_in
from unworn.record.meter import Meter, show_spent
from unworn.record.replay.chunk_check import replaying
from unworn.record.transcript import Transcript


def ledger_path(where: str) -> Path | None:
    """The file a ledger lies in; none for a URL that is not a file."""
    if where.startswith("sqlite:///"):
        return Path(where.removeprefix("sqlite:///")).expanduser()
    return None if "://" in where else Path(where).expanduser()


def place_of_url(url: str) -> str:
    """A ledger's URL as people write it: the path of its file, where it is one."""
    return url.removeprefix("sqlite:///")


@contextmanager
def existing(where: str) -> Iterator[Store]:
    """A ledger that is there already, to look at, wherever it lies: looking must not make an empty one."""
    path = ledger_path(where)
    if path is not None and not os.path.exists(path):
        raise BadInput(
            f"there is no ledger {path}.\n  Check the path; `unworn ask DATA ...` makes DATA.ledger.db beside the data."
        )
    with open_ledger(where, write=False) as store:
        yield store


@contextmanager
def open_ledger(where: str, *, write: bool = True, restoring: bool = False) -> Iterator[Store]:
    """A ledger, made if it is not there."""
    store = open_store(where, write=write, restoring=restoring)
    try:
        yield store
    finally:
        store.close()


def pick(store: Store, name: str | None) -> list[Entry]:
    """Entry 0 of every holdout, or of those with this name or this beginning of an id."""
    firsts = list(store.holdouts().values())
    if name is None:
        return firsts
    found = [first for first in firsts if first.body.get("name") == name]
    found = found or [first for first in firsts if len(name) >= 4 and first.holdout.startswith(name)]
    if not found:
        raise Mismatch(f"this ledger has no holdout {name!r}.\n  It has: {_names(firsts)}.")
    return found


def pick_one(store: Store, name: str | None) -> Entry:
    """Entry 0 of the one holdout that is meant."""
    found = pick(store, name)
    if not found:
        raise BadInput("this ledger has no holdout yet.\n  `unworn ask DATA ...` makes one.")
    if len(found) > 1:
        raise BadInput(
            f"this ledger has {len(found)} holdouts; say which: --name, or an id.\n  It has: {_names(found)}."
        )
    return found[0]


def read(store: Store, first: Entry) -> Transcript:
    """A holdout's ledger, checked for changes and folded."""
    holdout = first.holdout
    source, kept, length = source_in(store, holdout), store.checkpoints(holdout), store.length(holdout)
    with replaying():
        return Transcript.load(first, source, kept, length=length)


def meter(transcript: Transcript) -> dict[str, Any]:
    """Where a holdout stands, from its ledger alone. Refusals are free and not entered, so they are not known here."""
    sealed = transcript.terms.sealed_for
    if isinstance(sealed, Released):  # nothing is asked one by one, so nothing is next
        told = {"asked": 0, "surprises": 0, "currency": sealed.currency, "spent": sealed.epsilon}
        return {**told, "planned": None, "next_width": None}
    told = Meter.of(transcript).to_json()
    del told["refused"]
    return told


def meter_line(told: dict[str, Any]) -> str:
    """A meter in one line."""
    if told["currency"] == Released.currency:
        return f"one release with epsilon {told['spent']:g}, and no questions one by one"
    planned = "" if told["planned"] is None else f" of {told['planned']:,}"
    left = "none left" if told["next_width"] is None else f"next ± {told['next_width']:.4f}"
    spent = "" if told["currency"] == "none" else f" · {show_spent(told['spent'])} {told['currency']}"
    return f"asked {told['asked']:,}{planned} · surprises {told['surprises']:,}{spent} · {left}"


def _names(firsts: list[Entry]) -> str:
    return ", ".join(f"{first.body.get('name')!r} ({first.holdout[:8]})" for first in firsts[:10]) or "none"
