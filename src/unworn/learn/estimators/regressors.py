"""A number from a linear score: least squares and quantiles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from unworn.learn.estimators.linear_estimator import LinearEstimator, check_given_rows
from unworn.learn.estimators.sklearn_library import RegressorMixin
from unworn.queries.learning.linear_losses import LinearLoss, least_squares, pinball
from unworn.queries.row_protocol import Floats

if TYPE_CHECKING:
    from unworn.mechanisms import Mechanism


class AskedRegressor(RegressorMixin, LinearEstimator):  # type: ignore[misc]
    """A target cut to ``target_range``, which is declared like the bounds of the features."""

    def __init__(
        self,
        *,
        radius: float = 3.0,
        ridge: float = 0.01,
        bounds: tuple[float, float] = (-3.0, 3.0),
        target_range: tuple[float, float] = (-3.0, 3.0),
        iterations: int | None = None,
        mechanism: Mechanism | None = None,
        confidence: float = 0.95,
        random_state: Any = None,
    ) -> None:
        self.radius, self.ridge, self.bounds, self.target_range = radius, ridge, bounds, target_range
        self.iterations, self.mechanism = iterations, mechanism
        self.confidence, self.random_state = confidence, random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True
        tags.non_deterministic = self.random_state is None
        return tags

    def fit(self, X: Any, y: Any) -> Self:
        """Seal the rows and learn from answers alone."""
        X, y = check_given_rows(self, X, y, y_numeric=True)
        return self._seal(X, np.asarray(y, dtype=np.float64))

    def predict(self, X: Any) -> Floats:
        score = self._score(X)
        low, high = self.minimum_.loss.range or self.target_range  # as it was learned, whatever is set since
        return (low + high) / 2 + (high - low) / 2 * score


class AskedLinearRegression(AskedRegressor):
    """Least squares that learns only through asks.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(50_000, 1))
    >>> y = 0.8 * X[:, 0] + 0.3 * rng.normal(size=50_000)
    >>> model = AskedLinearRegression(random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.8
    True
    """

    def _loss(self, features: Any, target: str) -> LinearLoss:
        return least_squares(features, target, range=self.target_range)


class AskedQuantileRegressor(AskedRegressor):
    """A conditional quantile (pinball loss) that learns only through asks."""

    def __init__(
        self,
        *,
        quantile: float = 0.5,
        radius: float = 3.0,
        ridge: float = 0.01,
        bounds: tuple[float, float] = (-3.0, 3.0),
        target_range: tuple[float, float] = (-3.0, 3.0),
        iterations: int | None = None,
        mechanism: Mechanism | None = None,
        confidence: float = 0.95,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            radius=radius, ridge=ridge, bounds=bounds, target_range=target_range, iterations=iterations,
            mechanism=mechanism, confidence=confidence, random_state=random_state,
        )  # fmt: skip
        self.quantile = quantile

    def _loss(self, features: Any, target: str) -> LinearLoss:
        return pinball(features, target, range=self.target_range, quantile=self.quantile)
