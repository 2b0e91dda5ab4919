"""Pickles are tickets: what a worker process gets instead of rows.

A holdout given by paths is opened again by the worker, from the same file and the same ledger. One whose rows are in
memory stays where it is: the worker asks the parent, over an authenticated loopback connection. Either way there is one
ledger, and no pickle ever holds a row or the key.
"""

from __future__ import annotations

import os
import weakref
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from unworn.errors import Mismatch

if TYPE_CHECKING:
    from unworn.holdout.holdout import Holdout
    from unworn.holdout.workers.remote_holdout import RemoteHoldout, Server

_live: weakref.WeakValueDictionary[str, Holdout] = weakref.WeakValueDictionary()
"""The holdouts of this process by their tickets' numbers: the same rows may be open twice, with other max_width."""
_redeemed: OrderedDict[tuple[int, str, Any], Any] = OrderedDict()
"""What this process got for a ticket: a search unpickles one a task, and must not open the rows each time."""
_KEPT = 4
"""Workers outlive a search, and should not keep the rows of every holdout they ever served."""


class HoldoutTicket:
    """How a holdout travels: made at opening, used when it is pickled."""

    def __init__(self, holdout: Holdout, train: Any, opening: dict[str, Any]) -> None:
        self._holdout = weakref.ref(holdout)
        self._server: Server | None = None
        self._reopen = _reopening(holdout, train, opening)
        self._number = os.urandom(8).hex()
        _live[self._number] = holdout

    def reduce(self) -> tuple[Any, ...]:
        """What ``__reduce__`` returns."""
        holdout = self._holdout()
        if holdout is None:
            raise ReferenceError("the holdout is gone")
        if self._reopen is not None:
            return redeem, (holdout.id, self._number, os.getpid(), self._reopen, None)
        if self._server is None:
            from unworn.holdout.workers.remote_holdout import Server

            self._server = Server(holdout)
        return redeem, (holdout.id, self._number, os.getpid(), None, self._server.address)

    def close(self) -> None:
        """Stop listening to workers."""
        if self._server is not None:
            self._server.close()
            self._server = None


def redeem(
    holdout: str, number: str, owner: int, reopen: dict[str, Any] | None, address: Any
) -> Holdout | RemoteHoldout:
    """Give the same holdout back: itself in its own process, opened again or by connection in another."""
    live = _live.get(number)
    if live is not None and owner == os.getpid():
        return live
    place = (os.getpid(), number, address)
    known = _redeemed.get(place)
    if known is None:
        known = _redeemed[place] = _reopened(holdout, reopen) if reopen else _connected(address)
        while len(_redeemed) > _KEPT:
            _redeemed.popitem(last=False)
    return known


def _reopened(holdout: str, reopen: dict[str, Any]) -> Holdout:
    from unworn.holdout.holdout import Holdout
    from unworn.holdout.rows_ledger import FoundLedger

    opened = Holdout(**{**reopen, "ledger": FoundLedger(reopen["ledger"])})
    if opened.id != holdout:
        raise Mismatch("the rows at this path are no longer those of the pickled holdout")
    return opened


def _connected(address: Any) -> RemoteHoldout:
    from unworn.holdout.workers.remote_holdout import RemoteHoldout

    return RemoteHoldout(address)


def _reopening(holdout: Holdout, train: Any, opening: dict[str, Any]) -> dict[str, Any] | None:
    """The arguments that open the same holdout elsewhere, when all of them are names and paths."""
    url, path = holdout.ledger_url, holdout.path
    if path is None or url is None or not isinstance(train, str | os.PathLike | None):
        return None
    if not all(isinstance(opening[what], str | None) for what in ("y", "groups")):
        return None
    terms = holdout.terms
    fixed = {
        "asks": terms.asks,
        "mechanism": terms.mechanism,
        "confidence": terms.confidence,
        "name": terms.name,
        "practice": terms.practice,
        **({} if terms.uses is None else {"uses": dict(terms.uses.shares), "use": terms.uses.use}),
    }
    return {
        "data": str(path.resolve()),
        "ledger": url,
        "train": train if train is None else os.path.abspath(train),
        "max_width": holdout.max_width,
        **opening,
        **fixed,
    }
