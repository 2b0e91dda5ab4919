"""Which parts of a batch of questions mean the same, so that a run of rows is looked at once for all of them.

Expressions cannot be compared with ``==``, which builds a comparison, so each gets a number: equal numbers mean equal
values on these rows. A constant beside a column counts as the value of the column's type that stands for it: of whole
numbers, ``x > 0.2`` and ``x > 0.7`` are one question. Numbers follow from questions and types, never from rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

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
)
from unworn.queries.language.typed_thresholds import move_threshold
from unworn.queries.row_protocol import Bools, Column

ROOM = 256
"""Bytes a row that may be kept for other questions: 32 MiB for a run of rows."""


@dataclass(slots=True)
class Kept:
    """What was found on one run of rows and is wanted again: ``keys`` says of which expressions, by ``id``."""

    keys: Mapping[int, int]
    values: dict[int, Column] = field(default_factory=dict)
    truths: dict[int, Bools] = field(default_factory=dict)


class SharesParts:
    """A frame that keeps what was found of expressions: ``prepared`` columns, and ``kept`` what is wanted again."""

    __slots__ = ()

    prepared: dict[str, Column]
    kept: Kept | None


class Keys:
    """The number of every expression of a batch, which has to stay alive as long as this."""

    def __init__(self, columns: Mapping[str, Column]) -> None:
        self._columns = columns
        self._numbers: dict[Hashable, int] = {}
        self._known: dict[int, int] = {}
        self._thresholds: dict[tuple[str, str, float], np.generic | bool | None] = {}

    def of(self, expression: Expression) -> int:
        found = self._known.get(id(expression))
        if found is None:
            found = self._known[id(expression)] = self.number(self._meaning(expression))
        return found

    def number(self, meaning: Hashable) -> int:
        return self._numbers.setdefault(meaning, len(self._numbers))

    def threshold(self, op: str, name: str, constant: float) -> np.generic | bool | None:
        """What a column's values may be compared with instead of the constant, as they are."""
        if (op, name, constant) not in self._thresholds:
            column = self._columns[name]
            own = column.finite or column.values.dtype.kind in "iu"
            dtype = column.values.dtype if own else np.dtype(np.float64)
            self._thresholds[op, name, constant] = move_threshold(op, dtype, constant)
        return self._thresholds[op, name, constant]

    def _meaning(self, expression: Expression) -> Hashable:
        match expression:
            case Col(name):
                return "col", name
            case Literal(value):
                return "lit", expression.kind, value
            case Compare(op, Col(name), Literal(float(constant))):
                bound = self.threshold(op, name, constant)
                return "beside", op, name, type(bound), constant if bound is None else bound
            case Compare(op, left, right):
                return op, self.of(left), self.of(right)
            case Arithmetic(op, operands):
                return op, *map(self.of, operands)
            case Logic(op, operands):
                return op, frozenset(map(self.of, operands))
            case Not(operand):
                return "not", self.of(operand)
            case IsIn(operand, items):
                return "in", self.of(operand), *map(self.of, items)
            case Between(operand, low, high):
                return "between", self.of(operand), self.of(low), self.of(high)
            case IsNull(operand):
                return "is_null", self.of(operand)
            case Fill(operand, value):
                return "fill", self.of(operand), self.of(value)
            case _:
                return "other", id(expression)

    def shared(self, expressions: Iterable[Expression]) -> dict[int, int]:
        """Of the parts of these expressions, those worth keeping: met again and again, and few enough to be kept."""
        times: Counter[int] = Counter()
        parts: dict[int, list[Expression]] = {}
        for expression in expressions:
            for part in _parts(expression):
                times[self.of(part)] += 1
                parts.setdefault(self.of(part), []).append(part)
        keys: dict[int, int] = {}
        room = ROOM
        for number, often in times.most_common():
            room -= 1 if parts[number][0].predicate else 9  # a bool; or a float and perhaps a mark
            if often < 2 or room < 0:
                break
            keys.update((id(part), number) for part in parts[number])
        return keys


def _parts(expression: Expression) -> Iterator[Expression]:
    """An expression and all in it that takes work to find."""
    match expression:
        case Col() | Literal():
            return
        case Arithmetic(_, operands) | Logic(_, operands):
            inside: tuple[Expression, ...] = operands
        case Compare(_, left, right):
            inside = (left, right)
        case Not(operand) | IsIn(operand) | Between(operand) | IsNull(operand) | Fill(operand):
            inside = (operand,)
        case _:
            return
    yield expression
    for part in inside:
        yield from _parts(part)
