"""Who may come to a board or a holdout: invitations, new links and tokens, and ends of access."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from unworn.server.account import Account
from unworn.server.pages.web_page import Notice
from unworn.server.server_errors import Malformed, NotAllowed

if TYPE_CHECKING:
    from unworn.server.browser.form_body import SentForm
    from unworn.server.services import Services

ROLES_TO_GIVE = {
    "board": ("participant", "viewer", "analyst", "owner"),
    "holdout": ("analyst", "viewer", "owner"),
}
"""Whom one invites to a place; the first is what most are."""
Outcome = tuple[Notice | None, dict[str, str] | None]
"""What was done, and secrets to be shown this once."""


@dataclass(frozen=True)
class Invitations:
    """What somebody who manages a place may do about the people in it."""

    services: Services
    caller: Account
    kind: str
    place: str

    @property
    def roles(self) -> tuple[str, ...]:
        return ROLES_TO_GIVE[self.kind]

    def people(self) -> list[dict[str, Any]]:
        """The accounts that the caller may manage here, without what opens a door."""
        return [
            {"name": each.name, "team": each.team, "role": each.role, "tokens": self._count_tokens(each.name)}
            for each in self.services.accounts.accounts()
            if self._is_own(each)
        ]

    def act(self, form: SentForm) -> Outcome:
        """Do what a form says: make an invitation, a link or a token, or end somebody's access."""
        name, accounts = form.text("account"), self.services.accounts
        match form.text("action"):
            case "invite":
                scope = f"{self.kind}:{self.place}"
                made = accounts.add(name, form.optional("team"), self._check_role(form.text("role")), (scope,))
                token = accounts.issue_token(made.name, label="invitation")
                return None, {"name": made.name, "link": self._link(made.name), "token": token}
            case "link":
                account = self._own_account(name)
                return None, {"name": account.name, "link": self._link(account.name)}
            case "token":
                account = self._own_account(name)
                return None, {"name": account.name, "token": accounts.issue_token(account.name, label="from the page")}
            case "revoke":
                account = self._own_account(name)
                if account.name == self.caller.name:
                    raise NotAllowed("this would lock you out: ask another owner to do it")
                accounts.revoke_all(account.name)
                return Notice("done", f"{account.name} has no access any more.", "A new link gives it back."), None
        raise Malformed("this form does not say what to do")

    def _check_role(self, role: str) -> str:
        if role not in self.roles:
            raise Malformed(f"somebody who is invited here is one of: {', '.join(self.roles)}")
        return role

    def _is_own(self, account: Account) -> bool:
        """Whether an account is the caller's to manage: one that reaches further is not, or a link would lend that.

        One's own is, unless a token for some of its places is what came: that must not be changed for all of them.
        """
        if self.caller.is_manager:
            return account.reaches(self.kind, self.place)
        return account == self.caller or set(account.scopes) == {f"{self.kind}:{self.place}"}

    def _own_account(self, name: str) -> Account:
        for each in self.services.accounts.accounts():
            if each.name == name and self._is_own(each):
                return each
        raise NotAllowed("there is no account of that name that you may manage here")

    def _count_tokens(self, name: str) -> int:
        now = time.time()
        known = self.services.accounts.tokens(name)
        return sum(each.revoked is None and (each.expires is None or each.expires > now) for each in known)

    def _link(self, name: str) -> str:
        return f"{self.services.settings.address}/sign-in/{self.services.accounts.issue_link(name)}"
