"""Rows as they are given to a new holdout: read, checked, and sealed or found again in their ledger."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from unworn.basics.display import show_value
from unworn.errors import Unaskable
from unworn.holdout.asking.argument_checks import check_text
from unworn.holdout.desk import Desk
from unworn.holdout.notices import check_train, warn_if_repeated, warn_if_small, warn_of_practice
from unworn.holdout.opening import open_rows
from unworn.holdout.practice import USUALLY, Usual, usual_share
from unworn.holdout.rows_ledger import find_ledger
from unworn.holdout.wanted_terms import WantedTerms
from unworn.ledger import Store
from unworn.ledger.registry import PerUser
from unworn.ledger.store import RehearsalStore
from unworn.mechanisms import GuessAndCheck, Mechanism
from unworn.record.declared_uses import Uses
from unworn.record.practice_share import checked_share
from unworn.rows import Sample
from unworn.rows.held_rows import HeldRows
from unworn.rows.sql.stored_rows import Stored, is_stored


class OpenedRows(NamedTuple):
    """What a holdout works with. ``reordered``: the rows come in another order than they were sealed in."""

    sample: HeldRows
    train: Sample | None
    practice: Sample | None
    desk: Desk
    reordered: bool


def open_given_rows(
    data: Any,
    train: Any,
    columns: dict[str, Any],
    *,
    ledger: str | os.PathLike[str] | Store | PerUser | None,
    name: str | None,
    mechanism: Mechanism | None,
    confidence: float,
    asks: int | None,
    practice: float | Usual | None,
    uses: Uses | None,
) -> OpenedRows:
    """Read what was given (``columns`` are y, groups and schema), and open the ledger that has it, or a new one."""
    share = None if practice is USUALLY else checked_share(practice)
    if name is not None:
        name = check_text(name, "name=, what the holdout is called,")
    if mechanism is not None and not isinstance(mechanism, Mechanism):
        raise Unaskable(f"mechanism= is one of unworn.mechanisms, not {show_value(mechanism)}")
    visible = None if train is None else Sample.read_train(train, columns["y"], columns["groups"])
    kept = is_stored(data)
    _check_kept(kept, uses, share)
    sample: HeldRows = (Stored if kept else Sample).read(data, train=visible, **columns)
    place = None
    try:
        if visible is not None:
            check_train(sample, visible)
        place = find_ledger(sample, ledger)
        left_to_us = train is None and mechanism is None and uses is None
        wanted = WantedTerms(
            name,
            GuessAndCheck() if mechanism is None else mechanism,
            confidence,
            asks,
            uses,
            beside=place.elsewhere is not None,
            declares_schema=columns["schema"] is not None,
            practice=share,
            usual_practice=usual_share(sample) if left_to_us else 0.0,
        )
        transcript, key, reordered, sealed, anew, practice_rows = open_rows(sample, place.store, wanted)
        # Before rows are sealed for good, the part is not the one it will be, and says too much of the others.
        rehearsed = anew and isinstance(place.store, RehearsalStore)
        place.confirm(transcript.first.holdout)
        desk = Desk(sealed, place.store, transcript, key)
    except BaseException:
        sample.close()
        if place is not None:
            place.withdraw()
        raise
    if anew:
        if isinstance(sample, Sample):
            warn_if_repeated(sample)
        if share is None and transcript.terms.practice:
            warn_of_practice(transcript)
        warn_if_small(transcript)
    if desk.key is not None:
        sealed.seal(desk.key.derive("unworn/parts"))
    if visible is not None:
        visible.schema = visible.schema.declared_by(sealed.schema)
    return OpenedRows(sealed, visible, None if rehearsed else practice_rows, desk, reordered)


def _check_kept(kept: bool, uses: Uses | None, share: float | None) -> None:
    """Rows that stay in an engine are neither divided nor set aside."""
    if kept and uses is not None:
        raise Unaskable("rows kept in an engine have one use: read them into memory to divide them among uses")
    if kept and share:
        raise Unaskable(
            "rows kept in an engine are all sealed: read them into memory to set some aside for practice, or give "
            "train="
        )
