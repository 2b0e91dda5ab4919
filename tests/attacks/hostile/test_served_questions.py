"""Questions that strangers wrote, over HTTP: none is answered by a fault of the server, and none harms the ledger."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("litestar")

from tests.server.served_site import Site, serve_site
from tests.two_sizes import in_two_sizes, reseeded
from unworn import col, mean, share

pytestmark = pytest.mark.filterwarnings("ignore::unworn.errors.ShortRange")  # as where a server is run
JUNK: list[Any] = [
    *(None, True, 0, -1, 1e308, 5e-324, 2**63, 2**70, 10**60, -0.0, 1.5, "", "x", "age", "y", "\ud800", "\0", "1"),
    *([], {}, [[]], [1, 2], {"a": 1}, {"combine": "linear"}, "a" * 5_000, "NaN"),
]
OVER = ["gt", ["col", "age"], ["lit", 50]]
QUESTIONS: list[Any] = [
    share(col("age") > 50).to_json(),
    share(col("x") > 0, given=col("age") > 50).to_json(),
    mean(col("x").fill(0), range=(0, 1)).to_json(),
    (share(col("age") > 50) - share(col("x") > 0)).to_json(),
    {"ask": "metric", "metric": "prevalence", "predictions": {"constant": 1}, "positive": 1},
    {
        "ask": "metric",
        "metric": "mse",
        "predictions": {"constant": 1.0},
        "range": [0, 1],
        "where": OVER,
        "masked": True,
    },
    {"ask": "metric", "metric": "roc_auc", "predictions": {"constant": 1.0}, "positive": 1, "classes": None},
    {"ask": "metric", "metric": "accuracy", "predictions": {"constant": 1}, "where": OVER},
]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("UNWORN_HOME", str(tmp_path_factory.mktemp("home")))
        with serve_site(tmp_path_factory.mktemp("site")) as made:
            yield made


def mutate(value: Any, random: random.Random, depth: int = 0) -> Any:
    """The same question with something wrong in it, here and there."""
    if depth and random.random() < 0.12:
        return random.choice(JUNK)
    if isinstance(value, dict):
        told = {name: mutate(each, random, depth + 1) for name, each in value.items()}
        if told and random.random() < 0.08:
            del told[random.choice(list(told))]
        if random.random() < 0.05:
            told[random.choice(["where", "given", "masked", "range", "k", "classes", "weights"])] = random.choice(JUNK)
        return told
    return [mutate(each, random, depth + 1) for each in value] if isinstance(value, list) else value


def body_of(verb: str, question: Any, random: random.Random) -> dict[str, Any]:
    """A request to ask it, with options that may be wrong too."""
    body: dict[str, Any] = {"question": question}
    if verb == "tests":
        return {**body, **random.choice([{"above": 0.3}, {"below": -1e300}, {"level": 2, "above": 0.1}, {}])}
    if verb == "practice":
        return body
    options: dict[str, list[Any]] = {
        "guess": [0.5, -3, 1e308, [0.5, 0.5], [None, 0.2]],
        "gauge": [0, 10, 1e9, -1],
        "name": ["<b>", "\u202e", "x" * 300, ""],
        "noise": [True],
        "again": [True],
        "tags": [{"a": 1}, {"": 1}, {"request": "x"}],
    }
    body |= {name: random.choice(known) for name, known in options.items() if random.random() < 0.2}
    return {"asks": [body, {"question": "age > 30", "guess": 0.5}]} if verb == "asks/batch" else body


@in_two_sizes(150, 20_000)
def test_no_question_is_a_fault_and_the_ledger_stays_whole(size: int, site: Site) -> None:
    chance, told = random.Random(reseeded(1)), Counter[int]()
    for _ in range(size):
        verb = chance.choice(["asks", "asks", "quotes", "tests", "practice", "asks/batch"])
        body = body_of(verb, mutate(chance.choice(QUESTIONS), chance), chance)
        headers = {**site.headers("ana"), "Content-Type": "application/json"}
        reply = site.client.post(f"/api/holdouts/people/{verb}", headers=headers, content=json.dumps(body))
        told[reply.status_code] += 1
        assert reply.status_code < 500, (verb, body, reply.text)
        assert str(site.root) not in reply.text
    assert min(told[200], told[422]) > size // 20  # it did try both
    asked = site.get("ana", "/api/holdouts/people").json()["meter"]["asked"]
    site.services.workspace.close()  # opened again, all of the ledger is read
    again = site.get("ana", "/api/holdouts/people")
    assert again.status_code == 200
    assert again.json()["meter"]["asked"] == asked


@pytest.mark.parametrize("word", ["\ud800", "\0", "\u202e<script>"])
def test_a_message_may_quote_what_no_text_can_hold(site: Site, word: str) -> None:
    question = {"ask": "metric", "metric": word, "predictions": {"constant": 1}}
    headers = {**site.headers("ana"), "Content-Type": "application/json"}
    reply = site.client.post("/api/holdouts/people/asks", headers=headers, content=json.dumps({"question": question}))
    assert reply.status_code == 422
    assert reply.headers["content-type"].startswith("application/problem+json")
