"""Who asks: an account's name, team, role, and the boards and holdouts it is for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

ROLES: Final = ("owner", "analyst", "participant", "viewer")
"""From the one who may do everything to the one who may only look."""
EVERYWHERE: Final = "*"
"""The scope of every board and holdout there is or will be."""
MAY: Final[dict[str, frozenset[str]]] = {
    "see": frozenset(ROLES),
    "submit": frozenset(("owner", "analyst", "participant")),
    "ask": frozenset(("owner", "analyst")),
    "manage": frozenset(("owner",)),
}
"""Who may do what: to see what was released, submit to a board, ask a holdout, manage either."""


@dataclass(frozen=True)
class Account:
    """One who asks. ``scopes`` name boards and holdouts, as ``board:bench`` or ``holdout:churn``; ``board:*`` is
    every board, and ``*`` everything.

    >>> Account("ann", "blue", "participant", ("board:bench",)).may("submit", "board", "bench")
    True
    >>> Account("ann", "blue", "participant", ("board:bench",)).may("see", "board", "other")
    False
    """

    name: str
    team: str
    role: str
    scopes: tuple[str, ...]

    def reaches(self, kind: str, name: str) -> bool:
        """Whether a board or holdout is within its scopes."""
        return not {EVERYWHERE, f"{kind}:*", f"{kind}:{name}"}.isdisjoint(self.scopes)

    def may(self, verb: str, kind: str, name: str) -> bool:
        """Whether it may do this there."""
        return self.role in MAY[verb] and self.reaches(kind, name)

    @property
    def is_manager(self) -> bool:
        """Whether it may manage the server itself: accounts, tokens, backups."""
        return self.role == "owner" and EVERYWHERE in self.scopes

    def within(self, scopes: tuple[str, ...]) -> Account:
        """The same, where only some of its scopes count: what a token is for."""
        if EVERYWHERE in scopes:
            return self
        return Account(self.name, self.team, self.role, tuple(each for each in scopes if self._covers(each)))

    def _covers(self, scope: str) -> bool:
        return self.reaches(*scope.split(":", 1))


@dataclass(frozen=True)
class TokenNote:
    """What is known of a token: everything but the token."""

    id: str
    account: str
    scopes: tuple[str, ...]
    label: str | None
    created: float
    expires: float | None
    revoked: float | None


ANYBODY: Final = Account("", "", "viewer", ())
"""Whoever comes without a token."""
PASSER_BY: Final = Account("", "", "viewer", ("board:*",))
"""The same where boards are open to all."""
