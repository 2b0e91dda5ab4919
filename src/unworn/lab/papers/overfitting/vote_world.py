"""A world of ±1 features, most of them useless, in which the truth of every vote is known exactly."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Bits = NDArray[np.uint8]
Floats = NDArray[np.float64]
Places = NDArray[np.intp]


class Side(NamedTuple):
    """Training rows or holdout: one line of predictions for each feature, and the labels, all 0 or 1."""

    features: Bits
    labels: Bits

    def right(self, predictions: Bits) -> float:
        """How often predictions are right on these rows."""
        return float(np.count_nonzero(predictions == self.labels)) / len(self.labels)


@dataclass(frozen=True)
class Features:
    """So many rows and features, the first ``signal`` of them with a correlation of ``strength``/√rows to the label.

    >>> world = Features(rows=100, features=50, signal=1, strength=6.0)
    >>> world.chances[:2].tolist()
    [0.8, 0.5]
    """

    rows: int
    features: int
    signal: int
    strength: float

    def __post_init__(self) -> None:
        if self.rows < 1 or self.features < 1 or not 0 <= self.signal <= self.features:
            raise ValueError(
                f"there is at least 1 row and 1 feature, and from none to all of them are real, not {self.rows} rows, "
                f"{self.features} features and {self.signal} real ones"
            )
        if not abs(self.strength) <= math.sqrt(self.rows):  # also refuses NaN
            raise ValueError(f"{self.strength}/√{self.rows} is not a correlation: strength is at most √rows")

    @property
    def chances(self) -> Floats:
        """How often each feature is right: (1 + correlation)/2."""
        real = np.arange(self.features) < self.signal
        return np.where(real, 0.5 + self.strength / (2 * math.sqrt(self.rows)), 0.5)

    def draw(self, rng: np.random.Generator) -> Side:
        """Fresh rows with fair labels."""
        labels = rng.integers(0, 2, self.rows, dtype=np.uint8)
        coins = rng.integers(0, 256, (self.features, -(-self.rows // 8)), dtype=np.uint8)
        features = np.unpackbits(coins, axis=1, count=self.rows)
        right = rng.random((self.signal, self.rows)) < self.chances[: self.signal, None]
        features[: self.signal] = np.where(right, labels, 1 - labels)
        return Side(features, labels)

    def truth(self, chosen: Places, signs: Floats) -> float:
        """How often a :func:`vote` is right on fresh rows without end.

        >>> world = Features(rows=10_000, features=9, signal=2, strength=6.0)
        >>> round(world.truth(np.array([5, 7, 8]), np.ones(3)), 4)
        0.5
        >>> round(world.truth(np.array([0, 1, 8]), np.ones(3)), 4)  # each of two is right with 53 %, and decides half
        0.53
        """
        if not len(chosen):
            return 0.5
        chances = self.chances[chosen]
        first, *others = np.where(signs > 0, chances, 1 - chances).tolist()
        law = np.ones(1)  # of how many of the others are right
        for chance in others:
            law = np.convolve(law, [1 - chance, chance])
        lead = 2 * np.arange(len(law)) - len(others)
        return float(first * law[lead > -1.5].sum() + (1 - first) * law[lead > 1.5].sum())


def vote(features: Bits, chosen: Places, signs: Floats) -> Bits:
    """What most of the chosen features say, each taken with its sign; in a tie, what the first of them does.

    >>> vote(np.array([[1, 0, 1], [0, 0, 1]], dtype=np.uint8), np.array([0, 1]), np.array([1.0, 1.0])).tolist()
    [1, 0, 1]
    """
    weights = signs.astype(np.float32)
    weights[:1] *= 1.5
    says: Bits = (weights @ (2 * features[chosen].astype(np.float32) - 1) > 0).astype(np.uint8)
    return says
