"""Arithmetic on values, in the words of an SQL engine: sums, products, choices, and names for what is used again."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any

from unworn.queries.learning.linear_features import RUN
from unworn.rows.sql.sql_expressions import Value, Writer, sqlglot_exp


class SqlArithmetic:
    """What can be made of numbers over the rows of a writer. Trees are copied: each belongs to one parent."""

    def __init__(self, writer: Writer) -> None:
        self._writer, self._exp = writer, sqlglot_exp()

    def _sum(self, key: Hashable, terms: Callable[[], Iterable[Value]]) -> Value:
        """The terms in the order in which :func:`~unworn.queries.learning.linear_features.add_terms` adds them."""

        def chain(values: list[Value]) -> Value:
            total = values[0].sql
            for value in values[1:]:
                total = self._exp.Add(this=self._exp.Paren(this=total), expression=self._exp.Paren(this=value.sql))
            return Value("number", total, max(value.layer for value in values))

        def make() -> Value:
            listed = list(terms()) or [self._number(0.0)]
            return chain([chain(listed[start : start + RUN]) for start in range(0, len(listed), RUN)])

        return self._named(key, make)

    def _named(self, key: Hashable, make: Callable[[], Value]) -> Value:
        known = self._writer.known(key)
        return self._writer.named(key, make()) if known is None else known

    def _number(self, value: float) -> Value:
        return Value("number", self._writer.number(value))

    def _plus(self, left: Value, right: Value) -> Value:
        return self._two("Add", left, right)

    def _minus(self, left: Value, right: Value) -> Value:
        return self._two("Sub", left, right)

    def _times(self, left: Value, right: Value) -> Value:
        return self._two("Mul", left, right)

    def _over(self, left: Value, right: Value) -> Value:
        return self._two("Div", left, right)

    def _two(self, node: str, left: Value, right: Value) -> Value:
        return Value("number", self._compared(node, left, right), max(left.layer, right.layer))

    def _compared(self, node: str, left: Value, right: Value) -> Any:
        sides = [self._exp.Paren(this=side.sql.copy()) for side in (left, right)]
        return getattr(self._exp, node)(this=sides[0], expression=sides[1])

    def _if(self, test: Any, layer: int, yes: Value, no: Value) -> Value:
        case = self._exp.Case().when(test.copy(), yes.sql.copy()).else_(no.sql.copy())
        return Value("number", case, max(layer, yes.layer, no.layer))

    def _most(self, *values: Value) -> Value:
        return self._one_of("greatest", values)

    def _cut(self, value: Value, low: float, high: float) -> Value:
        above = self._one_of("greatest", [value, self._number(low)])
        return self._one_of("least", [above, self._number(high)])

    def _one_of(self, function: str, values: Iterable[Value]) -> Value:
        listed = list(values)
        if len(listed) == 1:  # which Spark refuses
            return listed[0]
        called = self._exp.Anonymous(this=function, expressions=[value.sql.copy() for value in listed])
        return Value("number", called, max(value.layer for value in listed))

    def _power_of_e(self, value: Value) -> Value:
        return Value("number", self._exp.Exp(this=value.sql.copy()), value.layer)
