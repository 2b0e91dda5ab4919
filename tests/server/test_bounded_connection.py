"""Whoever sends a head, a trailer or nothing at all without end is cut off; whoever sends a request is answered."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
import uvicorn

from unworn.server.bounded_connection import BoundedConnection

SECONDS = 0.25
LIMIT = 2**14


class Hasty(BoundedConnection):
    """The same with limits that a test can wait for."""

    most_head, head_seconds, unread_seconds, most_connections = LIMIT, SECONDS, SECONDS, 20
    most_unwanted = LIMIT


async def echo(scope: Any, receive: Any, send: Any) -> None:
    """Tell how much came; ``/early`` answers before it is all there, ``/large`` with more than a socket holds."""
    size, more = 0, scope["path"] != "/early"
    while more:
        event = await receive()
        size, more = size + len(event.get("body", b"")), event.get("more_body", False)
    body = b"x" * 2**26 if scope["path"] == "/large" else str(size).encode()
    head = [(b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": head})
    await send({"type": "http.response.body", "body": body})


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    config = uvicorn.Config(echo, host="127.0.0.1", port=0, http=Hasty, lifespan="off", log_config=None, ws="none")
    server = uvicorn.Server(config)
    bound = config.bind_socket()
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield int(bound.getsockname()[1])
    server.should_exit = True
    thread.join(30)


def open_socket(port: int) -> socket.socket:
    opened = socket.create_connection(("127.0.0.1", port))
    opened.settimeout(30)
    return opened


def is_heard(opened: socket.socket, piece: bytes, times: int, pause: float) -> bool:
    """Whether a piece can be sent so many times without being cut off."""
    try:
        for _ in range(times):
            opened.sendall(piece)
            time.sleep(pause)
    except ConnectionError:
        return False
    return True


def is_cut_off(opened: socket.socket) -> bool:
    """Whether the other side ends the connection without an answer."""
    try:
        return opened.recv(1000) == b""
    except ConnectionError:
        return True


@pytest.mark.parametrize(
    ("begin", "piece"),
    [
        (b"GET / HTTP/1.1\r\nHost: x\r\n", b"X-More: " + b"a" * 200 + b"\r\n"),
        (b"GET / HTTP/1.1\r\nX-Long: ", b"a" * 200),
        (b"GET /", b"a" * 200),
        (b"", b"\r\n" * 100),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", b"X-More: " + b"a" * 200 + b"\r\n"),
    ],
)
def test_what_has_no_end_is_cut_off(port: int, begin: bytes, piece: bytes) -> None:
    with open_socket(port) as opened:
        opened.sendall(begin)
        assert not is_heard(opened, piece, 200 * LIMIT // len(piece), 0.0001)


@pytest.mark.parametrize("begin", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: x\r\n", b"\r\n"])
def test_a_head_that_does_not_come_is_not_waited_for(port: int, begin: bytes) -> None:
    with open_socket(port) as opened:
        opened.sendall(begin)
        began = time.monotonic()
        assert is_cut_off(opened)
        assert time.monotonic() - began < 20 * SECONDS


def test_a_head_that_drips_is_not_waited_for(port: int) -> None:
    with open_socket(port) as opened:
        opened.sendall(b"GET /")
        assert not is_heard(opened, b"a", 1000, SECONDS / 10)


def test_a_body_behind_its_answer_is_not_waited_for(port: int) -> None:
    with open_socket(port) as opened:
        opened.sendall(b"POST /early HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n")
        assert opened.recv(1000).startswith(b"HTTP/1.1 200")
        assert not is_heard(opened, b"1\r\nx\r\n", 1000, SECONDS / 10)


@pytest.mark.parametrize("length", [b"Transfer-Encoding: chunked", b"Content-Length: 10737418240"])
def test_a_body_behind_its_answer_has_an_end(port: int, length: bytes) -> None:
    """However fast it comes: what was answered is heard, and the rest is not received."""
    with open_socket(port) as opened:
        opened.sendall(b"POST /early HTTP/1.1\r\n" + length + b"\r\n\r\n")
        assert opened.recv(1000).startswith(b"HTTP/1.1 200")
        assert not is_heard(opened, b"10000\r\n" + b"a" * 2**16 + b"\r\n", 4_000, 0.0)


def test_what_was_on_its_way_does_no_harm(port: int) -> None:
    """A short rest of a body, and the next request behind it, in one piece."""
    rest = b"a" * (LIMIT // 2)
    with open_socket(port) as opened:
        head = b"POST /early HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % len(rest)
        for _ in range(3):
            opened.sendall(head)
            assert opened.recv(1000).startswith(b"HTTP/1.1 200")
            opened.sendall(rest + b"GET / HTTP/1.1\r\n\r\n")
            assert opened.recv(1000).startswith(b"HTTP/1.1 200")


def test_a_reply_that_is_not_read_is_let_go(port: int) -> None:
    with open_socket(port) as opened:
        opened.sendall(b"GET /large HTTP/1.1\r\n\r\n")
        time.sleep(6 * SECONDS)
        size = 0
        try:
            while piece := opened.recv(2**20):
                size += len(piece)
        except ConnectionError:
            pass
        assert size < 2**26


def test_there_are_only_so_many_connections(port: int) -> None:
    opened = [open_socket(port) for _ in range(21)]
    try:
        assert is_cut_off(opened[-1])
    finally:
        for each in opened:
            each.close()


def test_requests_one_after_another_and_at_once_are_answered(port: int) -> None:
    """A large body with other requests before and behind it, in whatever pieces: each has its answer."""
    body = b"y" * (40 * LIMIT)
    upload = b"POST / HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % len(body) + body
    chunked = b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n0\r\nX-Sum: 1\r\n\r\n"
    whole = (b"GET / HTTP/1.1\r\n\r\n" + upload + chunked) * 3 + b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n"
    for size in (997, 2**16, len(whole)):
        with open_socket(port) as opened:
            for start in range(0, len(whole), size):
                opened.sendall(whole[start : start + size])
            told = b""
            while piece := opened.recv(2**16):
                told += piece
        numbers = [part.rpartition(b"\r\n\r\n")[2] for part in told.split(b"HTTP/1.1 200 OK")[1:]]
        assert numbers == [b"0", str(len(body)).encode(), b"5"] * 3 + [b"0"]


def test_a_connection_that_rests_between_requests_stays(port: int) -> None:
    with open_socket(port) as opened:
        for _ in range(3):
            opened.sendall(b"GET / HTTP/1.1\r\n\r\n")
            assert opened.recv(1000).startswith(b"HTTP/1.1 200")
            time.sleep(2 * SECONDS)
