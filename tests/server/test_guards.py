"""Nobody does what they may not, and a door that is not open looks like one that is not there."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.server.served_site import Site, predictions_csv, serve_site
from unworn.server.accounts import Accounts
from unworn.server.guards import check_headers
from unworn.server.server_errors import Malformed

LOOKS = [
    "/api/me",
    "/api/boards",
    "/api/boards/bench",
    "/api/boards/bench/standings",
    "/api/boards/bench/submissions",
    "/api/holdouts",
    "/api/holdouts/people",
    "/api/holdouts/people/answers",
    "/api/accounts",
    "/metrics",
]


@pytest.mark.parametrize("path", LOOKS)
@pytest.mark.parametrize(
    "header",
    [None, "", "Bearer", "Bearer ", "Bearer unw_", "Bearer unw_" + "A" * 43, "Basic b3duZXI6", "Bearer \x7f", "unw_x"],
)
def test_without_a_token_that_holds_there_is_nothing(site: Site, path: str, header: str | None) -> None:
    reply = site.client.get(path, headers={} if header is None else {"Authorization": header})
    assert reply.status_code == 401
    assert reply.json()["title"] == "NotSignedIn"
    assert reply.headers["WWW-Authenticate"] == "Bearer"
    assert ("token is not valid" in reply.json()["detail"]) == (header is not None)


def test_a_token_is_read_whole(site: Site) -> None:
    token = site.tokens["owner"]
    for forged in (token[:-1], token + "A", token.upper(), token.replace("unw_", "")):
        assert site.client.get("/api/me", headers={"Authorization": f"Bearer {forged}"}).status_code == 401


def test_expired_and_revoked_tokens_are_like_unknown_ones(site: Site) -> None:
    accounts = site.services.accounts
    expired = accounts.issue_token("ann", seconds=1e-9)
    revoked = accounts.issue_token("ann")
    assert site.client.get("/api/me", headers={"Authorization": f"Bearer {revoked}"}).status_code == 200
    accounts.revoke_token(accounts.tokens("ann")[-1].id)
    told = {
        site.client.get("/api/me", headers={"Authorization": f"Bearer {token}"}).text
        for token in (expired, revoked, "unw_" + "B" * 43)
    }
    assert len(told) == 1
    assert "NotSignedIn" in told.pop()


def test_another_tenants_place_looks_like_one_that_is_not_there(site: Site) -> None:
    """Whether a place exists cannot be told from outside its scope: status, words and headers are the same."""
    for name, kind, there in (("ann", "boards", "rival"), ("ana", "holdouts", "others"), ("bob", "boards", "bench")):
        for rest in (
            "",
            "/standings",
            "/submissions",
            "/submissions/0123456789abcdef",
            "/answers",
            "/cards/1",
            "/gate",
        ):
            replies = [site.get(name, f"/api/{kind}/{place}{rest}") for place in (there, "nowhere")]
            assert replies[0].text == replies[1].text
            assert replies[0].status_code in (403, 404)
            assert replies[0].headers == replies[1].headers
    for path in ("/api/boards/{}/submissions", "/api/boards/{}/validate", "/api/boards/{}/gate"):
        told = [
            site.send("ann", path.format(place), predictions_csv(site.truth["rival"])) for place in ("rival", "nowhere")
        ]
        assert [reply.status_code for reply in told] == [403, 403]
        assert told[0].text == told[1].text
    told = [site.post("ana", f"/api/holdouts/{place}/asks", {"question": "age > 5"}) for place in ("others", "nowhere")]
    assert [reply.status_code for reply in told] == [403, 403]
    assert told[0].text == told[1].text


def test_lists_have_what_is_in_scope_only(site: Site) -> None:
    assert [each["name"] for each in site.get("ann", "/api/boards").json()] == ["bench"]
    assert site.get("ann", "/api/holdouts").json() == []
    assert [each["name"] for each in site.get("owner", "/api/boards").json()] == ["bench", "rival"]


def test_a_tokens_scope_is_never_wider_than_its_accounts(site: Site) -> None:
    token = site.services.accounts.issue_token("ann", scopes=["board:rival", "board:bench", "holdout:people"])
    told = site.client.get("/api/me", headers={"Authorization": f"Bearer {token}"}).json()
    assert told["scopes"] == ["board:bench"]


ROLES = [
    ("vic", "POST", "/api/boards/bench/submissions", 403),
    ("vic", "POST", "/api/holdouts/people/asks", 403),
    ("ann", "GET", "/api/boards/bench/spending", 403),
    ("ann", "GET", "/api/boards/bench/spending/mine", 200),
    ("ann", "POST", "/api/boards/bench/close", 403),
    ("ann", "POST", "/api/accounts", 403),
    ("ann", "POST", "/api/admin/backup", 403),
    ("una", "GET", "/api/boards/bench/spending", 200),
    ("una", "GET", "/api/accounts", 403),
    ("una", "GET", "/metrics", 403),
    ("owner", "GET", "/metrics", 200),
    ("vic", "GET", "/api/boards/bench/standings", 200),
    ("vic", "GET", "/api/holdouts/people/answers", 200),
]


@pytest.mark.parametrize(("name", "method", "path", "status"), ROLES)
def test_roles(site: Site, name: str, method: str, path: str, status: int) -> None:
    reply = site.client.request(method, path, headers=site.headers(name))
    assert reply.status_code == status


@pytest.mark.parametrize("name", ["Host", "Authorization", "Content-Type", "Idempotency-Key", "X-CSRF-Token"])
def test_nobody_says_twice_who_asks_or_what(name: str) -> None:
    """A proxy in front might believe the other one. (A test's client would make one header of the two.)"""
    others = [(b"accept", b"a"), (b"accept", b"b"), (name.lower().encode(), b"one")]
    connection: Any = SimpleNamespace(scope={"headers": others})
    check_headers(connection)
    connection.scope["headers"].append((name.lower().encode(), b"two"))
    with pytest.raises(Malformed, match="came twice"):
        check_headers(connection)


def test_a_cookie_alone_changes_nothing(site: Site) -> None:
    """What another site makes a browser send has the cookie, and not the session's form token."""
    code = site.services.accounts.issue_link("owner")
    session = site.services.accounts.redeem_link(code, 60)
    assert session is not None
    cookie = {"Cookie": f"unworn_session={session}"}
    assert site.client.get("/api/me", headers=cookie).json()["account"] == "owner"
    body = {"name": "eve", "role": "owner", "scopes": ["*"]}
    for token in (None, "", "0" * 64, session):
        headers = cookie if token is None else {**cookie, "X-CSRF-Token": token}
        assert site.client.post("/api/accounts", headers=headers, json=body).status_code == 403
    headers = {**cookie, "X-CSRF-Token": Accounts.csrf_of(session)}
    assert site.client.post("/api/accounts", headers=headers, json={"name": "eve"}).status_code == 201


def test_a_link_signs_in_once(site: Site) -> None:
    accounts = site.services.accounts
    code = accounts.issue_link("ann")
    assert accounts.peek_link(code) is not None
    first, second = accounts.redeem_link(code, 60), accounts.redeem_link(code, 60)
    assert first is not None
    assert second is None
    assert accounts.peek_link(code) is None
    assert accounts.account_of_token("unw_" + code) is None
    accounts.end_session(first)
    assert accounts.account_of_session(first) is None


@pytest.mark.parametrize(
    "name", ["..", "%2e%2e", "..%2fbench", "bench%00", "bench/../bench", ".", "%2Fetc%2Fpasswd", "a" * 300]
)
def test_paths_lead_nowhere_else(site: Site, name: str) -> None:
    for kind in ("boards", "holdouts"):
        reply = site.get("owner", f"/api/{kind}/{name}/standings")
        assert reply.status_code in (400, 404, 200)
        if reply.status_code == 200:  # the client itself took the dots out
            assert str(reply.url).endswith("/api/boards/bench/standings")
        else:
            assert "root:" not in reply.text
            assert str(site.root) not in reply.text


@pytest.mark.parametrize(
    ("headers", "is_ours"),
    [
        ({}, True),
        ({"Sec-Fetch-Site": "same-origin", "Origin": "http://elsewhere.example"}, True),
        ({"Sec-Fetch-Site": "none"}, True),
        ({"Sec-Fetch-Site": "cross-site"}, False),
        ({"Sec-Fetch-Site": "same-site"}, False),
        ({"Origin": "http://testserver.local"}, True),
        ({"Origin": "http://127.0.0.1:8765"}, True),
        ({"Origin": "http://elsewhere.example"}, False),
        ({"Origin": "http://testserver.local.elsewhere.example"}, False),
        ({"Origin": "null"}, False),
        ({"Origin": "http://[", "Referer": "x"}, False),
    ],
)
def test_nobody_is_signed_in_from_elsewhere(site: Site, headers: dict[str, str], is_ours: bool) -> None:
    """A sign-in needs no session, so no form token protects it: another site could sign a visitor in as somebody."""
    code = site.services.accounts.issue_link("ann")
    reply = site.client.post("/sign-in", data={"code": code}, headers=headers, follow_redirects=False)
    assert (reply.status_code == 303, reply.status_code == 403) == (is_ours, not is_ours)
    assert ("set-cookie" in reply.headers) == is_ours
    assert (site.services.accounts.peek_link(code) is None) == is_ours


def test_behind_tls_the_cookie_is_this_hosts_alone(tmp_path: Path) -> None:
    with serve_site(tmp_path, secure_cookies=True, address="https://bench.example.org") as site:
        code = site.services.accounts.issue_link("ann")
        reply = site.client.post("/sign-in", data={"code": code}, follow_redirects=False)
        name, _, rest = reply.headers["set-cookie"].partition("=")
        assert name == "__Host-unworn_session"
        assert {"secure", "httponly", "path=/"} <= {part.strip().lower() for part in rest.split(";")}
        assert "domain" not in rest.lower()
        assert reply.headers["strict-transport-security"].startswith("max-age=")
        session = rest.partition(";")[0]
        site.client.cookies.clear()
        for cookie, status in (("unworn_session", 401), ("__Host-unworn_session", 200)):
            told = site.client.get("/api/me", headers={"Cookie": f"{cookie}={session}"})
            assert told.status_code == status


@pytest.mark.parametrize(
    "path", ["/api/accounts/%00/tokens", "/api/boards/bench%00/standings", "/boards/%00", "/sign-in/a%00b"]
)
def test_a_character_that_no_table_keeps_is_asked_of_none(site: Site, path: str) -> None:
    for method in ("GET", "POST"):
        assert site.client.request(method, path, headers=site.headers("owner")).status_code in (404, 405)
