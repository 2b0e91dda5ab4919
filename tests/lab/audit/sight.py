"""How sharp an audit is asked to be."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Sight:
    """So many trials (None: those of the target), and which part of its claim they must find at which confidence."""

    trials: int | None
    share: float
    confidence: float
