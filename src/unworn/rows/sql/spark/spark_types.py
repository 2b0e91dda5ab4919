"""Spark's types: the kind each is here, and how a column of it is brought into the one form of that kind."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from unworn.queries.schema import ColumnKind
from unworn.rows.sql.sql_expressions import Held, sqlglot_exp

_WHOLE = frozenset(("byte", "short", "integer", "long"))
_FLOATS = frozenset(("float", "double"))
_TEXTS = frozenset(("string", "char", "varchar"))
_DAY = 86_400_000_000
_BYTEWISE = "UTF8_BINARY"


@dataclass(frozen=True)
class Columns:
    """The columns that have a kind, by their own names: as they are asked, as they leave, and as they are watched."""

    held: Mapping[str, Held]
    bare: Mapping[str, Any]
    left_out: tuple[str, ...]


def held_columns(fields: Sequence[Any], version: str) -> Columns:
    """The columns of a frame whose own names have given way to u0, u1, …"""
    exp = sqlglot_exp()
    held: dict[str, Held] = {}
    bare: dict[str, Any] = {}
    for place, field in enumerate(fields):
        column = exp.column(f"u{place}", quoted=True)
        found = _held(column, field.dataType, version)
        if found is not None:
            held[field.name] = found
            # Whole numbers leave as they are, since beyond 2^53 a DOUBLE is not.
            bare[field.name] = column if _named(field.dataType) in _WHOLE else found.prepared
    return Columns(held, bare, tuple(field.name for field in fields if field.name not in held))


def _held(column: Any, kind: Any, version: str) -> Held | None:
    exp = sqlglot_exp()
    called = _named(kind)
    if called in _WHOLE or called in _FLOATS or called == "decimal":  # of which Spark takes the nearest number
        return Held("number", exp.cast(column, "double"), finite=called not in _FLOATS)
    if called == "boolean":
        return Held("bool", column, finite=True)
    if called in _TEXTS:
        return Held("text", _bytewise(column, kind), finite=True)
    moment = _micros(column, called, version)
    dated: ColumnKind = "date"
    return None if moment is None else Held(dated, moment, finite=True)


def _named(kind: Any) -> str:
    return str(kind.typeName()).partition("(")[0].partition(" ")[0]


def _bytewise(column: Any, kind: Any) -> Any:
    """Text that every reader can decode, compared byte by byte whatever collation its column was declared with."""
    exp = sqlglot_exp()
    text = exp.func("make_valid_utf8", exp.cast(column, "string") if _named(kind) != "string" else column)
    if getattr(kind, "collation", _BYTEWISE) != _BYTEWISE:
        text = exp.Anonymous(this="collate", expressions=[text, exp.Literal.string(_BYTEWISE)])
    return text


def _micros(column: Any, called: str, version: str) -> Any | None:
    """A date as microseconds since 1970, NULL where they do not fit; no clock of any time zone is asked."""
    exp = sqlglot_exp()
    if called == "date":
        days = exp.cast(exp.Anonymous(this="unix_date", expressions=[column]), "bigint")
        return exp.func("try_multiply", days, exp.cast(exp.Literal.number(_DAY), "bigint"))
    if called == "timestamp" or (called == "timestamp_ntz" and _at_least(version, 4, 3)):
        return exp.func("unix_micros", column)
    if called == "timestamp_ntz":  # which did not take moments without a zone, and a cast would ask for one
        since = f"{column.sql(dialect='spark')} - TIMESTAMP_NTZ '1970-01-01 00:00:00'"
        seconds = f"CAST(CAST({since} AS INTERVAL SECOND) AS DECIMAL(19, 6))"
        return exp.Var(this=f"CAST({seconds} * 1000000 AS BIGINT)")
    return None


def _at_least(version: str, *wanted: int) -> bool:
    """Whether a version of Spark is this one or a later one.

    >>> _at_least("4.3.0-SNAPSHOT", 4, 3), _at_least("4.2.1", 4, 3)
    (True, False)
    """
    return tuple(int(number) for number in re.findall(r"\d+", version)[: len(wanted)]) >= wanted
