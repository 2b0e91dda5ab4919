"""A server with its boards and holdouts."""

from __future__ import annotations

from typing import Any

from unworn.client.connected_holdout import ConnectedHoldout
from unworn.client.remote_board import RemoteBoard
from unworn.client.transport.problem_errors import BadReply
from unworn.client.transport.server_address import BadAddress, ServerAddress
from unworn.client.transport.wire import Wire


class RemoteServer:
    """What :func:`~unworn.connect` returns for a whole server."""

    def __init__(self, wire: Wire, address: ServerAddress) -> None:
        self._wire, self._address = wire, address

    @property
    def url(self) -> str:
        return self._address.url

    @property
    def account(self) -> dict[str, Any]:
        """Whose token this is: account, team, role, scopes."""
        told = self._wire.get("/api/me")
        if not isinstance(told, dict) or not isinstance(told.get("account"), str):
            raise BadReply(f"{self.url} does not say whose token this is")
        return told

    def boards(self) -> list[str]:
        """The names of the boards that this account may see."""
        return self._names("boards")

    def holdouts(self) -> list[str]:
        """The names of the holdouts that this account may see."""
        return self._names("holdouts")

    def board(self, name: str) -> RemoteBoard:
        """One of its boards."""
        return RemoteBoard(self._wire, self._address.of("board", name))

    def holdout(self, name: str) -> ConnectedHoldout:
        """One of its holdouts."""
        return ConnectedHoldout(self._wire, self._address.of("holdout", name))

    def only_board(self) -> RemoteBoard:
        """Its board, if there is one that this account may see; else a refusal that names them."""
        return self.board(self._only(self.boards(), "board"))

    def only_holdout(self) -> ConnectedHoldout:
        """Its holdout, if there is one that this account may see; else a refusal that names them."""
        return self.holdout(self._only(self.holdouts(), "holdout"))

    def _only(self, names: list[str], kind: str) -> str:
        if len(names) == 1:
            return names[0]
        there = f"has {', '.join(names[:20])}" if names else f"has no {kind} that this account may see"
        raise BadAddress(
            f"{self.url} {there}.\n  Say which {kind}, as in {self.url}/{kind}s/{names[0] if names else 'name'}"
        )

    def close(self) -> None:
        """Let go of the connection."""
        self._wire.close()

    def _names(self, room: str) -> list[str]:
        told = self._wire.get(f"/api/{room}")
        if not isinstance(told, list) or not all(isinstance(each, dict) and "name" in each for each in told):
            raise BadReply(f"{self.url} shows no {room} that can be read")
        return [str(each["name"]) for each in told]

    def __repr__(self) -> str:
        return f"RemoteServer({self.url!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        from unworn.client.connecting import redeem_connection

        return redeem_connection, (self.url, self._wire.ticket)
