"""A small finite domain: every row that could be, so that a question can be put to all of them without the holdout.

Whoever knows the value of a question at every point of the domain knows its value on every data set made of those
points. The domain is declared, never found in the rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from unworn.errors import Unaskable
from unworn.queries import literals
from unworn.queries.literals import Scalar
from unworn.queries.means import Mean, Share
from unworn.queries.query import Query
from unworn.queries.rows import Column, Floats
from unworn.queries.schema import ColumnKind, ColumnType, Schema

Value = Scalar | None


@dataclass(frozen=True, repr=False)
class Domain:
    """The product of finite columns, each given by its values (``None`` for a missing one).

    Columns and values have one order, so that domains declared in other words are equal.

    >>> domain = Domain({"plan": ["pro", "basic"], "age": [20, 40, 60]})
    >>> domain.size, domain
    (6, Domain({'age': [20, 40, 60], 'plan': ['basic', 'pro']}))
    >>> from unworn.queries import col, share
    >>> domain.values(share((col("age") > 30) & (col("plan") == "pro"))).tolist()
    [0.0, 0.0, 0.0, 1.0, 0.0, 1.0]
    >>> Domain(domain.to_json()) == domain
    True
    """

    columns: tuple[tuple[str, tuple[Value, ...]], ...]

    def __init__(self, columns: Mapping[str, Iterable[Any]]) -> None:
        if not isinstance(columns, Mapping) or not columns:
            raise ValueError("a domain is a mapping of columns to their values, as {'age': [20, 40, 60]}")
        read = ((literals.text(str(name), "a column name"), _read(str(name), columns[name])) for name in columns)
        object.__setattr__(self, "columns", tuple(sorted(read)))

    @property
    def size(self) -> int:
        """How many points it has."""
        return math.prod(len(values) for _, values in self.columns)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The columns, in the order of the axes."""
        return tuple(name for name, _ in self.columns)

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """How many values each column has."""
        return tuple(len(values) for _, values in self.columns)

    def labels(self, name: str) -> tuple[str, ...]:
        """How the values of a column read, in the order of its axis."""
        return tuple("missing" if value is None else str(_plain(value)) for value in dict(self.columns)[name])

    def ordered(self, name: str) -> bool:
        """Whether thresholds of a column make sense: numbers or dates, none missing."""
        values = dict(self.columns)[name]
        return None not in values and _kind(values) in ("number", "date")

    def weights(self, query: Query) -> tuple[tuple[int, ...], Floats]:
        """The axes a question speaks of, and its value in every cell of the table over them."""
        spoken = sorted(_spoken(query.to_json()))
        for name in spoken:
            if name not in self.names:
                raise Unaskable(f"the domain has no column {name!r}; its columns are: {', '.join(self.names)[:200]}")
        axes = tuple(self.names.index(name) for name in spoken)
        part = Domain({name: dict(self.columns)[name] for name in spoken})
        return axes, part.values(query).reshape(part.shape)

    @cached_property
    def schema(self) -> Schema:
        """What a question must fit to have a value at every point."""
        return Schema({name: ColumnType(_kind(values), None in values) for name, values in self.columns})

    def frame(self) -> Points:
        """All the points, as a question sees rows."""
        return Points(self)

    def values(self, query: Query) -> Floats:
        """The value of a question at every point, in its own units; Unaskable if it has none there."""
        if not isinstance(query, Share | Mean):
            raise Unaskable(
                f"{query.label} has no value on a declared domain: predictions, models and functions belong to rows; "
                "ask share(...) or mean(...) of the domain's columns"
            )
        try:
            query.facts(self.schema, self.size)
        except Unaskable as why:
            raise Unaskable(f"this question has no value on the declared domain: {why}", **why.numbers) from None
        return np.asarray(query.values(self.frame()), dtype=np.float64)

    def to_json(self) -> dict[str, list[Any]]:
        """Plain JSON, which the constructor reads back."""
        return {name: [_plain(value) for value in values] for name, values in self.columns}

    def __repr__(self) -> str:
        return f"Domain({self.to_json()!r})"


class Points:
    """The :class:`~unworn.queries.rows.Frame` of a domain: the last column changes fastest."""

    def __init__(self, domain: Domain) -> None:
        self.size = domain.size
        self._domain = domain

    def column(self, name: str) -> Column:
        before = 1
        for known, values in self._domain.columns:
            if known == name:
                places = np.tile(np.repeat(np.arange(len(values)), self.size // (before * len(values))), before)
                return _column(values, places)
            before *= len(values)
        raise Unaskable(f"the domain has no column {name!r}", column=name)

    def pick(self, values: NDArray[Any]) -> NDArray[Any]:
        raise Unaskable("an array with one entry a row has nothing to say about the points of a domain")


def _read(name: str, given: Iterable[Any]) -> tuple[Value, ...]:
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise ValueError(f"the domain's column {name!r} is a list of its values, not a {type(given).__name__}")
    values = [None if value is None else _scalar(value) for value in given]
    known = [value for value in values if value is not None]
    kinds = {literals.kind_of(value) for value in known}
    if len(kinds) != 1:
        raise ValueError(
            f"the domain's column {name!r} needs values of one kind (numbers, booleans, texts or dates), "
            f"not {' and '.join(sorted(kinds)) or 'none at all'}"
        )
    if len(set(values)) != len(values):
        raise ValueError(f"the domain's column {name!r} names a value twice: give each once")
    return (*sorted(known, key=_order), *([None] if None in values else []))


def _scalar(value: Any) -> Scalar:
    if isinstance(value, Mapping) and set(value) == {"date"}:
        return literals.moment(str(value["date"]))
    return literals.scalar(value)


def _order(value: Scalar) -> Any:
    return value  # of one kind, so any two can be compared


def _plain(value: Value) -> Any:
    if isinstance(value, datetime):
        return {"date": literals.iso(value)}
    return literals.plain(value) if isinstance(value, float) else value


def _kind(values: tuple[Value, ...]) -> ColumnKind:
    return literals.kind_of(cast(Scalar, values[0]))  # the missing value comes last


def _column(values: tuple[Value, ...], places: NDArray[np.intp]) -> Column:
    kind = _kind(values)
    missing = np.array([value is None for value in values])[places] if None in values else None
    known = [value for value in values if value is not None]
    padded = known + known[:1] * (len(values) - len(known))  # what stands under a missing mark is harmless
    if kind == "text":
        return Column(kind, places.astype(np.int32), missing, np.array(padded, dtype=object))
    types: dict[str, Any] = {"number": np.float64, "bool": np.bool_, "date": "datetime64[us]"}
    return Column(kind, np.array(padded, dtype=types[kind])[places], missing)


def _spoken(data: Any) -> set[str]:
    """The columns a question names, from its JSON: ``["col", name]`` wherever it stands."""
    if isinstance(data, list) and len(data) == 2 and data[0] == "col":
        return {str(data[1])}
    parts = data.values() if isinstance(data, Mapping) else data if isinstance(data, list) else ()
    return {name for part in parts for name in _spoken(part)}
