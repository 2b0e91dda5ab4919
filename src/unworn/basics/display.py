r"""Text as it may be shown: what a screen would obey, or hide, is written out.

A name can hold anything: a terminal's escape, a mark that turns the line around, half a surrogate pair. Names are kept
as they are, for fingerprints and ledgers are made of them; wherever they are shown, they pass through here.
"""

from __future__ import annotations

import re
from dataclasses import fields
from functools import cache
from typing import Any

_OBEYED = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters, but for the tab and the end of a line
    "\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"  # directions, and other ends of lines
    "\ud800-\udfff\ufffe\uffff"  # no characters: encoders and renderers stop at them
)
_UNSEEN = (
    "\xad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200d\u2060-\u2065\u206a-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)


@cache  # made when it is first needed: it takes as long as loading a large module
def _shown_otherwise(also: str = "") -> re.Pattern[str]:
    return re.compile(f"[{also}{_OBEYED}{_UNSEEN}]")


def show_text(text: object) -> str:
    r"""A text of several lines with every character to be seen.

    >>> show_text("two\nlines, one \x1b[31mred, one \u202eturned")
    'two\nlines, one \\x1b[31mred, one \\u202eturned'
    """
    return _shown_otherwise().sub(_written_out, str(text))


def show_line(text: object) -> str:
    r"""The same for what has one line, as a name has.

    >>> show_line("people\n  is whole")
    'people\\n  is whole'
    """
    shown = str(text)
    if shown.isascii() and shown.isprintable():  # as nearly all names are, and all are shown
        return shown
    return _shown_otherwise("\t\n").sub(_written_out, shown)


def show_value(value: object, most: int = 60) -> str:
    r"""Anything an asker may have given, for an error that says what it was; never an error itself.

    >>> show_value(10**5000), show_value("x" * 100, 5)
    ('a value of type int', "'xxxx…")
    """
    try:
        if isinstance(value, str | bytes) and len(value) > most:
            value = value[:most]
        shown = show_line(repr(value))
    except Exception:  # a class of the asker's own, or a number too long to write out
        return f"a value of type {type(value).__name__}"
    return shown if len(shown) <= most else shown[:most] + "…"


def show_html(text: object) -> str:
    r"""A name inside a page, or inside the quotes of an attribute.

    >>> show_html("</td><script>\x00")
    '&lt;/td&gt;&lt;script&gt;\\x00'
    """
    from html import escape  # loads every entity there is

    return escape(show_line(text))


def show_number(value: float, digits: int = 4) -> str:
    """A number as people read it: a few digits, and whole thousands in full.

    >>> show_number(3.1780538303479586), show_number(0.000123456), show_number(48213.77)
    ('3.178', '0.0001235', '48,214')
    """
    return f"{value:,.0f}" if 10_000 <= abs(value) < 1e15 else f"{value:.{digits}g}"


def show_width(width: float) -> str:
    """A half-width: to four places, or four digits where it is ten or more.

    >>> show_width(0.0332187), show_width(289.4171)
    ('± 0.0332', '± 289.4')
    """
    return f"± {width:.4f}" if width < 10 else f"± {show_number(width)}"


def show_fields(thing: Any) -> str:
    """The ``repr`` of a dataclass with its numbers rounded: what calculates takes them from the fields themselves.

    >>> from dataclasses import dataclass
    >>> @dataclass(repr=False)
    ... class Spent:
    ...     nats: float
    ...     asked: int
    ...     __repr__ = show_fields
    >>> Spent(3.1780538303479586, 12_345)
    Spent(nats=3.178, asked=12345)
    """
    shown = (f"{part.name}={_rounded(getattr(thing, part.name))}" for part in fields(thing) if part.repr)
    return f"{type(thing).__name__}({', '.join(shown)})"


def _rounded(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 10_000 or value - value != 0 else f"{value:.1f}"
    if isinstance(value, tuple):
        return f"({', '.join(map(_rounded, value))}{',' * (len(value) == 1)})"
    return repr(value)


def escape_json(text: str) -> str:
    r"""JSON that shows the same, and reads back as it was.

    >>> escape_json('{"name":"\x9b31m"}')
    '{"name":"\\u009b31m"}'
    """
    return _shown_otherwise().sub(lambda found: _json_escape(found.group()), text)


def _written_out(found: re.Match[str]) -> str:
    character = found.group()
    return character.encode("unicode_escape").decode("ascii")


def _json_escape(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[place : place + 2].hex()}" for place in range(0, len(units), 2))
