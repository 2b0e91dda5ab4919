"""Single values out of a server's reply: of the type they should have, or a reply that no such server gives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from unworn.basics.typed_fields import is_number, is_whole
from unworn.client.transport.problem_errors import BadReply


def read_whole(told: Mapping[str, Any], name: str, url: str) -> int:
    """A whole number of at least 0."""
    if not is_whole(told.get(name), 0):
        raise _missing(name, url)
    return int(told[name])


def read_real(told: Mapping[str, Any], name: str, url: str) -> float:
    """A finite number."""
    if not is_number(told.get(name)):
        raise _missing(name, url)
    return float(told[name])


def read_word(told: Mapping[str, Any], name: str, url: str) -> str:
    """A text."""
    if not isinstance(told.get(name), str):
        raise _missing(name, url)
    return str(told[name])


def _missing(name: str, url: str) -> BadReply:
    return BadReply(f"{url} does not tell its {name}, or not as such a server would")
