"""What a world is: a population that knows the truth, and the draws from it.

A world is drawn from as often as one likes; each draw is a :class:`Scene`: rows for a holdout, and the questions that
an analyst may put to them, each with the value it has in the population. Predictions are made row by row by rules
fixed without the rows, as every certificate assumes; what an analyst learns, it learns from answers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unworn.queries import Query, accuracy, compare, top_k

Floats = NDArray[np.float64]


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
class SignLabels(Scene):
    """A scene whose labels are −1 and 1."""

    def certain(self) -> Rule:
        # Both signs score 0, and a class that is no label less or more: of the best two, a label is one, or neither.
        first = np.arange(self.rows) < self.rows // 2
        scores = np.zeros((self.rows, 3))
        scores[:, 0] = np.where(first, -1.0, 1.0)
        return Rule(top_k(scores, k=2, classes=(0, -1, 1)), self.rows // 2 / self.rows)


@dataclass(frozen=True)
class SingleLabel(Scene):
    """A scene whose labels are all 1: a probe holds where 1 is predicted."""

    def certain(self) -> Rule:
        half = self.rows // 2
        return Rule(accuracy((np.arange(self.rows) < half).astype(np.int64)), half / self.rows)
