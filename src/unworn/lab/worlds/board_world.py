"""A leaderboard's submissions: each is the one before it with some predictions made anew, a little better."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unworn.lab.worlds.exact_votes import chained_truth, whole_weights
from unworn.lab.worlds.world import Floats, Rule, SignLabels, World
from unworn.queries import accuracy


@dataclass(frozen=True)
class BoardWorld(World):
    """A history of submissions that get better and differ little: what a board sees, and what paired questions are for.

    The first is right with the chance ``start``. Each later one makes the share ``change`` of its predictions anew, of
    which the chance to be right grows evenly to ``best``. A vote is an ensemble of submissions.

    Examples
    --------
    >>> scene = BoardWorld(start=0.6, best=0.8, change=0.5).draw(rows=100, probes=3, rng=np.random.default_rng(1))
    >>> [round(scene.probe(j).truth, 3) for j in range(3)]
    [0.6, 0.65, 0.725]
    """

    start: float = 0.6
    best: float = 0.75
    change: float = 0.1

    def __post_init__(self) -> None:
        if not all(0 <= share <= 1 for share in (self.start, self.best, self.change)):
            raise ValueError(
                f"start, best and change are shares from 0 to 1, not {self.start}, {self.best} and {self.change}"
            )

    def draw(self, rows: int, probes: int, rng: np.random.Generator) -> BoardScene:
        chances = np.linspace(self.start, self.best, probes)
        labels = (2 * rng.integers(0, 2, rows) - 1).astype(np.int8)
        right = rng.random((rows, probes)) < chances
        kept = rng.random((rows, probes)) >= self.change
        for j in range(1, probes):
            right[:, j] = np.where(kept[:, j], right[:, j - 1], right[:, j])
        submissions = np.where(right, labels[:, None], -labels[:, None])
        return BoardScene(None, labels, submissions, chances, self.change)


@dataclass(frozen=True)
class BoardScene(SignLabels):
    """Rows of a :class:`BoardWorld`: the submissions and the sealed labels."""

    submissions: NDArray[np.int8] = field(repr=False)
    chances: Floats = field(repr=False)
    change: float

    @property
    def probes(self) -> int:
        return len(self.chances)

    @property
    def truths(self) -> Floats:
        """How often each submission is right in the population."""
        found = self.chances.copy()
        for j in range(1, len(found)):
            found[j] = (1 - self.change) * found[j - 1] + self.change * found[j]
        return found

    def probe(self, j: int) -> Rule:
        return Rule(accuracy(self.submissions[:, j]), float(self.truths[j]))

    def vote(self, weights: ArrayLike) -> Rule:
        whole = whole_weights(weights)
        total = self.submissions[:, : len(whole)].astype(np.int64) @ whole
        says = np.where(total >= 0, 1, -1).astype(np.int8)
        return Rule(accuracy(says), chained_truth(whole, self.chances[: len(whole)], self.change))

    def covariance(self, probes: int) -> Floats:
        # Two submissions agree by chance alone, unless no prediction between them was made anew.
        truths, places = self.truths[:probes], np.arange(probes)
        variances = truths * (1 - truths)
        earlier = np.minimum(places[:, None], places[None, :])
        found: Floats = variances[earlier] * (1 - self.change) ** np.abs(places[:, None] - places[None, :]) / self.rows
        return found
