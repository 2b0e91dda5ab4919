"""Questions from SQL text: ``age > 65 and plan = 'basic'``.

The text is parsed by sqlglot, and its tree is read through an allow-list into the question language; it is
never handed to an engine. The meaning is the language's own (:mod:`unworn.queries.language.evaluation`), which has two
truth values where SQL has three: ``x <> 5`` is false and ``not x > 5`` is true where ``x`` is missing.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from unworn.errors import Unaskable
from unworn.queries.language import literals
from unworn.queries.language.expressions import Col, Expression, Literal, build, require_predicate
from unworn.queries.language.means import Mean, Share, mean, share
from unworn.queries.language.sql_lexing import refusal, screen

_BINARY = {
    "and": "and",
    "or": "or",
    "add": "add",
    "sub": "sub",
    "mul": "mul",
    "div": "div",
    "eq": "eq",
    "neq": "ne",
    "lt": "lt",
    "lte": "le",
    "gt": "gt",
    "gte": "ge",
}
_COMPARISONS = frozenset(("eq", "neq", "lt", "lte", "gt", "gte"))
_PARTS = {
    **dict.fromkeys(_BINARY, ("this", "expression")),
    "column": ("this",),
    "identifier": ("this", "quoted"),
    "literal": ("this", "is_string"),
    "boolean": ("this",),
    "paren": ("this",),
    "not": ("this",),
    "neg": ("this",),
    "in": ("this", "expressions"),
    "between": ("this", "low", "high"),
    "is": ("this", "expression"),
    "coalesce": ("this", "expressions"),
    "cast": ("this", "to"),
    "datatype": ("this",),
}
"""Every sqlglot node that may appear, by its key, with the parts it may have; any other part is refused."""
_NUMBER = re.compile(r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_LEVELS = 200


def parse_predicate(text: str) -> Expression:
    """Read a predicate; everything that is not part of the question language is refused.

    >>> parse_predicate("age > 65 and plan in ('basic', 'pro')")
    (age > 65) & plan.isin(['basic', 'pro'])
    >>> parse_predicate("coalesce(income, 0) / 12 >= 1e3 or signup < date '2024-01-31'")
    ((income.fill(0) / 12) >= 1000) | (signup < 2024-01-31)
    """
    found = _convert(_tree(text), _LEVELS)
    require_predicate(found, found.kind, "a predicate is needed")
    return found


def parse_expression(text: str) -> Expression:
    """Read any expression of the question language.

    >>> parse_expression("coalesce(income, 0) / 12")
    income.fill(0) / 12
    """
    return _convert(_tree(text), _LEVELS)


def parse(text: str, range: tuple[float, float] | None = None) -> Share | Mean:
    """Read a question: a predicate asks for its share, a number or ``avg(number)`` for its mean in ``range``.

    A bare column is a predicate, unless a range is given.

    >>> parse("age > 65")
    share(age > 65)
    >>> parse("avg(income / 12)", range=(0, 20_000))
    mean(income / 12, range=(0, 20000))
    """
    tree = _tree(text)
    averaged = _averaged(tree)
    found = _convert(tree if averaged is None else averaged, _LEVELS)
    if range is not None:
        return mean(found, range)
    if averaged is not None or found.kind == "number":
        raise Unaskable(
            f"the mean of {found!r} needs range=(low, high), two numbers its values are cut to: "
            "mean('...', range=(low, high)) in Python, --range LOW HIGH on the command line"
        )
    return share(found)


def _tree(text: str) -> Any:
    import sqlglot  # here, because it takes a while to load
    from sqlglot import exp

    screened = screen(text)
    try:
        with _unlogged():
            return sqlglot.parse_one(screened, into=exp.Condition)
    except RecursionError:
        raise Unaskable("the SQL text is nested too deep: simplify it") from None
    except Exception:
        # Whatever the parser meets (its own errors quote the text at length), the asker's text is at fault.
        raise Unaskable("the SQL text could not be read: write a condition like age > 65 and plan = 'basic'") from None


@contextmanager
def _unlogged() -> Iterator[None]:
    """The parser logs text that it cannot read, as it came; what is wrong is said once, and cleanly."""
    log = logging.getLogger("sqlglot")
    if _unheard not in log.filters:
        log.addFilter(_unheard)
    token = _PARSING.set(True)
    try:
        yield
    finally:
        _PARSING.reset(token)


def _unheard(_: logging.LogRecord) -> bool:
    return not _PARSING.get()


_PARSING: ContextVar[bool] = ContextVar("unworn is parsing", default=False)


def _averaged(tree: Any) -> Any | None:
    """What stands inside ``avg(…)`` or ``mean(…)``, when that is the whole text."""
    if tree.key == "avg" and len([part for part in tree.args.values() if part]) == 1:
        return tree.args["this"]
    inside = tree.args.get("expressions") or []
    if tree.key == "anonymous" and str(tree.args.get("this")).lower() == "mean" and len(inside) == 1:
        return inside[0]
    return None


def _convert(node: Any, levels: int) -> Expression:
    """An sqlglot tree as an expression. Chains lean to the left: that side is walked, not descended into."""
    if levels <= 0:
        raise Unaskable("the SQL text is nested too deep: simplify it")
    spine: list[tuple[str, Any]] = []
    while node.key in _BINARY:
        this = _only(node).args["this"]
        if node.key in _COMPARISONS and this.key in _COMPARISONS:
            raise refusal("a chain of comparisons (write a < b and b < c)")
        spine.append((_BINARY[node.key], node.args["expression"]))
        node = this
    result = _single(node, levels - 1)
    while spine:
        # Terms of one operator are gathered first: making a sum anew for every term would be slow.
        tag, operands = spine[-1][0], [result]
        many = tag in ("and", "or", "add", "mul")
        while spine and spine[-1][0] == tag and (many or len(operands) < 2):
            operands.append(_convert(spine.pop()[1], levels - 1))
        result = build(tag, *operands)
    return result


def _single(node: Any, levels: int) -> Expression:
    args = _only(node).args
    match node.key:
        case "column":
            return Col(str(_only(args["this"]).args["this"]))
        case "literal":
            return _literal(str(args["this"]), bool(args["is_string"]))
        case "boolean":
            return Literal(bool(args["this"]))
        case "paren":
            return _convert(args["this"], levels)
        case "not" | "neg":
            return build(node.key, _convert(args["this"], levels))
        case "between":
            return build("between", *(_convert(args[part], levels) for part in ("this", "low", "high")))
        case "in" | "coalesce":
            rest = [_convert(item, levels) for item in args.get("expressions") or []]
            if node.key == "coalesce" and len(rest) != 1:
                raise refusal("coalesce without exactly one constant")
            return build("in" if node.key == "in" else "fill", _convert(args["this"], levels), *rest)
        case "is":
            if args["expression"].key != "null":
                raise refusal(f"is {args['expression'].key} (compare with = instead)")
            return build("is_null", _convert(args["this"], levels))
        case "cast":
            return _date(args["this"], _only(args["to"]).args["this"])
        case _:
            raise _unknown(node)


def _literal(text: str, is_string: bool) -> Literal:
    if is_string:
        return Literal(text)
    if not _NUMBER.fullmatch(text):
        raise refusal(f"the number {text[:40]!r}")
    return Literal(int(text) if text.isdigit() else float(text))


def _date(node: Any, kind: Any) -> Literal:
    named = str(getattr(kind, "name", kind)).upper()
    if named not in ("DATE", "TIMESTAMP", "DATETIME") or node.key != "literal" or not node.args["is_string"]:
        raise refusal("a cast (only a text constant can be made a date: date '2024-01-31')")
    found = literals.moment(literals.text(str(_only(node).args["this"])))
    if named == "DATE" and len(literals.iso(found)) > len("2024-01-31"):
        raise refusal("a date with a time of day (write timestamp '2024-01-31 12:30:00')")
    return Literal(found)


def _only(node: Any) -> Any:
    """The node, if it is on the list and has no parts but those the list names."""
    allowed = _PARTS.get(node.key)
    if allowed is None:
        raise _unknown(node)
    for part, value in node.args.items():
        if part not in allowed and value:
            raise refusal(f"{node.key} with {getattr(value, 'key', part)}")
    return node


def _unknown(node: Any) -> Unaskable:
    if node.key == "null":
        return Unaskable("found null as a value in the SQL text: write x is null, or x is not null")
    name = str(node.args.get("this")) if node.key == "anonymous" else node.key
    return refusal(repr(name[:40]))
