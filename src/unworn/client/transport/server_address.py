"""What a URL names: a server, one of its boards, or one of its holdouts. Never a secret."""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Literal
from urllib.parse import quote, unquote, urlsplit

from unworn.basics.display import show_value
from unworn.errors import UnwornError

Kind = Literal["server", "board", "holdout"]
_ROOMS: dict[str, Kind] = {"boards": "board", "holdouts": "holdout"}
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_AS_IN = "As in http://127.0.0.1:8765, https://bench.example.org/boards/bench or https://example.org/holdouts/churn."


class BadAddress(UnwornError, ValueError):
    """This URL names no server, board or holdout."""


@dataclass(frozen=True)
class ServerAddress:
    """Where a server is, and what of it is meant.

    >>> parse_address("http://localhost:8765/boards/bench")
    ServerAddress(origin='http://localhost:8765', kind='board', name='bench')
    >>> parse_address("https://example.org/stats/holdouts/churn/answers").url
    'https://example.org/stats/holdouts/churn'
    """

    origin: str
    kind: Kind = "server"
    name: str | None = None

    @property
    def url(self) -> str:
        """The address again, as people write it."""
        return self.origin if self.name is None else f"{self.origin}/{self.kind}s/{quote(self.name)}"

    @property
    def host(self) -> str:
        return urlsplit(self.origin).hostname or ""

    @property
    def is_loopback(self) -> bool:
        """Whether the server is on this machine: then no proxy may be asked for it."""
        if self.host == "localhost" or self.host.endswith(".localhost"):
            return True
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def is_plain(self) -> bool:
        """Whether what is sent could be read on the way: HTTP without TLS, to another machine."""
        return self.origin.startswith("http://") and not self.is_loopback

    def of(self, kind: Kind, name: str) -> ServerAddress:
        """A board or a holdout of the same server."""
        if not is_name(name):
            raise BadAddress(f"{show_value(name)} is not the name of a {kind}.\n  {_AS_IN}")
        return ServerAddress(self.origin, kind, name)


def is_url(text: object) -> bool:
    """Whether somebody means a server, and no folder."""
    return isinstance(text, str) and _SCHEME.match(text) is not None


def is_name(name: object) -> bool:
    """Whether a board or a holdout can be called so: no dots alone, no slashes, nothing that is not seen."""
    return isinstance(name, str) and _NAME.fullmatch(name) is not None


def parse_address(url: str) -> ServerAddress:
    """Read a URL; secrets in it are refused, for URLs end up in logs.

    >>> parse_address("http://me:secret@localhost/boards/bench")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    unworn.client.transport.server_address.BadAddress: this URL holds a user or a password, ...
    """
    if not is_url(url) or not url.lower().startswith(("http://", "https://")):
        raise BadAddress(f"{show_value(url)} is not the URL of a server.\n  {_AS_IN}")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise BadAddress(f"this URL cannot be read.\n  {_AS_IN}") from None
    if parts.username is not None or parts.password is not None:  # not quoted: it would be shown
        raise BadAddress(
            "this URL holds a user or a password, and URLs end up in logs.\n"
            "  Give the token as token=, in UNWORN_TOKEN, or once by: unworn login URL"
        )
    if parts.query or parts.fragment:
        raise BadAddress(f"this URL has something after a ? or a #, which nothing of a server has.\n  {_AS_IN}")
    if not host or re.search(r"[^\w.:%-]", host):
        raise BadAddress(f"this URL has no host.\n  {_AS_IN}")
    bare = f"[{host}]" if ":" in host else host
    origin = f"{parts.scheme.lower()}://{bare}" + ("" if port is None else f":{port}")
    return _split(origin, [unquote(part) for part in parts.path.split("/") if part])


def _split(origin: str, parts: list[str]) -> ServerAddress:
    """The part of a path up to a room is where the server is mounted; what follows the name is one of its pages."""
    if any(part in (".", "..") or "/" in part for part in parts):
        raise BadAddress(f"the path of this URL leads out of itself.\n  {_AS_IN}")
    for place, part in enumerate(parts):
        if part in _ROOMS and place + 1 < len(parts):
            before = parts[: place - 1] if place and parts[place - 1] == "api" else parts[:place]
            home = ServerAddress("/".join([origin, *map(quote, before)]))
            return home.of(_ROOMS[part], parts[place + 1])
    before = parts[:-1] if parts and parts[-1] in ("api", *_ROOMS) else parts
    return ServerAddress("/".join([origin, *map(quote, before)]))
