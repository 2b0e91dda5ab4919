"""A board in the browser, without one: what each page answers, and to whom."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.server.browser.site_under_test import IDS, Site, predictions
from unworn.boards.board import Board
from unworn.database.database_errors import Unreachable
from unworn.record.certificate import Certificate


def test_a_submission_is_scored_and_shown(site: Site) -> None:
    bo = site.visit("bo")
    reply = bo.submit(predictions(site.seed, 0.8), name="linear.csv", message="<b>mine</b>")
    assert reply.status_code == 303
    address = reply.headers["location"]
    page = bo.get(address).text
    assert "Received and scored." in page
    assert "Confirmed: the sealed rows agree with the practice score." in page
    assert "&lt;b&gt;mine&lt;/b&gt;" in page
    twin = bo.get(address.partition("?")[0] + ".json").json()
    assert twin["submission"]["team"] == "Tidewater"
    assert twin["submission"]["low"] < 0.87 < twin["submission"]["high"]
    index = twin["submission"]["indexes"][0]
    card = bo.get(f"/cards/intents/{index}.json")
    assert card.headers["content-disposition"] == f'attachment; filename="card-{index}.json"'
    Certificate.from_json(json.loads(card.text)).verify()
    assert "Certificate" in bo.get(f"/cards/intents/{index}").text


def test_others_see_the_best_without_its_message_and_nothing_else(site: Site) -> None:
    bo, cy = site.visit("bo"), site.visit("cy")
    better = bo.submit(predictions(site.seed, 0.95), message="secret").headers["location"].partition("?")[0]
    worse = bo.submit(predictions(site.seed, 0.3)).headers["location"].partition("?")[0]
    shown, hidden = (bo.get(f"{each}.json").json()["submission"]["indexes"][0] for each in (better, worse))
    for name, statuses in (("bo", [200, 200]), ("ann", [200, 200]), ("cy", [200, 404])):
        told = [site.visit(name).get(f"/cards/intents/{index}.json").status_code for index in (shown, hidden)]
        assert told == statuses
    assert cy.get(better).status_code == 200
    assert "secret" not in cy.get(better).text
    assert cy.get(f"{better}.json").json()["submission"]["message"] is None
    assert cy.get(worse).status_code == 404
    assert bo.get(worse).status_code == site.visit("ann").get(worse).status_code == 200
    rows = cy.get("/boards/intents.json").json()["standings"]
    assert [row["team"] for row in rows][:1] == ["Tidewater"]
    assert "secret" not in cy.get("/boards/intents").text


def test_a_bad_file_is_refused_in_a_line_with_all_problems(site: Site) -> None:
    cy = site.visit("cy")
    reply = cy.submit(f"id,prediction\n{IDS[0]},billing\n{IDS[0]},billing\n<i>x</i>,other\n".encode())
    assert reply.status_code == 422
    assert 'role="alert"' in reply.text
    assert "This file cannot be scored" in reply.text
    assert "&lt;i&gt;x&lt;/i&gt;" in reply.text
    assert cy.get("/boards/intents/mine.json").json()["submissions"] == []


def test_a_file_can_be_checked_for_nothing(site: Site) -> None:
    cy = site.visit("cy")
    reply = cy.submit(predictions(site.seed, 0.5), action="validate")
    assert reply.status_code == 200
    assert "This file can be scored." in reply.text
    assert cy.get("/boards/intents/mine.json").json()["submissions"] == []


def test_other_kinds_of_files_are_refused(site: Site) -> None:
    cy = site.visit("cy")
    for name, body, status in (("model.pkl", b"\x80\x04", 415), ("preds.csv", b"", 400), ("x.parquet", b"PAR1", 400)):
        reply = cy.submit(body, name=name)
        assert reply.status_code == status
        assert 'role="alert"' in reply.text


def test_a_form_sent_twice_is_one_submission(site: Site) -> None:
    bo = site.visit("bo")
    first, second = (bo.submit(predictions(site.seed, 0.7)).headers["location"] for _ in range(2))
    assert first == second


def test_nobody_sees_anything_without_an_invitation(site: Site) -> None:
    nobody, di = site.visit(), site.visit("di")
    for path in ("", "/submit", "/mine", "/rules", "/manage", "/submissions/0123456789abcdef"):
        reply = nobody.get(f"/boards/intents{path}")
        assert reply.status_code == 401
        assert "Please sign in first." in reply.text
        assert di.get(f"/boards/intents{path}").status_code == 403
    assert nobody.get("/boards/intents.json").json()["title"] == "NotSignedIn"
    assert di.get("/boards/intents").text == di.get("/boards/nowhere").text


def test_only_the_owner_manages(site: Site) -> None:
    assert site.visit("bo").get("/boards/intents/manage").status_code == 403
    assert "Who spent what" in site.visit("ann").get("/boards/intents/manage").text


def test_a_form_from_elsewhere_is_refused(site: Site) -> None:
    bo = site.visit("bo")
    for token in ("", "0" * 64, site.accounts.csrf_of("another session")):
        sent = {"_csrf": token, "action": "submit"}
        file = {"file": ("p.csv", predictions(site.seed, 0.6), "text/csv")}
        reply = bo.client.post("/boards/intents/submit", data=sent, files=file)
        assert reply.status_code == 403
        assert "not from a page of this session" in reply.text
    headers = {"Sec-Fetch-Site": "cross-site"}
    assert bo.client.post("/boards/intents/submit", data={}, headers=headers).status_code == 403


def test_rules_say_what_is_promised(site: Site) -> None:
    page = site.visit("bo").get("/boards/intents/rules")
    assert "What this board promises" in page.text
    assert "±\xa00.0" in page.text


def test_the_chart_is_an_image_that_can_run_nothing(site: Site) -> None:
    bo = site.visit("bo")
    bo.submit(predictions(site.seed, 0.75))
    reply = bo.get("/boards/intents/standings.svg")
    assert reply.headers["content-type"] == "image/svg+xml"
    assert "default-src 'none'" in reply.headers["content-security-policy"]
    assert reply.text.startswith("<svg")
    assert site.visit().get("/boards/intents/standings.svg").status_code == 401


def test_pages_allow_no_script(site: Site) -> None:
    for path in ("/", "/boards/intents", "/boards/intents/submit", "/nowhere/at/all"):
        reply = site.visit("bo").get(path)
        assert "script-src" not in reply.headers.get("content-security-policy", "")
        if "html" in reply.headers["content-type"]:
            assert reply.headers["content-security-policy"].startswith("default-src 'none'")
            assert reply.headers["cache-control"] == "no-store"


def test_a_form_that_failed_for_a_file_of_ours_does_not_name_it(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise Unreachable("/srv/secret/intents/board.db cannot be used just now: disk full")

    monkeypatch.setattr(Board, "submit", fail)
    reply = site.visit("bo").submit(predictions(site.seed, 0.42))
    assert reply.status_code == 503
    assert "secret" not in reply.text
    assert "cannot be used just now" in reply.text
