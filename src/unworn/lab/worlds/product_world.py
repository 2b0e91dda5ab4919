"""Product distributions: independent attributes, each with its own share."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unworn.lab.worlds.exact_votes import vote_law, whole_weights
from unworn.lab.worlds.world import Floats, Rule, SingleLabel, World
from unworn.queries import accuracy


@dataclass(frozen=True)
class ProductWorld(World):
    """Independent attributes of 0 and 1, whose shares are drawn between ``low`` and ``high``.

    A probe is the share of rows with one attribute, a vote holds for the rows with the highest scores, about a quarter
    of the population. Shares near 0 or 1 vary little from draw to draw, as rare events do, and a row that has what is
    rare stands out: the shares of fingerprinting codes are drawn like that.

    Examples
    --------
    >>> scene = ProductWorld(0.1, 0.1).draw(rows=50, probes=3, rng=np.random.default_rng(1))
    >>> scene.probe(0).truth, round(scene.vote([1, 1, 1]).truth, 3)  # at least one of three
    (0.1, 0.271)
    """

    low: float = 0.05
    high: float = 0.95

    def __post_init__(self) -> None:
        if not 0 < self.low <= self.high < 1:
            raise ValueError(f"shares are drawn between low and high, both within 0 and 1, not {self.low}, {self.high}")

    def draw(self, rows: int, probes: int, rng: np.random.Generator) -> ProductScene:
        shares = self.low + (self.high - self.low) * rng.random(probes)
        has = rng.random((rows, probes)) < shares
        return ProductScene(None, np.ones(rows, dtype=np.int64), has, shares)


@dataclass(frozen=True)
class ProductScene(SingleLabel):
    """Rows of a :class:`ProductWorld`."""

    has: NDArray[np.bool_] = field(repr=False)
    shares: Floats = field(repr=False)

    @property
    def probes(self) -> int:
        return len(self.shares)

    def probe(self, j: int) -> Rule:
        return Rule(accuracy(self.has[:, j].astype(np.int64)), float(self.shares[j]))

    def vote(self, weights: ArrayLike) -> Rule:
        whole = whole_weights(weights)
        shares = self.shares[: len(whole)]
        law = vote_law(whole, shares)  # of Σ w (2x − 1)
        above = np.cumsum(law[::-1])[::-1]
        place = int(np.argmin(np.abs(above - 0.25)))
        score = (2 * self.has[:, : len(whole)].astype(np.int64) - 1) @ whole
        holds = score >= place - len(law) // 2
        return Rule(accuracy(holds.astype(np.int64)), float(min(above[place], 1.0)))

    def covariance(self, probes: int) -> Floats:
        shares = self.shares[:probes]
        return np.diag(shares * (1 - shares)) / self.rows
