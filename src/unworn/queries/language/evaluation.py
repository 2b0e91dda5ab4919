"""What an expression means on rows: the NumPy meaning, against which every engine is tested.

Engines disagree on missing values, on NaN, on division by zero; an error that depends on the rows would be an
answer nobody paid for. So the language is total, and says for every row:

- A number is a float64. NaN, plus and minus infinity are missing, like a missing value.
- A comparison with a missing value is false, ``!=`` included; so are ``isin`` and ``between``.
- ``& | ~`` have two values only: ``~(x > 5)`` is true where ``x`` is missing, ``x <= 5`` is false there.
- A bool column as a predicate is false where it is missing.
- Arithmetic on a missing value is missing; so is a division by zero, and every result that is not finite.
- ``is_null`` is never missing, ``fill`` leaves nothing missing.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
)
from unworn.queries.language.schema_check import as_date
from unworn.queries.language.shared_parts import Kept, SharesParts
from unworn.queries.language.typed_thresholds import OPS, compare_values
from unworn.queries.row_protocol import Bools, Column, Frame

_ARITHMETIC: dict[str, Callable[..., Any]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
}
_FALSE = np.zeros((), dtype=np.bool_)
_FEW = 16
"""So many numbers are sooner compared one by one than searched for."""


def evaluate(expression: Expression, frame: Frame) -> tuple[NDArray[Any], Bools | None]:
    """One value per row, and which of them are missing (None when none is).

    The expression must have passed :func:`~unworn.queries.language.schema_check.check`. What stands under a missing
    mark means nothing. Text comes as an object array of ``str``. The arrays may be the frame's own: do not write to
    them.
    """
    with np.errstate(all="ignore"):
        found = _Run(frame).value(expression)
        values = _strings(found) if found.kind == "text" else found.values
    return _stretch(values, frame.size), None if found.missing is None else _stretch(found.missing, frame.size)


def truth(expression: Expression, frame: Frame) -> Bools:
    """For a predicate: one fresh boolean a row, false where a bool column is missing."""
    with np.errstate(all="ignore"):
        run = _Run(frame)
        found = run.truth(expression)
    if found.ndim == 0:
        return np.full(frame.size, found, dtype=np.bool_)
    # Only these may hand out an array that others see too; everything else has just made a new one.
    own = isinstance(expression, Col | Fill | IsNull) or run.keeps(expression)
    return found.copy() if own else found


def numbers(name: str, frame: Frame) -> Column:
    """A column of numbers of which none is infinite or NaN but where it is marked missing; in its own type if it may.

    Between two numbers of that type and two of their float64 there is no difference in order: see
    :mod:`unworn.queries.language.typed_thresholds`.
    """
    return _Run(frame).numbers(name)


class _Run:
    """One evaluation over one frame; a column met twice is prepared once. Constants are 0-d arrays."""

    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        self.prepared: dict[str, Column] = frame.prepared if isinstance(frame, SharesParts) else {}
        self.kept: Kept | None = frame.kept if isinstance(frame, SharesParts) else None

    def column(self, name: str) -> Column:
        found = self.prepared.get(name)
        if found is None:
            found = self.prepared[name] = prepare(self.frame.column(name))
        return found

    def numbers(self, name: str) -> Column:
        raw = self.frame.column(name)
        return raw if raw.finite or raw.values.dtype.kind in "iu" else self.column(name)

    def keeps(self, expression: Expression) -> bool:
        return self.kept is not None and id(expression) in self.kept.keys

    def value(self, expression: Expression) -> Column:
        if self.kept is None or (key := self.kept.keys.get(id(expression))) is None:
            return self._value(expression)
        if key not in self.kept.values:
            self.kept.values[key] = self._value(expression)
        return self.kept.values[key]

    def truth(self, expression: Expression) -> Bools:
        if self.kept is None or (key := self.kept.keys.get(id(expression))) is None:
            return self._truth(expression)
        if key not in self.kept.truths:
            self.kept.truths[key] = self._truth(expression)
        return self.kept.truths[key]

    def _value(self, expression: Expression) -> Column:
        match expression:
            case Col(name):
                return self.column(name)
            case Literal():
                return _constant(expression)
            case Arithmetic(op, operands):
                return self._arithmetic(op, operands)
            case Fill(operand, value):
                return _filled(self.value(operand), value)
            case _:
                return Column("bool", self.truth(expression))

    def _truth(self, expression: Expression) -> Bools:
        match expression:
            case Compare(op, left, right):
                return self._compare(op, left, right)
            case Logic(op, operands):
                join = np.logical_and if op == "and" else np.logical_or
                result: Bools = self.truth(operands[0])
                for operand in operands[1:]:
                    result = join(result, self.truth(operand))
                return result
            case Not(operand):
                return np.logical_not(self.truth(operand))
            case IsIn(Col() as operand, items) if items[0].kind == "number" and len(items) <= _FEW:
                return reduce(np.logical_or, (self._compare("eq", operand, item) for item in items))
            case IsIn(operand, items):
                return _is_in(self.value(operand), items)
            case Between(Col() as operand, low, high) if low.kind == "number":
                return np.logical_and(self._compare("ge", operand, low), self._compare("le", operand, high))
            case Between(operand, low, high):
                column = self.value(operand)
                first, last = _constant(low, column.kind).values, _constant(high, column.kind).values
                return _where_known((column.values >= first) & (column.values <= last), column.missing)
            case IsNull(operand):
                missing = self.value(operand).missing
                return _FALSE if missing is None else missing
            case _:
                column = self.value(expression)
                return _where_known(column.values, column.missing)

    def _arithmetic(self, op: str, operands: tuple[Expression, ...]) -> Column:
        first = self.value(operands[0])
        if op == "neg":
            return Column("number", np.negative(first.values), first.missing)
        result, missing = first.values, first.missing
        owned = False
        for operand in operands[1:]:
            column = self.value(operand)
            room = result if owned and result.ndim else None
            result = np.asarray(_ARITHMETIC[op](result, column.values, out=room))
            missing, owned = _either(missing, column.missing), True
        # Once at the end is enough: a sum or product that has left the finite numbers never comes back.
        return Column("number", result, _either(missing, _not_finite(result)))

    def _compare(self, op: str, left: Expression, right: Expression) -> Bools:
        if isinstance(left, Col) and isinstance(right, Literal) and right.kind == "number":
            numbers = self.numbers(left.name)
            found = compare_values(op, numbers.values, float(right.value))  # type: ignore[arg-type]
            if found is not None:
                return _where_known(found, numbers.missing)
        column = self.value(left)
        if column.kind == "text" and isinstance(right, Literal) and right.kind == "text":
            # On the vocabulary, then gathered by code: strings are compared once each, not once a row.
            # As an object, because NumPy's own text drops zero characters at the end.
            hits = OPS[op](_vocabulary(column), np.array(right.value, dtype=object)).astype(np.bool_)
            return _where_known(hits.take(column.values, mode="clip"), column.missing)
        other = _constant(right, column.kind) if isinstance(right, Literal) else self.value(right)
        if isinstance(left, Literal) and other.kind == "date":
            column = _constant(left, "date")
        missing = _either(column.missing, other.missing)
        if column.kind == "text":
            same = np.asarray(OPS[op](_strings(column), _strings(other)), dtype=np.bool_)
            return _where_known(same, missing)
        return _where_known(OPS[op](column.values, other.values), missing)


def prepare(column: Column) -> Column:
    """A column in the one form the rest relies on; without copies where it has that form already."""
    values = column.values
    if column.kind == "number":
        floats = values.astype(np.float64, copy=False)
        exotic = None if column.finite or values.dtype.kind in "iub" else _not_finite(floats)
        return Column("number", floats, _either(column.missing, exotic))
    if column.kind == "date":
        moments = values.astype("datetime64[us]", copy=False)
        unknown = _FALSE if column.finite else np.isnat(moments)
        return Column("date", moments, _either(column.missing, unknown if unknown.any() else None))
    if column.kind == "text":
        vocabulary = _vocabulary(column)
        if vocabulary.size == 0:  # every row is missing: any code is out of bounds
            vocabulary, values = np.array([""], dtype=object), np.zeros(values.shape, dtype=np.int32)
        elif vocabulary.size > values.size:  # nearly all different: work on these rows' texts instead
            vocabulary, values = vocabulary[values], np.arange(values.size)
        return Column("text", values, column.missing, vocabulary)
    return Column("bool", values.astype(np.bool_, copy=False), column.missing)


def _constant(constant: Literal, beside: str | None = None) -> Column:
    if beside == "date" or constant.kind == "date":
        return Column("date", np.array(as_date(constant), dtype="datetime64[us]"))
    if constant.kind == "text":
        return Column("text", np.zeros((), np.int32), None, np.array([constant.value], dtype=object))
    return Column(constant.kind, np.array(constant.value))


def _is_in(column: Column, items: tuple[Literal, ...]) -> Bools:
    if column.kind == "text":
        wanted = {item.value for item in items}
        vocabulary = _vocabulary(column)
        hits = np.fromiter((entry in wanted for entry in vocabulary), np.bool_, vocabulary.size)
        return _where_known(hits.take(column.values, mode="clip"), column.missing)
    if column.kind == "date":
        allowed = np.array([as_date(item) for item in items], dtype="datetime64[us]")
    else:
        allowed = np.array([item.value for item in items])
    allowed.sort()
    place = np.minimum(np.searchsorted(allowed, column.values), allowed.size - 1)
    return _where_known(allowed[place] == column.values, column.missing)


def _filled(column: Column, constant: Literal) -> Column:
    if column.missing is None:
        return column
    if column.kind == "text":
        vocabulary = np.append(_vocabulary(column), np.array([constant.value], dtype=object))
        codes = np.where(column.missing, vocabulary.size - 1, column.values)
        return Column("text", codes, None, vocabulary)
    return Column(column.kind, np.where(column.missing, _constant(constant, column.kind).values, column.values))


def _vocabulary(column: Column) -> NDArray[np.object_]:
    if column.vocabulary is None:
        raise Unaskable("a text column came without its vocabulary")
    return column.vocabulary


def _strings(column: Column) -> NDArray[Any]:
    return np.asarray(_vocabulary(column)[column.values], dtype=object)


def _not_finite(values: NDArray[Any]) -> Bools | None:
    finite = np.isfinite(values)
    return None if finite.all() else np.asarray(~finite)


def _either(one: Bools | None, other: Bools | None) -> Bools | None:
    if one is None or other is None:
        return other if one is None else one
    return np.asarray(one | other)


def _where_known(hits: Any, missing: Bools | None) -> Bools:
    return np.asarray(hits if missing is None else hits & ~missing)


def _stretch(values: NDArray[Any], size: int) -> NDArray[Any]:
    return values if values.ndim else np.full(size, values[()], dtype=values.dtype)
