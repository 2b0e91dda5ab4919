"""Operators between a column and constants: is it among these, between those, missing, and what stands for missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from unworn.errors import Unaskable
from unworn.queries.language.leaves import Expression, Literal, brief, inner
from unworn.queries.schema import ColumnKind

MAX_ITEMS = 1000


class Predicate(Expression):
    """Anything that is true or false of a row, and never missing."""

    predicate = True

    @property
    def kind(self) -> ColumnKind:
        return "bool"


@dataclass(frozen=True, eq=False, repr=False)
class IsIn(Predicate):
    """One of some constants of one kind, kept sorted and once each: the order asked in does not matter."""

    operand: Expression
    items: tuple[Literal, ...]

    def __post_init__(self) -> None:
        if not self.items:
            raise Unaskable("isin needs at least one value")
        if len(self.items) > MAX_ITEMS:
            raise Unaskable(f"isin of {len(self.items)} values is too long: at most {MAX_ITEMS}", limit=MAX_ITEMS)
        kinds = sorted({item.kind for item in self.items})
        if len(kinds) > 1:
            raise Unaskable(f"isin needs values of one kind, not {' and '.join(kinds)} together")
        values: set[Any] = {item.value for item in self.items}
        object.__setattr__(self, "items", tuple(Literal(value) for value in sorted(values)))
        self._grow(self.operand)

    def to_json(self) -> list[Any]:
        return ["in", self.operand.to_json(), *(item.to_json() for item in self.items)]

    def __repr__(self) -> str:
        shown = ", ".join(repr(item) for item in self.items[:8])
        more = f", … {len(self.items)} values" if len(self.items) > 8 else ""
        return f"{inner(self.operand)}.isin([{shown}{more}])"


@dataclass(frozen=True, eq=False, repr=False)
class Between(Predicate):
    """Within two constants, ends included; false where missing."""

    operand: Expression
    low: Literal
    high: Literal

    def __post_init__(self) -> None:
        low: Any = self.low.value
        high: Any = self.high.value
        if self.low.kind != self.high.kind:
            raise Unaskable(f"between needs two ends of one kind, not {self.low.kind} and {self.high.kind}")
        if self.low.kind == "bool":
            raise Unaskable("between needs two numbers or two dates; compare a bool with ==")
        # Texts may turn out to be dates; then they are put in order against the schema.
        if self.low.kind != "text" and low > high:
            raise Unaskable(f"between({self.low!r}, {self.high!r}) holds nothing: put the smaller end first")
        self._grow(self.operand, self.low, self.high)

    def to_json(self) -> list[Any]:
        return ["between", self.operand.to_json(), self.low.to_json(), self.high.to_json()]

    def __repr__(self) -> str:
        return f"{inner(self.operand)}.between({self.low!r}, {self.high!r})"


@dataclass(frozen=True, eq=False, repr=False)
class IsNull(Predicate):
    """Whether a value is missing."""

    operand: Expression

    def __post_init__(self) -> None:
        _refuse_predicate(self.operand, "is_null")
        self._grow(self.operand)

    def to_json(self) -> list[Any]:
        return ["is_null", self.operand.to_json()]

    def __repr__(self) -> str:
        return f"{inner(self.operand)}.is_null()"


@dataclass(frozen=True, eq=False, repr=False)
class Fill(Expression):
    """A value with a constant of its kind in place of what is missing."""

    operand: Expression
    value: Literal

    def __post_init__(self) -> None:
        _refuse_predicate(self.operand, "fill")
        self._grow(self.operand, self.value)

    @property
    def kind(self) -> ColumnKind | None:
        if self.operand.kind is not None:
            return self.operand.kind
        # A text may fill a column of dates; which of the two it is, only the schema says.
        return None if self.value.kind == "text" else self.value.kind

    def to_json(self) -> list[Any]:
        return ["fill", self.operand.to_json(), self.value.to_json()]

    def __repr__(self) -> str:
        return f"{inner(self.operand)}.fill({self.value!r})"


def _refuse_predicate(operand: Expression, verb: str) -> None:
    if operand.predicate:
        raise Unaskable(
            f"{brief(operand)} is true or false, never missing (comparing with a missing value is false): "
            f"put .{verb}(…) on the column inside it"
        )
