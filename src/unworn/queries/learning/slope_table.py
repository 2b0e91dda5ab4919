"""A convex loss of one number as data: its slope at places that lie evenly, and straight lines between them.

Between two places the loss is a parabola, beyond the first and the last a straight line. So all that a certificate
needs of it (how steep it is, how much it bends, its least and its largest value) is read off the table, and nothing is
believed: a function that was given with wrong constants is refused, and none ever sees a row.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from unworn.errors import Unaskable
from unworn.queries.language import literals
from unworn.queries.row_protocol import Floats

Form = Literal["margin", "residual", "score"]
FORMS: tuple[Form, ...] = ("margin", "residual", "score")
MOST_PLACES, FEWEST_PLACES = 2_049, 3
LARGEST = 1e6
_SLIP = 1e-9
"""What floats may have rounded away, as a share of the numbers at hand."""


@dataclass(frozen=True)
class SlopeTable:
    """A loss of one number u between -reach and reach; make one with :func:`~unworn.learn.convex_loss`.

    ``form`` says what u is, for a score and the truth (±1 for a class, else the target scaled to [-1, 1]): the
    ``margin`` truth·score, the ``residual`` score - truth, or the ``score`` itself, and then truth·score is taken off
    the loss (the negative log-likelihood of an exponential family, whose log-partition function the table is).
    ``start`` is the loss at -reach. ``distance`` is how far the table may be from the function it was made from.

    A kink at 0, rounded by a parabola:

    >>> table = SlopeTable("absolute", "residual", 2.0, 2.0, (-1.0, -1.0, 0.0, 1.0, 1.0))
    >>> table.values(np.array([-1.5, 0.0, 3.0])).tolist(), table.steepest(1.0), table.bends
    ([1.5, 0.5, 3.0], 1.0, (0.0, 1.0))
    """

    name: str
    form: Form
    reach: float
    start: float
    slopes: tuple[float, ...]
    smoothness: float | None = None
    strongly: float = 0.0
    distance: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", literals.text(self.name, "the name of a loss"))
        if self.form not in FORMS:
            raise Unaskable(f"a loss is of the {', the '.join(FORMS)}, not {self.form!r:.40}")
        if not isinstance(self.slopes, tuple) or not FEWEST_PLACES <= len(self.slopes) <= MOST_PLACES:
            raise Unaskable(f"a loss has its slope at {FEWEST_PLACES} to {MOST_PLACES} places")
        object.__setattr__(self, "slopes", tuple(_within(slope, "a slope") for slope in self.slopes))
        for name in ("reach", "start", "strongly", "distance"):
            object.__setattr__(self, name, _within(getattr(self, name), name))
        if not self.reach >= 1e-6 or self.strongly < 0 or self.distance < 0:
            raise Unaskable("reach is above 0, and strongly and distance are at least 0")
        falls = np.flatnonzero(np.diff(self.slopes) < 0)
        if falls.size:
            raise Unaskable(
                f"the {self.name} loss is not convex: its slope falls from {self.slopes[falls[0]]:g} at "
                f"{self.places[falls[0]]:g} to {self.slopes[falls[0] + 1]:g} at {self.places[falls[0] + 1]:g}"
            )
        least, most = self.bends
        if self.smoothness is not None:
            object.__setattr__(self, "smoothness", _within(self.smoothness, "smoothness"))
            if not most <= self.smoothness * (1 + 1e-6):
                raise Unaskable(
                    f"the {self.name} loss was declared to bend by {self.smoothness:g} at most, and its slope rises "
                    f"{most:g} times as fast as its argument: declare smoothness={most:.6g} or, with kinks, none"
                )
        if not least >= self.strongly * (1 - 1e-6):
            raise Unaskable(
                f"the {self.name} loss was declared to bend by {self.strongly:g} at least, and bends by {least:g} "
                "somewhere: declare strongly= at most that"
            )

    @cached_property
    def places(self) -> Floats:
        return np.linspace(-self.reach, self.reach, len(self.slopes))

    @property
    def bends(self) -> tuple[float, float]:
        """How fast the slope rises, at least and at most."""
        rises = np.diff(self.slopes) / (2 * self.reach / (len(self.slopes) - 1))
        return float(rises.min()), float(rises.max())

    @cached_property
    def _heights(self) -> Floats:
        """The loss at every place."""
        slopes, step = np.array(self.slopes), 2 * self.reach / (len(self.slopes) - 1)
        return self.start + np.concatenate([[0.0], np.cumsum((slopes[1:] + slopes[:-1]) / 2 * step)])

    def slope(self, at: Floats) -> Floats:
        return np.interp(at, self.places, self.slopes)

    def values(self, at: Floats) -> Floats:
        """The integral of the slope."""
        step = 2 * self.reach / (len(self.slopes) - 1)
        cell = np.clip(np.floor((at + self.reach) / step), 0, len(self.slopes) - 2).astype(np.int64)
        inside = np.clip(at, -self.reach, self.reach)
        slopes, into = np.array(self.slopes), inside - self.places[cell]
        rise = (slopes[cell + 1] - slopes[cell]) / (2 * step)
        return np.asarray(self._heights[cell] + into * (slopes[cell] + rise * into) + self.slope(at) * (at - inside))

    # For a score and the truth.

    def by_score(self, score: Floats, truth: Floats) -> Floats:
        """The derivative of the loss by the score."""
        match self.form:
            case "margin":
                return truth * self.slope(truth * score)
            case "residual":
                return self.slope(score - truth)
            case _:
                return self.slope(score) - truth

    def loss(self, score: Floats, truth: Floats) -> Floats:
        match self.form:
            case "margin":
                return self.values(truth * score)
            case "residual":
                return self.values(score - truth)
            case _:
                return self.values(score) - truth * score

    # Over all scores of at most some size.

    def furthest(self, largest: float) -> float:
        """How large the argument can be."""
        return largest + 1.0 if self.form == "residual" else largest

    def steepest(self, largest: float) -> float:
        far = self.furthest(largest)
        ends = float(np.abs(self.slope(np.array([-far, far]))).max())
        return ends + 1.0 if self.form == "score" else ends

    def worst(self, largest: float) -> float:
        """The largest value: that of a convex function lies at an end."""
        far = self.furthest(largest)
        ends = float(self.values(np.array([-far, far])).max())
        return ends + (far if self.form == "score" else 0.0) + self._slip(far)

    def lowest(self, largest: float) -> float:
        """The least value."""
        far = self.furthest(largest)
        tilts = (-1.0, 1.0) if self.form == "score" else (0.0,)
        return min(self._least(tilt, far) for tilt in tilts) - self._slip(far)

    def _least(self, tilt: float, far: float) -> float:
        """The least of the table minus tilt·u: where the slope reaches the tilt."""
        slopes = np.array(self.slopes)
        after = int(np.searchsorted(slopes, tilt))
        if 0 < after < len(slopes):
            share = (tilt - slopes[after - 1]) / (slopes[after] - slopes[after - 1])
            place = self.places[after - 1] + share * (self.places[after] - self.places[after - 1])
        else:  # it falls, or rises, all along, and beyond
            place = -far if after == 0 else far
        place = np.clip(place, -far, far)
        return float(self.values(np.array([place]))[0] - tilt * place)

    def _slip(self, far: float) -> float:
        return _SLIP * (abs(self.start) + (self.reach + far) * (1.0 + max(map(abs, self.slopes))))

    def to_json(self) -> dict[str, Any]:
        told: dict[str, Any] = {name: getattr(self, name) for name in ("name", "form", "reach", "start")}
        told |= {"slopes": [literals.plain(slope) for slope in self.slopes], "strongly": self.strongly}
        return {**told, "smoothness": self.smoothness, "distance": self.distance}

    @classmethod
    def from_json(cls, data: object) -> SlopeTable:
        fields = {"name", "form", "reach", "start", "slopes", "smoothness", "strongly", "distance"}
        if not isinstance(data, Mapping) or set(data) != fields or not isinstance(data["slopes"], list):
            raise Unaskable(f"the table of a loss is an object with {', '.join(sorted(fields))}, and no others")
        return cls(**{**data, "slopes": tuple(data["slopes"][: MOST_PLACES + 1])})


def _within(value: object, what: str) -> float:
    number = literals.number(value)
    if not abs(number) <= LARGEST or math.isnan(number):
        raise Unaskable(f"{what} is a number of at most {LARGEST:g} either way, not {value!r:.40}")
    return number + 0.0
