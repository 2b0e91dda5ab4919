r"""JSON that somebody else wrote: read in one way only, or not at all.

A text that two readers could understand differently is no proof of anything: the same name twice in one object, a NaN,
a number of a thousand digits, another spelling of the same value. What is read here says one thing, and is no larger
and no deeper than anything this package writes.
"""

from __future__ import annotations

import json
import json.encoder
from collections.abc import Callable, Iterable
from typing import Any

from unworn.basics.display import escape_json

MOST = 2**26
"""Characters of the longest document that is read."""
DEPTH = 200
"""How deep lists and objects may lie in each other."""
MOST_DIGITS = 40
"""Digits of the longest whole number that is read: no number of ours comes near."""


def _make_encoder() -> Callable[[Any, int], Iterable[str]]:
    """The library's encoder, made once: it makes itself anew for every text, which costs a seventh of a short one."""
    encoder = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    make: Any = getattr(json.encoder, "c_make_encoder", None)
    if make is None:
        return lambda data, level: encoder.iterencode(data)
    quick: Callable[[Any, int], Iterable[str]] = make(
        None, encoder.default, json.encoder.encode_basestring, None, ":", ",", True, False, False
    )
    return quick


_pieces = _make_encoder()


def canonical(data: Any) -> str:
    """The one text for a JSON value: keys sorted, no spaces, no NaN.

    >>> canonical({"b": 1, "a": [True, None]})
    '{"a":[true,null],"b":1}'
    """
    return "".join(_pieces(data, 0))


canonical_string: Callable[[str], str] = json.encoder.encode_basestring
"""The same of a text, in a third of the time."""


def canonical_number(number: float) -> str:
    """The same of a number, in a fifth of the time.

    >>> canonical_number(0.1), canonical_number(3)
    ('0.1', '3')
    """
    return repr(number) if type(number) is float and number - number == 0.0 else canonical(number)


def write_json(data: Any) -> str:
    """A document for people too: indented, with every character to be seen."""
    return escape_json(json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False)) + "\n"


def read_json(text: str | bytes, most: int = MOST) -> Any:
    r"""A value from its text; ``ValueError``, which says what is wrong, where there is not exactly one such value.

    >>> read_json('{"rows": 100}')
    {'rows': 100}
    >>> read_json('{"rows": 100, "rows": 10}')
    Traceback (most recent call last):
    ValueError: the name 'rows' appears twice in one object
    >>> read_json("[NaN]")
    Traceback (most recent call last):
    ValueError: NaN is not a number
    """
    if len(text) > most:
        raise ValueError(f"{len(text):,} characters are more than any such document has")
    if isinstance(text, bytes):
        text = text.decode("utf-8")
    try:
        found = _DECODER.decode(text)
    except RecursionError:
        raise ValueError("it is nested without end") from None
    _check_depth(text, found)
    return found


def read_canonical(text: str | bytes, most: int = MOST) -> Any:
    """The same where the text must be the one that :func:`canonical` gives: what is hashed is what is read.

    >>> read_canonical('{"rows": 100}')
    Traceback (most recent call last):
    ValueError: it is not written in the one canonical form
    """
    if isinstance(text, bytes):
        text = text.decode("utf-8")
    if len(text) > most:
        raise ValueError(f"{len(text):,} characters are more than any such document has")
    try:
        # What this reader lets pass (a name twice, a NaN) is not written that way.
        found = _QUICK.decode(text)
        same = canonical(found) == text
    except RecursionError:
        raise ValueError("it is nested without end") from None
    if not same:
        raise ValueError("it is not written in the one canonical form")
    _check_depth(text, found)
    return found


def read_document(text: str | bytes, most: int = MOST) -> Any:
    """The same where the text must be as :func:`write_json` writes it, whatever a mail program did to ends of lines.

    An earlier version left a few characters that cannot be seen as they are, and a program may write it canonically.
    """
    found = read_json(text, most)
    told = (text.decode("utf-8") if isinstance(text, bytes) else text).replace("\r\n", "\n").strip()
    plain = json.dumps(found, indent=2, ensure_ascii=False, allow_nan=False)
    if told not in (plain, escape_json(plain), canonical(found)):
        raise ValueError("a number, a text or a space in it is written in another way")
    return found


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"the name {name!r:.60} appears twice in one object")
        found[name] = value
    return found


def _whole(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise ValueError(f"a whole number of {len(digits)} digits is more than any such document has")
    return int(digits)


def _real(digits: str) -> float:
    found = float(digits)
    if found - found != 0:
        raise ValueError(f"{digits[:MOST_DIGITS]} is more than a number can be")
    return found


def _refuse_constant(word: str) -> float:
    raise ValueError(f"{word} is not a number")


def _check_depth(text: str, found: Any) -> None:
    if text.count("[") + text.count("{") <= DEPTH:
        return
    level: list[Any] = [found]
    for _ in range(DEPTH):
        level = [part for whole in level for part in _parts(whole)]
        if not level:
            return
    raise ValueError(f"it is nested more than {DEPTH} deep")


def _parts(whole: Any) -> list[Any]:
    if isinstance(whole, dict):
        return [part for part in whole.values() if isinstance(part, dict | list)]
    return [part for part in whole if isinstance(part, dict | list)] if isinstance(whole, list) else []


_DECODER = json.JSONDecoder(
    object_pairs_hook=_pairs, parse_int=_whole, parse_float=_real, parse_constant=_refuse_constant
)
_QUICK = json.JSONDecoder(parse_int=_whole)
