"""What the rows say of a question: one symbol, what it is entered as, and what the asker gets for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from unworn.basics.frozen_init import assign_fields
from unworn.events import Event

Symbol = int | float | str | list[Any]
"""What is released about the rows: nothing else about them ever leaves."""

RAISED = "raised"
"""The symbol for an answer that could not be made: the asker's code or ours failed on the rows, or came back with
another value when asked again."""
STOPPED = "stopped"
"""The symbol for an ask that was interrupted while rows were read: a word of its own, because the asker can tell."""

NO_ANSWER = {RAISED: "failed", STOPPED: "interrupted"}
"""The symbols that say that there is no answer, and what an asker calls them."""


def has_failed(symbol: Symbol) -> bool:
    """Whether a symbol says that there is no answer."""
    return isinstance(symbol, str) and symbol in NO_ANSWER


@assign_fields
@dataclass(frozen=True, slots=True)
class Reply:
    """What the rows said: a symbol, and the event that prices it."""

    symbol: Symbol
    event: Event


@assign_fields
@dataclass(frozen=True, slots=True)
class Published:
    """What the asker gets, a function of offer and symbol alone."""

    value: float
    low: float
    high: float
    source: str
