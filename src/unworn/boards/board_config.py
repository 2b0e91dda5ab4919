"""What a board is, as its organiser wrote it down: every setting with its type, its range and one line of words."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from unworn.basics.display import show_value
from unworn.basics.plain_text import plain_text
from unworn.boards.board_errors import InvalidBoard
from unworn.errors import Unaskable
from unworn.queries.metrics.metric_catalogue import greater_is_better, metric_name

RULES = ("practice-and-check", "ladder", "mechanism")
TEXT_GRADERS = ("exact", "normalised", "multiple choice", "numeric")
KINDS = ("number", "bool", "text")
OPTIONS = ("positive", "range", "k", "average", "classes", "where", "alpha", "baseline", "shares", "weights")
AVERAGES = ("macro", "micro", "weighted")
MOST_BYTES = 2**40
_OWN_GRADER = re.compile(r"[A-Za-z0-9_.\-]+\.py:[A-Za-z_][A-Za-z0-9_]*").fullmatch
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.\-]{0,63}").fullmatch
_WITHOUT_PREDICTIONS = "values"


@dataclass(frozen=True)
class BoardConfig:
    """The settings of a board, as ``board.toml`` has them."""

    name: str
    title: str
    id: str
    target: str
    metric: str
    prediction: str = "prediction"
    kind: str = "text"
    rule: str = "practice-and-check"
    practice: float = 0.5
    surprises_per_team: int = 5
    pools: int = 1
    confidence: float = 0.95
    grader: str | None = None
    tolerance: float = 0.0
    relative_tolerance: float = 0.0
    grader_seconds: float = 60.0
    grader_megabytes: int = 1024
    step: float | None = None
    asks: int | None = None
    max_bytes: int = 2**28
    ledger: str | None = None
    database: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    mechanism: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, check in _CHECKS.items():
            problem = check(getattr(self, name))
            if problem is not None:
                raise InvalidBoard(f"{name} {problem}, not {show_value(getattr(self, name))}", setting=name)
        self._check_together()

    def _check_together(self) -> None:
        if len({self.id, self.target, self.prediction}) < 3 and (self.id in (self.target, self.prediction)):
            raise InvalidBoard(f"id and target must be different columns, not both {self.id!r}", setting="id")
        try:
            own = metric_name(self.full_metric)
        except Unaskable as why:
            raise InvalidBoard(f"metric: {why}", setting="metric") from None
        if own == _WITHOUT_PREDICTIONS:
            raise InvalidBoard(
                "metric = 'values' would let every team write down its own scores: name a metric, or a grader",
                setting="metric",
            )
        if self.grader is not None and own != "accuracy":
            raise InvalidBoard(
                f"a grader says by itself what is right, row by row, so metric is 'accuracy', not {self.metric!r}",
                setting="grader",
            )
        if self.rule == "practice-and-check" and not self.practice:
            raise InvalidBoard(
                "practice is 0, and the rule practice-and-check scores every submission on practice rows first: "
                "set practice = 0.5, or take the rule 'ladder'",
                setting="practice",
            )
        if self.grader != "numeric" and (self.tolerance or self.relative_tolerance):
            name = "tolerance" if self.tolerance else "relative_tolerance"
            raise InvalidBoard(f"{name} is for the grader 'numeric', and nothing else looks at it", setting=name)
        if self.rule != "ladder" and self.step is not None:
            raise InvalidBoard("step is for the rule 'ladder', and nothing else looks at it", setting="step")
        if (self.rule == "mechanism") != bool(self.mechanism):
            raise InvalidBoard(
                "the rule 'mechanism' and the table [mechanism], with its name and parameters, go together: "
                "give both or neither",
                setting="rule",
            )

    @property
    def full_metric(self) -> str:
        """The metric's name with the average, where one was chosen."""
        average = self.options.get("average")
        return self.metric if average is None else f"{self.metric}_{average}"

    @property
    def metric_options(self) -> dict[str, Any]:
        """What is handed to the metric."""
        return {name: value for name, value in self.options.items() if name != "average"}

    @property
    def higher_is_better(self) -> bool:
        return greater_is_better(self.full_metric)

    @property
    def surprise_cap(self) -> int | None:
        """How many surprises a team has, where the board's rule counts them."""
        return self.surprises_per_team if self.rule == "practice-and-check" else None

    @property
    def is_own_grader(self) -> bool:
        """Whether the grader is the organiser's own code."""
        return self.grader is not None and self.grader not in TEXT_GRADERS

    def public(self) -> dict[str, Any]:
        """What participants may know: everything but where things are kept."""
        told = self.to_json()
        return {name: value for name, value in told.items() if name not in ("ledger", "database")}

    def fixed(self) -> dict[str, Any]:
        """What may not change once there are submissions: scores would no longer be comparable."""
        names = ("name", "id", "target", "metric", "prediction", "kind", "rule", "practice", "confidence", "grader")
        more = ("tolerance", "relative_tolerance", "step", "asks", "options", "mechanism")
        told = self.to_json()
        return {name: told[name] for name in (*names, *more)}

    def to_json(self) -> dict[str, Any]:
        told = {part.name: getattr(self, part.name) for part in fields(self)}
        return {**told, "options": dict(self.options), "mechanism": dict(self.mechanism)}


def _is_text(most: int) -> Callable[[Any], str | None]:
    def check(value: Any) -> str | None:
        sound = plain_text(value, most)
        return None if sound and "\0" not in sound else f"is a text of 1 to {most} characters"

    return check


def _is_one_of(allowed: tuple[str, ...]) -> Callable[[Any], str | None]:
    return lambda value: None if value in allowed else f"is one of {', '.join(map(repr, allowed))}"


def _is_number(low: float, high: float, *, inside: bool = False) -> Callable[[Any], str | None]:
    def check(value: Any) -> str | None:
        sound = type(value) in (int, float) and math.isfinite(value) and low <= value <= high
        if sound and not (inside and value in (low, high)):
            return None
        return f"is a number {'strictly ' if inside else ''}between {low:g} and {high:g}"

    return check


def _is_whole(low: int, high: int) -> Callable[[Any], str | None]:
    return lambda value: (
        None if type(value) is int and low <= value <= high else f"is a whole number from {low} to {high}"
    )


def _or_none(check: Callable[[Any], str | None]) -> Callable[[Any], str | None]:
    return lambda value: None if value is None else check(value)


def _check_grader(value: Any) -> str | None:
    if value is None or value in TEXT_GRADERS or (isinstance(value, str) and _OWN_GRADER(value)):
        return None
    return (
        f"is one of {', '.join(map(repr, TEXT_GRADERS))}, or a file of this folder and its function, 'grade.py:score'"
    )


def _check_options(value: Any) -> str | None:
    if not isinstance(value, Mapping):
        return "is a table of the metric's options"
    for name in value:
        if name not in OPTIONS:
            return f"has {name!r:.40}, which is not an option of a metric: there are {', '.join(OPTIONS)}"
    if value.get("average") is not None and value["average"] not in AVERAGES:
        return f"has an average that is none of {', '.join(AVERAGES)}"
    return None


_CHECKS: dict[str, Callable[[Any], str | None]] = {
    "name": lambda value: (
        None
        if isinstance(value, str) and _NAME(value)
        else "is a short name of letters, digits, '_', '.' and '-', as it stands in an address"
    ),
    "title": _is_text(200),
    "id": _is_text(200),
    "target": _is_text(200),
    "prediction": _is_text(200),
    "metric": _is_text(100),
    "kind": _is_one_of(KINDS),
    "rule": _is_one_of(RULES),
    "practice": _is_number(0.0, 0.95),
    "surprises_per_team": _is_whole(0, 10**6),
    "pools": _is_whole(1, 1000),
    "confidence": _is_number(0.0, 1.0, inside=True),
    "grader": _check_grader,
    "tolerance": _is_number(0.0, 1e300),
    "relative_tolerance": _is_number(0.0, 1e6),
    "grader_seconds": _is_number(0.1, 86_400.0),
    "grader_megabytes": _is_whole(64, 2**20),
    "step": _or_none(_is_number(0.0, 1.0, inside=True)),
    "asks": _or_none(_is_whole(1, 10**9)),
    "max_bytes": _is_whole(1_000, MOST_BYTES),
    "ledger": _or_none(_is_text(1000)),
    "database": _or_none(_is_text(1000)),
    "options": _check_options,
    "mechanism": lambda value: None if isinstance(value, Mapping) else "is a table with a name and parameters",
}
