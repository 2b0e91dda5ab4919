"""Many thresholds of one column: a run of rows is sorted once, and each of them looked up.

A thousand questions ``age > 18``, ``age > 19``, … would each look at every row. Sorted, a run of rows tells how many of
its values lie below any constant by a search in it. So does it where all of them ask for something else beside, like
``(age > 18) & (plan == 'basic')``: then the rows are sorted of which that holds. Only counts come out, and those add up
the same in whatever order runs of rows are taken.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unworn.queries.language.evaluation import numbers, truth
from unworn.queries.language.expressions import Col, Compare, Expression, Literal, Logic
from unworn.queries.language.means import Share
from unworn.queries.language.shared_parts import Keys
from unworn.queries.row_protocol import Bools, Frame

ENOUGH = 48
"""Sorting a run of rows takes about as long as comparing it with so many constants."""


@dataclass(frozen=True)
class RankedThresholds:
    """Thresholds of one column, each with the place of its question, among rows of which all the rest holds."""

    name: str
    rest: tuple[Expression, ...]
    ops: tuple[str, ...]
    bounds: NDArray[Any]
    places: tuple[int, ...]

    def begin(self) -> NDArray[np.int64]:
        """For each threshold how many values lie below it, and how many up to it; last, how many there are."""
        return np.zeros((2, len(self.bounds) + 1), dtype=np.int64)

    def add(self, below: NDArray[np.int64], frame: Frame, inside: Bools | None) -> None:
        """Count one more run of rows."""
        column = numbers(self.name, frame)
        wanted = [truth(expression, frame) for expression in self.rest]
        if inside is not None:
            wanted.append(inside)
        if column.missing is not None:
            wanted.append(~column.missing)
        values = column.values[reduce(np.logical_and, wanted)] if wanted else column.values
        # For numbers of up to 16 bits NumPy's stable order is a count of each, faster than any comparison.
        ordered = np.sort(values, kind="stable" if values.dtype.itemsize <= 2 else None)
        below[0, :-1] += ordered.searchsorted(self.bounds, "left")
        below[1, :-1] += ordered.searchsorted(self.bounds, "right")
        below[:, -1] += len(ordered)

    def counts(self, below: NDArray[np.int64]) -> list[int]:
        """How many rows say yes, for each question."""
        (less, up_to), size = below[:, :-1], below[0, -1]
        found = {"lt": less, "le": up_to, "gt": size - up_to, "ge": size - less, "eq": up_to - less}
        found["ne"] = size - found["eq"]
        return [int(found[op][place]) for place, op in enumerate(self.ops)]


def rank_thresholds(keys: Keys, asked: Sequence[tuple[int, Share]], enough: int) -> list[RankedThresholds]:
    """Of questions and their places, those that are thresholds of one column beside the same rest, if they are many."""
    choices = {place: list(_thresholds(keys, query.where)) for place, query in asked}
    times = Counter(choice[:2] for several in choices.values() for choice in several)
    groups: dict[Any, list[tuple[int, Any]]] = {}
    for place, several in choices.items():
        best = max(several, key=lambda choice: times[choice[:2]], default=None)
        if best is not None and times[best[:2]] >= enough:
            groups.setdefault(best[:2], []).append((place, best))
    made: list[RankedThresholds] = []
    for (name, _), members in groups.items():
        if len(members) < enough:
            continue
        members.sort(key=lambda member: member[1][4])  # a search for one finds the next nearby
        bounds = np.array([choice[4] for _, choice in members])
        ops = tuple(choice[3] for _, choice in members)
        made.append(RankedThresholds(name, members[0][1][2], ops, bounds, tuple(place for place, _ in members)))
    return made


def _thresholds(keys: Keys, where: Expression) -> Any:
    """Each way to see a predicate as a threshold and a rest: column, numbers of the rest, the rest, ``op``, bound."""
    both = where.operands if isinstance(where, Logic) and where.op == "and" else (where,)
    for place, part in enumerate(both):
        match part:
            case Compare(op, Col(name), Literal(float(constant))):
                bound = keys.threshold(op, name, constant)
                if bound is not None and not isinstance(bound, bool):
                    rest = both[:place] + both[place + 1 :]
                    yield name, frozenset(map(keys.of, rest)), rest, op, bound
