"""Which questions have one value in every cell of a domain: all others are refused, none is approximated.

Where each cell is one value, every question has. Where a cell stands for many (a bin, all other texts), a column may
only be compared with constants, and only where the comparison says the same of all values of the cell.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from unworn.errors import Unaskable
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
)
from unworn.queries.language.means import Mean, Share
from unworn.universe.domain.axes import Axis


def spoken(expression: Expression) -> set[str]:
    """The columns an expression names.

    >>> from unworn.queries import col
    >>> sorted(spoken((col("age") > 65) & (col("plan").fill("basic") == "pro")))
    ['age', 'plan']
    """
    return set(_columns(expression))


def settle(query: Share | Mean, axes: Mapping[str, Axis]) -> None:
    """Refuse a question that is not the same for all values of a cell, with the column and the nearest edges."""
    coarse = {name: axis for name, axis in axes.items() if axis.coarse}
    if isinstance(query, Share):
        _settle(query.where, coarse)
    elif met := sorted(spoken(query.of) & set(coarse)):
        raise Unaskable(
            f"{query.label} has no value where {met[0]!r} is only known up to a bin: ask share(...) of its bins, "
            "or list the column's values",
            column=met[0],
        )


def _settle(expression: Expression, coarse: Mapping[str, Axis]) -> None:
    match expression:
        case Logic(_, operands):
            for operand in operands:
                _settle(operand, coarse)
        case Not(operand):
            _settle(operand, coarse)
        case Compare(op, left, Literal() as right):
            _compared(expression, left, op, [right], coarse)
        case IsIn(operand, items):
            _compared(expression, operand, "in", items, coarse)
        case Between(operand, low, high):
            _compared(expression, operand, "between", [low, high], coarse)
        case IsNull(operand):
            _bare(expression, operand, coarse)
        case _:
            for name in sorted(spoken(expression) & set(coarse)):
                raise _within(expression, name)


def _compared(
    expression: Expression, operand: Expression, op: str, constants: Sequence[Literal], coarse: Mapping[str, Axis]
) -> None:
    name = _bare(expression, operand, coarse)
    if name is None:
        return
    why = coarse[name].unsettled(op, [constant.value for constant in constants])
    if why is not None:
        raise Unaskable(f"{brief(expression)} has no value in every cell of the domain: {name!r}: {why}", column=name)


def _bare(expression: Expression, operand: Expression, coarse: Mapping[str, Axis]) -> str | None:
    """The coarse column that is compared as it stands; filled, it is the same but for one cell, which has a value."""
    while isinstance(operand, Fill):
        operand = operand.operand
    if isinstance(operand, Col):
        return operand.name if operand.name in coarse else None
    for name in sorted(spoken(operand) & set(coarse)):
        raise _within(expression, name)
    return None


def _within(expression: Expression, name: str) -> Unaskable:
    return Unaskable(
        f"{brief(expression)} calculates with {name!r}, or compares it with another column, and the domain only knows "
        "which cell it lies in: compare the column itself with constants, or list its values",
        column=name,
    )


def _columns(expression: Expression) -> Iterator[str]:
    match expression:
        case Col(name):
            yield name
        case Logic(_, operands) | Arithmetic(_, operands):
            for operand in operands:
                yield from _columns(operand)
        case Compare(_, left, right):
            yield from _columns(left)
            yield from _columns(right)
        case Not(operand) | IsIn(operand, _) | IsNull(operand) | Fill(operand, _) | Between(operand, _, _):
            yield from _columns(operand)
