"""Who spent what, read off the ledger: it is charged before anything is told, so that no crash can lose a count."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import ceil
from typing import TYPE_CHECKING, Any

from unworn.events import is_surprise
from unworn.mechanisms.contract.capabilities import ChargesBySurprise
from unworn.mechanisms.contract.declarations import spending_of
from unworn.record.chain_views import CHUNK

if TYPE_CHECKING:
    from unworn.events import Event
    from unworn.holdout import Holdout
    from unworn.mechanisms.contract.state import State


NATS_OF_ONE = 20.0
"""What a single question costs at most, nearly, where it surprises."""


@dataclass(frozen=True)
class TeamSpending:
    """What one team has asked of the check rows: how many submissions, how many surprises, and nats.

    A submission that surprises is one; where it is made of many questions and costs as much as several, it is several.
    """

    team: str
    submissions: int
    surprises: int
    nats: float

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def _occasion(tags: Mapping[str, Any]) -> str | None:
    """What entries belong to, of which one is no more than one surprise: a submission, or a proposal of a lane."""
    if "submission" in tags:
        return str(tags["submission"])
    return f"{tags['proposal']} {tags['gate']}" if {"gate", "proposal"} <= set(tags) else None


class _Account:
    def __init__(self) -> None:
        self.asked = 0
        self.latest: str | None = None
        self.surprised: dict[str, float] = {}
        self.nats = 0.0

    @property
    def surprises(self) -> int:
        return sum(max(ceil(nats / NATS_OF_ONE), 1) for nats in self.surprised.values())


class SpendingFold:
    """A fold over the ledger, which goes on from where it stopped.

    What surprises is counted by submission, or by the milestone of a gate: the parts of one F1 score are one surprise,
    and so are a gain and its sharper answer. So is whatever else costs as much, where the mechanism charges by
    surprise: a precision of too few rows for its practice score to be a guess is told by a cell, which is no surprise
    and no cheaper. What costs more than one question ever does, as all parts of an F1 over ten classes do when all of
    them surprise, is as many surprises as that would be: one team has no more of everybody's nats for it.
    """

    def __init__(self, holdout: Holdout) -> None:
        self._holdout = holdout
        self._lock = threading.Lock()
        self._accounts: dict[str, _Account] = {}
        self._read = 0
        self._state: State = holdout.terms.begin()

    def surprises(self, team: str) -> int:
        """How often a team has surprised the check rows."""
        account = self._fold().get(team)
        return 0 if account is None else account.surprises

    def spending(self) -> list[TeamSpending]:
        """Every team's, the dearest first."""
        told = [
            TeamSpending(team, account.asked, account.surprises, account.nats) for team, account in self._fold().items()
        ]
        return sorted(told, key=lambda each: (-each.nats, each.team))

    def _fold(self) -> dict[str, _Account]:
        with self._lock:
            while self._fold_chunk():
                pass
            return self._accounts

    def _fold_chunk(self) -> bool:
        """Read some entries, and say whether there are more: between two chunks of a long ledger others may ask."""
        desk, terms = self._holdout._desk, self._holdout.terms
        with desk.order():
            records = desk.released().records
            for record in records[self._read : self._read + CHUNK]:
                self._read += 1
                before, self._state = self._state, terms.follow(self._state, record.event)
                account = self._accounts.setdefault(record.by or "", _Account())
                name = _occasion(record.tags or {}) or f"entry {self._read}"
                if account.latest != name:  # the parts of one submission follow each other
                    account.asked, account.latest = account.asked + 1, name
                paid = max(spending_of(terms.mechanism, self._state) - spending_of(terms.mechanism, before), 0.0)
                account.nats += paid
                if self._counts(record.event):
                    account.surprised[name] = account.surprised.get(name, 0.0) + paid
            return self._read < len(records)

    def _counts(self, event: Event) -> bool:
        mechanism = self._holdout.terms.mechanism
        if isinstance(mechanism, ChargesBySurprise):
            return mechanism.charges_as_surprise(event)
        return is_surprise(event)
