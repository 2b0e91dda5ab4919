"""Whatever people or programs put into addresses and forms: a page answers, runs nothing, and leads nowhere else."""

from __future__ import annotations

import random
import re
from typing import Any
from urllib.parse import quote

import pytest

from tests.server.browser.site_under_test import Site, Visitor, predictions
from tests.two_sizes import in_two_sizes, reseeded

NONSENSE = (
    *("", "0", "-1", "1e999", "nan", "9" * 500, "a" * 3_000, "\0", "٢", "½", "é" * 90, " ", "\u2800", "\u202eb"),
    *(
        "<script>alert(1)</script>",
        "../../etc/passwd",
        "%00",
        "{{7*7}}",
        "'; drop table tokens;--",
        "\r\nSet-Cookie: a=b",
    ),
    *("age > 1", "avg(age)", "0,5", "25 %", "link", "token", "invite", "validate", "submit", "churn", "ann", "unw_x"),
    *("http://elsewhere.example", "//elsewhere.example", "/\\elsewhere.example", "javascript:alert(1)", "[]", "true"),
)
PAGES = (
    *("/", "/index.json", "/sign-in", "/sign-out", "/sign-in/{}", "/static/{}", "/cards/churn/1", "/cards/{}/{}"),
    *(f"/boards/intents{each}" for each in ("", "/submit", "/mine", "/rules", "/manage", "/standings.svg", "/final")),
    *(f"/holdouts/churn{each}" for each in ("", "/answers", "/answers.svg", "/ledger", "/report", "/manage")),
    *("/boards/{}", "/boards/intents/submissions/{}", "/holdouts/{}/ledger"),
)
FORMS = {
    "/holdouts/churn/quote": ("question", "guess", "low", "high"),
    "/holdouts/churn/ask": ("question", "guess", "low", "high"),
    "/boards/intents/manage": ("action", "account", "team", "role", "confirm"),
    "/holdouts/churn/manage": ("action", "account", "role"),
    "/boards/intents/submit": ("action", "name", "message", "request"),
    "/sign-in": ("code", "next"),
}
FILES = (b"", b"id,prediction\n", b"\xff\xfe", b"PAR1" * 9, b"{}\n" * 9)


@pytest.fixture
def owner(site: Site) -> Visitor:
    site.visit("bo").submit(predictions(site.seed, 0.8))
    return site.visit("ann")


@in_two_sizes(short=150, full=5_000)
def test_nonsense_is_answered(owner: Visitor, size: int) -> None:
    chance = random.Random(reseeded(3))
    found = re.search(r'name="_csrf" value="([^"]+)"', owner.get("/boards/intents/manage").text)
    assert found is not None
    seen = set()
    for _ in range(size):
        sent = look(owner, chance) if chance.random() < 0.5 else send(owner, chance, found[1])
        seen.add(sent.status_code)
        assert sent.status_code < 500, sent.text
        for word in ("<script>alert", "Traceback", "/unworn/", "\u202e"):
            assert word not in sent.text
        assert "a=b" not in sent.headers.get("set-cookie", "")
        assert re.match("/(?![/\\\\])", sent.headers.get("location", "/"))
    assert {200, 400, 404} <= seen


def look(visitor: Visitor, chance: random.Random) -> Any:
    path = chance.choice(PAGES)
    while "{}" in path:
        path = path.replace("{}", quote(chance.choice(NONSENSE), safe="") or "x", 1)
    names = chance.sample(("page", "verify", "sent", "next", "start"), chance.randint(0, 3))
    return visitor.client.get(path, params={name: chance.choice(NONSENSE) for name in names}, follow_redirects=False)


def send(visitor: Visitor, chance: random.Random, token: str) -> Any:
    path = chance.choice(list(FORMS))
    fields = {name: chance.choice(NONSENSE) for name in FORMS[path] if chance.random() < 0.9}
    if chance.random() < 0.9:
        fields["_csrf"] = token
    files = None
    if path.endswith("submit"):
        name = chance.choice(("a.csv", "../x.parquet", "a.onnx", ".csv", "a.jsonl"))
        files = {"file": (name, chance.choice(FILES), "application/octet-stream")}
    return visitor.client.post(path, data=fields, files=files, follow_redirects=False)
