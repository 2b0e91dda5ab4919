"""Which ledger has which rows: one small file per user, so that the same rows find their ledger whatever it is called.

A second ledger for the same rows would be a second budget. The registry knows rows by keyed digests, never by values,
and holds nothing that a ledger needs: deleted, it is rebuilt as ledgers are opened.
"""

from __future__ import annotations

from enum import Enum
from typing import Final


class PerUser(Enum):
    """The type of :data:`PER_USER`."""

    PER_USER = "per user"

    def __repr__(self) -> str:
        return "PER_USER"


PER_USER: Final = PerUser.PER_USER
"""What ``ledger=`` is where it is left out: the ledger that has these rows already or, for unknown rows, a file in the
per-user directory. ``None`` is something else: memory, spelled out."""

__all__ = ["PER_USER", "PerUser"]
