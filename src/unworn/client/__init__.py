"""The same verbs as a board or holdout, over HTTP: `connect(url)`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from unworn.client.connected_holdout import ConnectedHoldout
    from unworn.client.remote_board import RemoteBoard
    from unworn.client.remote_server import RemoteServer

__all__ = ["connect"]


def connect(url: str, token: str | None = None) -> RemoteBoard | ConnectedHoldout | RemoteServer:
    """Connect to a server, to one of its boards (``…/boards/bench``) or to one of its holdouts (``…/holdouts/churn``).

    What comes back has the verbs of :class:`~unworn.boards.board.Board` or :class:`~unworn.Holdout`, with the same
    types and the same errors: answers are rebuilt from signed entries, and the signature is checked against the key
    that this user saw at first contact. Rows and labels stay behind the wall, and models on this side of it: what
    travels are questions and predictions.

    The token is the argument, or ``UNWORN_TOKEN``, or what ``unworn login URL`` stored. A call that is interrupted by
    the network is repeated under the same key, so that it is answered once and charged once.
    """
    from unworn.client.connecting import open_connection  # loads the transport: only for those who connect

    return open_connection(url, token)
