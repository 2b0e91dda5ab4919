"""Fair signs and a label that nothing predicts."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unworn.lab.worlds.world import Floats, Rule, SignLabels, World
from unworn.queries import accuracy


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
class SignScene(SignLabels):
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
