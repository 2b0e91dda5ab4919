"""DuckDB's types: the kind each is here, and how a column of it is brought into the one form of that kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from unworn.queries.schema import ColumnKind
from unworn.rows.sql.sql_expressions import Held, sqlglot_exp

_WHOLE = frozenset(("tinyint", "smallint", "integer", "bigint", "utinyint", "usmallint", "uinteger", "ubigint"))
_WIDE = frozenset(("hugeint", "uhugeint"))
_FLOATS = frozenset(("float", "double"))
_MOMENTS = frozenset(("timestamp", "timestamp_s", "timestamp_ms", "date"))
_EXACT_DIGITS = 15


def held_columns(names: Sequence[str], types: Sequence[Any]) -> tuple[dict[str, Held], tuple[str, ...]]:
    """The columns that have a kind, and the names of those that have none."""
    found = {name: _held(name, kind) for name, kind in zip(names, types, strict=True)}
    known = {name: held for name, held in found.items() if held is not None}
    return known, tuple(name for name, held in found.items() if held is None)


def bare(name: str, held: Held) -> Any:
    """A column as it leaves the engine: prepared, but whole numbers as they are, since beyond 2^53 a DOUBLE is not."""
    exp = sqlglot_exp()
    whole = held.kind == "number" and held.prepared.args.get("whole")
    return exp.alias_(exp.column(name, quoted=True) if whole else held.prepared.copy(), name, quoted=True)


def _held(name: str, kind: Any) -> Held | None:
    exp = sqlglot_exp()
    column, called = exp.column(name, quoted=True), str(kind.id)
    if called in _WHOLE:
        cast = exp.cast(column, "double")
        cast.set("whole", True)
        return Held("number", cast, finite=True)
    if called in _WIDE:
        return Held("number", exp.cast(column, "double"), finite=True)
    if called in _FLOATS:
        return Held("number", exp.cast(column, "double"), finite=False)
    if called == "decimal":
        return Held("number", exp.cast(_digits(column, kind), "double"), finite=True)
    if called == "boolean":
        return Held("bool", column, finite=True)
    if called in ("varchar", "enum"):
        text = column if called == "varchar" else exp.cast(column, "text")
        # Compared byte by byte, whatever collation the column was declared with.
        return Held("text", exp.Collate(this=text, expression=exp.to_identifier("C")), finite=True)
    moment = _micros(column, called)
    kind_of_date: ColumnKind = "date"
    return None if moment is None else Held(kind_of_date, moment, finite=True)


def _digits(column: Any, kind: Any) -> Any:
    """Decimals of few digits are divided exactly; the digits of long ones are read, or they would be rounded twice."""
    exp = sqlglot_exp()
    precision = dict(kind.children).get("precision", 38)
    return column if precision <= _EXACT_DIGITS else exp.cast(column, "text")


def _micros(column: Any, called: str) -> Any | None:
    """A date as microseconds since 1970, NULL where they do not fit or where it is infinite.

    Never cast from a time zone's clock: that would depend on a setting, and on an extension.
    """
    exp = sqlglot_exp()
    if called == "timestamp with time zone":
        return exp.func("epoch_us", column)
    if called == "timestamp_ns":
        nanos = exp.func("epoch_ns", column)
        # Towards the past, also before 1970, where whole division goes towards 1970.
        rest = exp.Mod(this=nanos.copy(), expression=_number(1000))
        early = exp.Case().when(exp.LT(this=rest, expression=_number(0)), _number(1)).else_(_number(0))
        whole = exp.IntDiv(this=nanos, expression=_number(1000))
        return exp.Sub(this=exp.Paren(this=whole), expression=exp.Paren(this=early))
    if called not in _MOMENTS:
        return None
    finite = exp.Case().when(exp.func("isfinite", column), column.copy())
    return exp.func("epoch_us", exp.TryCast(this=finite, to=exp.DataType.build("timestamp")))


def _number(value: int) -> Any:
    exp = sqlglot_exp()
    return exp.cast(exp.Literal.number(value), "bigint")
