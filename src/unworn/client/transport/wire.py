"""One server, as requests and replies: retries under one key, time limits, and a token that goes nowhere else."""

from __future__ import annotations

import os
import random
import secrets
import ssl
import threading
import time
import warnings
import weakref
from collections.abc import Callable, Mapping
from typing import Any

from unworn.basics.json_text import canonical, read_json
from unworn.client.transport.credentials import Secret
from unworn.client.transport.problem_errors import BadReply, ServerUnreachable, error_of
from unworn.client.transport.retry_policy import BUSY, CURABLE, RetryPolicy, wished_pause
from unworn.client.transport.server_address import ServerAddress
from unworn.client.transport.upload_body import Upload, upload_progress
from unworn.errors import MissingExtra

try:
    import httpx
except ImportError:
    raise MissingExtra.of("agents", "connecting to a server") from None

MOST = 2**28
"""Bytes of the longest reply that is read."""
LONGEST = 900.0
"""Seconds that a reply may go on once it has begun."""
_PATIENCE = httpx.Timeout(connect=10.0, read=120.0, write=120.0, pool=120.0)


class PlainConnection(UserWarning):
    """A token is sent over HTTP without TLS to another machine: whoever is on the way can read it."""


class Wire:
    """A connection to one server. Threads share it; a forked child gets its own.

    A call that charges carries an idempotency key, one per call and the same for all its tries: the server answers
    such a key once and charges it once, whatever became of the replies before.
    """

    def __init__(
        self,
        address: ServerAddress,
        token: Secret | None = None,
        *,
        retry: RetryPolicy | None = None,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.address = address
        self.token = token
        self.retry = retry or RetryPolicy()
        self._transport, self._sleep = transport, sleep
        self._lock = threading.Lock()
        self._client: httpx.Client | None = None
        self._pid = os.getpid()
        self.ticket = secrets.token_hex(8)
        if token is not None and address.is_plain:
            warnings.warn(
                f"{address.origin} is HTTP without TLS: whoever is on the way there can read the token",
                PlainConnection,
                stacklevel=4,
            )

    # ------------------------------------------------------------------ verbs

    def get(self, path: str, **params: Any) -> Any:
        """The JSON at a path."""
        return _read(self._send("GET", path, params).content, path)

    def get_bytes(self, path: str, **params: Any) -> bytes:
        """What is at a path, as it is."""
        return self._send("GET", path, params).content

    def post(self, path: str, body: Any = None, *, request: str | None = None, **params: Any) -> Any:
        """The reply to JSON that was sent; ``request`` is the idempotency key, made here if left out."""
        content = canonical({} if body is None else body).encode()
        upload = Upload("application/json", content)
        return _read(self._send("POST", path, params, upload, request or new_key()).content, path)

    def upload(self, path: str, body: Upload, *, request: str | None = None, **params: Any) -> Any:
        """The reply to a file that was sent."""
        return _read(self._send("POST", path, params, body, request or new_key()).content, path)

    def close(self) -> None:
        with self._lock:
            client, self._client = self._client, None
        if client is not None and self._pid == os.getpid():
            client.close()

    # ------------------------------------------------------------------ one call, several tries

    def _send(
        self, method: str, path: str, params: Mapping[str, Any], body: Upload | None = None, key: str | None = None
    ) -> httpx.Response:
        url = f"{self.address.origin}{path}"
        headers = {"Accept": "application/json, application/problem+json;q=0.9, */*;q=0.5"}
        if self.token is not None:
            headers["Authorization"] = f"Bearer {self.token.reveal()}"
        if body is not None:
            headers |= {"Content-Type": body.content_type, "Content-Length": str(body.size)}
        if key is not None:
            headers["Idempotency-Key"] = key
        plain = {name: _as_text(value) for name, value in params.items() if value is not None}
        pauses = self.retry.pauses(random.SystemRandom())
        while True:
            reply, why = self._try(method, url, headers, plain, body)
            if reply is not None and reply.status_code not in CURABLE and reply.status_code != BUSY:
                return _checked(reply, url)
            pause = next(pauses, None)
            if pause is None:
                if reply is not None:
                    return _checked(reply, url)
                raise ServerUnreachable(
                    f"{self.address.origin} does not answer ({why}), after {self.retry.tries} tries.\n"
                    "  When it is up again, make the same call: what it had answered already costs nothing again.",
                    tries=self.retry.tries,
                )
            wished = wished_pause(reply.headers.get("Retry-After")) if reply is not None else None
            self._sleep(max(pause, wished or 0.0))

    def _try(
        self, method: str, url: str, headers: Mapping[str, str], params: Mapping[str, str], body: Upload | None
    ) -> tuple[httpx.Response | None, str]:
        """One try: a reply, or in a word why there is none. Nothing of a request is in that word."""
        try:
            if body is None:
                return _whole(self._open(), method, url, headers, params, None), ""
            with upload_progress("sending", body.size) as tick:
                return _whole(self._open(), method, url, headers, params, body.chunks(tick)), ""
        except httpx.TransportError as error:
            return None, type(error).__name__

    def _open(self) -> httpx.Client:
        with self._lock if self._pid == os.getpid() else threading.Lock():
            if self._client is None or self._pid != os.getpid():  # forked: the connection is the parent's
                self._lock, self._pid = threading.Lock(), os.getpid()
                self._client = httpx.Client(
                    timeout=_PATIENCE,
                    follow_redirects=False,  # a token is for this server alone
                    trust_env=not self.address.is_loopback,  # no proxy stands between this machine and itself
                    verify=_certificates(),
                    transport=self._transport,
                    headers={"User-Agent": "unworn", "Accept-Encoding": "identity"},
                    limits=httpx.Limits(max_connections=64, max_keepalive_connections=16),
                )
                weakref.finalize(self, _close_own, self._client, self._pid)  # whoever forgets close() leaks nothing
            return self._client

    def __repr__(self) -> str:
        return f"Wire({self.address.origin!r})"


def _certificates() -> ssl.SSLContext | bool:
    """Whose certificates are believed: httpx's own list or, where the user names some, those."""
    named = {name: os.environ.get(name) or None for name in ("SSL_CERT_FILE", "SSL_CERT_DIR")}
    if not any(named.values()):
        return True
    return ssl.create_default_context(cafile=named["SSL_CERT_FILE"], capath=named["SSL_CERT_DIR"])


def _close_own(client: httpx.Client, pid: int) -> None:
    if pid == os.getpid():  # a fork's copy is not its to close
        client.close()


def new_key() -> str:
    """An idempotency key: a number that nobody else has."""
    return secrets.token_hex(16)


def _whole(
    client: httpx.Client, method: str, url: str, headers: Mapping[str, str], params: Mapping[str, str], content: Any
) -> httpx.Response:
    """A reply with its body, which has an end.

    Nothing is unpacked, and so nothing is asked for in a packed form: what is packed twice may be a thousand times a
    thousand as large as what came, in a single step.
    """
    request = client.build_request(method, url, headers=dict(headers), params=dict(params), content=content)
    reply = client.send(request, stream=True)
    try:
        if reply.headers.get("Content-Encoding", "identity").strip().lower() not in ("", "identity"):
            raise BadReply(f"{url} answers in a packed form, which was not asked for")
        pieces, size, ends = [], 0, time.monotonic() + LONGEST
        for piece in (reply.content,) if reply.is_stream_consumed else reply.iter_raw():  # a transport may have read it
            size += len(piece)
            if size > MOST or time.monotonic() > ends:
                raise BadReply(f"{url} answers with more than {MOST:,} bytes, or for longer than {LONGEST:g} s")
            pieces.append(piece)
    finally:
        reply.close()
    kept = [(k, v) for k, v in reply.headers.items() if k.lower() not in ("content-encoding", "content-length")]
    return httpx.Response(reply.status_code, headers=kept, content=b"".join(pieces))


def _checked(reply: httpx.Response, url: str) -> httpx.Response:
    if reply.is_success:
        return reply
    if reply.is_redirect:
        raise BadReply(f"{url} sends elsewhere, and a token is for one server only.\n  Give the URL that it leads to.")
    try:
        problem = read_json(reply.content, 2**20)
    except ValueError:
        problem = None
    raise error_of(reply.status_code, problem, url)


def _read(content: bytes, path: str) -> Any:
    try:
        return read_json(content, MOST)
    except ValueError as why:
        raise BadReply(f"what the server says at {path} is not JSON that can be read in one way: {why}") from None


def _as_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else repr(value) if isinstance(value, int | float) else canonical(value)
