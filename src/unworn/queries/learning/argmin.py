"""The questions of optimisation: a coordinate of a loss's gradient, the loss itself, and how it bends, at coefficients.

All are means over rows of values that lie in a range known from the coefficients alone. They are data, not code: a
ledger can hold them and any noise may answer them.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from unworn.errors import Unaskable
from unworn.queries.learning.linear_losses import LinearLoss
from unworn.queries.query import Facts, Query, canonical
from unworn.queries.row_protocol import Floats, Frame, SharesWork
from unworn.queries.schema import Schema

MAX_SIZE = 1e6
"""How large a coefficient may be: beyond it a score would have no digits left for a feature."""

_WHOLE = (int, np.integer)


@dataclass(frozen=True, eq=False)
class _AtPoint(Query):
    """A loss at some coefficients. ``at`` is frozen as plain floats, so that its JSON gives the same question back."""

    loss: LinearLoss
    at: tuple[float, ...]

    ask: ClassVar[str]

    def __post_init__(self) -> None:
        if not isinstance(self.loss, LinearLoss):
            raise Unaskable(f"the loss is made by logistic(...) and its neighbours, not {type(self.loss).__name__}")
        object.__setattr__(self, "at", _coefficients(self.at, self.loss.dimension))

    @cached_property
    def _largest(self) -> float:
        """How large the score can be: every feature lies in [-1, 1]."""
        return float(sum(map(abs, self.at)))

    @property
    @abstractmethod
    def bounds(self) -> tuple[float, float]:
        """The range of the values, from the coefficients alone."""

    def to_json(self) -> dict[str, Any]:
        return {"ask": self.ask, "loss": self.loss.to_json(), "at": list(self.at)}

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it reads: all that rows in an engine need to be brought out for it."""
        return tuple(dict.fromkeys((*(feature.name for feature in self.loss.features), self.loss.target)))

    def _facts(self, schema: Schema, size: int) -> Facts:
        self.loss.check(schema)
        return Facts("unit", *self.bounds)

    def __eq__(self, other: object) -> bool:
        return self.fingerprint == other.fingerprint if isinstance(other, _AtPoint) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.fingerprint)


@dataclass(frozen=True, eq=False)
class Gradient(_AtPoint):
    """One coordinate of the gradient of a loss, averaged over the population.

    >>> from unworn.queries.learning.linear_losses import logistic
    >>> question = Gradient(logistic({"age": (18, 90)}, "churned"), (0.0, 0.0), 1)
    >>> question.label, question.bounds
    ('gradient of the logistic loss by age at f29310', (-0.5, 0.5))
    """

    coordinate: int

    ask: ClassVar[str] = "gradient"

    def __post_init__(self) -> None:
        super().__post_init__()
        place = self.coordinate
        if isinstance(place, bool) or not isinstance(place, _WHOLE) or not 0 <= place < self.loss.dimension:
            raise Unaskable(f"coordinate is a whole number from 0 to {self.loss.dimension - 1}, not {place!r:.40}")
        object.__setattr__(self, "coordinate", int(place))

    @property
    def label(self) -> str:
        return f"gradient of the {self.loss.called} loss by {self.loss.names[self.coordinate]} at {_short(self)}"

    @property
    def bounds(self) -> tuple[float, float]:
        if self.loss.quantile is not None and self.loss.intercept and self.coordinate == 0:
            return -self.loss.quantile, 1 - self.loss.quantile
        steepest = self.loss.steepest(self._largest)
        return -steepest, steepest

    def to_json(self) -> dict[str, Any]:
        return {**super().to_json(), "coordinate": self.coordinate}

    def values(self, frame: Frame) -> Floats:
        low, high = self.bounds
        found: Floats = np.clip(self._slope(frame) * self.loss.feature(self.coordinate, frame), low, high)
        return found

    def _slope(self, frame: Frame) -> Floats:
        """What all coordinates at one point share."""
        return share_work(frame, ("slope", self.loss, self.at), lambda: self.loss.slope(np.array(self.at), frame))


@dataclass(frozen=True, eq=False)
class Risk(_AtPoint):
    """The loss itself, averaged over the population: what is being minimised.

    >>> from unworn.queries.learning.linear_losses import least_squares
    >>> Risk(least_squares({"age": (18, 90)}, "income", range=(0, 2e5)), (0.0, 0.5)).bounds
    (0.0, 1.125)
    """

    ask: ClassVar[str] = "risk"

    @property
    def label(self) -> str:
        return f"risk by the {self.loss.called} loss at {_short(self)}"

    @property
    def bounds(self) -> tuple[float, float]:
        return self.loss.lowest(self._largest), self.loss.worst(self._largest)

    def values(self, frame: Frame) -> Floats:
        return np.clip(self.loss.loss(np.array(self.at), frame), *self.bounds)


@dataclass(frozen=True, eq=False)
class Curvature(_AtPoint):
    """An entry of the matrix of second derivatives of a smooth loss, averaged over the population.

    That of a squared loss is the same everywhere, so it is always asked at 0: asked again, it is free.

    >>> from unworn.queries.learning.linear_losses import logistic
    >>> loss = logistic({"age": (18, 90)}, "churned")
    >>> [Curvature(loss, (0.1, 0.2), *place).bounds for place in ((0, 0), (0, 1))]
    [(0.0, 0.25), (-0.25, 0.25)]
    """

    row: int
    column: int

    ask: ClassVar[str] = "curvature"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.loss.bend_asked is None:
            raise Unaskable(
                f"a {self.loss.called} loss may be straight somewhere, or has kinks: logistic and squared ones have "
                "second derivatives, and those of your own with strongly= a least one"
            )
        for place in (self.row, self.column):
            if isinstance(place, bool) or not isinstance(place, _WHOLE) or not 0 <= place < self.loss.dimension:
                raise Unaskable(f"row and column are whole numbers from 0 to {self.loss.dimension - 1}")
        # The matrix is symmetric: one question for both halves.
        first, second = sorted((int(self.row), int(self.column)))
        object.__setattr__(self, "row", first)
        object.__setattr__(self, "column", second)
        if self.loss.bends_alike:
            object.__setattr__(self, "at", (0.0,) * self.loss.dimension)

    @property
    def label(self) -> str:
        names = self.loss.names
        return (
            f"curvature of the {self.loss.called} loss by {names[self.row]} and {names[self.column]} at {_short(self)}"
        )

    @property
    def bounds(self) -> tuple[float, float]:
        bend = self.loss.bend_asked or 0.0
        return (0.0 if self.row == self.column else -bend), bend

    def to_json(self) -> dict[str, Any]:
        return {**super().to_json(), "row": self.row, "column": self.column}

    def values(self, frame: Frame) -> Floats:
        key = ("bending", self.loss, self.at)
        bending = share_work(frame, key, lambda: self.loss.bending(np.array(self.at), frame))
        product = bending * self.loss.feature(self.row, frame) * self.loss.feature(self.column, frame)
        return np.clip(product, *self.bounds)


def share_work(frame: Frame, key: Hashable, make: Callable[[], Floats]) -> Floats:
    """What the questions of a batch have in common, worked out once for each run of rows and then forgotten."""
    return frame.shared(key, make) if isinstance(frame, SharesWork) else make()


def gradient(loss: LinearLoss, at: Iterable[float], coordinates: Iterable[int] | None = None) -> list[Query]:
    """The gradient at a point as one batch of questions: all coordinates, or some."""
    point = _coefficients(at, loss.dimension)
    return [Gradient(loss, point, place) for place in (range(loss.dimension) if coordinates is None else coordinates)]


def gradient_from_json(data: Mapping[str, Any]) -> Gradient:
    """Read the question back; anything else is refused."""
    _only(data, "gradient", ("loss", "at", "coordinate"))
    return Gradient(LinearLoss.from_json(data["loss"]), _listed(data["at"]), data["coordinate"])


def curvature_from_json(data: Mapping[str, Any]) -> Curvature:
    """Read the question back; anything else is refused."""
    _only(data, "curvature", ("loss", "at", "row", "column"))
    return Curvature(LinearLoss.from_json(data["loss"]), _listed(data["at"]), data["row"], data["column"])


def risk_from_json(data: Mapping[str, Any]) -> Risk:
    """Read the question back; anything else is refused."""
    _only(data, "risk", ("loss", "at"))
    return Risk(LinearLoss.from_json(data["loss"]), _listed(data["at"]))


def _only(data: Mapping[str, Any], ask: str, names: Sequence[str]) -> None:
    if set(data) != {"ask", *names}:
        raise Unaskable(f'this question has the fields "ask": "{ask}", {", ".join(names)}, and no others')


def _listed(at: object) -> Any:
    if not isinstance(at, list | tuple):
        raise Unaskable(f"the coefficients are a list of numbers, not a {type(at).__name__}")
    return at


def _coefficients(at: Iterable[Any], dimension: int) -> tuple[float, ...]:
    listed = at.tolist() if isinstance(at, np.ndarray) else list(at)
    if len(listed) != dimension:
        raise Unaskable(f"there are {len(listed)} coefficients for {dimension} features (the intercept is the first)")
    for value in listed:
        sound = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
        if not sound or not abs(value) <= MAX_SIZE:
            raise Unaskable(f"a coefficient is a number of at most {MAX_SIZE:g} either way, not {value!r:.40}")
    return tuple(float(value) + 0.0 for value in listed)


def _short(question: _AtPoint) -> str:
    import hashlib

    return hashlib.sha256(canonical(list(question.at)).encode()).hexdigest()[:6]
