"""Tags as they are typed: ``--tag fold=3``."""

from __future__ import annotations

from unworn.basics.tags import Plain
from unworn.cli.output import BadInput


def parse_tags(given: list[str] | None) -> dict[str, Plain] | None:
    """KEY=VALUE, where a value that reads as a number is one.

    >>> parse_tags(["fold=3", "rate=0.1", "id=007"])
    {'fold': 3, 'rate': 0.1, 'id': '007'}
    """
    if not given:
        return None
    tags: dict[str, Plain] = {}
    for one in given:
        key, equals, value = one.partition("=")
        if not equals or key in tags:
            raise BadInput(f"a tag is KEY=VALUE, and each key is given once, not {one[:60]!r}.\n  As in --tag fold=3")
        tags[key] = _plain_value(value)
    return tags


def _plain_value(text: str) -> Plain:
    for kind in (int, float):
        try:
            value = kind(text)
        except ValueError:
            continue
        if str(value) == text and value - value == 0:  # "007", "1e5" and "nan" are words
            return value
    return text
