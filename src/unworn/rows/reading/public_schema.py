"""What is public about the rows: dtypes, then ``train``, and ``schema=`` with the last word."""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

from unworn.basics.display import show_value
from unworn.errors import Unaskable
from unworn.queries.row_protocol import Column
from unworn.queries.schema import ColumnKind, ColumnType, Schema, column_type
from unworn.rows.reading.frame_reading import Read

Declared = Mapping[str, str | ColumnType] | Schema


def public_schema(
    columns: Mapping[str, Read],
    target: str | None,
    grouped: bool,
    train: Mapping[str, Column] | None,
    declared: Declared | None,
) -> Schema:
    """The schema, made without looking at any value of the holdout."""
    types = {name: column_type(read.column.kind, read.nullable) for name, read in columns.items()}
    for name, column in (train or {}).items():
        if name in types:
            if column.kind != types[name].kind:
                raise Unaskable(f"column {name!r} is {types[name].kind} in the holdout but {column.kind} in train")
            types[name] = ColumnType(column.kind, column.missing is not None)
    schema = Schema(types, target, grouped)
    if declared is not None and not isinstance(declared, Mapping):
        raise Unaskable(f"schema= is a dictionary from column to kind, not {show_value(declared)}")
    for name, stated in (declared or {}).items():
        want = _stated(name, stated)
        if want.kind != schema.of(name).kind:
            raise Unaskable(f"schema= says column {name!r} is {want.kind}, but its dtype is {types[name].kind}")
        types[name] = want
    return schema


def _stated(name: str, stated: str | ColumnType) -> ColumnType:
    if isinstance(stated, ColumnType):
        return stated
    kind = stated.removesuffix("?") if isinstance(stated, str) else ""
    for known in get_args(ColumnKind):
        if known == kind:
            return ColumnType(known, stated.endswith("?"))
    kinds = ", ".join(get_args(ColumnKind))
    raise Unaskable(
        f"schema= says column {show_value(name)} is {show_value(stated)}; say one of {kinds}, with '?' if it may be "
        "missing"
    )
