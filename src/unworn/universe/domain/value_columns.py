"""A column given by the list of its values, with room for a missing one and for all the others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from unworn.noise import Stream
from unworn.queries.language import literals
from unworn.queries.language.literals import Scalar
from unworn.queries.row_protocol import Column
from unworn.queries.schema import ColumnKind
from unworn.universe.domain.axes import MISSING, Axis, Places, unknown_in


class Other:
    """Every text that is not listed, as one value. There is one of it: :data:`OTHER`."""

    LABEL: Final = "(other)"

    def __reduce__(self) -> str:
        return "OTHER"  # a copy from a pickle is the same one

    def __repr__(self) -> str:
        return "OTHER"


OTHER: Final = Other()
Value = Scalar | Other | None


@dataclass(frozen=True, repr=False)
class Values(Axis):
    """A listed column: numbers, booleans, texts or dates, then :data:`OTHER`, then ``None`` for a missing one.

    >>> plans = Values(["pro", None, "basic", OTHER])
    >>> plans.labels, plans.to_json()
    (('basic', 'pro', '(other)', 'missing'), ['basic', 'pro', {'other': True}, None])
    """

    values: tuple[Value, ...]

    def __init__(self, values: Iterable[Any], name: str = "") -> None:
        object.__setattr__(self, "values", _read(name, values))

    @property
    def missing(self) -> bool:
        return self.values[-1] is None

    @cached_property
    def listed(self) -> tuple[Scalar, ...]:
        """The values that stand for themselves."""
        return tuple(cast(Scalar, value) for value in self.values if value is not None and value is not OTHER)

    @property
    def kind(self) -> ColumnKind:
        return literals.kind_of(self.listed[0]) if self.listed else "text"

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[Value]:
        return iter(self.values)

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(_label(value) for value in self.values)

    @property
    def ordered(self) -> bool:
        return not self.missing and self.kind in ("number", "date")

    @property
    def coarse(self) -> bool:
        return OTHER in self.values

    def unsettled(self, op: str, constants: Sequence[Scalar]) -> str | None:
        for constant in constants:
            if self.coarse and constant not in self._listed:
                return f"{constant!r:.60} counts as {Other.LABEL} with all that is not listed: list it in the domain"
        return None

    @cached_property
    def _listed(self) -> frozenset[Scalar]:
        return frozenset(self.listed)

    @cached_property
    def _known(self) -> NDArray[Any]:
        """The listed values as rows hold them."""
        types: dict[ColumnKind, Any] = {"number": np.float64, "bool": np.bool_, "date": "datetime64[us]"}
        return np.array(self.listed, dtype=types[self.kind])

    @cached_property
    def _given(self) -> NDArray[Any]:
        """The listed values as they are handed out: numbers that are all whole as integers."""
        whole = self.kind == "number" and all(isinstance(literals.plain(cast(float, one)), int) for one in self.listed)
        return self._known.astype(np.int64) if whole else self._known

    def points(self) -> Column:
        return self.drawn(np.arange(len(self)))

    def drawn(self, places: NDArray[Any], stream: Stream | None = None) -> Column:
        missing = np.equal(places, len(self) - 1) if self.missing else None
        if self.kind == "text":
            words = np.array([Other.LABEL if value is OTHER else value or "" for value in self.values], dtype=object)
            return Column("text", places.astype(np.int32), missing, words)
        # What stands under a missing mark is harmless.
        return Column(self.kind, self._given.take(places, mode="clip"), missing)

    def places(self, column: Column) -> Places:
        if column.vocabulary is not None:
            cells = {word: place for place, word in enumerate(self.values)}
            rest = cells.get(OTHER, -1)
            words = np.array([cells.get(str(word), rest) for word in column.vocabulary], dtype=np.int32)
            return self._mark(words.take(column.values, mode="clip"), column.missing)
        values = column.values.astype(self._known.dtype, copy=False)
        places = np.minimum(np.searchsorted(self._known, values), len(self._known) - 1)
        places[self._known[places] != values] = -1
        return self._mark(places, unknown_in(column))

    def with_missing(self) -> Values:
        return self if self.missing else Values([*self.values, None])

    def with_other(self) -> Values:
        """The same with a cell for every text that is not listed."""
        return self if self.coarse else Values([*self.values, OTHER])

    @property
    def remedy(self) -> str:
        room = "; Bins with open ends hold every number" if self.kind == "number" else ""
        room = "; with_other() makes room for every text" if self.kind == "text" and not self.coarse else room
        return f"list more values{room}" + ("" if self.missing else "; with_missing() makes room for what is missing")

    def to_json(self) -> list[Any]:
        return [_plain(value) for value in self.values]

    def __repr__(self) -> str:
        shown = [repr(value if value is OTHER else _plain(value)) for value in self.values[:20]]
        return f"[{', '.join(shown)}{f', … {len(self)} values' if len(self) > 20 else ''}]"


def _read(name: str, given: Iterable[Any]) -> tuple[Value, ...]:
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise ValueError(f"the domain's column {name!r} is a list of its values, not a {type(given).__name__}")
    values = [value if value is None or value is OTHER else _scalar(value) for value in given]
    known = [value for value in values if value is not None and value is not OTHER]
    kinds = {literals.kind_of(cast(Scalar, value)) for value in known} | ({"text"} if OTHER in values else set())
    if len(kinds) != 1:
        raise ValueError(
            f"the domain's column {name!r} needs values of one kind (numbers, booleans, texts or dates), "
            f"not {' and '.join(sorted(kinds)) or 'none at all'}"
            + ("; OTHER is for text: give numbers Bins with open ends" if OTHER in values else "")
        )
    if len(set(values)) != len(values):
        raise ValueError(f"the domain's column {name!r} names a value twice: give each once")
    if OTHER in values and Other.LABEL in values:
        raise ValueError(f"the domain's column {name!r} lists {Other.LABEL!r}, which is how OTHER reads: rename it")
    known.sort(key=_order)
    return (*known, *([OTHER] if OTHER in values else []), *([None] if None in values else []))


def _scalar(value: Any) -> Scalar | Other:
    if isinstance(value, Mapping):
        if set(value) == {"date"}:
            return literals.moment(str(value["date"]))
        if dict(value) == {"other": True}:
            return OTHER
    return literals.scalar(value)


def _order(value: Value) -> Any:
    return value  # of one kind, so any two can be compared


def _plain(value: Value) -> Any:
    if isinstance(value, datetime):
        return {"date": literals.iso(value)}
    if isinstance(value, Other):
        return {"other": True}
    return literals.plain(value) if isinstance(value, float) else value


def _label(value: Value) -> str:
    if value is None:
        return MISSING
    if isinstance(value, datetime):
        return literals.iso(value)
    return Other.LABEL if isinstance(value, Other) else str(_plain(value))
