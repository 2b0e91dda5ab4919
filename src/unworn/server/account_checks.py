"""What an account may be called, what it may be, and which places it may be for."""

from __future__ import annotations

import unicodedata
from typing import Any, Final

from unworn.basics.display import show_line, show_value
from unworn.basics.plain_text import plain_text
from unworn.server.account import EVERYWHERE, ROLES
from unworn.server.server_errors import Malformed

_MOST_SCOPES: Final = 1_000
_BLANK: Final = frozenset(("\u2800", *map(chr, range(0xFE00, 0xFE10))))
"""Characters that leave no mark, beside those that are never shown as they are."""


def check_name(text: Any, what: str) -> str:
    """A name as it may be: short, and of characters that can be seen."""
    plain = plain_text(text, 100)
    if not plain or not plain.isprintable() or not looks_of(plain):
        raise Malformed(f"{what} is a text of 1 to 100 characters that can be seen, not {show_value(text)}")
    return plain.strip()


def looks_of(text: str) -> str:
    """What a name looks like: whatever its case, its white space, how its letters are composed and what is unseen."""
    seen = "".join(each for each in text if show_line(each) == each and each not in _BLANK)
    return " ".join(unicodedata.normalize("NFKC", seen).casefold().split())


def check_role(role: Any) -> str:
    """One of the roles."""
    if role not in ROLES:
        raise Malformed(f"a role is one of {', '.join(ROLES)}, not {show_value(role)}")
    return str(role)


def check_scopes(scopes: Any) -> tuple[str, ...]:
    """Boards and holdouts that an account or a token is for."""
    if isinstance(scopes, str) or not all(isinstance(each, str) for each in scopes):
        raise Malformed(f"scopes are a list such as ['board:bench'], not {show_value(scopes)}")
    if len(scopes) > _MOST_SCOPES:
        raise Malformed(f"there are {len(scopes):,} scopes, at most {_MOST_SCOPES:,} are kept: '*' means all places")
    for each in scopes:
        kind, _, name = each.partition(":")
        is_readable = name and len(each) <= 120 and each.isprintable()
        if each != EVERYWHERE and (kind not in ("board", "holdout") or not is_readable):
            raise Malformed(f"a scope is 'board:NAME', 'holdout:NAME' or '*', not {show_value(each)}")
    return tuple(dict.fromkeys(scopes))
