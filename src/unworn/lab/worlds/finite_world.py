"""So many points, each with its chance: the truth of any question is a sum."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unworn.errors import Unaskable
from unworn.lab.worlds.world import Floats, Rule, SingleLabel, World
from unworn.queries import accuracy, col, function, mae, share
from unworn.queries.language.expressions import MAX_ITEMS

_HOLDS = {"accuracy": 1 / 2, "share": 1 / 8}
"""For how much of a finite world a 0/1 probe holds."""

_WORDS = 50
"""How many points a share names on average, at most: long lists are slow to put in words."""


@dataclass(frozen=True)
class FiniteWorld(World):
    """A number of points, drawn with given weights (uniform by default): the truth of any question is a sum.

    A probe is a random value for every point, 0/1 or in [0, 1] as its form has it; a vote holds for the points with
    the highest scores, until they make up a quarter of the population. ``forms`` says how probes are put, in turn:
    ``"accuracy"`` and ``"mae"`` as arrays of predictions, ``"share"`` as an expression, ``"function"`` as user code.

    Examples
    --------
    >>> scene = FiniteWorld(points=40).draw(rows=10, probes=4, rng=np.random.default_rng(1))
    >>> scene.among([3, 5, 8, 13]).truth, scene.probe(2).question.label[:20]
    (0.1, 'share of point.isin(')
    """

    points: int
    weights: tuple[float, ...] | None = None
    forms: tuple[str, ...] = ("accuracy", "mae", "share", "function")

    def __post_init__(self) -> None:
        unknown = set(self.forms) - {"accuracy", "mae", "share", "function"}
        if unknown or not self.forms:
            raise ValueError(f"forms are accuracy, mae, share and function, not {sorted(unknown) or 'none'}")
        if self.points < 2:
            raise ValueError(f"a world has at least 2 points, not {self.points}")
        if self.weights is not None and (len(self.weights) != self.points or min(self.weights) < 0):
            raise ValueError(f"give {self.points} weights of at least 0, one per point")

    @property
    def chances(self) -> Floats:
        """The probability of each point."""
        if self.weights is None:
            return np.full(self.points, 1 / self.points)
        weights = np.array(self.weights, dtype=np.float64)
        chances: Floats = weights / weights.sum()
        return chances

    def draw(self, rows: int, probes: int, rng: np.random.Generator) -> FiniteScene:
        points = rng.choice(self.points, size=rows, p=self.chances)
        values = rng.random((probes, self.points))
        for j in range(probes):
            form = self.forms[j % len(self.forms)]
            if form in _HOLDS:
                holds = min(_HOLDS[form], _WORDS / self.points) if form == "share" else _HOLDS[form]
                values[j] = values[j] <= max(holds, values[j].min())  # somewhere at least
        return FiniteScene({"point": points}, np.ones(rows, dtype=np.int64), self, points, values)


@dataclass(frozen=True)
class FiniteScene(SingleLabel):
    """Rows of a :class:`FiniteWorld`: a column ``point``, and labels that are all 1."""

    world: FiniteWorld
    points: NDArray[np.int64] = field(repr=False)
    values: Floats = field(repr=False)

    @property
    def probes(self) -> int:
        return len(self.values)

    def probe(self, j: int) -> Rule:
        forms = self.world.forms
        return self.ask(self.values[j], forms[j % len(forms)], f"probe {j}")

    def vote(self, weights: ArrayLike) -> Rule:
        given = np.asarray(weights, dtype=np.float64)
        score = given @ self.values[: len(given)]  # centring the values would move all scores alike
        order = np.argsort(-score, kind="stable")
        reached = np.cumsum(self.world.chances[order]) + 1e-9  # a quarter reached but for rounding is reached
        chosen = order[: 1 + int(np.searchsorted(reached, 0.25))]
        holds = np.zeros(self.world.points)
        holds[chosen] = 1.0
        return self.ask(holds, "accuracy", "vote")

    def covariance(self, probes: int) -> Floats:
        values, chances = self.values[:probes], self.world.chances
        centred = values - (values @ chances)[:, None]
        found: Floats = (centred * chances) @ centred.T / self.rows
        return found

    def among(self, points: Iterable[int]) -> Rule:
        """The share of rows that are one of these points; put as predictions when they are too many for words."""
        chosen = sorted({int(point) for point in points})
        if len(chosen) > MAX_ITEMS:
            return self.ask(np.isin(np.arange(self.world.points), chosen).astype(np.float64), "accuracy", "among")
        return Rule(share(col("point").isin(chosen)), float(self.world.chances[chosen].sum()))

    def ask(self, values: Floats, form: str, name: str) -> Rule:
        """The mean of any value in [0, 1] given for every point, put in one of the forms."""
        truth = float(self.world.chances @ values)
        here = values[self.points]
        if form == "accuracy":
            return Rule(accuracy(here.astype(np.int64)), truth)
        if form == "mae":
            return Rule(mae(1 - here, range=(0, 1)), truth)
        if form == "share":
            chosen = np.flatnonzero(values).tolist()
            return Rule(share(col("point").isin(chosen) if chosen else col("point") < 0), truth)
        if form == "function":
            table = values.copy()
            return Rule(function(lambda columns: table[columns["point"].astype(np.int64)], (0, 1), name), truth)
        raise Unaskable(f"a question is put as accuracy, mae, share or function, not {form!r}")
