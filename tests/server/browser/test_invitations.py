"""A custodian invites analysts to a holdout in the browser: where no board is served there is no other page for it."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.server.browser.site_under_test import Site, Visitor
from unworn.server.browser.invitations import ROLES_TO_GIVE

_MANAGE = "/holdouts/churn/manage"


def _send(visitor: Visitor, **fields: str) -> Any:
    return visitor.post(_MANAGE, _MANAGE, fields)


def test_an_analyst_is_invited_to_one_holdout_and_asks(site: Site) -> None:
    ann = site.visit("ann")
    assert f'href="{_MANAGE}"' in ann.get("/holdouts/churn").text
    reply = _send(ann, action="invite", account="lea", role="analyst")
    token = re.search(r">(unw_[\w-]+)<", reply.text).group(1)  # type: ignore[union-attr]
    assert site.accounts.account_of_token(token).scopes == ("holdout:churn",)
    code = re.search(r"/sign-in/([\w-]+)<", reply.text).group(1)  # type: ignore[union-attr]
    lea = site.visit()
    assert lea.client.post("/sign-in", data={"code": code}, follow_redirects=False).status_code == 303
    assert "Ask a question" in lea.get("/holdouts/churn").text
    assert (
        lea.post("/holdouts/churn", "/holdouts/churn/ask", {"question": "age > 30", "guess": "0.8"}).status_code == 303
    )
    assert lea.get(_MANAGE).status_code == 403
    assert f'href="{_MANAGE}"' not in lea.get("/holdouts/churn").text
    spending = site.visit("ann").get(f"{_MANAGE}.json").json()["spending"]
    assert [row["asked"] for row in spending if row["account"] == "lea"] == [1]
    assert "no access any more" in _send(site.visit("ann"), action="revoke", account="lea").text
    assert lea.get("/holdouts/churn").status_code == 401


def test_whoever_may_only_look_is_told_so(site: Site) -> None:
    site.accounts.add("vic", "viewers", "viewer", ("holdout:churn",))
    page = site.visit("vic").get("/holdouts/churn").text
    assert "may look here, but not ask" in page
    assert "Ask a question" not in page


@pytest.mark.parametrize("role", ["participant", "emperor", ""])
def test_only_roles_that_fit_are_given(site: Site, role: str) -> None:
    assert role not in ROLES_TO_GIVE["holdout"]
    reply = _send(site.visit("ann"), action="invite", account=f"new {role}", role=role)
    assert reply.status_code == 400
    assert "unw_" not in reply.text
    assert f"new {role}" not in [each.name for each in site.accounts.accounts()]


def test_a_holdout_is_not_closed_by_a_form_for_boards(site: Site) -> None:
    assert _send(site.visit("ann"), action="close", confirm="churn").status_code == 400


def test_an_organiser_of_a_board_manages_no_holdout(site: Site) -> None:
    ed = site.visit("ed")
    assert ed.get(_MANAGE).status_code == 403
    assert ed.post("/boards/intents/manage", _MANAGE, {"action": "link", "account": "di"}).status_code == 403
