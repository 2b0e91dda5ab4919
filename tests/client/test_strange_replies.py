"""Whatever a server says, the client answers with a value of the right type or with an error of this package."""

from __future__ import annotations

import contextlib
import json
import random
from collections.abc import Callable
from typing import Any

import httpx
import numpy as np
import pytest

from tests.client.real_server import RunningServer, make_labels, predict
from unworn.client.agent_verbs import VerbsOverWire
from unworn.client.connecting import open_connection
from unworn.client.transport.retry_policy import RetryPolicy
from unworn.client.transport.upload_body import make_upload
from unworn.errors import UnwornError

NAMES = [
    *("name", "title", "size", "practice_size", "closed", "confidence", "schema", "meter", "public_key", "terms"),
    *("entries", "derived", "entry", "id", "number", "team", "index", "body", "holdout", "asked", "surprises", "spent"),
    *("currency", "value", "low", "high", "rows", "rule", "higher_is_better", "rank", "valid", "promise", "account"),
    *("role", "surprises_per_team", "keep", "proposal", "milestone", "practice", "submission", "status", "indexes"),
    *("format", "hash", "signature"),
]
PLAIN: list[Any] = [None, True, 0, 1, -1, 2**70, 0.5, -1e300, "", "x", "unw_", "1", "../x", "\x1b[31m", [], {}]


def strange(draw: random.Random, depth: int = 4) -> Any:
    """A JSON value, often with names that a reply could have."""
    kind = draw.random()
    if depth == 0 or kind < 0.35:
        return draw.choice(PLAIN)
    if kind < 0.55:
        return [strange(draw, depth - 1) for _ in range(draw.randint(0, 3))]
    return {draw.choice(NAMES): strange(draw, depth - 1) for _ in range(draw.randint(0, 8))}


BOARD: list[Callable[[Any], Any]] = [
    lambda board: board.name,
    lambda board: board.size,
    lambda board: board.practice_size,
    lambda board: board.team,
    lambda board: board.ids,
    lambda board: board.validate(b"id,prediction\n1,1\n"),
    lambda board: board.submit(b"id,prediction\n1,1\n"),
    lambda board: board.submissions(),
    lambda board: board.submission("0" * 16),
    lambda board: board.cards("0" * 16),
    lambda board: board.standings(),
    lambda board: board.promise(),
    lambda board: board.spending(),
    lambda board: board.close_board(),
    lambda board: board.gate(b"id,prediction\n1,1\n"),
    lambda board: board.gate_state(),
    lambda board: board.gate_finish(),
    lambda board: VerbsOverWire(board).board("bench").budget(),
]
HOLDOUT: list[Callable[[Any], Any]] = [
    lambda holdout: holdout.name,
    lambda holdout: holdout.size,
    lambda holdout: holdout.confidence,
    lambda holdout: holdout.practice_size,
    lambda holdout: holdout.meter,
    lambda holdout: holdout.answers,
    lambda holdout: holdout.card(1),
    lambda holdout: holdout.verify(),
    lambda holdout: holdout.ask("age > 65"),
    lambda holdout: holdout.ask_many(["age > 65"]),
    lambda holdout: holdout.quote("age > 65"),
    lambda holdout: holdout.test("age > 65", above=0.5),
    lambda holdout: holdout.score(np.array([0, 1])),
    lambda holdout: holdout.compare(np.array([0, 1]), np.array([1, 1])),
    lambda holdout: holdout.practice.ask("age > 65"),
    lambda holdout: holdout.practice.score(np.array([0, 1])),
]
SERVER: list[Callable[[Any], Any]] = [
    lambda server: server.account,
    lambda server: server.boards(),
    lambda server: server.holdouts(),
    lambda server: server.only_board(),
]


@pytest.mark.parametrize(
    ("path", "verbs"),
    [("/boards/bench", BOARD), ("/holdouts/people", HOLDOUT), ("", SERVER)],
    ids=["board", "holdout", ""],
)
def test_nothing_but_our_errors(path: str, verbs: list[Callable[[Any], Any]]) -> None:
    draw = random.Random(7)

    def answer(request: httpx.Request) -> httpx.Response:
        status = draw.choice([200, 200, 200, 201, 204, 400, 404, 409, 422, 500, 503, 302])
        if draw.random() < 0.1:
            return httpx.Response(status, content=draw.randbytes(20))
        return httpx.Response(status, json=strange(draw))

    connection = open_connection(
        f"http://localhost:9{path}", "unw_0123456789", transport=httpx.MockTransport(answer), retry=RetryPolicy(tries=1)
    )
    refused = 0
    for _ in range(150):
        for verb in verbs:
            try:
                verb(connection)
            except UnwornError:
                refused += 1
    assert refused > 150


def places_in(told: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where something stands in a reply."""
    inner = told.items() if isinstance(told, dict) else enumerate(told) if isinstance(told, list) else ()
    return [path] * bool(path) + [place for key, value in inner for place in places_in(value, (*path, key))]


def changed(told: Any, draw: random.Random) -> Any:
    """A reply with one thing in it replaced, removed or doubled."""
    told = json.loads(json.dumps(told))
    places = places_in(told)
    if not places:
        return draw.choice(PLAIN)
    *way, last = draw.choice(places)
    part = told
    for key in way:
        part = part[key]
    if draw.random() < 0.2:
        del part[last]
    elif draw.random() < 0.3 and isinstance(part[last], str) and part[last]:
        part[last] = part[last][:-1] + ("0" if part[last][-1] != "0" else "1")
    else:
        part[last] = draw.choice(PLAIN)
    return told


class Changer(httpx.BaseTransport):
    """Keeps the replies of a real server, then gives them again with changes."""

    def __init__(self) -> None:
        self.inner, self.kept, self.draw = httpx.HTTPTransport(), {}, None  # type: ignore[var-annotated]

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        key = (request.method, request.url.path)
        if self.draw is None:
            reply = self.inner.handle_request(request)
            reply.read()
            self.kept[key] = json.loads(reply.content)
            return httpx.Response(reply.status_code, content=reply.content)
        if key not in self.kept:
            return httpx.Response(404)
        return httpx.Response(200, json=changed(self.kept[key], self.draw))

    def close(self) -> None:
        self.inner.close()


def test_replies_that_are_nearly_right(server: RunningServer) -> None:
    labels = make_labels()
    file = make_upload(predict(labels, 0.8, seed=1)).read()
    verbs: list[tuple[str, str, list[Callable[[Any], Any]]]] = [
        (
            server.board,
            "blue",
            [lambda board: board.submit(file), lambda board: board.standings(), lambda board: board.gate(file)],
        ),
        (
            server.holdout,
            "ann",
            [
                lambda holdout: holdout.ask("age > 65", guess=0.33),
                lambda holdout: holdout.quote("age > 65"),
                lambda holdout: holdout.meter,
                lambda holdout: holdout.verify(),
                lambda holdout: holdout.answers,
            ],
        ),
    ]
    for url, team, calls in verbs:
        changer = Changer()
        connection = open_connection(url, server.tokens[team], transport=changer, retry=RetryPolicy(tries=1))
        first = calls[0](connection)
        for call in calls[1:]:
            call(connection)
        changer.draw = random.Random(11)
        for _ in range(100):
            for call in calls[1:]:
                with contextlib.suppress(UnwornError):
                    call(connection)
            try:
                told = calls[0](connection)
            except UnwornError:
                continue
            numbers = {None, first.value, first.low, first.high}  # what is not signed may be missing, never another
            assert {told.value, told.low, told.high} <= numbers
        changer.close()
