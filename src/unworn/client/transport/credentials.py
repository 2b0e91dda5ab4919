"""Tokens: where they come from, where they are kept, and that they are never shown."""

from __future__ import annotations

import os
import re

from unworn.client.transport.user_files import UserFile
from unworn.errors import UnwornError

VARIABLE = "UNWORN_TOKEN"
_TOKENS = UserFile("tokens.json", "your tokens")
_FORM = re.compile(r"[\x21-\x7e]{8,512}")


class BadToken(UnwornError, ValueError):
    """This cannot be a token."""


class Secret:
    """A text that is sent to one server, and shown to nobody.

    >>> Secret("unw_0123456789")
    Secret(…)
    """

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """The text itself: for the header of a request, and for nothing else."""
        return self._text

    def __repr__(self) -> str:
        return "Secret(…)"

    def __reduce__(self) -> tuple[type, tuple[str]]:
        raise TypeError("a token is not pickled: pickles are kept and passed on")


def check_token(text: str) -> Secret:
    """A token as it was typed or pasted, without the spaces around it."""
    bare = text.strip() if isinstance(text, str) else ""
    if _FORM.fullmatch(bare) is None:  # not quoted: it may be most of one
        raise BadToken("this is not a token: a token is one word, as the server showed it (unw_…)")
    return Secret(bare)


def find_token(origin: str, given: str | None = None) -> Secret | None:
    """The token for a server: the argument, else ``UNWORN_TOKEN``, else what ``unworn login`` stored for it."""
    if given is not None:
        return check_token(given)
    named = os.environ.get(VARIABLE)
    if named:
        return check_token(named)
    stored = _TOKENS.read().get(origin)
    return check_token(stored) if isinstance(stored, str) else None


def store_token(origin: str, token: Secret) -> str:
    """Keep a token for a server, in a file that only this user can read; returns where."""
    _TOKENS.change(lambda tokens: tokens.update({origin: token.reveal()}))
    return str(_TOKENS.path)


def forget_token(origin: str) -> bool:
    """Remove a server's token from that file; whether there was one."""
    known = origin in _TOKENS.read()
    if known:
        _TOKENS.change(lambda tokens: tokens.pop(origin, None))
    return known
