"""What an organiser does in the browser: invitations, ends of access, and the end of a board."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from tests.server.browser.site_under_test import Site, Visitor, predictions
from unworn.boards.closing.board_summary import load_summary
from unworn.record.certificate import Certificate
from unworn.server.guards import COOKIE

_MANAGE = "/boards/intents/manage"


def _send(visitor: Visitor, **fields: str) -> Any:
    return visitor.post(_MANAGE, _MANAGE, fields)


def test_an_invitation_opens_one_board(site: Site) -> None:
    reply = _send(site.visit("ann"), action="invite", account="fay", team="Fjord", role="participant")
    code = re.search(r"/sign-in/([\w-]+)<", reply.text).group(1)
    token = re.search(r">(unw_[\w-]+)<", reply.text).group(1)
    assert site.accounts.account_of_token(token).scopes == ("board:intents",)
    fay = site.visit()
    assert fay.client.post("/sign-in", data={"code": code}, follow_redirects=False).status_code == 303
    assert "Fjord has not submitted anything yet." in fay.get("/boards/intents/mine").text
    again = _send(site.visit("ann"), action="invite", account="fay", team="Fjord", role="participant")
    assert again.status_code == 400
    assert "choose another name" in again.text


def test_a_new_token_is_shown_once_and_counted(site: Site) -> None:
    site.accounts.add("hal", "Harbour", "participant", ("board:intents",))
    reply = _send(site.visit("ed"), action="token", account="hal")
    assert "unw_" in reply.text
    again = site.visit("ed").get(_MANAGE)
    assert "unw_" not in again.text
    told = site.visit("ed").get(f"{_MANAGE}.json").json()["accounts"]
    assert [each["tokens"] for each in told if each["name"] == "hal"] == [1]


def test_revoking_ends_sessions_too(site: Site) -> None:
    site.accounts.add("gil", "Gulf", "participant", ("board:intents",))
    gil = site.visit("gil")
    assert gil.get("/boards/intents").status_code == 200
    assert "no access any more" in _send(site.visit("ed"), action="revoke", account="gil").text
    assert gil.get("/boards/intents").status_code == 401
    assert "/sign-in/" in _send(site.visit("ed"), action="link", account="gil").text


def test_an_organiser_of_one_board_gets_no_link_for_those_who_reach_further(site: Site) -> None:
    ed = site.visit("ed")
    assert ">ann<" not in ed.get(_MANAGE).text
    for name in ("ann", "di", "nobody"):
        for action in ("link", "revoke"):
            reply = _send(ed, action=action, account=name)
            assert reply.status_code == 403
            assert "/sign-in/" not in reply.text
    assert _send(ed, action="revoke", account="ed").status_code == 403


def test_a_token_for_one_board_gets_no_secret_for_the_whole_account(site: Site) -> None:
    narrow = site.accounts.issue_token("ann", scopes=("board:intents",))
    cookie = "made-up"  # whoever sends a header may send any cookie with it, and knows its form token
    form = {"account": "ann", "_csrf": site.accounts.csrf_of(cookie)}
    headers = {"Authorization": f"Bearer {narrow}", "Cookie": f"{COOKIE}={cookie}"}
    for action in ("token", "link"):
        reply = site.visit().client.post(_MANAGE, data={**form, "action": action}, headers=headers)
        assert reply.status_code == 403
        assert "unw_" not in reply.text
        assert "/sign-in/" not in reply.text


def test_the_twin_shows_no_secret(site: Site) -> None:
    told = site.visit("ann").get(f"{_MANAGE}.json").json()
    assert told["secret"] is None
    assert {"name": "bo", "team": "Tidewater", "role": "participant", "tokens": 0} in told["accounts"]


def test_closing_needs_the_name_and_is_final(tmp_path: Path) -> None:
    site = Site.of(tmp_path, seed=6)
    bo, ann = site.visit("bo"), site.visit("ann")
    assert bo.submit(predictions(site.seed, 0.8)).status_code == 303
    assert bo.get("/boards/intents/final").status_code == 404
    refused = _send(ann, action="close", confirm="intent")
    assert refused.status_code == 400
    assert "nothing was closed" in refused.text.lower()
    assert "The board is closed." in _send(ann, action="close", confirm="intents").text
    assert bo.submit(predictions(site.seed, 0.9)).status_code == 409
    final = bo.get("/boards/intents/final")
    assert "Tidewater" in final.text
    index = re.search(r'href="/cards/intents/(\d+)"', final.text)
    assert index is not None
    Certificate.from_json(bo.get(f"/cards/intents/{index.group(1)}.json").json()).verify()
    summary = tmp_path / "summary.json"
    summary.write_bytes(bo.get("/boards/intents/final.json").content)
    assert load_summary(summary)["finals"][0]["team"] == "Tidewater"
    assert "Closed." in bo.get("/boards/intents").text
    assert "/submit" not in bo.get("/boards/intents").text
    site.app.state.services.close()
