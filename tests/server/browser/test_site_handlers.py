"""The first page, and the ways in and out."""

from __future__ import annotations

from pathlib import Path

import pytest
from litestar.testing import TestClient

from tests.server.browser.site_under_test import Site
from unworn.server.guards import COOKIE


def test_a_link_works_once_and_looking_at_it_does_not_use_it_up(site: Site) -> None:
    code = site.accounts.issue_link("bo")
    nobody = site.visit()
    for _ in range(2):
        assert "Sign in as bo" in nobody.get(f"/sign-in/{code}").text
    assert nobody.client.post("/sign-in", data={"code": code}, follow_redirects=False).status_code == 303
    assert "bo" in nobody.get("/").text
    again = site.visit().client.post("/sign-in", data={"code": code}, follow_redirects=False)
    assert again.status_code == 401
    assert "does not open anything" in again.text


def test_the_cookie_is_for_this_site_and_no_script(site: Site) -> None:
    reply = site.visit().client.post("/sign-in", data={"code": site.accounts.issue_link("bo")}, follow_redirects=False)
    cookie = reply.headers["set-cookie"].lower()
    assert cookie.startswith(COOKIE)
    assert "httponly" in cookie
    assert "samesite=lax" in cookie
    assert "secure" not in cookie


def test_a_whole_link_and_a_token_open_too_but_not_a_narrow_token(site: Site) -> None:
    whole = site.accounts.issue_token("ann")
    narrow = site.accounts.issue_token("ann", scopes=("board:intents",))
    link = f"http://127.0.0.1:8765/sign-in/{site.accounts.issue_link('ann')}"
    for secret, status in ((whole, 303), (link, 303), (narrow, 401), ("", 401), ("unw_x", 401), ("\x00/😀", 401)):
        reply = site.visit().client.post("/sign-in", data={"code": secret}, follow_redirects=False)
        assert reply.status_code == status, secret


def test_after_signing_in_one_is_where_one_wanted_to_go_and_nowhere_else(site: Site) -> None:
    assert 'name="next" value="/boards/intents/rules"' in site.visit().get("/boards/intents/rules").text
    for given, place in (
        ("/boards/intents", "/boards/intents"),
        ("//evil.example", "/"),
        ("https://evil.example", "/"),
    ):
        sent = {"code": site.accounts.issue_link("bo"), "next": given}
        reply = site.visit().client.post("/sign-in", data=sent, follow_redirects=False)
        assert reply.headers["location"] == place


def test_signing_out_ends_the_session(site: Site) -> None:
    bo = site.visit("bo")
    session = bo.client.cookies[COOKIE]
    assert bo.post("/", "/sign-out", {}).status_code == 303
    assert site.accounts.account_of_session(session) is None
    assert "You have signed out" in bo.get("/sign-out").text


def test_a_place_that_cannot_be_opened_does_not_close_the_first_page(tmp_path: Path) -> None:
    site = Site.of(tmp_path, seed=77)
    for kind in ("board", "holdout"):
        broken = tmp_path / f"broken-{kind}"
        broken.mkdir()
        (broken / f"{kind}.toml").write_text("nonsense")
    reply = site.visit("ann").get("/")
    assert reply.status_code == 200
    assert reply.text.count("It cannot be opened at the moment.") == 2
    assert "Customer intents" in reply.text
    site.app.state.services.close()


def test_home_shows_what_one_was_invited_to(site: Site) -> None:
    assert site.visit().get("/index.json").json()["boards"] == []
    assert [each["name"] for each in site.visit("bo").get("/index.json").json()["boards"]] == ["intents"]
    told = site.visit("ann").get("/index.json").json()
    assert [each["name"] for each in told["holdouts"]] == ["churn"]
    assert "Customer intents" in site.visit("ann").get("/").text


def test_only_two_files_are_static(site: Site) -> None:
    nobody = site.visit()
    assert nobody.get("/static/unworn.css").headers["content-type"].startswith("text/css")
    assert nobody.get("/static/mark.svg").status_code == 200
    for name in ("base.html", "..%2f..%2fapp.py", "%2e%2e%2fweb_page.py", "unworn.css%00", "x"):
        assert nobody.get(f"/static/{name}").status_code == 404


def test_a_mistyped_address_gets_a_page_and_a_program_gets_json(site: Site) -> None:
    client = site.visit().client
    people, program = {"Accept": "text/html,*/*;q=0.8"}, {"Accept": "*/*"}
    page = client.get("/borads", headers=people)
    assert page.status_code == 404
    assert "There is nothing here" in page.text
    assert page.headers["content-security-policy"].startswith("default-src 'none'")
    for path, headers in (("/borads", program), ("/api/nothing", people), ("/boards/x.json", people)):
        reply = client.get(path, headers=headers)
        assert reply.headers["content-type"] == "application/problem+json"


def test_the_code_of_a_link_is_in_no_log(
    site: Site, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(code: str) -> None:
        raise ValueError("a mistake of ours")

    monkeypatch.setattr(site.accounts, "peek_link", fail)
    client = TestClient(site.app, raise_server_exceptions=False)
    for accepted in ("text/html", "application/json"):
        assert client.get("/sign-in/secret-code", headers={"Accept": accepted}).status_code == 500
    assert [record.getMessage() for record in caplog.records if record.name == "unworn.server"] == [
        "mistake in /sign-in/{code}: ValueError"
    ] * 2
