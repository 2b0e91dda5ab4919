"""Workloads: many questions asked at once, as values.

A workload is declared before any row is read, travels as JSON, and becomes blocks of questions once it meets a domain.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from unworn.errors import Unaskable
from unworn.queries import parse
from unworn.queries.language.means import Share
from unworn.universe.domain.domain import Domain
from unworn.universe.model.model import Axes
from unworn.universe.model.question_blocks import Block, Listed, Marginal, Prefix, Range

TABLES = 10**6
"""How many tables one workload may ask for."""


class Workload(ABC):
    """Many 0/1 questions about columns of a domain. ``a + b`` asks both."""

    @abstractmethod
    def blocks(self, domain: Domain) -> list[Block]:
        """The questions, those that read the same table together; a refusal where the domain cannot answer them."""

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """The workload as plain JSON, which :func:`from_json` reads back."""

    def __add__(self, other: Workload) -> Workload:
        return Both(_parts(self) + _parts(other))


@dataclass(frozen=True)
class Marginals(Workload):
    """Every cell of every table of ``ways`` columns, among those named (else all).

    >>> domain = Domain({"a": [0, 1], "b": [0, 1], "c": ["x", "y", "z"]})
    >>> [(block.axes, block.size) for block in Marginals(2).blocks(domain)]
    [((0, 1), 4), ((0, 2), 6), ((1, 2), 6)]
    """

    ways: int = 2
    among: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if isinstance(self.ways, bool) or not isinstance(self.ways, int) or self.ways < 1:
            raise ValueError(f"marginals are of 1, 2, 3, … columns, not of {self.ways!r}")

    def blocks(self, domain: Domain) -> list[Block]:
        axes = _axes(domain, domain.names if self.among is None else self.among)
        if self.ways > len(axes):
            raise Unaskable(f"there are {len(axes)} columns, so no marginals of {self.ways}: ask fewer at a time")
        _check_count(len(axes), self.ways)
        return [Marginal(some, _shape(domain, some)) for some in combinations(axes, self.ways)]

    def to_json(self) -> dict[str, Any]:
        return {"workload": "marginals", "ways": self.ways, "among": None if self.among is None else list(self.among)}


@dataclass(frozen=True)
class Conjunctions(Workload):
    """For every two (or ``ways``) yes/no columns: how many rows say yes to all of them.

    >>> domain = Domain({"a": [0, 1], "b": [False, True], "c": [0, 1, 2]})
    >>> [(block.axes, block.yes.tolist()) for block in Conjunctions().blocks(domain)]
    [((0, 1), [[False, False, False, True]])]
    """

    ways: int = 2
    among: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        Marginals(self.ways)

    def blocks(self, domain: Domain) -> list[Block]:
        given = [name for name in domain.names if _yes_no(domain, name)] if self.among is None else self.among
        axes = _axes(domain, given)
        known = "(values 0 and 1, or False and True)"
        if wrong := [name for name in given if not _yes_no(domain, name)]:
            raise Unaskable(f"{wrong[0]!r} is not a yes/no column {known}, and conjunctions are of those")
        if len(axes) < self.ways:
            raise Unaskable(f"there are {len(axes)} yes/no columns {known}, so no {self.ways} of them")
        _check_count(len(axes), self.ways)
        last = np.zeros((1, 2**self.ways), dtype=bool)
        last[0, -1] = True
        return [Listed(some, _shape(domain, some), last) for some in combinations(axes, self.ways)]

    def to_json(self) -> dict[str, Any]:
        among = None if self.among is None else list(self.among)
        return {"workload": "conjunctions", "ways": self.ways, "among": among}


@dataclass(frozen=True)
class Thresholds(Workload):
    """For one column with an order: how many rows are at or below each of its values."""

    column: str

    def blocks(self, domain: Domain) -> list[Block]:
        return [Prefix(axes := _axes(domain, [self.column]), _ordered(domain, axes))]

    def to_json(self) -> dict[str, Any]:
        return {"workload": "thresholds", "column": self.column}


@dataclass(frozen=True)
class Ranges(Workload):
    """For one column with an order: how many rows lie between any two of its values."""

    column: str

    def blocks(self, domain: Domain) -> list[Block]:
        return [Range(axes := _axes(domain, [self.column]), _ordered(domain, axes))]

    def to_json(self) -> dict[str, Any]:
        return {"workload": "ranges", "column": self.column}


@dataclass(frozen=True, init=False)
class Shares(Workload):
    """Any ``share(...)`` questions about the domain's columns; those about the same columns make a block."""

    questions: tuple[Share, ...]

    def __init__(self, questions: Iterable[Share]) -> None:
        asked = tuple(questions)
        for question in asked:
            if not isinstance(question, Share):
                raise Unaskable(
                    f"a workload asks share(...) questions, not {getattr(question, 'label', question)!r:.60}"
                )
        object.__setattr__(self, "questions", asked)

    def blocks(self, domain: Domain) -> list[Block]:
        found: dict[Axes, list[Any]] = {}
        for question in self.questions:
            axes, values = domain.weights(question)
            found.setdefault(axes, []).append(np.asarray(values).reshape(-1) > 0.5)
        return [Listed(axes, _shape(domain, axes), np.array(lines)) for axes, lines in found.items()]

    def to_json(self) -> dict[str, Any]:
        return {"workload": "shares", "questions": [question.to_json() for question in self.questions]}


@dataclass(frozen=True)
class Both(Workload):
    """Several workloads, asked together."""

    parts: tuple[Workload, ...]

    def blocks(self, domain: Domain) -> list[Block]:
        return [block for part in self.parts for block in part.blocks(domain)]

    def to_json(self) -> dict[str, Any]:
        return {"workload": "both", "parts": [part.to_json() for part in self.parts]}


def from_json(data: Any) -> Workload:
    """Read a workload somebody else wrote: anything unknown is refused.

    >>> from_json((Marginals(3) + Thresholds("age")).to_json()) == Marginals(3) + Thresholds("age")
    True
    """
    try:
        kind = data["workload"] if isinstance(data, Mapping) else None
        if not isinstance(kind, str):
            raise TypeError("a workload is known by its name")
        if kind in ("marginals", "conjunctions"):
            among = None if data["among"] is None else tuple(str(name) for name in data["among"])
            return (Marginals if kind == "marginals" else Conjunctions)(data["ways"], among)
        if kind in ("thresholds", "ranges"):
            return (Thresholds if kind == "thresholds" else Ranges)(str(data["column"]))
        if kind == "shares":
            return Shares(parse(question) for question in data["questions"])  # type: ignore[misc]
        if kind == "both":
            return Both(tuple(from_json(part) for part in data["parts"]))
    except (KeyError, TypeError, RecursionError):
        pass
    raise Unaskable("this is not the JSON of a workload: marginals, conjunctions, thresholds, ranges, shares or both")


def _parts(workload: Workload) -> tuple[Workload, ...]:
    return workload.parts if isinstance(workload, Both) else (workload,)


def _axes(domain: Domain, names: Sequence[str]) -> Axes:
    known = domain.names
    for name in names:
        if name not in known:
            raise Unaskable(
                f"the domain has no column {name!r}; its columns are: {', '.join(known)[:200]}", column=name
            )
    if len(set(names)) != len(names):
        raise Unaskable("a column is named twice: name each once")
    return tuple(sorted(known.index(name) for name in names))


def _check_count(columns: int, ways: int) -> None:
    if (count := math.comb(columns, ways)) > TABLES:
        raise Unaskable(
            f"{columns} columns have {count:,} sets of {ways}, and a workload asks for at most {TABLES:,} tables: "
            "ask fewer at a time, or name the columns that matter",
            tables=count,
            limit=TABLES,
        )


def _shape(domain: Domain, axes: Axes) -> tuple[int, ...]:
    return tuple(domain.shape[axis] for axis in axes)


def _ordered(domain: Domain, axes: Axes) -> tuple[int, ...]:
    name, shape = domain.names[axes[0]], _shape(domain, axes)
    if not domain.ordered(name):
        raise Unaskable(f"{name!r} has no order: thresholds and ranges are of numbers, dates and bins, none missing")
    if shape[0] < 2:
        raise Unaskable(f"{name!r} has a single value: there is nothing to ask about it")
    return shape


def _yes_no(domain: Domain, name: str) -> bool:
    return domain.labels(name) in (("0", "1"), ("False", "True"))
