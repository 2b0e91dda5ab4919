"""The public description of the rows: names, kinds, and which columns may be missing.

It comes from dtypes, from ``train`` or from ``schema=``, never from the holdout's values, so a
question that is refused because of the schema tells nothing about the rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, cast, get_args

from unworn.basics.display import show_value
from unworn.errors import Unaskable

ColumnKind = Literal["number", "bool", "text", "date"]


@dataclass(frozen=True, slots=True)
class ColumnType:
    """What is public about one column."""

    kind: ColumnKind
    nullable: bool = False


@cache
def column_type(kind: ColumnKind, nullable: bool) -> ColumnType:
    """The one object for a type, however many columns have it."""
    return ColumnType(kind, nullable)


@dataclass(frozen=True)
class Schema(Mapping[str, ColumnType]):
    """Column names in order, their types, the target's name, and whether rows are grouped.

    >>> schema = Schema({"age": ColumnType("number"), "plan": ColumnType("text", nullable=True)})
    >>> schema.of("plan").nullable
    True
    >>> Schema.from_json(schema.to_json()) == schema
    True
    """

    columns: Mapping[str, ColumnType]
    target: str | None = None
    grouped: bool = False

    def __getitem__(self, name: str) -> ColumnType:
        return self.columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def of(self, name: str) -> ColumnType:
        """The type of a column, or a refusal that names the columns there are."""
        if not isinstance(name, str) or name not in self.columns:
            known = ", ".join(list(self.columns)[:20]) + (", …" if len(self.columns) > 20 else "")
            raise Unaskable(f"there is no column {show_value(name)}; the columns are: {known}", column=name)
        return self.columns[name]

    def is_but_for_missing(self, other: Schema) -> bool:
        """Whether two schemas differ, if at all, only in what may be missing."""
        kinds = {name: column.kind for name, column in self.columns.items()}
        return (kinds, self.target, self.grouped) == (
            {name: column.kind for name, column in other.columns.items()},
            other.target,
            other.grouped,
        )

    def declared_by(self, other: Schema) -> Schema:
        """The same columns, with what another schema says about whether those of its own kind may be missing.

        >>> train, sealed = Schema({"age": ColumnType("number", nullable=True)}), Schema({"age": ColumnType("number")})
        >>> train.declared_by(sealed).of("age").nullable
        False
        """
        columns = {
            name: other.columns[name] if name in other.columns and other.columns[name].kind == own.kind else own
            for name, own in self.columns.items()
        }
        return Schema(columns, self.target, self.grouped)

    def words(self, unlike: Schema) -> str:
        """What of this schema another one does not have, as ``schema=`` would say it: '?' is for what may be missing.

        >>> sealed, now = Schema({"age": ColumnType("number")}), Schema({"age": ColumnType("number", nullable=True)})
        >>> sealed.words(unlike=now), now.words(unlike=sealed)
        ("{'age': 'number'}", "{'age': 'number?'}")
        """
        differing = {
            name: column.kind + "?" * column.nullable
            for name, column in self.columns.items()
            if unlike.columns.get(name) != column
        }
        words = str(dict(list(differing.items())[:3]))
        if len(differing) > 3:
            words += f" and {len(differing) - 3} more"
        if self.target != unlike.target:
            words += f" and the target {self.target!r}"
        if self.grouped != unlike.grouped:
            words += " and groups" if self.grouped else " and no groups"
        return words.removeprefix("{} and ")

    def to_json(self) -> dict[str, Any]:
        columns = {name: [column.kind, column.nullable] for name, column in self.columns.items()}
        return {"columns": columns, "target": self.target, "grouped": self.grouped}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Schema:
        columns: dict[str, ColumnType] = {}
        kinds = get_args(ColumnKind)
        for name, (kind, nullable) in data["columns"].items():
            if not isinstance(kind, str) or kind not in kinds or not isinstance(nullable, bool):
                raise Unaskable(f"column {name!r:.80} has kind {kind!r:.40}; kinds are {', '.join(kinds)}")
            columns[name] = column_type(cast("ColumnKind", kind), nullable)
        target, grouped = data.get("target"), data.get("grouped", False)
        if not (target is None or isinstance(target, str)) or not isinstance(grouped, bool):
            raise Unaskable("a schema's target is a column's name, and its rows are grouped or not")
        return cls(columns, target, grouped)
