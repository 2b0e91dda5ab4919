"""A first look at SQL text, before any parser sees it: short, shallow, and made of known pieces only.

A general SQL parser descends as deep as its input tells it to, keeps comments, and knows a hundred
statements. What passes here holds nothing but names, constants, operators and parentheses, so little is
left to refuse.
"""

from __future__ import annotations

import re

from unworn.errors import Unaskable

MAX_LENGTH = 4000
MAX_PARENTHESES = 20

ALLOWED = (
    "allowed are columns, constants, and or not, = <> < <= > >=, + - * /, parentheses, in (…), "
    "between … and …, is null, coalesce(x, constant), date '2024-01-31'"
)

_PIECE = re.compile(
    r"""(?P<space>[ \t\r\n]+)
      | (?P<text>'(?:[^']|'')*')
      | (?P<quoted>"(?:[^"]|"")+")
      | (?P<word>[^\W\d]\w*)
      | (?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
      | (?P<symbol><=|>=|<>|!=|==|[-+*/=<>(),])""",
    re.VERBOSE,
)
_JOINERS = frozenset(("and", "or", "not", "in", "between", "is", "as"))
_BEFORE_TEXT = frozenset(("date", "timestamp"))
_BEFORE_PARENTHESIS = frozenset(("and", "or", "not", "in", "between", "cast", "coalesce", "avg", "mean"))
"""Words that may stand before a parenthesis: after any other the parser tries all ways to read it, and again inside."""
# fmt: off
_OTHER_SQL = frozenset((
    "all", "any", "array", "case", "distinct", "else", "end", "escape", "except", "exists",
    "filter", "from", "glob", "group", "having", "if", "ilike", "intersect", "interval",
    "lambda", "like", "limit", "order", "over", "partition", "pragma", "prior", "regexp", "rlike",
    "select", "similar", "some", "struct", "then", "union", "unnest", "values", "when", "where",
    "window", "with", "within",
))
# fmt: on


def screen(text: object) -> str:
    """The text, if it is made of pieces of the question language; else a refusal that names what was found.

    >>> screen("age > 65 and plan = 'basic'")
    "age > 65 and plan = 'basic'"
    >>> screen("1 = 1; drop table x")
    Traceback (most recent call last):
    unworn.errors.Unaskable: found ';' in the SQL text; allowed are columns, constants, and or not, = <> < <= > >=, + - * /, parentheses, in (…), between … and …, is null, coalesce(x, constant), date '2024-01-31'
    """  # noqa: E501
    if not isinstance(text, str):
        raise Unaskable(f"SQL comes as text, not as {type(text).__name__}")
    if len(text) > MAX_LENGTH:
        raise Unaskable(f"SQL text of {len(text)} characters is too long: at most {MAX_LENGTH}", limit=MAX_LENGTH)
    place = depth = 0
    before = ("symbol", "(")
    while place < len(text):
        if text.startswith(("--", "/*"), place):
            raise Unaskable("found a comment in the SQL text: leave it out")
        found = _PIECE.match(text, place)
        if found is None:
            raise refusal(repr(text[place]))
        place = found.end()
        piece = (str(found.lastgroup), found.group().lower())
        if piece[0] == "space":
            continue
        depth += {"(": 1, ")": -1}.get(piece[1], 0)
        if depth > MAX_PARENTHESES:
            raise Unaskable(
                f"the SQL text nests parentheses more than {MAX_PARENTHESES} deep: simplify it",
                limit=MAX_PARENTHESES,
            )
        _beside(before, piece)
        before = piece
    return text


def refusal(found: str) -> Unaskable:
    """What was found, and what is allowed."""
    return Unaskable(f"found {found} in the SQL text; {ALLOWED}", found=found)


def _beside(before: tuple[str, str], piece: tuple[str, str]) -> None:
    """Refuse what no question has: words of other statements, two operands in a row, ``= not``."""
    kind, shown = piece
    if kind == "word" and shown in _OTHER_SQL:
        raise refusal(f"{shown!r} (if it is a column, put its name in double quotes)")
    if kind == "word" and shown == "not" and before[0] == "symbol" and before[1] != "(":
        raise refusal(f"'not' after {before[1]!r} (put it in parentheses)")
    if before == piece == ("word", "not"):
        raise refusal("'not not'")
    if shown == "(" and before[1] not in _BEFORE_PARENTHESIS and (before[0] != "symbol" or before[1] == ")"):
        raise refusal(f"{before[1][:40]!r} before a parenthesis")
    if before == ("symbol", ")") and kind != "symbol" and shown not in _JOINERS:
        raise refusal(f"{shown[:40]} after a parenthesis, with no operator between")
    if before[0] == "symbol" or kind == "symbol" or before[1] in _JOINERS or shown in _JOINERS:
        return
    if before[1] in _BEFORE_TEXT and kind == "text":
        return
    raise refusal(f"{before[1][:40]} {shown[:40]} with no operator between")
