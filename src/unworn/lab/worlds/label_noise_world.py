"""Label noise: a share of the labels is wrong, so nobody can be right more often than that allows."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unworn.lab.worlds.exact_votes import vote_truth, whole_weights
from unworn.lab.worlds.world import Floats, Rule, SignLabels, World
from unworn.queries import accuracy


@dataclass(frozen=True)
class LabelNoiseWorld(World):
    """Models of every skill up to ``best`` about the true class; a label differs from it with probability ``flips``.

    Whatever is asked, the population value is at most 1 − ``flips``: an accuracy above it was read off the labels'
    noise, not learned. All models are wrong on the same flipped rows, as models are.

    Examples
    --------
    >>> scene = LabelNoiseWorld(flips=0.1, best=1.0).draw(rows=100, probes=3, rng=np.random.default_rng(1))
    >>> sorted(round(scene.probe(j).truth, 2) for j in range(3))
    [0.5, 0.7, 0.9]
    """

    flips: float = 0.2
    best: float = 0.8

    def __post_init__(self) -> None:
        if not (0 <= self.flips < 0.5 <= self.best <= 1):
            raise ValueError(f"flips lies below 0.5 and best from 0.5 to 1, not {self.flips} and {self.best}")

    @property
    def ceiling(self) -> float:
        """The accuracy of knowing every true class."""
        return 1 - self.flips

    def draw(self, rows: int, probes: int, rng: np.random.Generator) -> LabelNoiseScene:
        skills = rng.permutation(np.linspace(0.5, self.best, probes))
        classes = (2 * rng.integers(0, 2, rows) - 1).astype(np.int8)
        labels = np.where(rng.random(rows) < self.flips, -classes, classes)
        right = rng.random((rows, probes)) < skills
        features = np.where(right, classes[:, None], -classes[:, None])
        return LabelNoiseScene(None, labels, features, skills, self.flips)


@dataclass(frozen=True)
class LabelNoiseScene(SignLabels):
    """Rows of a :class:`LabelNoiseWorld`: what each model says, sealed labels, and each model's skill."""

    features: NDArray[np.int8] = field(repr=False)
    skills: Floats = field(repr=False)
    flips: float

    @property
    def probes(self) -> int:
        return len(self.skills)

    def probe(self, j: int) -> Rule:
        return Rule(accuracy(self.features[:, j]), self._noisy(float(self.skills[j])))

    def vote(self, weights: ArrayLike) -> Rule:
        whole = whole_weights(weights)
        total = self.features[:, : len(whole)].astype(np.int64) @ whole
        says = np.where(total >= 0, 1, -1).astype(np.int8)
        return Rule(accuracy(says), self._noisy(vote_truth(whole, self.skills[: len(whole)])))

    def covariance(self, probes: int) -> Floats:
        # Right about the label: right about the class, where it was not flipped. Flips are what two models share.
        leans = 2 * self.skills[:probes] - 1
        together: Floats = np.outer(leans, leans) * self.flips * (1 - self.flips)
        values = (1 + leans * (1 - 2 * self.flips)) / 2
        np.fill_diagonal(together, values * (1 - values))
        return together / self.rows

    def _noisy(self, skill: float) -> float:
        return skill * (1 - self.flips) + (1 - skill) * self.flips
