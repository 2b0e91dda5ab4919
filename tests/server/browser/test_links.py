"""Whoever follows every link of every page finds pages, and beside each page its twin."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import pytest

from tests.server.browser.site_under_test import Site, Visitor, predictions

WITHOUT_TWIN = ("/sign-in", "/sign-out")
_HREF = re.compile(r'(?:href|src)="(/[^"#]*)"')
_TWIN = re.compile(r'<link rel="alternate" type="application/json" href="([^"]+)"')


def crawl(visitor: Visitor, start: str = "/") -> dict[str, str]:
    """Every address that pages lead to, and what is there: the kind of its content."""
    waiting, found = [start], dict[str, str]()
    while waiting:
        address = waiting.pop()
        if address in found:
            continue
        reply = visitor.client.get(address)
        assert reply.status_code == 200, address
        found[address] = reply.headers["content-type"].partition(";")[0]
        if found[address] == "text/html" and not address.startswith("/api/"):
            waiting += [html.unescape(each) for each in _HREF.findall(reply.text)]
            check_twin(visitor, address, reply.text)
    return found


def check_twin(visitor: Visitor, address: str, text: str) -> None:
    told = _TWIN.search(text)
    if address.partition("?")[0] in WITHOUT_TWIN:
        assert told is None
        return
    assert told is not None, f"{address} has no twin"
    reply = visitor.client.get(html.unescape(told[1]))
    assert (reply.status_code, reply.headers["content-type"]) == (200, "application/json"), address
    assert isinstance(json.loads(reply.text), dict)


@pytest.mark.parametrize("name", ["ann", "bo", "di", None])
def test_every_link_leads_to_a_page_with_a_twin(site: Site, name: str | None) -> None:
    site.visit("bo").submit(predictions(site.seed, 0.8))
    site.visit("di").post("/holdouts/churn", "/holdouts/churn/ask", {"question": "age > 40", "guess": "0.7"})
    found = crawl(site.visit(name))
    assert "/static/unworn.css" in found
    wanted = {
        "ann": {"/boards/intents/manage", "/holdouts/churn/manage", "/cards/churn/1", "/cards/intents/1"},
        "bo": {"/boards/intents/submit", "/boards/intents/mine", "/api/boards/intents/ids.csv"},
        "di": {"/holdouts/churn/ledger", "/holdouts/churn/report", "/api/holdouts/churn/report.html"},
        None: {"/sign-in"},
    }
    assert wanted[name] <= found.keys()


def test_a_closed_board_has_no_dead_ends(tmp_path: Path) -> None:
    site = Site.of(tmp_path, seed=9)
    bo, ann = site.visit("bo"), site.visit("ann")
    bo.submit(predictions(site.seed, 0.8))
    ann.post("/boards/intents/manage", "/boards/intents/manage", {"action": "close", "confirm": "intents"})
    assert "/boards/intents/final" in crawl(bo, "/boards/intents")
    site.app.state.services.close()
