"""The first start of a server: accounts and tokens for those who will need one."""

from __future__ import annotations

from dataclasses import dataclass

from unworn.server.account import EVERYWHERE
from unworn.server.services import Services
from unworn.server.settings import ServerSettings

OWNER = "owner"


@dataclass(frozen=True)
class Welcome:
    """What is printed when a server starts: a link to sign in with, and at the first start tokens, shown this once."""

    link: str
    tokens: dict[str, str]
    boards: list[str]
    holdouts: list[str]


def prepare_server(settings: ServerSettings) -> Welcome:
    """Make the accounts of a new server, and a sign-in link for its owner at every start."""
    services = Services.of(settings)
    try:
        accounts, boards, holdouts = services.accounts, services.workspace.boards(), services.workspace.holdouts()
        tokens: dict[str, str] = {}
        if not boards and not holdouts:  # a start with nothing to serve is not the first: its tokens would be lost
            return Welcome("", tokens, boards, holdouts)
        if not accounts.accounts():
            first = [(OWNER, "owner", EVERYWHERE)]
            first += [("participant", "participant", "board:*")] if boards else []
            first += [("analyst", "analyst", "holdout:*")] if holdouts else []
            for name, role, scope in first:
                accounts.add(name, role=role, scopes=[scope])
                tokens[name] = accounts.issue_token(name, label="first start")
        return Welcome(f"{settings.address}/sign-in/{accounts.issue_link(OWNER)}", tokens, boards, holdouts)
    finally:
        services.close()
