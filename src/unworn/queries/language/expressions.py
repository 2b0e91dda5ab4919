"""The tree of a question: frozen nodes, built with Python's operators.

``(col("age") > 65) & (col("plan") == "basic")`` does not compare anything: it is a value that says what to
compare. What it means on rows is in :mod:`unworn.queries.language.evaluation`, whether it fits a schema in
:mod:`unworn.queries.language.schema_check`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from unworn.errors import Unaskable
from unworn.queries.language.constant_operators import MAX_ITEMS, Between, Fill, IsIn, IsNull, Predicate
from unworn.queries.language.leaves import (
    MAX_DEPTH,
    MAX_NODES,
    Col,
    Expression,
    Literal,
    brief,
    inner,
    not_a,
    require_predicate,
    wrap,
)
from unworn.queries.schema import ColumnKind

__all__ = [
    "MAX_DEPTH",
    "MAX_ITEMS",
    "MAX_NODES",
    "Arithmetic",
    "Between",
    "Col",
    "Compare",
    "Expression",
    "Fill",
    "IsIn",
    "IsNull",
    "Literal",
    "Logic",
    "Not",
    "Predicate",
    "brief",
    "build",
    "col",
    "lit",
    "not_a",
    "require_predicate",
    "wrap",
]

_ARITHMETIC = {"add": "+", "sub": "-", "mul": "*", "div": "/", "neg": "-"}
_COMPARE = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_MIRROR = {"eq": "eq", "ne": "ne", "lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}
_LOGIC = {"and": "&", "or": "|"}


@dataclass(frozen=True, eq=False, repr=False)
class Arithmetic(Expression):
    """``add`` and ``mul`` of two or more, from left to right; ``sub``, ``div`` of two; ``neg`` of one."""

    compound = True
    op: str
    operands: tuple[Expression, ...]

    def __post_init__(self) -> None:
        operands = self.operands
        if self.op in ("add", "mul"):
            # Only the left: addition of floats is not associative, so a + (b + c) stays as it is.
            operands = _spliced(self.op, operands[:1]) + operands[1:]
        for operand in operands:
            if operand.kind not in (None, "number"):
                raise not_a(operand, operand.kind, "number", f"{_ARITHMETIC[self.op]} is for numbers")
        object.__setattr__(self, "operands", operands)
        self._grow(*operands)

    @property
    def kind(self) -> ColumnKind:
        return "number"

    def to_json(self) -> list[Any]:
        return [self.op, *(operand.to_json() for operand in self.operands)]

    def __repr__(self) -> str:
        if self.op == "neg":
            return f"-{inner(self.operands[0])}"
        return f" {_ARITHMETIC[self.op]} ".join(inner(operand) for operand in self.operands)


@dataclass(frozen=True, eq=False, repr=False)
class Compare(Predicate):
    """Two values compared; false where either is missing, ``!=`` included. A constant stands on the right."""

    compound = True
    op: str
    left: Expression
    right: Expression

    def __post_init__(self) -> None:
        if isinstance(self.left, Literal) and not isinstance(self.right, Literal):
            op, left, right = _MIRROR[self.op], self.right, self.left
            object.__setattr__(self, "op", op)
            object.__setattr__(self, "left", left)
            object.__setattr__(self, "right", right)
        self._grow(self.left, self.right)

    def to_json(self) -> list[Any]:
        return [self.op, self.left.to_json(), self.right.to_json()]

    def __repr__(self) -> str:
        return f"{inner(self.left)} {_COMPARE[self.op]} {inner(self.right)}"


@dataclass(frozen=True, eq=False, repr=False)
class Logic(Predicate):
    """``and`` or ``or`` of two or more predicates."""

    compound = True
    op: str
    operands: tuple[Expression, ...]

    def __post_init__(self) -> None:
        operands = _spliced(self.op, self.operands)
        for operand in operands:
            require_predicate(operand, operand.kind, f"{_LOGIC[self.op]} joins predicates")
        object.__setattr__(self, "operands", operands)
        self._grow(*operands)

    def to_json(self) -> list[Any]:
        return [self.op, *(operand.to_json() for operand in self.operands)]

    def __repr__(self) -> str:
        return f" {_LOGIC[self.op]} ".join(inner(operand) for operand in self.operands)


@dataclass(frozen=True, eq=False, repr=False)
class Not(Predicate):
    """Plain two-valued negation: ``~(x > 5)`` is true where ``x`` is missing."""

    operand: Expression

    def __post_init__(self) -> None:
        require_predicate(self.operand, self.operand.kind, "~ negates a predicate")
        self._grow(self.operand)

    def to_json(self) -> list[Any]:
        return ["not", self.operand.to_json()]

    def __repr__(self) -> str:
        return f"~{inner(self.operand)}"


def col(name: str) -> Col:
    """The value of a column, to build a question from.

    >>> (col("income") - 1000) / col("household size") >= 500
    ((income - 1000) / col('household size')) >= 500
    """
    return Col(name)


def lit(value: object) -> Literal:
    """A constant as an expression; seldom needed, since operators take constants as they are.

    >>> lit(1) / col("x")
    1 / x
    """
    return Literal(value)


def build(tag: str, *operands: Expression) -> Expression:
    """The node of an operator by its name in JSON; Python, JSON and SQL all build through here.

    >>> build("le", Literal(3), Col("x"))
    x >= 3
    """
    if tag == "neg" and isinstance(operands[0], Literal) and isinstance(operands[0].value, float):
        return Literal(-operands[0].value)  # the constant -5, however it was written
    if tag in _ARITHMETIC:
        return Arithmetic(tag, operands)
    if tag in _COMPARE:
        return Compare(tag, *operands)
    if tag in _LOGIC:
        return Logic(tag, operands)
    first, constants = operands[0], [operand for operand in operands[1:] if isinstance(operand, Literal)]
    if tag == "not":
        return Not(first)
    if tag == "is_null":
        return IsNull(first)
    if tag == "between" and len(constants) < 2:
        return Logic("and", (Compare("ge", first, operands[1]), Compare("le", first, operands[2])))
    if len(constants) < len(operands) - 1:
        raise Unaskable(f"{tag} needs constants, not expressions: like .isin([1, 2]) or .fill(0)")
    if tag == "between":
        return Between(first, *constants)
    if tag == "in":
        return IsIn(first, tuple(constants))
    if tag == "fill":
        return Fill(first, *constants)
    raise Unaskable(f"{tag!r} is not an operator of the question language")


def _spliced(op: str, operands: tuple[Expression, ...]) -> tuple[Expression, ...]:
    """Operands, with those of the same operator opened up, so that long chains stay flat."""
    flat: list[Expression] = []
    for operand in operands:
        if isinstance(operand, Arithmetic | Logic) and operand.op == op:
            flat.extend(operand.operands)
        else:
            flat.append(operand)
    return tuple(flat)
