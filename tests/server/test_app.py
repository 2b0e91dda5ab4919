"""The application as a whole: readable by all or by none, within a rate, and with safe headers."""

from __future__ import annotations

from pathlib import Path

from litestar.testing import TestClient

from tests.server.served_site import Site, predictions_csv, serve_site
from unworn.boards.board import Board
from unworn.server.app import create_app
from unworn.server.first_start import prepare_server
from unworn.server.safe_headers import SAFE_HEADERS
from unworn.server.settings import ServerSettings


def test_every_reply_has_safe_headers(site: Site) -> None:
    """Whoever answers: a route, an error, a page, the protocol for agents, a method that is not known."""
    site.send("ann", "/api/boards/bench/submissions", predictions_csv(site.truth["bench"], 20))
    site.post("ana", "/api/holdouts/people/asks", {"question": "age > 30"})
    named = {"place:str": "bench", "name": "owner", "id": "0123456789abcdef", "index": "1", "code": "A" * 43}
    told = set()
    for route in site.client.app.routes:
        path = route.path_format
        for name, value in named.items():
            path = path.replace(f"{{{name.removesuffix(':str')}}}", value)
        path = path.replace("/holdouts/bench", "/holdouts/people")
        for method in ("GET", "POST", "DELETE"):
            if method != "GET" and path.endswith(("/sign-out", "/close", "/backup", "/manage")):
                continue
            for account in (None, "owner"):
                headers = {} if account is None else site.headers(account)
                reply = site.client.request(method, path, headers=headers, follow_redirects=False)
                told.add(reply.status_code)
                for name, value in SAFE_HEADERS.items():
                    assert name in reply.headers, (method, path)
                    if name == "Content-Security-Policy":
                        assert "default-src 'none'" in reply.headers[name]
                    elif name not in ("Referrer-Policy", "Cache-Control"):
                        assert reply.headers[name] == value
                is_public = path.startswith("/static/") or path.endswith(".svg")
                assert is_public or "no-store" in reply.headers["Cache-Control"], (method, path)
                assert "script-src" not in reply.headers["Content-Security-Policy"]
    assert {200, 303, 401, 404, 405} - told <= {303}


def test_ready_and_alive(site: Site) -> None:
    assert site.client.get("/health").json() == {"status": "alive"}
    assert site.client.get("/ready").json() == {"status": "ready"}


def test_metrics_for_prometheus(site: Site) -> None:
    site.post("ana", "/api/holdouts/people/asks", {"question": "age > 20", "guess": 0.1})
    site.send("ann", "/api/boards/bench/submissions", predictions_csv(site.truth["bench"], 33))
    text = site.get("owner", "/metrics").text
    assert 'source="surprise"} 1' in text
    assert 'unworn_submissions_total{worker="' in text
    for line in text.splitlines():
        assert line.startswith("# TYPE") or len(line.rsplit(" ", 1)) == 2
        if not line.startswith("#"):
            float(line.rsplit(" ", 1)[1])


def test_boards_open_to_all_are_read_and_not_written(tmp_path: Path) -> None:
    with serve_site(tmp_path, public=True) as site:
        assert site.client.get("/api/boards/bench/standings").status_code == 200
        assert site.client.get("/api/boards").status_code == 200
        assert site.client.get("/api/holdouts/people").status_code == 401
        assert site.client.get("/api/holdouts").json() == []
        reply = site.client.post(
            "/api/boards/bench/submissions", content=b"id,prediction\n", headers={"Content-Type": "text/csv"}
        )
        assert reply.status_code == 401
        assert site.client.get("/api/boards/bench", headers={"Authorization": "Bearer unw_x"}).status_code == 401


def test_an_account_that_asks_too_often_waits(tmp_path: Path) -> None:
    app = create_app(ServerSettings(tmp_path, rate=1e-6, burst=5))
    accounts = app.state.services.accounts
    for name in ("ann", "bob"):
        accounts.add(name)
    headers = [{"Authorization": f"Bearer {accounts.issue_token(name)}"} for name in ("ann", "bob")]
    with TestClient(app) as client:
        told = [client.get("/api/me", headers=headers[0]).status_code for _ in range(7)]
        assert told == [200] * 5 + [429] * 2
        assert client.get("/api/me", headers=headers[0]).headers["Retry-After"] == "1"
        assert client.get("/api/me", headers=headers[1]).status_code == 200


def test_a_first_start_makes_accounts_once(tmp_path: Path) -> None:
    frame = {"id": [str(row) for row in range(200)], "label": [row % 2 for row in range(200)]}
    Board.create(tmp_path / "bench", frame, id="id", target="label", metric="accuracy").release()
    settings = ServerSettings(tmp_path)
    assert prepare_server(ServerSettings(tmp_path / "empty", str(tmp_path / "server.db"))).tokens == {}
    first, second = prepare_server(settings), prepare_server(settings)
    assert set(first.tokens) == {"owner", "participant"}
    assert second.tokens == {}
    assert first.link != second.link
    assert first.boards == ["bench"]


def test_a_grader_that_hangs_costs_its_submission_and_nothing_else(tmp_path: Path) -> None:
    frame = {"id": [str(row) for row in range(200)], "label": ["yes", "no"] * 100}
    grader = tmp_path / "grade.py"
    grader.write_text("def score(p, reference):\n    while p != reference:\n        pass\n    return 1.0\n")
    settings = {"grader": f"{grader}:score", "grader_seconds": 2.0}
    Board.create(tmp_path / "slow", frame, id="id", target="label", **settings).release()
    app = create_app(ServerSettings(tmp_path))
    app.state.services.accounts.add("ann", scopes=["*"])
    headers = {"Authorization": f"Bearer {app.state.services.accounts.issue_token('ann')}", "Content-Type": "text/csv"}
    text = "id,prediction\n" + "".join(f"{row},yes\n" for row in range(200))
    with TestClient(app, raise_server_exceptions=False) as client:
        reply = client.post("/api/boards/slow/submissions", headers=headers, content=text)
        assert (reply.status_code, reply.json()["status"]) == (201, "failed")
        assert client.get("/api/boards/slow/standings", headers=headers).status_code == 200
        assert client.get("/health").status_code == 200
