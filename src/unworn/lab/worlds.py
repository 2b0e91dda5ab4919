"""Worlds: populations that know the truth.

A world is drawn from as often as one likes; each draw is a :class:`Scene`: rows for a holdout, and the questions that
an analyst may put to them, each with the value it has in the population. Predictions are made row by row by rules
fixed without the rows, as every certificate assumes; what an analyst learns, it learns from answers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unworn.errors import Unaskable
from unworn.queries import Query, accuracy, col, compare, function, mae, share, top_k
from unworn.queries.language.expressions import MAX_ITEMS

Floats = NDArray[np.float64]

_HOLDS = {"accuracy": 1 / 2, "share": 1 / 8}
"""For how much of a finite world a 0/1 probe holds."""

_WORDS = 50
"""How many points a share names on average, at most: long lists are slow to put in words."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A question, and its value in the population."""

    question: Query
    truth: float


def versus(first: Rule, second: Rule) -> Rule:
    """How much better one rule predicts than another: a paired question."""
    return Rule(compare(first.question, second.question), first.truth - second.truth)


@dataclass(frozen=True)
class Scene(ABC):
    """One draw from a world: ``Holdout(scene.data, scene.labels, practice=0, ledger=None)`` seals its rows."""

    data: dict[str, NDArray[Any]] | None = field(repr=False)
    labels: NDArray[Any] = field(repr=False)

    @property
    def rows(self) -> int:
        return len(self.labels)

    @property
    @abstractmethod
    def probes(self) -> int:
        """How many questions there are that were fixed before the rows were drawn."""

    @abstractmethod
    def probe(self, j: int) -> Rule:
        """The ``j``-th of them, from 0."""

    @abstractmethod
    def vote(self, weights: ArrayLike) -> Rule:
        """The rule that adds up the first probes with these weights: what selecting on answers leads to."""

    @abstractmethod
    def covariance(self, probes: int) -> Floats:
        """How the values of the first probes on the rows vary together, as far as is public before any is asked."""

    @abstractmethod
    def certain(self) -> Rule:
        """A 0/1 question that holds for the first half of the rows, whatever rows were drawn.

        It is known beforehand to the last row, so all that its answer adds is the mechanism's own doing. It holds by
        a row's place, and for half, because an answer at an end of the range would be cut there; and it is 0/1,
        because a mechanism may round other values to 0 or 1 by coins, which nobody knows beforehand.
        """


class World(ABC):
    """A population."""

    @abstractmethod
    def draw(self, rows: int, probes: int, rng: np.random.Generator) -> Scene:
        """Independent rows, and so many questions that know nothing of them."""


@dataclass(frozen=True)
class SignWorld(World):
    """Independent fair signs x_1 … x_k and a label that is one more: nothing predicts it, so every truth is 1/2.

    The features are public and the labels sealed, as on a leaderboard. A probe is the accuracy of predicting the label
    by one coordinate; a vote that of the sign of a weighted sum. Answered exactly, the vote of k probes looks
    Φ(√(k/n)) right on n rows (Rogers et al. 2020).

    Examples
    --------
    >>> scene = SignWorld().draw(rows=400, probes=400, rng=np.random.default_rng(1))
    >>> right = [(scene.probe(j).question.source.column.values == scene.labels).mean() for j in range(400)]
    >>> vote = scene.vote(np.array(right) - 0.5)
    >>> bool((vote.question.source.column.values == scene.labels).mean() > 0.75), vote.truth
    (True, 0.5)
    """

    def draw(self, rows: int, probes: int, rng: np.random.Generator) -> SignScene:
        signs = (2 * rng.integers(0, 2, size=(rows, probes + 1)) - 1).astype(np.int8)
        return SignScene(None, signs[:, -1].copy(), signs[:, :-1])


@dataclass(frozen=True)
class SignScene(Scene):
    """Rows of a :class:`SignWorld`."""

    features: NDArray[np.int8] = field(repr=False)

    @property
    def probes(self) -> int:
        return int(self.features.shape[1])

    def probe(self, j: int) -> Rule:
        return Rule(accuracy(self.features[:, j]), 0.5)

    def vote(self, weights: ArrayLike) -> Rule:
        given = np.asarray(weights, dtype=np.float64)
        total = self.features[:, : len(given)] @ given
        return Rule(accuracy(np.where(total >= 0, 1, -1).astype(np.int8)), 0.5)

    def covariance(self, probes: int) -> Floats:
        # Features are public, labels are fair coins: two probes vary together as far as they say the same.
        signs = self.features[:, :probes].astype(np.float32)  # sums of signs up to 2^24 are exact
        return (signs.T @ signs).astype(np.float64) / (4 * self.rows**2)

    def certain(self) -> Rule:
        # Both signs score 0, and a class that is no label less or more: of the best two, a label is one, or neither.
        first = np.arange(self.rows) < self.rows // 2
        scores = np.zeros((self.rows, 3))
        scores[:, 0] = np.where(first, -1.0, 1.0)
        return Rule(top_k(scores, k=2, classes=(0, -1, 1)), self.rows // 2 / self.rows)


@dataclass(frozen=True)
class FiniteWorld(World):
    """So many points, drawn with given weights (uniform by default): the truth of any question is a sum.

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
class FiniteScene(Scene):
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

    def certain(self) -> Rule:
        half = self.rows // 2
        return Rule(accuracy((np.arange(self.rows) < half).astype(np.int64)), half / self.rows)

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
            return Rule(share(col("point").isin(np.flatnonzero(values).tolist())), truth)
        if form == "function":
            table = values.copy()
            return Rule(function(lambda columns: table[columns["point"].astype(np.int64)], (0, 1), name), truth)
        raise Unaskable(f"a question is put as accuracy, mae, share or function, not {form!r}")
