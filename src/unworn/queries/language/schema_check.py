"""Whether an expression fits a schema: its kind, and whether it may be missing.

Decided from the schema alone, so that a refusal tells nothing about the rows.
"""

from __future__ import annotations

from datetime import datetime

from unworn.basics.display import show_value
from unworn.errors import Unaskable
from unworn.queries.language import literals
from unworn.queries.language.expressions import (
    Arithmetic,
    Between,
    Col,
    Compare,
    Expression,
    Fill,
    IsIn,
    IsNull,
    Literal,
    Logic,
    Not,
    brief,
    not_a,
    require_predicate,
)
from unworn.queries.schema import ColumnKind, ColumnType, Schema, column_type

_PREDICATE = ColumnType("bool")


def check(expression: Expression, schema: Schema) -> ColumnType:
    """The kind of an expression and whether it may be missing; :class:`~unworn.errors.Unaskable` if it has none.

    A comparison, a list test and their ``& | ~`` are never missing. Arithmetic may be missing when an operand may,
    and a division always may, unless its divisor is a constant other than 0.

    >>> from unworn.queries.language.expressions import col
    >>> schema = Schema({"age": ColumnType("number"), "plan": ColumnType("text")})
    >>> check(1 / col("age"), schema)
    ColumnType(kind='number', nullable=True)
    >>> check(col("plan") > "basic", schema)
    Traceback (most recent call last):
    unworn.errors.Unaskable: plan > 'basic' orders text, and only numbers and dates have an order here: use ==, != or .isin([...]), or name the order: .ordered(['low', 'high'])
    """  # noqa: E501
    match expression:
        case Col(name):
            return schema.of(name)
        case Literal():
            return column_type(expression.kind, nullable=False)
        case Arithmetic(op, operands):
            return _arithmetic(expression, op, operands, schema)
        case Compare(op, left, right):
            _check_quotes(left, right, schema)
            kind = _common(expression, left, check(left, schema).kind, right, check(right, schema).kind)
            if op not in ("eq", "ne"):
                _ordered(expression, kind)
        case Logic(_, operands):
            for operand in operands:
                require_predicate(operand, check(operand, schema).kind, "& and | join predicates")
        case Not(operand):
            require_predicate(operand, check(operand, schema).kind, "~ negates a predicate")
        case IsIn(operand, items):
            kind = check(operand, schema).kind
            for item in items:
                _common(expression, operand, kind, item, item.kind)
        case Between(operand, low, high):
            kind = check(operand, schema).kind
            _common(expression, operand, kind, low, low.kind)
            _ordered(expression, kind)
            if kind == "date" and as_date(low) > as_date(high):
                raise Unaskable(f"{brief(expression)} holds nothing: put the earlier end first")
        case IsNull(operand):
            check(operand, schema)
        case Fill(operand, value):
            kind = check(operand, schema).kind
            return ColumnType(_common(expression, operand, kind, value, value.kind))
        case _:
            raise Unaskable(f"{type(expression).__name__} is not part of the question language")
    return _PREDICATE


def _check_quotes(left: Expression, right: Expression, schema: Schema) -> None:
    """Refuse a column that is not there beside one of text: in SQL what stands in double quotes is a column."""
    if not isinstance(left, Col) or not isinstance(right, Col):
        return
    for one, other in ((left, right), (right, left)):
        if one.name in schema and other.name not in schema and schema.of(one.name).kind in ("text", "date"):
            raise Unaskable(
                f"there is no column {show_value(other.name)} to compare {brief(one, 60)} with: text goes in "
                f"single quotes, as in {brief(one, 60)} = '...', and a column in double ones or none",
                column=other.name,
            )


def as_date(constant: Literal) -> datetime:
    """A constant beside a column of dates: a date, or a text that is read as one."""
    value = constant.value
    if isinstance(value, datetime):
        return value
    if isinstance(value, str):
        return literals.moment(value)
    raise Unaskable(f"{constant!r} is not a date: write it like '2024-01-31'")


def _arithmetic(expression: Expression, op: str, operands: tuple[Expression, ...], schema: Schema) -> ColumnType:
    nullable = False
    for operand in operands:
        found = check(operand, schema)
        if found.kind != "number":
            raise not_a(operand, found.kind, "number", f"{brief(expression)} calculates with numbers")
        nullable = nullable or found.nullable
    if op == "div":
        divisor = operands[1]
        nullable = nullable or not isinstance(divisor, Literal) or divisor.value == 0
    return ColumnType("number", nullable)


def _common(
    expression: Expression, left: Expression, one: ColumnKind, right: Expression, other: ColumnKind
) -> ColumnKind:
    """The kind both sides have; a text constant beside a date is read as a date."""
    if one == other:
        return one
    for side, kind, beside in ((left, one, other), (right, other, one)):
        if isinstance(side, Literal) and kind == "text" and beside == "date":
            as_date(side)
            return "date"
    raise Unaskable(
        f"{brief(expression)} brings together {one} ({brief(left, 60)}) and {other} ({brief(right, 60)}): "
        f"use a {one} on both sides" + _lone_predicate(left, one, right),
        left=one,
        right=other,
    )


def _lone_predicate(left: Expression, kind: ColumnKind, right: Expression) -> str:
    """What to write for a column of truth values that is compared with 1 or 0."""
    if kind != "bool" or not isinstance(right, Literal) or right.value not in (0, 1):
        return ""
    return f", or {brief(left, 60)} by itself" if right.value else f", or not {brief(left, 60)} (in Python ~)"


def _ordered(expression: Expression, kind: ColumnKind) -> None:
    if kind not in ("number", "date"):
        raise Unaskable(
            f"{brief(expression)} orders {kind}, and only numbers and dates have an order here: "
            "use ==, != or .isin([...])" + (", or name the order: .ordered(['low', 'high'])" if kind == "text" else "")
        )
