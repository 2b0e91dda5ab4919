"""The questions of the language: the share of rows (or of some rows) where something holds, and a number's mean."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, overload

import numpy as np

from unworn.errors import Unaskable
from unworn.queries.conditional_query import ConditionalQuery, conditional_facts
from unworn.queries.language import literals
from unworn.queries.language.evaluation import evaluate, truth
from unworn.queries.language.expression_codec import from_json
from unworn.queries.language.expressions import Col, Expression, brief, require_predicate, wrap
from unworn.queries.language.schema_check import check
from unworn.queries.query import Facts, Query
from unworn.queries.row_protocol import Bools, Floats, Frame
from unworn.queries.schema import Schema


class _Asked(Query):
    """Equal when the fingerprints are: the same words ask the same."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Asked) and self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)


@dataclass(frozen=True, eq=False, repr=False)
class Share(_Asked):
    """How often a predicate holds in the population. Make it with :func:`share`."""

    where: Expression

    def __post_init__(self) -> None:
        object.__setattr__(self, "where", wrap(self.where))
        require_predicate(self.where, self.where.kind, "share needs a predicate")

    @property
    def label(self) -> str:
        return f"share of {self.where!r}"

    def to_json(self) -> dict[str, Any]:
        return {"ask": "share", "where": self.where.to_json()}

    @classmethod
    def from_json(cls, data: object) -> Share:
        """Read the question back; anything else is refused.

        >>> Share.from_json({"ask": "share", "where": ["gt", ["col", "age"], ["lit", 65]]})
        share(age > 65)
        """
        fields = _fields(data, "share", ("where",))
        return cls(from_json(fields["where"]))

    def _facts(self, schema: Schema, size: int) -> Facts:
        found = check(self.where, schema)
        kind = found.kind
        if kind == "number":
            own = f"col({self.where.name!r})" if isinstance(self.where, Col) else repr(self.where)
            complete = f"{own}.fill(0)" if found.nullable else own
            raise Unaskable(
                f"{brief(self.where)} is a number, and a share needs a predicate: ask mean({complete}, "
                f"range=(low, high)) for its mean, or compare it, as in share({own} > 5)"
            )
        require_predicate(self.where, kind, "share needs a predicate")
        if schema.grouped:
            # A group's value is the mean within it, so it is no longer 0 or 1.
            return Facts("unit", 0.0, 1.0)
        return Facts("binary", 0.0, 1.0, zero_one=True)

    def values(self, frame: Frame) -> Bools:
        return truth(self.where, frame)

    def __repr__(self) -> str:
        return f"share({self.where!r})"


@dataclass(frozen=True, eq=False, repr=False)
class ConditionalShare(_Asked, ConditionalQuery):
    """How often a predicate holds among those for which ``given`` does. Make it with :func:`share`.

    It is counted over the rows where ``given`` holds. Where it holds for none, that is 0 of 0 rows.
    """

    where: Expression
    given: Expression

    def __post_init__(self) -> None:
        for name in ("where", "given"):
            expression = wrap(getattr(self, name))
            object.__setattr__(self, name, expression)
            require_predicate(expression, expression.kind, "share needs predicates")
        self.as_shares()  # refuses two that are too large to be counted together

    @property
    def label(self) -> str:
        return f"share of {self.where!r} given {self.given!r}"

    def to_json(self) -> dict[str, Any]:
        return {"ask": "conditional", "where": self.where.to_json(), "given": self.given.to_json()}

    @classmethod
    def from_json(cls, data: object) -> ConditionalShare:
        """Read the question back; anything else is refused."""
        fields = _fields(data, "conditional", ("where", "given"))
        return cls(from_json(fields["where"]), from_json(fields["given"]))

    def _facts(self, schema: Schema, size: int) -> Facts:
        for expression in (self.where, self.given):
            require_predicate(expression, check(expression, schema).kind, "share needs predicates")
        return conditional_facts(schema, repr(self))

    def as_shares(self) -> tuple[Share, Share]:
        """The share of rows with both, and that of rows in the subset."""
        return Share(self.where & self.given), Share(self.given)

    def tallies(self, frame: Frame) -> tuple[Bools, Bools]:
        subset = truth(self.given, frame)
        return truth(self.where, frame) & subset, subset

    def __repr__(self) -> str:
        return f"share({self.where!r}, given={self.given!r})"


@dataclass(frozen=True, eq=False, repr=False)
class Mean(_Asked):
    """The population's mean of a number cut to a declared range. Make it with :func:`mean`."""

    of: Expression
    low: float
    high: float

    def __post_init__(self) -> None:
        of = wrap(self.of)
        _require_number(of, of.kind)
        low, high = literals.number(self.low), literals.number(self.high)
        if not low < high or not math.isfinite(high - low):
            raise Unaskable(
                f"range=({low:g}, {high:g}) is not a range: give (low, high) with low < high", low=low, high=high
            )
        for name, value in (("of", of), ("low", low), ("high", high)):
            object.__setattr__(self, name, value)

    @property
    def label(self) -> str:
        return f"mean of {self.of!r} in [{literals.plain(self.low)}, {literals.plain(self.high)}]"

    def to_json(self) -> dict[str, Any]:
        bounds = [literals.plain(self.low), literals.plain(self.high)]
        return {"ask": "mean", "of": self.of.to_json(), "range": bounds}

    @classmethod
    def from_json(cls, data: object) -> Mean:
        """Read the question back; anything else is refused.

        >>> Mean.from_json({"ask": "mean", "of": ["col", "income"], "range": [0, 200000]})
        mean(income, range=(0, 200000))
        """
        fields = _fields(data, "mean", ("of", "range"))
        return cls(from_json(fields["of"]), *_ends(fields["range"]))

    def _facts(self, schema: Schema, size: int) -> Facts:
        found = check(self.of, schema)
        _require_number(self.of, found.kind)
        if found.nullable:
            raise Unaskable(
                f"{brief(self.of)} may be missing (a nullable column, or a division by what may be 0): "
                "average it with .fill(value) (in SQL: coalesce(column, value)), or declare the column without missing "
                "values in schema="
            )
        return Facts("unit", self.low, self.high)

    def values(self, frame: Frame) -> Floats:
        """The values cut to the range. What is missing all the same counts as the low end.

        That happens when a column declared complete is not, or when arithmetic overflows. Raising instead
        would tell the asker, for free, that such a row exists.
        """
        found, missing = evaluate(self.of, frame)
        result: Floats = np.clip(found, self.low, self.high)
        if missing is not None:
            result[missing] = self.low
        return result

    def __repr__(self) -> str:
        return f"mean({self.of!r}, range=({literals.plain(self.low)}, {literals.plain(self.high)}))"


Predicate = Expression | str | bool
"""What holds of a row or does not, also as SQL text."""


@overload
def share(predicate: Predicate) -> Share: ...
@overload
def share(predicate: Predicate, given: Predicate) -> ConditionalShare: ...
@overload
def share(predicate: Predicate, given: Predicate | None) -> Share | ConditionalShare: ...
def share(predicate: Predicate, given: Predicate | None = None) -> Share | ConditionalShare:
    """How often a predicate holds among all rows, or among those for which another one does (``given``).

    Text is read as SQL.

    >>> from unworn.queries.language.expressions import col
    >>> question = share((col("age") > 65) & (col("plan") == "basic"))
    >>> question.label
    "share of (age > 65) & (plan == 'basic')"
    >>> question == share((65.0 < col("age")) & (col("plan") == "basic"))
    True
    >>> share("bought = 1", given="arm = 'B'").label
    "share of bought == 1 given arm == 'B'"
    """
    if given is not None:
        return ConditionalShare(_predicate(predicate), _predicate(given))
    return Share(_predicate(predicate))


def mean(expression: Expression | str, range: tuple[float, float] | None = None) -> Mean:
    """The mean of a number, each value clipped to the range, which must be declared: it is never found in the rows.

    Text is read as SQL.

    >>> from unworn.queries.language.expressions import col
    >>> mean(col("income"), range=(0, 200_000)).label
    'mean of income in [0, 200000]'
    >>> mean("coalesce(income, 0) / 12", range=(0, 20_000))
    mean(income.fill(0) / 12, range=(0, 20000))
    >>> mean(col("income") > 5, range=(0, 1))
    Traceback (most recent call last):
    unworn.errors.Unaskable: income > 5 is true or false: use share(...)
    """
    if isinstance(expression, str):
        from unworn.queries.language.sql_text import parse_expression  # loaded by those who write SQL

        expression = parse_expression(expression)
    if range is None and getattr(expression, "kind", None) != "bool":  # of a predicate a share is what is meant
        raise Unaskable(
            f"the mean of {brief(wrap(expression))} needs range=(low, high), two numbers its values are cut to: "
            "they are yours to say, and are not looked up in the rows"
        )
    return Mean(expression, *_ends((0, 1) if range is None else range))


def _predicate(given: Predicate) -> Expression:
    if not isinstance(given, str):
        return wrap(given)
    from unworn.queries.language.sql_text import parse_predicate

    return parse_predicate(given)


def _require_number(of: Expression, kind: str | None) -> None:
    if kind == "bool":
        raise Unaskable(f"{brief(of)} is true or false: use share(...)")
    if kind not in (None, "number"):
        raise Unaskable(f"mean needs a number, and {brief(of)} is a {kind}: ask for a share of a comparison instead")


def _ends(bounds: object) -> tuple[float, float]:
    if not isinstance(bounds, tuple | list) or len(bounds) != 2:
        raise Unaskable("mean needs range=(low, high): two finite numbers that the values are clipped to")
    return literals.number(bounds[0]), literals.number(bounds[1])


def _fields(data: object, ask: str, names: tuple[str, ...]) -> Mapping[str, Any]:
    if not isinstance(data, Mapping):
        raise Unaskable(f"a question is an object with the fields ask, {', '.join(names)}; not a {type(data).__name__}")
    if set(data) != {"ask", *names} or data["ask"] != ask:
        raise Unaskable(f'this question has the fields "ask": "{ask}", {", ".join(names)}, and no others')
    return data
