"""Two classes told apart by a linear score: logistic regression and a support vector machine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from unworn.holdout import Holdout
from unworn.learn.estimators.linear_estimator import LinearEstimator, check_given_rows
from unworn.learn.estimators.sklearn_library import ClassifierMixin, check_classification_targets, type_of_target
from unworn.queries.learning.linear_losses import LinearLoss, hinge, logistic
from unworn.queries.row_protocol import Floats

if TYPE_CHECKING:
    from unworn.mechanisms import Mechanism


class AskedClassifier(ClassifierMixin, LinearEstimator):  # type: ignore[misc]
    """Two classes, the second of which (in sorted order) counts as +1."""

    def __init__(
        self,
        *,
        radius: float = 3.0,
        ridge: float = 0.01,
        bounds: tuple[float, float] = (-3.0, 3.0),
        iterations: int | None = None,
        mechanism: Mechanism | None = None,
        confidence: float = 0.95,
        random_state: Any = None,
    ) -> None:
        self.radius, self.ridge, self.bounds, self.iterations = radius, ridge, bounds, iterations
        self.mechanism, self.confidence, self.random_state = mechanism, confidence, random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.poor_score = True  # a few dozen rows behind a holdout teach little
        tags.non_deterministic = self.random_state is None
        return tags

    def fit(self, X: Any, y: Any) -> Self:
        """Seal the rows and learn from answers alone."""
        X, y = check_given_rows(self, X, y)
        check_classification_targets(y)
        self.classes_ = np.unique(y)
        if type_of_target(y) == "multiclass" or len(self.classes_) > 2:
            raise ValueError(
                "Only binary classification is supported. The type of the target is multiclass: fit one class "
                "against the rest"
            )
        if len(self.classes_) < 2:
            raise ValueError("the labels hold 1 class only, and a classifier needs two")
        return self._seal(X, (y == self.classes_[1]).astype(np.int64))

    def learn(
        self,
        holdout: Holdout,
        features: Mapping[str, tuple[float, float]],
        target: str = "y",
        *,
        classes: tuple[Any, Any] = (0, 1),
    ) -> Self:
        """Learn from a holdout that exists already; ``classes`` are its labels, the second counts as +1."""
        if len(classes) != 2 or classes[0] == classes[1]:
            raise ValueError(f"classes are two labels, the second of which counts as +1, not {classes!r:.60}")
        self._positive = classes[1]
        try:
            super().learn(holdout, features, target)
        finally:
            del self._positive
        self.classes_ = np.array(classes)
        return self

    @property
    def _plus(self) -> Any:
        return getattr(self, "_positive", 1)  # rows that fit() seals have labels 0 and 1

    def decision_function(self, X: Any) -> Floats:
        return self._score(X)

    def predict(self, X: Any) -> NDArray[Any]:
        above = self._score(X) > 0
        return np.asarray(self.classes_[above.astype(int)])


class AskedLogisticRegression(AskedClassifier):
    """Logistic regression that learns only through asks; ``excess_bound_`` holds for the population.

    Parameters
    ----------
    radius, ridge
        Coefficients (of features scaled to [-1, 1]) of norm at most ``radius``; the penalty is ridge/2 |θ|².
    bounds
        What features are cut to, declared: (-3, 3) suits standardised ones.
    iterations, mechanism, confidence
        How many; how the holdout answers; and the probability with which all of it holds. Left out, the first two are
        chosen for the number of rows.
    random_state
        None: noise from the operating system. A seed: the same fit again, for tests; the certificate says so.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(50_000, 1))
    >>> y = rng.random(50_000) < 1 / (1 + np.exp(-X[:, 0]))
    >>> model = AskedLogisticRegression(ridge=0.1, random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.65, model.risk_ < 0.68 < model.risk_bound_, model.excess_bound_ < 0.2
    (True, True, True)
    """

    def _loss(self, features: Any, target: str) -> LinearLoss:
        return logistic(features, target, positive=self._plus)

    def predict_proba(self, X: Any) -> Floats:
        chance = np.exp(-np.logaddexp(0.0, -self._score(X)))  # which no score makes overflow
        return np.column_stack([1 - chance, chance])


class AskedLinearSVM(AskedClassifier):
    """A linear support vector machine (hinge loss) that learns only through asks."""

    def _loss(self, features: Any, target: str) -> LinearLoss:
        return hinge(features, target, positive=self._plus)
