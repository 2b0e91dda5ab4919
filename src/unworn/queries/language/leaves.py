"""What every expression is, and the two that have no parts: a column and a constant.

Size and depth are capped when a node is made, so that everything that walks a tree may recurse without fear,
and every tree that exists can be stored as JSON and read back.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from unworn.errors import Unaskable
from unworn.queries.language import literals
from unworn.queries.language.literals import Scalar
from unworn.queries.language.operators import Operators
from unworn.queries.query import canonical
from unworn.queries.schema import ColumnKind

MAX_NODES = 500
MAX_DEPTH = 40


class Expression(Operators):
    """A part of a question. ``==`` builds a comparison, so two expressions are told apart by :meth:`same`.

    >>> from unworn.queries.language.expressions import col
    >>> older = (col("age") > 65) & (col("plan") == "basic")
    >>> older
    (age > 65) & (plan == 'basic')
    >>> older.same((65.0 < col("age")) & (col("plan") == "basic"))
    True
    >>> 18 < col("age") < 65
    Traceback (most recent call last):
    TypeError: an expression has no truth value before it meets rows: use & | ~ and parentheses instead of and, or, not and chained comparisons
    """  # noqa: E501

    nodes = 1
    depth = 1
    """How many nodes it has, and in how many levels; of one with parts they are set when it is made."""
    predicate = False
    """Whether it is a test of other values: true or false, and never missing."""
    compound = False
    """Whether it is put in parentheses inside another."""

    @property
    def kind(self) -> ColumnKind | None:
        """The kind when it shows without a schema; None for a bare column."""
        raise NotImplementedError

    def to_json(self) -> list[Any]:
        """Plain JSON for :func:`unworn.queries.language.expression_codec.from_json`; equal trees give equal JSON."""
        raise NotImplementedError

    def same(self, other: object) -> bool:
        """Whether the other expression asks the same in the same words."""
        return isinstance(other, Expression) and canonical(self.to_json()) == canonical(other.to_json())

    def _build(self, tag: str, *operands: object) -> Expression:
        # The nodes are subclasses of this class, so they can only be known late.
        from unworn.queries.language.expressions import build

        return build(tag, *(wrap(operand) for operand in operands))

    def _grow(self, *children: Expression) -> None:
        nodes = 1 + sum([child.nodes for child in children])
        depth = 1 + max([child.depth for child in children], default=0)
        if nodes > MAX_NODES:
            raise Unaskable(
                f"an expression of {nodes} nodes is too large: at most {MAX_NODES}. "
                "Use .isin([...]) for many equalities, or ask several questions",
                nodes=nodes,
            )
        if depth > MAX_DEPTH:
            raise Unaskable(
                f"an expression nested {depth} deep is too deep: at most {MAX_DEPTH}. "
                "Sums, products, & and | of many terms count once: group them",
                depth=depth,
            )
        object.__setattr__(self, "nodes", nodes)
        object.__setattr__(self, "depth", depth)


@dataclass(frozen=True, eq=False, repr=False)
class Col(Expression):
    """The value of a column."""

    name: str

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise Unaskable("a column is named by a text that is not empty: col('age')")
        object.__setattr__(self, "name", literals.text(self.name, "a column name"))

    @property
    def kind(self) -> ColumnKind | None:
        return None

    def to_json(self) -> list[Any]:
        return ["col", self.name]

    def __repr__(self) -> str:
        return self.name if self.name.isidentifier() else f"col({self.name!r})"


@dataclass(frozen=True, eq=False, repr=False)
class Literal(Expression):
    """A constant: a finite number, a bool, a text, or a date (held as a datetime)."""

    value: Scalar

    def __init__(self, value: object) -> None:
        object.__setattr__(self, "value", literals.scalar(value))

    @property
    def kind(self) -> ColumnKind:
        return literals.kind_of(self.value)

    def to_json(self) -> list[Any]:
        if isinstance(self.value, datetime):
            return ["date", literals.iso(self.value)]
        return ["lit", literals.plain(self.value) if isinstance(self.value, float) else self.value]

    def __repr__(self) -> str:
        value = self.value
        if isinstance(value, datetime):
            return literals.iso(value)
        return repr(literals.plain(value) if isinstance(value, float) else value)


def wrap(value: object) -> Expression:
    """An expression as it is, anything else as a constant."""
    return value if isinstance(value, Expression) else Literal(value)


def brief(expression: Expression, limit: int = 120) -> str:
    """An expression for an error message: its text, cut when long."""
    shown = repr(expression)
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def not_a(expression: Expression, kind: ColumnKind | None, wanted: ColumnKind, why: str) -> Unaskable:
    """The refusal of an expression of the wrong kind."""
    fix = {
        "number": "use a number column or a number",
        "bool": "compare it with something, like x > 5, and put each comparison in parentheses",
        "text": "use a text column",
        "date": "use a date column",
    }[wanted]
    return Unaskable(f"{why}, and {brief(expression)} is a {kind}: {fix}", found=kind, wanted=wanted)


def require_predicate(expression: Expression, kind: ColumnKind | None, why: str) -> None:
    """Refuse what is known not to be true or false."""
    if kind not in (None, "bool"):
        raise not_a(expression, kind, "bool", why)


def inner(expression: Expression) -> str:
    """An expression as part of another."""
    return f"({expression!r})" if expression.compound else repr(expression)
