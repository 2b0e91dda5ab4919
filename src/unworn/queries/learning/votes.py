"""The questions of boosting: how well a rule does on rows weighted by the rules before it, and how well all do.

A rule is a predicate, and so is the truth. How much a row counts depends on how many earlier rules were right on it, so
a weighted mean is a mean over all rows of bounded values: a statistical query like any other, and data, not code.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from unworn.errors import Unaskable
from unworn.queries.language import literals
from unworn.queries.language.evaluation import truth as evaluate
from unworn.queries.language.expression_codec import from_json
from unworn.queries.language.expressions import Expression, brief, require_predicate, wrap
from unworn.queries.language.schema_check import check
from unworn.queries.learning.argmin import share_work
from unworn.queries.query import Facts, Query, canonical
from unworn.queries.row_protocol import Bools, Floats, Frame
from unworn.queries.schema import Schema

MAX_VOTES = 2_001


@dataclass(frozen=True, eq=False)
class _OfVotes(Query):
    """A question about the truth and the rules chosen so far."""

    truth: Expression
    votes: tuple[Expression, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "truth", predicate(self.truth, "the truth"))
        if not isinstance(self.votes, tuple) or len(self.votes) > MAX_VOTES:
            raise Unaskable(f"votes are a tuple of at most {MAX_VOTES} rules")
        object.__setattr__(self, "votes", tuple(predicate(vote, "a vote") for vote in self.votes))

    def _check(self, schema: Schema, *rules: Expression) -> None:
        for rule in (self.truth, *self.votes, *rules):
            require_predicate(rule, check(rule, schema).kind, "a rule is a predicate")

    def _right(self, frame: Frame) -> Any:
        """On how many votes each row is right; one after the other, so that a batch counts each vote once."""

        def count() -> Any:
            true = evaluate(self.truth, frame)
            total = np.zeros(frame.size, dtype=np.int64)
            for vote in self.votes:
                total += evaluate(vote, frame) == true
            return total

        return share_work(frame, ("right", self._past), count)

    @cached_property
    def _past(self) -> str:
        return canonical([self.truth.to_json(), [vote.to_json() for vote in self.votes]])

    def _parts(self) -> dict[str, Any]:
        return {"truth": self.truth.to_json(), "votes": [vote.to_json() for vote in self.votes]}

    def __eq__(self, other: object) -> bool:
        return self.fingerprint == other.fingerprint if isinstance(other, _OfVotes) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.fingerprint)


@dataclass(frozen=True, eq=False)
class WeightedEdge(_OfVotes):
    """The mean of weight × (1/2 where the rule is right, -1/2 where it is wrong); without a rule, of the weight alone.

    ``weights`` has one for each number of votes that can have been right. The ratio of two such answers is the share of
    the *reweighted* population on which the rule is right, less 1/2.

    >>> from unworn.queries import col
    >>> edge = WeightedEdge(col("churned") == 1, (col("age") > 30,), (1.0, 0.5), col("visits") < 3)
    >>> edge.label, edge.bounds
    ('weighted edge of visits < 3 on churned == 1 after 1 vote', (-0.5, 0.5))
    """

    weights: tuple[float, ...]
    rule: Expression | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.rule is not None:
            object.__setattr__(self, "rule", predicate(self.rule, "a rule"))
        if not isinstance(self.weights, tuple) or len(self.weights) != len(self.votes) + 1:
            raise Unaskable(f"{len(self.votes)} votes need {len(self.votes) + 1} weights, one for each number right")
        weights = tuple(literals.number(weight) + 0.0 for weight in self.weights)
        if not all(0 <= weight <= 1 for weight in weights) or max(weights) <= 0:
            raise Unaskable("weights lie between 0 and 1, and one of them is above 0")
        object.__setattr__(self, "weights", weights)

    @property
    def label(self) -> str:
        many = f"{len(self.votes)} vote{'s' * (len(self.votes) != 1)}"
        what = "weight of all rows" if self.rule is None else f"weighted edge of {brief(self.rule)}"
        return f"{what} on {brief(self.truth)} after {many}"

    @property
    def bounds(self) -> tuple[float, float]:
        most = max(self.weights)
        return (0.0, most) if self.rule is None else (-most / 2, most / 2)

    def to_json(self) -> dict[str, Any]:
        rule = None if self.rule is None else self.rule.to_json()
        return {"ask": "edge", **self._parts(), "weights": list(self.weights), "rule": rule}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> WeightedEdge:
        """Read the question back; anything else is refused."""
        _only(data, "edge", ("truth", "votes", "weights", "rule"))
        rule = None if data["rule"] is None else from_json(data["rule"])
        return cls(from_json(data["truth"]), _listed(data["votes"]), tuple(data["weights"]), rule)

    def _facts(self, schema: Schema, size: int) -> Facts:
        self._check(schema, *(() if self.rule is None else (self.rule,)))
        return Facts("unit", *self.bounds)

    def values(self, frame: Frame) -> Floats:
        weight = np.array(self.weights)[self._right(frame)]
        if self.rule is None:
            return np.asarray(weight)
        right = evaluate(self.rule, frame) == evaluate(self.truth, frame)
        return np.asarray(np.where(right, weight / 2, -weight / 2))


@dataclass(frozen=True, eq=False)
class MajorityError(_OfVotes):
    """How often the majority of the votes, an odd number, is wrong.

    >>> from unworn.queries import col
    >>> MajorityError(col("churned") == 1, (col("age") > 30,)).label
    'error of the majority of 1 vote on churned == 1'
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.votes) % 2 == 0:
            raise Unaskable(f"a majority of {len(self.votes)} votes may be a tie: give an odd number")

    @property
    def label(self) -> str:
        return f"error of the majority of {len(self.votes)} vote{'s' * (len(self.votes) > 1)} on {brief(self.truth)}"

    def to_json(self) -> dict[str, Any]:
        return {"ask": "majority", **self._parts()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> MajorityError:
        """Read the question back; anything else is refused."""
        _only(data, "majority", ("truth", "votes"))
        return cls(from_json(data["truth"]), _listed(data["votes"]))

    def _facts(self, schema: Schema, size: int) -> Facts:
        self._check(schema)
        return Facts("unit", 0.0, 1.0) if schema.grouped else Facts("binary", 0.0, 1.0, zero_one=True)

    def values(self, frame: Frame) -> Bools:
        return np.asarray(self._right(frame) <= len(self.votes) // 2)


def predicate(value: object, what: str) -> Expression:
    expression = wrap(value)
    require_predicate(expression, expression.kind, f"{what} is a predicate")
    return expression


def _listed(votes: Iterable[Any]) -> tuple[Expression, ...]:
    if not isinstance(votes, list) or len(votes) > MAX_VOTES:
        raise Unaskable(f"votes are a list of at most {MAX_VOTES} rules")
    return tuple(map(from_json, votes))


def _only(data: Mapping[str, Any], ask: str, names: tuple[str, ...]) -> None:
    if set(data) != {"ask", *names}:
        raise Unaskable(f'this question has the fields "ask": "{ask}", {", ".join(names)}, and no others')
