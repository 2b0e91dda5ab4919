"""Whoever sends ten gigabytes is cut off near the limit, wherever they are sent: nobody else notices."""

from __future__ import annotations

import http.client
import re
import socket
import tempfile
import time
from collections.abc import Iterator
from urllib.parse import urlencode

import pytest

from tests.server.served_site import make_places
from tests.server.server_process import ServerProcess

pytest.importorskip("uvicorn")

GIGABYTES = 10 * 2**30
PIECE = 2**20
LIMIT = 64 * 2**20
"""What ``unworn serve`` takes unless it is told otherwise."""
SLACK = 128 * 2**20
"""What the second file of a comparison may have, and what the sockets of both sides hold meanwhile."""
FORM = "multipart/form-data; boundary=cut"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("UNWORN_HOME", str(tmp_path_factory.mktemp("home")))
        uploads = tmp_path_factory.mktemp("uploads")
        patch.setenv("TMPDIR", str(uploads))
        patch.setattr(tempfile, "tempdir", str(uploads))
        root = tmp_path_factory.mktemp("served")
        make_places(root)
        started = ServerProcess(root, "--quiet")
        yield started
        started.stop()
        assert list(uploads.iterdir()) == []


def session_of(server: ServerProcess) -> tuple[str, str]:
    """A participant's cookie, and the token that its forms carry."""
    wire = http.client.HTTPConnection("127.0.0.1", server.port)
    sent = {"Content-Type": "application/x-www-form-urlencoded"}
    wire.request("POST", "/sign-in", urlencode({"code": server.tokens["participant"]}), sent)
    cookie = str(wire.getresponse().headers["Set-Cookie"]).partition(";")[0]
    wire.close()
    wire.request("GET", "/boards/bench/submit", headers={"Cookie": cookie})
    found = re.search(rb'name="_csrf" value="([^"]+)"', wire.getresponse().read())
    wire.close()
    assert found is not None
    return cookie, found[1].decode()


def part(name: str, file: bool = False) -> bytes:
    more = b'; filename="p.csv"\r\nContent-Type: text/csv' if file else b""
    return b'--cut\r\nContent-Disposition: form-data; name="' + name.encode() + b'"' + more + b"\r\n\r\n"


WAYS = {
    "a file": ("participant", "/api/boards/bench/submissions", "text/csv", b"id,prediction\n"),
    "a check": ("participant", "/api/boards/bench/validate", "application/x-ndjson", b""),
    "a proposal": ("participant", "/api/boards/bench/gate", "text/csv", b"id,prediction\n"),
    "a model": ("analyst", "/api/holdouts/people/scores", "application/onnx", b""),
    "two files": ("analyst", "/api/holdouts/people/comparisons", FORM, part("first", file=True)),
    "a question": ("analyst", "/api/holdouts/people/asks", "application/json", b'{"question": "'),
    "an account": ("owner", "/api/accounts", "application/json", b'{"name": "'),
    "a call of an agent": ("participant", "/mcp", "application/json", b'{"jsonrpc": "'),
    "a form": ("", "/boards/bench/submit", FORM, part("file", file=True)),
    "a field of a form": ("", "/boards/bench/submit", FORM, part("message")),
    "nobody's code": ("", "/sign-in", "application/x-www-form-urlencoded", b"code="),
}


@pytest.mark.parametrize("is_announced", [True, False])
@pytest.mark.parametrize("way", WAYS)
def test_ten_gigabytes_are_cut_off(server: ServerProcess, way: str, is_announced: bool) -> None:
    account, path, kind, begin = WAYS[way]
    headers = [f"POST {path} HTTP/1.1", f"Host: 127.0.0.1:{server.port}", f"Content-Type: {kind}"]
    headers += ["Accept: application/json, text/event-stream"]
    if account:
        headers += [f"Authorization: Bearer {server.tokens[account]}"]
    elif path != "/sign-in":
        cookie, token = session_of(server)
        headers += [f"Cookie: {cookie}"]
        begin = part("_csrf") + token.encode() + b"\r\n" + begin
    headers += [f"Content-Length: {GIGABYTES}" if is_announced else "Transfer-Encoding: chunked"]
    memory = server.memory()
    sent, told = send_all(server, "\r\n".join(headers).encode() + b"\r\n\r\n", begin, is_chunked=not is_announced)
    assert sent < LIMIT + SLACK, f"{sent / 2**20:.0f} MB of {way} were received"
    assert not told or re.match(rb"HTTP/1\.1 4\d\d ", told), told[:200]
    assert server.memory() - memory < 128 * 2**20
    began = time.perf_counter()
    assert server.is_ready()
    assert time.perf_counter() - began < 10


def send_all(server: ServerProcess, head: bytes, begin: bytes, *, is_chunked: bool) -> tuple[int, bytes]:
    """Send until one is cut off; how many bytes that took, and what was answered."""
    zeros, sent = b"0" * PIECE, 0
    with socket.create_connection(("127.0.0.1", server.port)) as wire:
        wire.settimeout(60)
        try:
            wire.sendall(head)
            for piece in (begin, *(zeros for _ in range(GIGABYTES // PIECE))):
                if piece:
                    wire.sendall(b"%x\r\n%s\r\n" % (len(piece), piece) if is_chunked else piece)
                sent += len(piece)
        except ConnectionError:
            pass
        try:
            told = wire.recv(4096)
        except ConnectionError:  # it was reset before the answer was read
            told = b""
    return sent, told
