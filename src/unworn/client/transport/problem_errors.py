"""Errors from the other side: a problem document becomes the error that a holdout here would have raised."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from unworn.basics.display import show_text
from unworn.errors import LedgerError, Refused, UnwornError

_PLACES = ("unworn.errors", "unworn.boards.board_errors")
_MOST_TEXT = 4_000
_MOST_NUMBERS = 50


class ServerUnreachable(LedgerError):
    """The server did not answer, or could not, however often it was asked."""


class SignInNeeded(Refused):
    """The server wants a token, or another one."""


class AccountRefused(Refused):
    """This account may not do that, or there is nothing for it there."""


class UnknownAddress(Refused):
    """The server has nothing under this name."""


class UploadTooLarge(Refused):
    """The server does not take so much at once."""


class RateLimited(Refused):
    """The server asks for a pause between requests."""


class BadReply(LedgerError):
    """The server answered with something that no such server says."""


_BY_STATUS: dict[int, type[UnwornError]] = {
    401: SignInNeeded,
    403: AccountRefused,
    404: UnknownAddress,
    409: Refused,
    413: UploadTooLarge,
    429: RateLimited,
    500: BadReply,
    502: ServerUnreachable,
    503: ServerUnreachable,
    504: ServerUnreachable,
}


def error_of(status: int, problem: Any, url: str) -> UnwornError:
    """The error for a reply that is none.

    Only errors of this package are made, by a name that is looked up among them; the sentence is the server's own, and
    is shown as text.

    >>> error_of(409, {"title": "Exhausted", "detail": "no asks left", "numbers": {"asked": 10}}, "http://localhost")
    Exhausted('no asks left')
    >>> error_of(404, None, "http://localhost/api/boards/bench")
    UnknownAddress('there is nothing at http://localhost/api/boards/bench')
    """
    told = problem if isinstance(problem, dict) else {}
    kind = _known_error(told.get("title")) or _BY_STATUS.get(status, UnwornError)
    detail = told.get("detail")
    message = show_text(detail)[:_MOST_TEXT] if isinstance(detail, str) and detail else _words(status, url)
    if kind is SignInNeeded:
        message += "\n  Give token=, set UNWORN_TOKEN, or run: unworn login URL"
    numbers = told.get("numbers")
    return kind(message, **(_plain_numbers(numbers) if isinstance(numbers, dict) else {}))


def _known_error(title: Any) -> type[UnwornError] | None:
    if not isinstance(title, str):
        return None
    for place in _PLACES:
        found = getattr(import_module(place), title, None)
        if isinstance(found, type) and issubclass(found, UnwornError) and found is not UnwornError:
            return found
    return None


def _words(status: int, url: str) -> str:
    if status == 401:
        return f"{url} wants a token, or another one"
    if status == 403:
        return "this account may not do that"
    if status == 404:
        return f"there is nothing at {url}"
    return f"{url} answers with status {status}"


def _plain_numbers(numbers: dict[str, Any]) -> dict[str, Any]:
    """What may become the numbers of an error: names, and plain values or lists of those."""
    some = list(numbers.items())[:_MOST_NUMBERS]
    return {name: value for name, value in some if name.isidentifier() and name not in ("self", "message")}
