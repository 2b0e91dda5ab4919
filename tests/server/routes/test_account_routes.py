"""Accounts over HTTP, and backups while the server runs."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

from tests.server.served_site import Site
from unworn.ledger import open_store
from unworn.ledger.backup import restore


def test_an_owner_invites(site: Site) -> None:
    made = site.post("owner", "/api/accounts", {"name": "kim", "team": "green", "scopes": ["board:bench"]})
    assert (made.status_code, made.json()["team"]) == (201, "green")
    token = site.post("owner", "/api/accounts/kim/tokens", {"seconds": 3600, "label": "laptop"}).json()["token"]
    told = site.client.get("/api/me", headers={"Authorization": f"Bearer {token}"}).json()
    assert told == {"account": "kim", "team": "green", "role": "participant", "scopes": ["board:bench"]}
    link = site.post("owner", "/api/accounts/kim/links", {}).json()["link"]
    assert site.services.accounts.peek_link(link.rpartition("/")[2]) is not None
    listed = site.get("owner", "/api/accounts/kim/tokens").json()
    assert listed[0]["label"] == "laptop"
    assert token not in str(listed)
    own = {"Authorization": f"Bearer {token}"}
    assert site.client.get("/api/accounts/kim/tokens", headers=own).status_code == 200
    assert site.client.get("/api/accounts/ann/tokens", headers=own).status_code == 403
    ended = site.client.delete(f"/api/accounts/kim/tokens/{listed[0]['id']}", headers=own)
    assert ended.status_code == 200
    assert site.client.get("/api/me", headers=own).status_code == 401


def test_nobody_ends_anothers_token(site: Site) -> None:
    mine = site.services.accounts.tokens("owner")[0].id
    assert site.client.delete(f"/api/accounts/ann/tokens/{mine}", headers=site.headers("ann")).status_code == 404
    assert site.get("owner", "/api/me").status_code == 200


def test_what_is_no_account(site: Site) -> None:
    bodies: list[dict[str, Any]] = [
        {},
        {"name": ""},
        {"name": "x", "role": "god"},
        {"name": "x", "scopes": ["everything"]},
        {"name": "ann"},
        {"name": "x", "admin": True},
    ]
    for body in bodies:
        assert site.post("owner", "/api/accounts", body).status_code == 400
    assert site.post("owner", "/api/accounts/nobody/tokens").status_code == 404
    assert site.post("owner", "/api/accounts/ann/tokens", {"seconds": -5}).status_code == 400


def test_a_backup_while_running_has_everything_but_keys(site: Site, tmp_path: Path) -> None:
    site.post("ana", "/api/holdouts/people/asks", {"question": "age > 65"})
    told = site.post("owner", "/api/admin/backup").json()
    folder = site.root / told["folder"]
    assert {path.name for path in folder.iterdir()} == {
        "board-bench.jsonl",
        "board-bench.db",
        "board-rival.jsonl",
        "board-rival.db",
        "holdout-people.jsonl",
        "holdout-others.jsonl",
        "server.db",
    }
    assert folder.stat().st_mode & 0o077 == 0
    store = open_store(tmp_path / "ledger.db", restoring=True)
    try:
        assert restore(folder / "holdout-people.jsonl", store) == told["holdout people"] == 2
    finally:
        store.close()
    with sqlite3.connect(folder / "server.db") as tables:
        assert tables.execute("SELECT count(*) FROM accounts").fetchone()[0] >= 6
    assert site.post("owner", "/api/admin/backup").json()["folder"] != told["folder"]


def test_a_token_for_some_places_does_not_touch_the_others(site: Site) -> None:
    """Whoever was lent a narrow token cannot look at, or end, what its owner works with."""
    accounts = site.services.accounts
    site.post("owner", "/api/accounts", {"name": "lea", "scopes": ["board:bench", "board:rival"]})
    whole, narrow = accounts.issue_token("lea"), accounts.issue_token("lea", scopes=["board:bench"])
    main = next(token.id for token in accounts.tokens("lea") if token.scopes == ("*",))
    lent = {"Authorization": f"Bearer {narrow}"}
    assert site.client.get("/api/accounts/lea/tokens", headers=lent).status_code == 403
    assert site.client.delete(f"/api/accounts/lea/tokens/{main}", headers=lent).status_code == 403
    assert accounts.account_of_token(whole) is not None
    assert site.client.get("/api/accounts/nobody/tokens", headers=lent).status_code == 403
