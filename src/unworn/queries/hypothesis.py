"""A hypothesis: that the population's value of a question is at most, or at least, some number.

It is a question with two answers, rejected or not. How sure the rows are is not among them: a p-value is a number made
of the rows, as exact as their mean.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unworn.errors import Unaskable
from unworn.queries.composite import Composite
from unworn.queries.language.literals import plain
from unworn.queries.metrics.paired_query import Difference
from unworn.queries.query import Facts, Query
from unworn.queries.row_protocol import Floats, Frame
from unworn.queries.schema import Schema

_SIDES = {"at_most": 1, "at_least": -1}
_WORDS = {1: "at most", -1: "at least"}


@dataclass(frozen=True, eq=False)
class Hypothesis(Query):
    """That the value of ``query`` is at most ``null`` (``side`` 1) or at least ``null`` (-1), tested at ``level``.

    Make one with :func:`hypothesis`. It belongs to no family: an outcome is no guess for anything.
    """

    query: Query
    side: int
    null: float
    level: float

    @property
    def words(self) -> str:
        """The hypothesis itself."""
        return f"{self.query.label} is {_WORDS[self.side]} {plain(self.null)}"

    @property
    def label(self) -> str:
        return self.words + asked_at(self.level)

    @property
    def portable(self) -> bool:
        return self.query.portable

    @property
    def needs_features(self) -> bool:
        return self.query.needs_features

    def to_json(self) -> dict[str, Any]:
        side = "at_most" if self.side > 0 else "at_least"
        return {"ask": "hypothesis", "of": self.query.to_json(), side: plain(self.null), "level": self.level}

    def __eq__(self, other: object) -> bool:
        return self.fingerprint == other.fingerprint if isinstance(other, Hypothesis) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def _facts(self, schema: Schema, size: int) -> Facts:
        """Those of the question, with what is tested. A hypothesis that no rows could speak against is refused."""
        facts = self.query.facts(schema, size)
        inside = facts.low <= self.null < facts.high if self.side > 0 else facts.low < self.null <= facts.high
        if not inside:
            name = "above" if self.side > 0 else "below"
            raise Unaskable(
                f"{name}={self.null:g} lies at or past an end of the range [{facts.low:g}, {facts.high:g}], where no "
                "rows could tell: test a value inside it, in the question's own units",
                null=self.null,
                low=facts.low,
                high=facts.high,
            )
        return replace(facts, null=(self.side, self.null, self.level))

    def values(self, frame: Frame) -> NDArray[np.bool_] | Floats:
        return self.query.values(frame)


def asked_at(level: float) -> str:
    """How a hypothesis becomes a question: what its label adds to its words."""
    return f", rejected at level {level!r}?"


def hypothesis(
    query: Query, level: float = 0.05, *, above: float | None = None, below: float | None = None
) -> Hypothesis:
    """The hypothesis that rows must speak against for ``query`` to be called above (below) a value.

    >>> from unworn.queries.language.means import share
    >>> from unworn.queries.language.expressions import col
    >>> hypothesis(share(col("age") > 65), above=0.2).words
    'share of age > 65 is at most 0.2'
    >>> hypothesis(share(col("age") > 65))
    Traceback (most recent call last):
    unworn.errors.Unaskable: say what to test: above=0.5 asks whether the value is above 0.5, below=0.5 whether it is below
    """  # noqa: E501
    if isinstance(query, Hypothesis):
        raise Unaskable("this is a hypothesis already: test(h.query, h.level, above=h.null) asks it, or below=h.null")
    if isinstance(query, Composite):
        parts = " and ".join(part.label for part in query.questions[:3])
        raise Unaskable(f"{query.label} is made of {parts}, and one question is tested: test a part, or ask for it")
    if not isinstance(query, Query):
        raise Unaskable(f"a hypothesis is about share(...), mean(...) or a metric, not {type(query).__name__}")
    if above is not None and below is not None:
        raise Unaskable("give above= or below=, not both: each is a test of its own, with its own level")
    if above is None and below is None:
        if not isinstance(query, Difference):
            raise Unaskable(
                "say what to test: above=0.5 asks whether the value is above 0.5, below=0.5 whether it is below"
            )
        above = 0.0  # is the first better at all?
    level = _number(level, "level")
    if not 0 < level < 1:
        raise Unaskable(
            f"level is a number between 0 and 1, such as 0.05, not {level}: it bounds the chance that any true "
            "hypothesis is ever rejected"
        )
    if above is not None:
        return Hypothesis(query, 1, _number(above, "above"), level)
    return Hypothesis(query, -1, _number(below, "below"), level)


def hypothesis_from_json(data: Mapping[str, Any], read: Callable[[Any], Query]) -> Hypothesis:
    """A recorded hypothesis; ``read`` reads the question it is about."""
    (side,) = set(data) - {"ask", "of", "level"}
    if isinstance(data["of"], Mapping) and data["of"].get("ask") == "hypothesis":
        raise Unaskable("a hypothesis is about a question, not about another hypothesis")
    name = {1: "above", -1: "below"}[_SIDES[side]]
    return hypothesis(read(data["of"]), data["level"], **{name: data[side]})


def null_of(question: Any) -> tuple[int, float, float] | None:
    """(side, value, level) as the JSON of a recorded question states them; none if it is no hypothesis.

    >>> null_of({"ask": "hypothesis", "of": {}, "at_least": 3, "level": 0.01})
    (-1, 3.0, 0.01)
    """
    if not isinstance(question, Mapping) or question.get("ask") != "hypothesis":
        return None
    (side,) = set(question) - {"ask", "of", "level"}
    return _SIDES[side], float(question[side]), float(question["level"])


def _number(value: Any, name: str) -> float:
    """A finite float: the asker's own, so a mistake is an error and nothing is charged."""
    try:
        number = math.nan if isinstance(value, bool | str) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise Unaskable(f"{name} is a finite number, not {value!r:.60}")
    return number + 0.0  # there is only one zero
