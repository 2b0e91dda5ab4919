"""A planted signal: a few features predict the label a little, the others not at all."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unworn.lab.worlds.exact_votes import vote_truth, whole_weights
from unworn.lab.worlds.world import Floats, Rule, SignLabels, World
from unworn.queries import accuracy


@dataclass(frozen=True)
class PlantedWorld(World):
    """Features of ±1 about a fair label: ``signal`` of them correlate with it by ``strength``, in places nobody knows.

    The world for analysts who look for something: what they find may be real. A probe is the accuracy of one feature;
    a vote that of the sign of a sum, weighted in whole steps, so that its truth is exact.

    Examples
    --------
    >>> scene = PlantedWorld(signal=2, strength=0.5).draw(rows=100, probes=6, rng=np.random.default_rng(1))
    >>> sorted(scene.probe(j).truth for j in range(6))
    [0.5, 0.5, 0.5, 0.5, 0.75, 0.75]
    >>> scene.vote([scene.probe(j).truth - 0.5 for j in range(6)]).truth  # of the two real ones
    0.75
    """

    signal: int = 10
    strength: float = 0.2

    def __post_init__(self) -> None:
        if self.signal < 0 or not 0 <= self.strength <= 1:
            raise ValueError(
                f"signal is a number of features and strength a correlation from 0 to 1, not {self.signal} and "
                f"{self.strength}"
            )

    def draw(self, rows: int, probes: int, rng: np.random.Generator) -> PlantedScene:
        chances = np.full(probes, 0.5)
        chances[rng.permutation(probes)[: self.signal]] += self.strength / 2
        labels = (2 * rng.integers(0, 2, rows) - 1).astype(np.int8)
        right = rng.random((rows, probes)) < chances
        return PlantedScene(None, labels, np.where(right, labels[:, None], -labels[:, None]), chances)


@dataclass(frozen=True)
class PlantedScene(SignLabels):
    """Rows of a :class:`PlantedWorld`: public features, sealed labels, and how often each feature is right."""

    features: NDArray[np.int8] = field(repr=False)
    chances: Floats = field(repr=False)

    @property
    def probes(self) -> int:
        return len(self.chances)

    def probe(self, j: int) -> Rule:
        return Rule(accuracy(self.features[:, j]), float(self.chances[j]))

    def vote(self, weights: ArrayLike) -> Rule:
        whole = whole_weights(weights)
        total = self.features[:, : len(whole)].astype(np.int64) @ whole
        says = np.where(total >= 0, 1, -1).astype(np.int8)
        return Rule(accuracy(says), vote_truth(whole, self.chances[: len(whole)]))

    def covariance(self, probes: int) -> Floats:
        # Given a row's label, features are independent; whether a probe is right does not depend on the label.
        chances = self.chances[:probes]
        return np.diag(chances * (1 - chances)) / self.rows
