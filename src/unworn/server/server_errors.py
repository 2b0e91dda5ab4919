"""What the server refuses before a board or a holdout hears of it, and the HTTP status of every error."""

from __future__ import annotations

import logging
from http import HTTPStatus
from typing import TypeGuard

from unworn.database.database_errors import DatabaseError
from unworn.errors import (
    Conflict,
    Failed,
    LedgerError,
    MissingExtra,
    ReadOnly,
    Refused,
    Unaskable,
    Unavailable,
    UnwornError,
)

_log = logging.getLogger("unworn.server")


class NotSignedIn(UnwornError):
    """There is no token or session, or it is none that this server knows."""


class NotAllowed(UnwornError):
    """This account may not do that here; the same is said of what does not exist."""


class NotThere(UnwornError):
    """There is nothing at this address."""


class BodyTooLarge(UnwornError):
    """A request beyond the limits of this server."""


class TooMany(UnwornError):
    """More requests than one account may make."""


class Malformed(UnwornError):
    """A request that cannot be read."""


class WrongType(UnwornError):
    """A body of a kind that is not taken here."""


class KeyUsedOtherwise(UnwornError):
    """An idempotency key came back with another request."""


class StillBusy(UnwornError):
    """A request is not finished yet: asking again with the same idempotency key gets its answer."""


class CannotOpen(UnwornError):
    """A board or holdout is there and cannot be opened: its files, its key or its settings are not what they were."""


STATUS: dict[type[UnwornError], int] = {
    NotSignedIn: 401,
    NotAllowed: 403,
    NotThere: 404,
    Malformed: 400,
    BodyTooLarge: 413,
    TooMany: 429,
    WrongType: 415,
    KeyUsedOtherwise: 422,
    StillBusy: 503,
    CannotOpen: 503,
    Unavailable: 503,
    Unaskable: 422,
    ReadOnly: 409,
    Refused: 409,
    Failed: 409,
    MissingExtra: 501,
    LedgerError: 503,
    DatabaseError: 503,
}
"""By class: the first that fits in the order of inheritance counts."""
BY_NAME = {"TooLarge": 413, "InvalidSubmission": 422, "UnknownBoard": 404, "UnknownSubmission": 404}
"""The errors of rooms that are loaded when they are used."""


def status_of(error: UnwornError) -> int:
    """The HTTP status of an error.

    >>> from unworn.errors import Exhausted
    >>> status_of(Exhausted("no asks left")), status_of(Unaskable("no such column"))
    (409, 422)
    """
    for kind in type(error).__mro__:
        status = BY_NAME.get(kind.__name__) or STATUS.get(kind)
        if status is not None:
            return status
    return int(HTTPStatus.BAD_REQUEST)


NOT_KEPT = "the ledger or the tables cannot be used just now, and nothing was told; the server's log says why."
"""In place of messages that name files and hosts."""


def names_places(error: Exception) -> TypeGuard[UnwornError]:
    """Whether an error is about where ledgers and tables are: files and hosts that are the owner's business."""
    return isinstance(error, LedgerError | DatabaseError) and not isinstance(error, Conflict)


def words_of(error: UnwornError) -> str:
    """What is told of an error on a page and to an agent; what is not told is in the log."""
    if not names_places(error):
        return error.message
    _log.error("%s: %s", type(error).__name__, error)
    return f"{NOT_KEPT}\n  Send it again in a moment."
