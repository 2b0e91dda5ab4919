"""An expression written in the words of an SQL engine, with the meaning it has here.

Engines disagree on NaN, on missing values, on division by zero (:mod:`unworn.queries.language.evaluation` says what
holds), so nothing is left to an engine's own habits:

- A number is a DOUBLE. It may be NULL, NaN or infinite, and all three are missing: wherever a value is looked at, it is
  first asked whether it is finite. In DuckDB that is ``isfinite``, and no comparison, however true: a Parquet file says
  of a column what its smallest and largest numbers are and leaves out NaN, and DuckDB believes it. ``x <= 1e308`` and
  even ``not isnan(x)`` are then true of every row before any is read.
- Arithmetic runs on: what has left the finite numbers comes back only as a divisor, so divisors are looked at.
- A predicate that is NULL counts as false: ``AND`` and ``OR`` agree with that, and negation is told so.
- A date is a whole number of microseconds; a text is compared byte by byte.

What is named more than once is given a name of its own in a layer below, or the text would double with every level.
The tree is built node by node, and sqlglot writes it: no name and no constant is ever pasted into a text.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal

from unworn.queries.language import expressions as tree
from unworn.queries.language.schema_check import as_date
from unworn.queries.query import canonical
from unworn.queries.schema import ColumnKind

DialectName = Literal["duckdb", "spark"]
MOST = math.nextafter(math.inf, 0.0)
_EPOCH = datetime(1970, 1, 1)
_ARITHMETIC = {"add": "Add", "sub": "Sub", "mul": "Mul", "div": "Div"}
_COMPARE = {"eq": "EQ", "ne": "NEQ", "lt": "LT", "le": "LTE", "gt": "GT", "ge": "GTE"}


def sqlglot_exp() -> Any:
    """sqlglot's nodes, loaded by those who write SQL."""
    from sqlglot import exp

    return exp


@dataclass(frozen=True)
class Held:
    """A column as an engine holds it: what kind it is, how it is brought into the one form, and whether that can be
    anything but a finite number or NULL."""

    kind: ColumnKind
    prepared: Any
    finite: bool


@dataclass(frozen=True)
class Value:
    """A written value: its kind, its text as a tree, the layer from which it can be named, whether it is finite."""

    kind: ColumnKind
    sql: Any
    layer: int = 0
    finite: bool = True

    @property
    def plain(self) -> bool:
        """Whether it may be named as often as one likes: a name or a constant."""
        return self.sql.key in ("column", "literal", "boolean", "cast")  # only constants are cast here


@dataclass
class Writer:
    """Writes expressions over the same rows; what several of them have in common is written once."""

    held: Mapping[str, Held]
    dialect: DialectName
    columns: dict[str, str] = field(default_factory=dict)
    layers: list[list[Any]] = field(default_factory=list)
    _named: dict[Hashable, Value] = field(default_factory=dict)
    _exp: Any = field(default_factory=sqlglot_exp)

    def truth(self, expression: tree.Expression) -> Value:
        """A predicate, NULL where it might as well be false."""
        exp = self._exp
        match expression:
            case tree.Compare(op, left, right):
                return self._compare(op, left, right)
            case tree.Logic(op, operands):
                told = [self.truth(operand) for operand in operands]
                joined = _balanced(exp.And if op == "and" else exp.Or, [value.sql for value in told], exp.Paren)
                return Value("bool", joined, max(value.layer for value in told))
            case tree.Not(operand):
                value = self.truth(operand)
                return Value("bool", exp.Not(this=self._known(value.sql)), value.layer)
            case tree.IsIn(operand, items):
                value = self._named_if_loose(operand)
                listed = [self._constant(item, value.kind) for item in items]
                test = exp.In(this=exp.Paren(this=value.sql.copy()), expressions=listed)
                return self._where_finite([value], test)
            case tree.Between(operand, low, high):
                value = self._named_if_loose(operand)
                ends = self._constant(low, value.kind), self._constant(high, value.kind)
                return self._where_finite([value], self._between(value.sql, *ends))
            case tree.IsNull(operand):
                value = self.value(operand)
                if not value.finite:
                    return Value("bool", exp.Not(this=self._known(self.finite(value.sql))), value.layer)
                return Value("bool", exp.Is(this=exp.Paren(this=value.sql), expression=exp.Null()), value.layer)
            case _:
                return self.value(expression)

    def value(self, expression: tree.Expression) -> Value:
        """Any expression; missing where it is NULL and, unless it is ``finite``, where it is not a finite number."""
        match expression:
            case tree.Col(name):
                return self._column(name)
            case tree.Literal():
                return Value(expression.kind, self._constant(expression, expression.kind))
            case tree.Arithmetic(op, operands):
                return self._arithmetic(op, operands)
            case tree.Fill(operand, constant):
                return self._filled(operand, constant)
            case _:
                value = self.truth(expression)
                return Value("bool", self._known(value.sql), value.layer)

    def clipped(self, expression: tree.Expression, low: float, high: float) -> Value:
        """A number cut to a range, the low end where it is missing."""
        value = self.once(expression, self.value(expression))
        bottom, top = self.number(low), self.number(high)
        inside = self._where_finite([value], self._between(value.sql, bottom, top))
        above = self._where_finite([value], self._exp.GT(this=value.sql.copy(), expression=top.copy()))
        case = self._exp.Case().when(inside.sql, value.sql.copy()).when(above.sql, top.copy())
        return Value("number", case.else_(bottom.copy()), value.layer)

    def once(self, expression: tree.Expression, value: Value) -> Value:
        """The same under a name of its own, so that it may be named several times and is worked out once."""
        return value if value.plain else self.named(canonical(expression.to_json()), value)

    def known(self, key: Hashable) -> Value | None:
        """What has been named by this key."""
        named = self._named.get(key)
        return None if named is None else replace(named, sql=named.sql.copy())

    def named(self, key: Hashable, value: Value) -> Value:
        """The same under the name that belongs to a key; the key must say all that the value depends on."""
        if key not in self._named:
            while len(self.layers) <= value.layer:
                self.layers.append([])
            name = f"v{len(self._named)}"
            self.layers[value.layer].append(self._exp.alias_(value.sql, name, quoted=True))
            self._named[key] = Value(value.kind, self._name(name), value.layer + 1, value.finite)
        named = self._named[key]
        return replace(named, sql=named.sql.copy())

    def number(self, value: float) -> Any:
        """A constant as exactly this DOUBLE: from its digits as a text, which no engine reads as a decimal."""
        exp = self._exp
        double = exp.DataType(this=exp.DataType.Type.DOUBLE)  # not read from a text each time: there are many constants
        return exp.Cast(this=exp.Literal.string(repr(float(value))), to=double)

    def _column(self, name: str) -> Value:
        held = self.held[name]
        short = self.columns.setdefault(name, f"c{len(self.columns)}")
        return Value(held.kind, self._name(short), 0, held.finite)

    def _name(self, name: str) -> Any:
        return self._exp.column(name, quoted=True)

    def _constant(self, constant: tree.Literal, beside: ColumnKind | None) -> Any:
        exp = self._exp
        if beside == "date" or constant.kind == "date":
            micros = (as_date(constant) - _EPOCH) // (datetime.resolution)
            whole = exp.Literal.number(abs(micros))
            return exp.cast(exp.Neg(this=whole) if micros < 0 else whole, "bigint")
        value = constant.value
        if isinstance(value, bool):
            return exp.Boolean(this=value)
        if isinstance(value, float):
            return self.number(value)
        if self.dialect == "spark":  # as its bytes: how Spark reads quotes, \\ and ${...} depends on settings
            return exp.cast(exp.HexString(this=str(value).encode().hex()), "text")
        return exp.Literal.string(str(value))

    def _arithmetic(self, op: str, operands: tuple[tree.Expression, ...]) -> Value:
        exp = self._exp
        values = [self.value(operand) for operand in operands]
        if op == "neg":
            (value,) = values
            return Value("number", exp.Neg(this=exp.Paren(this=value.sql)), value.layer, value.finite)
        if op == "div":
            values[1] = self._divisor(operands[1], values[1])
        node = getattr(exp, _ARITHMETIC[op])
        result = exp.Paren(this=values[0].sql)
        for value in values[1:]:
            # Left to right, as everywhere: the last bit of a sum depends on the order.
            result = node(this=result, expression=exp.Paren(this=value.sql))
        return Value("number", result, max(value.layer for value in values), finite=False)

    def _divisor(self, expression: tree.Expression, value: Value) -> Value:
        """NULL where it is 0 or missing: a number divided by infinity would be 0 again."""
        if isinstance(expression, tree.Literal) and expression.value != 0:
            return value
        value = self.once(expression, value)
        usable = self._where_finite([value], self._exp.NEQ(this=value.sql.copy(), expression=self.number(0.0)))
        return Value("number", self._exp.Case().when(usable.sql, value.sql.copy()), value.layer)

    def _filled(self, operand: tree.Expression, constant: tree.Literal) -> Value:
        value = self._named_if_loose(operand)
        other = self._constant(constant, value.kind)
        if not value.finite:
            case = self._exp.Case().when(self.finite(value.sql.copy()), value.sql.copy()).else_(other)
            return Value("number", case, value.layer)
        return Value(value.kind, self._exp.Coalesce(this=value.sql, expressions=[other]), value.layer)

    def _compare(self, op: str, left: tree.Expression, right: tree.Expression) -> Value:
        exp = self._exp
        one, other = self._named_if_loose(left), self._named_if_loose(right)
        if isinstance(right, tree.Literal):
            other = Value(one.kind, self._constant(right, one.kind))
        if isinstance(left, tree.Literal) and other.kind == "date":
            one = Value("date", self._constant(left, "date"))
        sides = {"this": exp.Paren(this=one.sql.copy()), "expression": exp.Paren(this=other.sql.copy())}
        return self._where_finite([one, other], getattr(exp, _COMPARE[op])(**sides))

    def _named_if_loose(self, expression: tree.Expression) -> Value:
        """A value that may be named twice where it has to be looked at twice."""
        value = self.value(expression)
        return value if value.finite else self.once(expression, value)

    def _where_finite(self, values: list[Value], test: Any) -> Value:
        """A test that is false where one of these numbers is not finite."""
        tests = [self.finite(value.sql.copy()) for value in values if not value.finite] + [test]
        return Value("bool", _balanced(self._exp.And, tests, self._exp.Paren), max(value.layer for value in values))

    def finite(self, sql: Any) -> Any:
        """A test that is true of finite numbers, and false or NULL of what is missing."""
        if self.dialect == "duckdb":
            return self._exp.func("isfinite", sql)
        return self._between(sql, self.number(-MOST), self.number(MOST))

    def _between(self, sql: Any, low: Any, high: Any) -> Any:
        return self._exp.Between(
            this=self._exp.Paren(this=sql.copy() if sql.key == "column" else sql), low=low.copy(), high=high.copy()
        )

    def _known(self, sql: Any) -> Any:
        """True or false, never NULL."""
        return self._exp.Coalesce(this=sql, expressions=[self._exp.false()])


def _balanced(node: Any, parts: list[Any], paren: Any) -> Any:
    """A chain as a tree that is as shallow as it can be: parsers have a limit on depth."""
    while len(parts) > 1:
        pairs = zip(parts[::2], parts[1::2], strict=False)
        joined = [node(this=paren(this=one), expression=paren(this=other)) for one, other in pairs]
        parts = joined + parts[len(parts) - len(parts) % 2 :]
    return parts[0]
