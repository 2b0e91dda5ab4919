"""What one ask adds to its chain."""

from __future__ import annotations

from unworn.events import Stopped
from unworn.mechanisms.contract.mechanism import State, has_failed
from unworn.mechanisms.contract.record import Record
from unworn.record.fold_base import Step


def step_of(hashed: str, record: Record, state: State) -> Step:
    """What an ask adds to its chain: a repeat does not go back to a final value that was interrupted, nor a guess to
    what is no answer."""
    is_told = record.offer.final is None or not isinstance(record.event, Stopped)
    name = (record.fingerprint, record.asked_of) if is_told else None
    return Step(hashed, state, name, None if has_failed(record.symbol) else record.family, record.draw)
