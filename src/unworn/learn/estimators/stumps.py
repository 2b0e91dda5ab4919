"""Boosting of stumps as descent over an L1 ball."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from unworn.learn import L1Ball, Region, Stump
from unworn.learn.estimators.classifiers import AskedLogisticRegression

if TYPE_CHECKING:
    from unworn.mechanisms import Mechanism


class AskedStumps(AskedLogisticRegression):
    """Boosted stumps: the logistic loss over all mixtures of one-cut trees, one stump an iteration.

    In every round the weighted edges of all stumps are asked, each a bounded mean, and the best is added: boosting as
    conditional gradient descent over an L1 ball, so that the bound does not grow with the number of stumps.
    ``cuts`` of them lie evenly inside the bounds of every feature.

    References
    ----------
    Aslam and Decatur 1998 for boosting by statistical queries; Jaggi 2013 for the descent.
    """

    def __init__(
        self,
        *,
        cuts: int = 5,
        radius: float = 3.0,
        bounds: tuple[float, float] = (-3.0, 3.0),
        iterations: int | None = None,
        mechanism: Mechanism | None = None,
        confidence: float = 0.95,
        random_state: Any = None,
    ) -> None:
        self.cuts, self.radius, self.bounds, self.iterations = cuts, radius, bounds, iterations
        self.mechanism, self.confidence, self.random_state = mechanism, confidence, random_state

    ridge = 0.0

    def _region(self) -> Region:
        return L1Ball(self.radius)

    def _features(self, names: list[str]) -> Any:
        return self._named(dict.fromkeys(names, self.bounds))

    def _named(self, features: Mapping[str, tuple[float, float]]) -> Any:
        places = np.arange(1, self.cuts + 1) / (self.cuts + 1)
        return [
            Stump(name, low + (high - low) * place)
            for name, (low, high) in features.items()
            for place in places.tolist()
        ]
