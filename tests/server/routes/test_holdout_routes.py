"""Holdouts over HTTP: answers that can be verified, refusals in words, nothing charged twice."""

from __future__ import annotations

from typing import Any

import pytest

from tests.server.served_site import ROWS, Site
from unworn.ledger import Entry
from unworn.record.answer import Answer
from unworn.record.certificate import Certificate, replay

PEOPLE = "/api/holdouts/people"


def read_answer(told: dict[str, Any]) -> Answer:
    certificate = Certificate.of(Entry.from_json(told["terms"]), Entry.from_json(told["entries"][0]))
    certificate.verify()
    return Answer.of(certificate)


def asked(site: Site) -> int:
    return int(site.get("owner", PEOPLE).json()["meter"]["asked"])


def test_what_is_public_about_a_holdout(site: Site) -> None:
    told = site.get("vic", PEOPLE).json()
    assert told["size"] + told["practice_size"] == ROWS
    assert told["schema"]["columns"]["age"][0] == "number"
    assert told["closed"] is False
    assert told["mechanism"] == "GuessAndCheck"


def test_an_answer_is_a_signed_entry(site: Site) -> None:
    reply = site.post(
        "ana", f"{PEOPLE}/asks", {"question": "age > 65", "guess": 0.33, "name": "old", "tags": {"run": 1}}
    )
    answer = read_answer(reply.json())
    assert reply.status_code == 200
    assert answer.low < 24 / 72 < answer.high
    assert (answer.name, answer.tags, answer.certificate.record.by) == ("old", {"run": 1}, "ana")
    card = site.get("vic", f"{PEOPLE}/cards/{answer.index}").json()
    assert Certificate.from_json(card).entry == answer.certificate.entry


def test_a_repeat_is_free_and_the_same(site: Site) -> None:
    first = site.post("ana", f"{PEOPLE}/asks", {"question": "age > 30", "guess": 0.8})
    before = asked(site)
    second = site.post("ana", f"{PEOPLE}/asks", {"question": "age > 30", "guess": 0.1})
    assert second.text == first.text
    assert asked(site) == before


def test_asked_anew_once_for_a_key(site: Site) -> None:
    body, before = {"question": "age > 31", "guess": 0.8, "again": True}, asked(site)
    told = [site.post("ana", f"{PEOPLE}/asks", body, Idempotency_Key="one").text for _ in range(3)]
    assert len(set(told)) == 1
    assert asked(site) == before + 1
    other = site.post("ana", f"{PEOPLE}/asks", {**body, "guess": 0.7}, Idempotency_Key="one")
    assert (other.status_code, other.json()["title"]) == (422, "KeyUsedOtherwise")
    site.post("ana", f"{PEOPLE}/asks", body, Idempotency_Key="two")
    assert asked(site) == before + 2


def test_batches_quotes_tests_and_sharpening(site: Site) -> None:
    asks = [{"question": f"age > {age}", "guess": 0.5} for age in (40, 50, 60)]
    told = site.post("ana", f"{PEOPLE}/asks/batch", {"asks": asks}).json()
    answers = [read_answer(each) for each in told]
    assert [answer.index for answer in answers] == list(range(answers[0].index, answers[0].index + 3))
    before = asked(site)
    quote = site.post("ana", f"{PEOPLE}/quotes", {"question": "age > 41", "guess": 0.5}).json()
    assert quote["repeat"] is False
    assert quote["width"] > 0
    assert asked(site) == before
    verdict = site.post("ana", f"{PEOPLE}/tests", {"question": "age > 18", "above": 0.5}).json()
    assert read_answer(verdict).value == 1.0
    surprise = read_answer(site.post("ana", f"{PEOPLE}/asks", {"question": "age > 55", "guess": 0.99}).json())
    assert surprise.source == "surprise"
    sharper = site.post("ana", f"{PEOPLE}/sharpen", {"index": surprise.index})
    assert sharper.status_code in (200, 409, 422)  # refused where it would gain nothing
    assert site.post("ana", f"{PEOPLE}/sharpen", {"index": 10**9}).status_code == 404


def test_practice_rows_cost_nothing(site: Site) -> None:
    before = asked(site)
    told = site.post("ana", f"{PEOPLE}/practice", {"question": "age > 65"}).json()
    assert told["rows"] == 100
    assert 0 < told["value"] < 1
    assert asked(site) == before


def test_the_whole_ledger_can_be_read_and_replayed(site: Site) -> None:
    site.post("ana", f"{PEOPLE}/asks", {"question": "age > 77"})
    told = site.get("vic", f"{PEOPLE}/entries").json()
    entries = [Entry.from_json(each) for each in told]
    assert replay(entries).length == len(entries) == asked(site) + 1
    assert site.get("vic", f"{PEOPLE}/entries", start=1, stop=2).json() == told[1:2]
    assert site.get("vic", f"{PEOPLE}/entries", start=10**6).json() == []
    answers = site.get("vic", f"{PEOPLE}/answers").json()
    assert [each["index"] for each in answers] == list(range(1, len(entries)))
    page = site.get("vic", f"{PEOPLE}/report.html")
    assert page.text.lower().startswith("<!doctype")


BAD = [
    (b"", 400),
    (b"{", 400),
    (b"[]", 400),
    (b'{"question": "age > 1", "question": "age > 2"}', 400),
    (b'{"question": "age > 1", "sql": 1}', 400),
    (b'{"question": 7}', 400),
    (b'{"question": "age > 1", "guess": NaN}', 400),
    (b'{"question": "age > 1", "guess": 1e999}', 400),
    (b'{"question": "age > 1", "guess": "half"}', 400),
    (b'{"question": ' + b"[" * 3000 + b"]" * 3000 + b"}", 400),
    (b'{"question": {"ask": "share", "of": ' + b'{"not": ' * 150 + b"1" + b"}" * 150 + b"}}", 422),
    (b'{"question": "' + b"(" * 5000 + b'1"}', 422),
    (b'{"question": "' + b"not " * 4000 + b'age > 1"}', 422),
    (b'{"question": "salary > 1"}', 422),
    (b'{"question": "age > (select 1)"}', 422),
    (b'{"question": "age > 1; drop table entries"}', 422),
    (b'{"question": {"ask": "callable", "name": "os.system"}}', 422),
    (b'{"question": {"ask": "metric"}}', 422),
    (b'{"question": {"combine": "-", "of": []}}', 422),
    (b'{"question": "age > 1", "tags": {"request": "mine"}}', 422),
    (b'{"question": "' + b"a" * 30_000 + b'"}', 422),
    (b'{"question": "\\ud800"}', 422),
    ('{"question": "age > 1", "name": "<script>alert(1)</script>\u202e"}'.encode(), 200),
]


@pytest.mark.parametrize(("body", "status"), BAD)
def test_bodies_that_cannot_be_asked_cost_nothing(site: Site, body: bytes, status: int) -> None:
    before = asked(site)
    reply = site.send("ana", f"{PEOPLE}/asks", body, "application/json")
    assert reply.status_code == status, reply.text
    if status != 200:
        assert asked(site) == before
        assert reply.headers["content-type"] == "application/problem+json"


def test_a_body_over_the_limit_is_not_read(site: Site) -> None:
    reply = site.send("ana", f"{PEOPLE}/asks", b'{"question": "' + b"a" * 2**21 + b'"}', "application/json")
    assert (reply.status_code, reply.json()["title"]) == (413, "BodyTooLarge")
    reply = site.send("ana", f"{PEOPLE}/asks", b"{}", "application/json", Content_Encoding="gzip")
    assert reply.status_code == 415


def test_the_last_word_closes_a_holdout(site: Site) -> None:
    others = "/api/holdouts/others"
    first = read_answer(site.post("owner", f"{others}/asks", {"question": "age > 65"}).json())
    told = site.post("owner", f"{others}/final", {"indexes": [first.index]}).json()
    assert read_answer(told[0]).width < first.width
    assert site.get("owner", others).json()["closed"] is True
    refused = site.post("owner", f"{others}/asks", {"question": "age > 66"})
    assert refused.status_code == 409
    assert refused.json()["title"] == "Exhausted" or "closed" in refused.json()["detail"]


def test_a_batch_does_not_keep_others_waiting(site: Site) -> None:
    before = asked(site)
    asks = [{"question": f"age > {place / 1000}"} for place in range(5_001)]
    reply = site.post("ana", f"{PEOPLE}/asks/batch", {"asks": asks})
    assert (reply.status_code, reply.json()["numbers"]) == (422, {"limit": 5_000})
    assert asked(site) == before


def test_a_key_is_for_one_request_whatever_it_does(site: Site) -> None:
    """The same body under the same key is another request where it is sent to another address."""
    body = {"question": "age > 47.5"}
    assert site.post("ana", f"{PEOPLE}/asks", body, Idempotency_Key="once").status_code == 200
    reply = site.post("ana", f"{PEOPLE}/tests", body, Idempotency_Key="once")
    assert (reply.status_code, reply.json()["title"]) == (422, "KeyUsedOtherwise")
