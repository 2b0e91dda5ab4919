"""Expressions from JSON that anybody may have written.

What arrives is checked before it is descended into, and everything wrong with it is
:class:`~unworn.errors.Unaskable`: a question from a stranger never breaks the program that reads it.
"""

from __future__ import annotations

from typing import Any

from unworn.errors import Unaskable
from unworn.queries.language import literals
from unworn.queries.language.expressions import MAX_DEPTH, MAX_ITEMS, MAX_NODES, Col, Expression, Literal, build

_ARITY: dict[str, tuple[int, int]] = {
    "neg": (1, 1),
    "sub": (2, 2),
    "div": (2, 2),
    "add": (2, MAX_NODES),
    "mul": (2, MAX_NODES),
    "and": (2, MAX_NODES),
    "or": (2, MAX_NODES),
    "not": (1, 1),
    "in": (2, MAX_ITEMS + 1),
    "between": (3, 3),
    "is_null": (1, 1),
    "fill": (2, 2),
    "col": (1, 1),
    "lit": (1, 1),
    "date": (1, 1),
    **dict.fromkeys(("eq", "ne", "lt", "le", "gt", "ge"), (2, 2)),
}


def from_json(data: object) -> Expression:
    """Read an expression back from :meth:`Expression.to_json`, or refuse it.

    >>> from_json(["and", ["gt", ["col", "age"], ["lit", 65]], ["not", ["col", "retired"]]])
    (age > 65) & ~retired
    >>> from_json(["system", "ls"])
    Traceback (most recent call last):
    unworn.errors.Unaskable: 'system' is not part of the question language
    """
    return _Reader().read(data, MAX_DEPTH)


class _Reader:
    """Counts nodes as it goes, so that a wide or deep bomb is refused before it is unpacked."""

    def __init__(self) -> None:
        self.left = MAX_NODES

    def read(self, data: object, levels: int) -> Expression:
        self.left -= 1
        if self.left < 0:
            raise Unaskable(f"an expression of more than {MAX_NODES} nodes is too large", limit=MAX_NODES)
        if levels <= 0:
            raise Unaskable(f"an expression nested more than {MAX_DEPTH} deep is too deep", limit=MAX_DEPTH)
        tag, parts = _split(data)
        if tag in ("lit", "date", "col"):
            return _leaf(tag, parts[0])
        if tag == "in":
            # The values of a list are not nodes; they have a limit of their own.
            return build(tag, self.read(parts[0], levels - 1), *(_constant(part) for part in parts[1:]))
        operands = tuple(self.read(part, levels - 1) for part in parts)
        return build(tag, *operands)


def _split(data: object) -> tuple[str, list[Any]]:
    if not isinstance(data, (list, tuple)) or not data:
        raise Unaskable(f"an expression is a list [tag, …], not a {type(data).__name__}")
    tag, parts = data[0], list(data[1:])
    if not isinstance(tag, str) or tag not in _ARITY:
        shown = repr(tag[:40]) if isinstance(tag, str) else f"a {type(tag).__name__}"
        raise Unaskable(f"{shown} is not part of the question language")
    least, most = _ARITY[tag]
    if not least <= len(parts) <= most:
        wanted = str(least) if least == most else f"{least} to {most}"
        raise Unaskable(f"{tag!r} takes {wanted} parts, not {len(parts)}")
    return tag, parts


def _leaf(tag: str, value: object) -> Expression:
    if tag == "lit" and isinstance(value, (bool, int, float, str)):
        return Literal(value)
    if tag == "col" and isinstance(value, str):
        return Col(value)
    if tag == "date" and isinstance(value, str):
        return Literal(literals.moment(literals.text(value)))
    if value is None:
        return Literal(None)  # refused there, with the fix
    raise Unaskable(f"{tag!r} does not hold a {type(value).__name__}")


def _constant(data: object) -> Expression:
    tag, parts = _split(data)
    if tag not in ("lit", "date"):
        raise Unaskable(f"a constant is needed here, not {tag!r}")
    return _leaf(tag, parts[0])
