from __future__ import annotations

import pytest

from tests.server.browser.site_under_test import Site
from unworn.server.browser.page_reply import read_local
from unworn.server.guards import COOKIE


@pytest.mark.parametrize(
    "address",
    ["//evil.example", "https://evil.example", "/\\evil.example", "javascript:alert(1)", "", "/a\r\nX: y", "/é"],
)
def test_one_is_sent_nowhere_else(address: str) -> None:
    assert read_local(address) == "/"


def test_a_token_opens_pages_and_twins_but_sends_no_forms(site: Site) -> None:
    client = site.visit().client
    headers = {"Authorization": f"Bearer {site.accounts.issue_token('bo')}"}
    assert client.get("/boards/intents", headers=headers).status_code == 200
    assert client.get("/boards/intents.json", headers=headers).json()["board"]["name"] == "intents"
    assert client.post("/boards/intents/submit", headers=headers, data={"_csrf": ""}).status_code == 403


def test_an_unknown_token_or_session_is_nobody(site: Site) -> None:
    client = site.visit().client
    assert client.get("/boards/intents", headers={"Authorization": "Bearer unw_x"}).status_code == 401
    client.cookies.set(COOKIE, "x" * 43)
    assert client.get("/boards/intents").status_code == 401
    assert "Sign in" in client.get("/").text


def test_a_page_that_fails_tells_nothing(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    from unworn.boards.board import Board

    def fail(board: Board) -> None:
        raise RuntimeError("row 17 is secret")

    monkeypatch.setattr(Board, "standings", fail)
    bo = site.visit("bo")
    for path in ("/boards/intents", "/boards/intents.json", "/boards/intents/standings.svg"):
        reply = bo.get(path)
        assert reply.status_code == 500
        assert "secret" not in reply.text
        assert "RuntimeError" not in reply.text
