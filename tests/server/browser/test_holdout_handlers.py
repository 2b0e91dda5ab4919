"""A holdout in the browser: a price first, then the answer, then its certificate."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.server.browser.site_under_test import Site
from unworn.errors import Tampered
from unworn.holdout import Holdout
from unworn.record.certificate import Certificate
from unworn.server.pages.kept_texts import KeptTexts

_HOME = "/holdouts/churn"


def test_asking_takes_two_steps_and_charges_once(site: Site) -> None:
    di = site.visit("di")
    asked = di.get(f"{_HOME}.json").json()["meter"]["asked"]
    quote = di.post(_HOME, f"{_HOME}/quote", {"question": "age > 65", "guess": "33 %"})
    assert quote.status_code == 200
    assert "Ask, and be charged" in quote.text
    assert di.get(f"{_HOME}.json").json()["meter"]["asked"] == asked
    for _ in range(2):
        reply = di.post(_HOME, f"{_HOME}/ask", {"question": "age > 65", "guess": "33 %"})
        assert reply.status_code == 303
    assert di.get(f"{_HOME}.json").json()["meter"]["asked"] == asked + 1
    page = di.get(reply.headers["location"])
    assert "share of age &gt; 65" in page.text
    card = json.loads(di.get(reply.headers["location"] + ".json").text)
    Certificate.from_json(card).verify()
    assert "comes back, free" in di.post(_HOME, f"{_HOME}/quote", {"question": "age > 65", "guess": ""}).text


def test_a_question_that_cannot_be_asked_is_refused_in_words(site: Site) -> None:
    di = site.visit("di")
    for question in ("<script>alert(1)</script>", "salary > 3", "age >", "drop table people"):
        for step in ("quote", "ask"):
            reply = di.post(_HOME, f"{_HOME}/{step}", {"question": question, "guess": ""})
            assert reply.status_code == 422
            assert 'role="alert"' in reply.text
            assert "<script" not in reply.text
    reply = di.post(_HOME, f"{_HOME}/quote", {"question": "age > 65", "guess": "many"})
    assert reply.status_code == 400
    assert "The guess is a number" in reply.text


def test_a_mean_is_asked_within_its_range(site: Site) -> None:
    di = site.visit("di")
    words = {"question": "avg(coalesce(age, 50))", "guess": "54", "low": "18", "high": "90"}
    quote = di.post(_HOME, f"{_HOME}/quote", words)
    assert "mean of age.fill(50)" in quote.text
    assert 'name="high" value="90"' in quote.text
    reply = di.post(_HOME, f"{_HOME}/ask", words)
    card = di.get(reply.headers["location"] + ".json").json()
    assert card["answer"]["low"] < 53.5 < card["answer"]["high"]
    for wrong in ({"high": ""}, {"low": "90", "high": "18"}, {"low": "", "high": ""}, {"low": "nan"}, {"guess": "inf"}):
        refused = di.post(_HOME, f"{_HOME}/quote", {**words, "question": "avg(coalesce(age, 51))", **wrong})
        assert refused.status_code in (400, 422), wrong
        assert 'value="avg(coalesce(age, 51))"' in refused.text


def test_answers_ledger_and_report(site: Site) -> None:
    di = site.visit("di")
    di.post(_HOME, f"{_HOME}/ask", {"question": "plan = 'basic'", "guess": "0.1"})
    answers = di.get(f"{_HOME}/answers.json").json()["answers"]
    assert answers[0]["surprise"]
    assert "share of plan == &#39;basic&#39;" in di.get(f"{_HOME}/answers").text
    assert di.get(f"{_HOME}/answers.svg").text.startswith("<svg")
    ledger = di.get(f"{_HOME}/ledger?verify=yes")
    assert "The ledger holds." in ledger.text
    told = di.get(f"{_HOME}/ledger.json").json()
    assert [entry["index"] for entry in told["entries"]] == list(range(told["length"] - 1, -1, -1))
    assert told["entries"][0]["hash"] == told["head"]
    assert "Open the report" in di.get(f"{_HOME}/report").text


def test_pages_of_nonsense_numbers_are_the_first(site: Site) -> None:
    di = site.visit("di")
    for page in ("0", "-3", "x", "9" * 40, "%00"):
        assert di.get(f"{_HOME}/answers?page={page}").status_code == 200
    assert di.get(f"{_HOME}/answers.json?page=1000").json()["answers"] == []
    for index in ("0", "99999", "-1", "1e3", "9" * 30, "x"):
        assert di.get(f"/cards/churn/{index}").status_code == 404


def test_participants_may_not_see_it(site: Site) -> None:
    bo = site.visit("bo")
    for path in ("", "/answers", "/ledger", "/report", "/answers.svg"):
        assert bo.get(f"{_HOME}{path}").status_code == 403
    assert bo.get("/cards/churn/1").status_code == 403
    assert bo.get("/index.json").json()["holdouts"] == []


def test_a_holdout_whose_last_word_was_said_is_closed(tmp_path: Path) -> None:
    site = Site.of(tmp_path, seed=4)
    ann, di = site.visit("ann"), site.visit("di")
    assert di.post(_HOME, f"{_HOME}/ask", {"question": "age > 40", "guess": "0.7"}).status_code == 303
    assert "Ask a question" in di.get(_HOME).text
    token = {"Authorization": f"Bearer {site.accounts.issue_token('ann')}"}
    assert ann.client.post(f"/api{_HOME}/final", json={"indexes": [1]}, headers=token).status_code == 200
    page = di.get(_HOME).text
    assert "Closed." in page
    assert "its last word has been said" in page
    assert "Ask a question" not in page
    assert ", closed" in di.get("/").text
    assert di.get(f"{_HOME}.json").json()["holdout"]["closed"] is True
    site.app.state.services.close()


def test_a_ledger_that_does_not_hold_is_told_without_naming_files(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise Tampered("the ledger /srv/secret/ledger.db is damaged")

    monkeypatch.setattr(Holdout, "verify", fail)
    monkeypatch.setattr("unworn.server.browser.holdout_handlers.checks", KeptTexts())
    page = site.visit("di").get(f"{_HOME}/ledger?verify=yes")
    assert page.status_code == 200
    assert "The ledger does not hold." in page.text
    assert "secret" not in page.text
