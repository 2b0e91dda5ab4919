"""Retries under one key, errors that are ours, and a token that goes to one server only."""

from __future__ import annotations

import gzip
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from unworn.client.transport import wire as wire_module
from unworn.client.transport.credentials import Secret
from unworn.client.transport.problem_errors import (
    AccountRefused,
    BadReply,
    RateLimited,
    ServerUnreachable,
    SignInNeeded,
    UnknownAddress,
)
from unworn.client.transport.retry_policy import RetryPolicy
from unworn.client.transport.server_address import parse_address
from unworn.client.transport.upload_body import CSV, Upload
from unworn.client.transport.wire import PlainConnection, Wire
from unworn.errors import Exhausted, LedgerError, Unaskable

TOKEN = "unw_0123456789abcdef"
Answer = Callable[[httpx.Request], httpx.Response]


def make_wire(answer: Answer, tries: int = 4) -> tuple[Wire, list[httpx.Request], list[float]]:
    seen: list[httpx.Request] = []
    pauses: list[float] = []

    def handle(request: httpx.Request) -> httpx.Response:
        request.read()
        seen.append(request)
        return answer(request)

    wire = Wire(
        parse_address("http://localhost:9"),
        Secret(TOKEN),
        retry=RetryPolicy(tries=tries),
        transport=httpx.MockTransport(handle),
        sleep=pauses.append,
    )
    return wire, seen, pauses


def test_a_call_that_is_repeated_keeps_its_key_and_its_body() -> None:
    replies = [503, 502, None, 200, 200]

    def answer(request: httpx.Request) -> httpx.Response:
        status = replies[len(seen) - 1]
        if status is None:
            raise httpx.ReadTimeout("too late")
        return httpx.Response(status, json={"ok": True})

    wire, seen, pauses = make_wire(answer)
    assert wire.upload("/api/x", Upload(CSV, b"id,p\n1,2\n"), name="a b") == {"ok": True}
    assert len({request.headers["Idempotency-Key"] for request in seen}) == 1
    assert {request.content for request in seen} == {b"id,p\n1,2\n"}
    assert seen[0].headers["Content-Length"] == "9"
    assert seen[0].headers["Authorization"] == f"Bearer {TOKEN}"
    assert len(pauses) == 3
    assert pauses[0] < pauses[2]
    wire.post("/api/x", {})
    assert seen[-1].headers["Idempotency-Key"] != seen[0].headers["Idempotency-Key"]


def test_a_key_of_ones_own_is_used() -> None:
    wire, seen, _ = make_wire(lambda request: httpx.Response(200, json=[]))
    wire.post("/api/x", {}, request="mine")
    assert seen[0].headers["Idempotency-Key"] == "mine"


def test_whoever_never_answers_is_unreachable_and_nothing_secret_is_said() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError(f"no route; {request.headers}")

    wire, seen, _ = make_wire(answer)
    with pytest.raises(ServerUnreachable) as refusal:
        wire.get("/api/me")
    assert len(seen) == 4
    assert TOKEN not in f"{refusal.value} {refusal.value.numbers} {wire!r}"
    assert refusal.value.__cause__ is None
    assert isinstance(refusal.value, LedgerError)  # so that a search ends: no other candidate will fare better


def test_a_server_may_ask_for_a_pause() -> None:
    wire, seen, pauses = make_wire(
        lambda request: (
            httpx.Response(429, headers={"Retry-After": "7"}) if len(seen) < 2 else httpx.Response(200, json=1)
        )
    )
    assert wire.get("/api/x") == 1
    assert pauses[0] == 7.0


@pytest.mark.parametrize(
    ("status", "title", "kind"),
    [
        (409, "Exhausted", Exhausted),
        (422, "Unaskable", Unaskable),
        (401, "NotSignedIn", SignInNeeded),
        (403, "NotAllowed", AccountRefused),
        (404, "NothingHere", UnknownAddress),
        (429, "TooOften", RateLimited),
        (418, "SystemExit", Exception),
    ],
)
def test_problems_become_the_errors_of_the_package(status: int, title: str, kind: type[Exception]) -> None:
    problem = {"title": title, "status": status, "detail": "no asks left\x1b[31m", "numbers": {"asked": 10, "x-y": 1}}
    wire, _, _ = make_wire(lambda request: httpx.Response(status, json=problem), tries=1)
    with pytest.raises(kind) as refusal:
        wire.get("/api/x")
    error: Any = refusal.value
    assert error.message.startswith("no asks left\\x1b")
    assert error.numbers == {"asked": 10}


def test_refusals_are_not_repeated() -> None:
    wire, seen, _ = make_wire(lambda request: httpx.Response(409, json={"title": "Exhausted", "detail": "none left"}))
    with pytest.raises(Exhausted):
        wire.post("/api/x", {})
    assert len(seen) == 1


def test_a_redirect_is_not_followed_with_a_token() -> None:
    wire, seen, _ = make_wire(lambda request: httpx.Response(302, headers={"Location": "http://evil.example/"}))
    with pytest.raises(BadReply, match="one server only"):
        wire.get("/api/x")
    assert len(seen) == 1


def test_replies_that_are_no_json_or_without_end() -> None:
    wire, _, _ = make_wire(lambda request: httpx.Response(200, content=b'{"a": 1, "a": 2}'))
    with pytest.raises(BadReply, match="appears twice"):
        wire.get("/api/x")


def test_a_reply_without_end_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire_module, "MOST", 1000)
    wire, _, _ = make_wire(lambda request: httpx.Response(200, content=b"x" * 1001))
    with pytest.raises(BadReply, match="more than 1,000 bytes"):
        wire.get("/api/x")


def test_a_token_over_plain_http_to_another_machine_is_warned_about() -> None:
    with pytest.warns(PlainConnection, match="without TLS") as caught:
        Wire(parse_address("http://example.org"), Secret(TOKEN))
    assert TOKEN not in str(caught[0].message)


def test_no_proxy_is_asked_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\ntrue")

        thread = threading.Thread(target=serve)
        thread.start()
        wire = Wire(parse_address(f"http://127.0.0.1:{port}"), retry=RetryPolicy(tries=1))
        try:
            assert wire.get("/api/x") is True
        finally:
            wire.close()
            thread.join(10)


@pytest.mark.parametrize("packing", ["gzip", "gzip, gzip", "deflate", "br", "zstd", "GZIP"])
@pytest.mark.parametrize("status", [200, 409])
def test_what_is_packed_is_not_unpacked(packing: str, status: int) -> None:
    """A few kilobytes, packed twice, would be gigabytes in one step, before any limit can look at them."""
    bomb = gzip.compress(gzip.compress(bytes(2**26)))
    assert len(bomb) < 2**10
    headers = {"Content-Encoding": packing}
    wire, seen, _ = make_wire(lambda request: httpx.Response(status, headers=headers, stream=Raw(bomb)))
    with pytest.raises(BadReply, match="packed"):
        wire.get("/api/me")
    assert seen[0].headers["Accept-Encoding"] == "identity"


def test_a_reply_has_an_end_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now = iter(range(0, 10**6, 100))
    monkeypatch.setattr(wire_module.time, "monotonic", lambda: float(next(now)))
    wire, _, _ = make_wire(lambda request: httpx.Response(200, stream=Raw(*[b" "] * 1000)))
    with pytest.raises(BadReply, match="longer than 900 s"):
        wire.get("/api/me")


class Raw(httpx.SyncByteStream):
    """A body as it comes over the wire."""

    def __init__(self, *pieces: bytes) -> None:
        self._pieces = pieces

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._pieces)
