"""From a URL and a token to the verbs behind it; and what a pickle of a connection is."""

from __future__ import annotations

import weakref
from typing import Any

from unworn.client.connected_holdout import ConnectedHoldout
from unworn.client.remote_board import RemoteBoard
from unworn.client.remote_server import RemoteServer
from unworn.client.transport.credentials import find_token
from unworn.client.transport.server_address import ServerAddress, parse_address
from unworn.client.transport.wire import Wire

Connection = RemoteBoard | ConnectedHoldout | RemoteServer

_live: weakref.WeakValueDictionary[str, Wire] = weakref.WeakValueDictionary()
"""The connections of this process by their tickets' numbers, which say nothing to anybody else."""


def open_connection(url: str, token: str | None = None, **settings: Any) -> Connection:
    """What a URL names, with a token from the argument, from the environment, or from ``unworn login``.

    ``settings`` are those of :class:`~unworn.client.transport.wire.Wire`: for programs with other patience.
    """
    address = parse_address(url)
    wire = Wire(address, find_token(address.origin, token), **settings)
    _live[wire.ticket] = wire
    return _named(wire, address)


def redeem_connection(url: str, ticket: str) -> Connection:
    """What a pickle gives back: the same connection in its own process or a fork of it, a new one elsewhere.

    A pickle may be kept or passed on, so it holds no token: a worker process that is not a fork takes it from
    ``UNWORN_TOKEN`` or from where ``unworn login`` stored it.
    """
    wire = _live.get(ticket)
    return open_connection(url) if wire is None else _named(wire, parse_address(url))


def _named(wire: Wire, address: ServerAddress) -> Connection:
    if address.kind == "board":
        return RemoteBoard(wire, address)
    return ConnectedHoldout(wire, address) if address.kind == "holdout" else RemoteServer(wire, address)
