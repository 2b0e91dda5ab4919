"""A table with a class to predict, generated: what the best classifier there is reaches is known."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from unworn.lab.worlds.world import Floats, Rule, SignLabels, World
from unworn.queries import accuracy


@dataclass(frozen=True)
class TabularWorld(World):
    """Normal columns around one of two centres, as a label of ±1 says: a classification problem without a secret.

    The centres are 2·``separation`` apart, in a direction drawn with the rows; the Bayes risk is Φ(−``separation``). A
    probe is a linear classifier in a random direction, a vote the one that adds up their directions: a hill climber's
    moves. Every linear classifier's accuracy in the population has a closed form.

    Examples
    --------
    >>> world = TabularWorld(columns=5, separation=1.0)
    >>> round(world.bayes_risk, 4)
    0.1587
    >>> scene = world.draw(rows=100, probes=50, rng=np.random.default_rng(1))
    >>> best = scene.vote([2 * scene.probe(j).truth - 1 for j in range(50)]).truth
    >>> 0.8 < best < 1 - world.bayes_risk
    True
    """

    columns: int = 10
    separation: float = 1.0

    def __post_init__(self) -> None:
        if self.columns < 1 or not 0 <= self.separation < math.inf:
            raise ValueError(f"a table has a column, and centres apart; not {self.columns} and {self.separation}")

    @property
    def bayes_risk(self) -> float:
        """How often the best classifier there is errs."""
        return NormalDist().cdf(-self.separation)

    def draw(self, rows: int, probes: int, rng: np.random.Generator) -> TabularScene:
        centre = _unit(rng.standard_normal((1, self.columns)))[0] * self.separation
        directions = _unit(rng.standard_normal((probes, self.columns)))
        labels = 2 * rng.integers(0, 2, rows) - 1
        table = rng.standard_normal((rows, self.columns)) + labels[:, None] * centre
        return TabularScene(None, labels.astype(np.int8), table, directions, centre)


@dataclass(frozen=True)
class TabularScene(SignLabels):
    """Rows of a :class:`TabularWorld`: a public table, sealed labels, and the directions of the probes."""

    table: Floats = field(repr=False)
    directions: Floats = field(repr=False)
    centre: Floats = field(repr=False)

    @property
    def probes(self) -> int:
        return len(self.directions)

    def probe(self, j: int) -> Rule:
        return self.classify(self.directions[j])

    def vote(self, weights: ArrayLike) -> Rule:
        given = np.asarray(weights, dtype=np.float64)
        return self.classify(given @ self.directions[: len(given)])

    def classify(self, direction: ArrayLike, offset: float = 0.0) -> Rule:
        """The linear classifier that says 1 where the table's rows lie beyond ``offset`` in a direction."""
        along = np.asarray(direction, dtype=np.float64)
        length = float(np.linalg.norm(along))
        says = np.where(self.table @ along >= offset, 1, -1).astype(np.int8)
        if length == 0.0:
            return Rule(accuracy(says), 0.5)
        reach, cut = float(along @ self.centre) / length, offset / length
        normal = NormalDist()
        return Rule(accuracy(says), (normal.cdf(reach - cut) + normal.cdf(reach + cut)) / 2)

    def covariance(self, probes: int) -> Floats:
        # The table is public: given a row, its label is 1 with a known chance, and all probes are right or wrong by it.
        says = np.where(self.table @ self.directions[:probes].T >= 0, 1.0, -1.0)
        chance = 1 / (1 + np.exp(-2 * (self.table @ self.centre)))
        found: Floats = (says * (chance * (1 - chance))[:, None]).T @ says / self.rows**2
        return found


def _unit(vectors: Floats) -> Floats:
    """Vectors of length 1 in the same directions."""
    scaled: Floats = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return scaled
