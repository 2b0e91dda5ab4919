"""A finite domain: every row that could be, so that a question can be put to all of them without the holdout.

Whoever knows the value of a question at every point of the domain knows its value on every data set made of those
points. The domain is declared, or read off what may be seen; off the rows themselves only by name.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np

from unworn.errors import Unaskable
from unworn.queries.language import literals
from unworn.queries.language.means import Mean, Share
from unworn.queries.query import Query
from unworn.queries.row_protocol import Floats
from unworn.queries.schema import ColumnType, Schema
from unworn.universe.domain.axes import Axis
from unworn.universe.domain.bins import Bins
from unworn.universe.domain.declared_columns import read_axis, read_toml
from unworn.universe.domain.domain_points import CELLS, Points
from unworn.universe.domain.exact_questions import settle, spoken
from unworn.universe.domain.value_columns import OTHER, Values

__all__ = ["CELLS", "OTHER", "Bins", "Domain", "Origin", "Points", "Values"]

Origin = Literal["declared", "dtypes", "train", "rows"]
"""Where a domain came from: somebody's knowledge, dtypes, rows that may be seen, or the rows themselves."""


@dataclass(frozen=True, repr=False)
class Domain:
    """The product of finite columns, each given by its values (``None`` for a missing one) or by :class:`Bins`.

    Columns and values have one order, so that domains declared in other words are equal. Where a domain came from
    (``origin``) is kept and written down, but two domains with the same cells are equal wherever they came from: the
    cells are what is promised, the origin is what a certificate says about them.

    >>> domain = Domain({"plan": ["pro", "basic"], "age": [20, 40, 60]})
    >>> domain.size, domain
    (6, Domain({'age': [20, 40, 60], 'plan': ['basic', 'pro']}))
    >>> from unworn.queries import col, share
    >>> domain.values(share((col("age") > 30) & (col("plan") == "pro"))).tolist()
    [0.0, 0.0, 0.0, 1.0, 0.0, 1.0]
    >>> Domain(domain.to_json()) == domain
    True
    >>> binned = Domain({"age": Bins([0, 18, 30, 65, None]), "plan": ["basic", OTHER]})
    >>> binned.weights(share(col("age") >= 30))
    ((0,), array([0., 0., 1., 1.]))
    """

    columns: tuple[tuple[str, Axis], ...]
    origin: Origin = field(compare=False)

    def __init__(self, columns: Mapping[str, Any], origin: Origin = "declared") -> None:
        if isinstance(columns, Mapping) and isinstance(columns.get("origin"), str):  # no column is a text
            columns, origin = _written(columns)
        if not isinstance(columns, Mapping) or not columns:
            raise ValueError("a domain is a mapping of columns to their values, as {'age': [20, 40, 60]}")
        if origin not in get_args(Origin):
            raise ValueError(f"the origin of a domain is one of {', '.join(get_args(Origin))}, not {origin!r}")
        names = [literals.text(str(name), "a column name") for name in columns]
        if len(set(names)) < len(names):
            raise ValueError("the domain names a column twice: name each once")
        axes = (read_axis(name, given) for name, given in zip(names, columns.values(), strict=True))
        self._set(zip(names, axes, strict=True), origin)

    def _set(self, columns: Iterable[tuple[str, Axis]], origin: Origin) -> None:
        object.__setattr__(self, "columns", tuple(sorted(columns, key=lambda column: column[0])))
        object.__setattr__(self, "origin", origin)

    def _with(self, columns: Iterable[tuple[str, Axis]]) -> Domain:
        """A domain of axes that have been read already, of the same origin."""
        made = object.__new__(Domain)
        made._set(columns, self.origin)
        return made

    # ------------------------------------------------------------------ where it comes from

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Domain:
        """A domain declared in a TOML file: a list of values, or a table with ``edges`` or ``values``, for a column."""
        return cls(read_toml(path))

    @classmethod
    def of_frame(cls, frame: Any) -> Domain:
        """A domain declared in a frame that shows every value of every column at least once; null is missing."""
        from unworn.universe.domain.observed_domains import read_shown_values

        return cls(read_shown_values(frame))

    @classmethod
    def of_dtypes(
        cls, frame: Any, declared: Mapping[str, Any] | None = None, columns: Iterable[str] | None = None
    ) -> Domain:
        """What dtypes say: booleans and categories. ``declared`` columns come as declared, and need no such dtype.

        Categories count as public. If they were made from the rows (``astype("category")``), use :meth:`of_rows`.
        """
        from unworn.universe.domain.dtype_domains import of_dtypes

        return cls(of_dtypes(frame, declared, columns), "dtypes")

    @classmethod
    def of_train(
        cls,
        train: Any,
        bins: int = 16,
        most: int = 50,
        declared: Mapping[str, Any] | None = None,
        columns: Iterable[str] | None = None,
    ) -> Domain:
        """Read off rows that the asker may see: a frame, a dictionary of arrays, or a sample.

        Text: its ``most`` frequent values, and :data:`OTHER`. A number with at most ``bins`` values: those. Any other:
        ``bins`` bins with about equally many rows, their ends open.
        """
        from unworn.universe.domain.observed_domains import observed_axes

        return cls(observed_axes(train, bins, most, declared, columns), "train")

    @classmethod
    def of_rows(
        cls,
        rows: Any,
        bins: int = 16,
        most: int = 50,
        declared: Mapping[str, Any] | None = None,
        columns: Iterable[str] | None = None,
    ) -> Domain:
        """Read off the rows that are to be kept private, like :meth:`of_train`.

        Which values occur is then revealed by whatever is made of the domain, and no noise hides it. The domain
        remembers (``origin``), and certificates say so.
        """
        from unworn.universe.domain.observed_domains import observed_axes

        return cls(observed_axes(rows, bins, most, declared, columns), "rows")

    def with_other(self, *names: str) -> Domain:
        """The same with :data:`OTHER` in the text columns named (all of them, if none is), so that any text has a cell.

        >>> Domain({"plan": ["basic", "pro"], "age": [20, 40]}).with_other()
        Domain({'age': [20, 40], 'plan': ['basic', 'pro', OTHER]})
        """
        for name in names:
            if self.axis(name).kind != "text":
                raise Unaskable(f"{name!r} is not text: give numbers Bins with open ends", column=name)
        wanted = names or [name for name, axis in self.columns if axis.kind == "text"]
        return self._with(
            (name, axis.with_other() if name in wanted and isinstance(axis, Values) else axis)
            for name, axis in self.columns
        )

    def with_missing(self, *names: str) -> Domain:
        """The same with a cell for missing values in the columns named (in all of them, if none is)."""
        wanted = [name for name in names if self.axis(name)] or self.names
        return self._with((name, axis.with_missing() if name in wanted else axis) for name, axis in self.columns)

    def only(self, names: Iterable[str]) -> Domain:
        """The domain of some of the columns."""
        return self._with((name, self.axis(name)) for name in names)

    # ------------------------------------------------------------------ what it is

    @cached_property
    def axes(self) -> Mapping[str, Axis]:
        """The columns by name."""
        return dict(self.columns)

    def axis(self, name: str) -> Axis:
        """One column, or a refusal that names those there are."""
        if name not in self.axes:
            known = ", ".join(self.names)[:200]
            raise Unaskable(f"the domain has no column {name!r}; its columns are: {known}", column=name)
        return self.axes[name]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The columns, in the order of the axes."""
        return tuple(name for name, _ in self.columns)

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """How many values each column has."""
        return tuple(len(axis) for _, axis in self.columns)

    @cached_property
    def size(self) -> int:
        """How many points it has."""
        return math.prod(self.shape)

    def labels(self, name: str) -> tuple[str, ...]:
        """How the values of a column read, in the order of its axis."""
        return self.axis(name).labels

    def ordered(self, name: str) -> bool:
        """Whether thresholds of a column make sense: numbers, bins or dates, none missing."""
        return self.axis(name).ordered

    @cached_property
    def schema(self) -> Schema:
        """What a question must fit to have a value at every point."""
        return Schema({name: ColumnType(axis.kind, axis.missing) for name, axis in self.columns})

    # ------------------------------------------------------------------ questions

    def weights(self, query: Query) -> tuple[tuple[int, ...], Floats]:
        """The axes a question speaks of, and its value in every cell of the table over them."""
        asked = _language(query)
        part = self.only(sorted(spoken(asked.where if isinstance(asked, Share) else asked.of)))
        return tuple(self.names.index(name) for name in part.names), part.values(asked).reshape(part.shape)

    def frame(self) -> Points:
        """All the points, as a question sees rows."""
        return Points(self.columns)

    def values(self, query: Query) -> Floats:
        """The value of a question at every point, in its own units; Unaskable if it has none there."""
        asked = _language(query)
        try:
            asked.facts(self.schema, self.size)
            settle(asked, self.axes)
        except Unaskable as why:
            raise Unaskable(f"this question has no value on the declared domain: {why}", **why.numbers) from None
        return np.asarray(asked.values(self.frame()), dtype=np.float64)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON, which the constructor reads back; where it came from is named unless it was declared."""
        columns = {name: axis.to_json() for name, axis in self.columns}
        return columns if self.origin == "declared" else {"origin": self.origin, "columns": columns}

    def __repr__(self) -> str:
        columns = ", ".join(f"{name!r}: {axis!r}" for name, axis in self.columns)
        return f"Domain({{{columns}}}{'' if self.origin == 'declared' else f', origin={self.origin!r}'})"


def _language(query: Query) -> Share | Mean:
    if not isinstance(query, Share | Mean):
        raise Unaskable(
            f"{query.label} has no value on a declared domain: predictions, models and functions belong to rows; "
            "ask share(...) or mean(...) of the domain's columns"
        )
    return query


def _written(data: Mapping[str, Any]) -> tuple[Mapping[str, Any], Any]:
    if set(data) != {"origin", "columns"}:
        raise ValueError("a domain saved with its origin has the fields origin and columns, and no others")
    return data["columns"], data["origin"]
