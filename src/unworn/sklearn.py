"""scikit-learn estimators that learn only by asking: the one module that imports scikit-learn.

``fit(X, y)`` seals the rows behind a holdout and never looks at them again: everything the model is made of are answers
to ``ask_many``, so its excess risk over the population is bounded whatever was fitted, selected and refitted on the
same answers. ``learn(holdout, ...)`` does the same with a holdout that exists already.

What is public: the number of rows and columns, the names of the classes, and the bounds, which are declared and never
found in the rows. By default features and targets are taken to be standardised, and are cut at 3 standard deviations.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from unworn.errors import MissingExtra
from unworn.holdout import Holdout
from unworn.ledger import Key, MemoryStore
from unworn.mechanisms import Gaussian, GuessAndCheck
from unworn.optimize import Ball, Feature, FittedMixture, L1Ball, Minimum, Region, Stump, fit_mixture, minimise
from unworn.optimize.planning import plan_descent
from unworn.queries.linear import LinearLoss, hinge, least_squares, logistic, pinball
from unworn.queries.rows import Column

if TYPE_CHECKING:
    from unworn.mechanisms import Mechanism

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, DensityMixin, RegressorMixin
    from sklearn.utils import check_random_state
    from sklearn.utils.multiclass import check_classification_targets, type_of_target
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError:
    raise MissingExtra.of("sklearn", "unworn.sklearn") from None

Floats = NDArray[np.float64]

__all__ = [
    "AskedGaussianMixture",
    "AskedLinearRegression",
    "AskedLinearSVM",
    "AskedLogisticRegression",
    "AskedQuantileRegressor",
    "AskedStumps",
]


class Repeatable(MemoryStore):
    """A ledger in memory whose keys follow from ``random_state``: the same fit again, to the last digit.

    Seeds are no secrets: whoever knows one could take the noise off again, and the certificate says so.
    """

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._rng = np.random.default_rng(seed)

    def clock(self) -> float:
        return 0.0

    def new_key(self) -> Key:
        return Key(self._rng.bytes(32))


class _Asked(BaseEstimator):  # type: ignore[misc]
    """What all of them share: seal, plan, minimise; and a score that is linear in cut and scaled features."""

    minimum_: Minimum
    n_features_in_: int

    def _loss(self, features: Any, target: str) -> LinearLoss:
        raise NotImplementedError

    def _region(self) -> Region:
        return Ball(self.radius)

    def _features(self, names: list[str]) -> Any:
        low, high = self.bounds
        return [Feature(name, low, high) for name in names]

    def _seal(self, X: Floats, y: NDArray[Any]) -> Self:
        """Plan for these rows, seal them, and learn from the holdout alone."""
        names = [f"x{place}" for place in range(X.shape[1])]
        loss, over = self._loss(self._features(names), "y"), self._region()
        plan = plan_descent(
            len(X), loss, over, ridge=self.ridge, confidence=self.confidence, iterations=self.iterations
        )
        store = None if self.random_state is None else Repeatable(_seed(self.random_state))
        mechanism = plan.mechanism if self.mechanism is None else self.mechanism
        holdout = Holdout(
            X, y, mechanism=mechanism, asks=plan.asks, confidence=self.confidence, ledger=store, name="fit"
        )
        return self._minimise(holdout, loss, plan.iterations)

    def _minimise(self, holdout: Holdout, loss: LinearLoss, iterations: int | None) -> Self:
        found = minimise(holdout, loss, self._region(), ridge=self.ridge, iterations=iterations)
        self.minimum_ = found
        self.certificate_ = found.certificate
        self.excess_bound_ = found.excess
        self.risk_, _, self.risk_bound_ = found.risk or (np.nan, np.nan, np.nan)
        self.n_iter_ = found.iterations
        return self

    def learn(self, holdout: Holdout, features: Mapping[str, tuple[float, float]], target: str = "y") -> Self:
        """Learn from a holdout that exists already: ``features`` are its columns and their declared bounds.

        Predictions then take a matrix with these columns, in this order. As many iterations are made as ``iterations``
        says, or as the holdout's plan has left.
        """
        loss = self._loss(self._named(features), target)
        self.n_features_in_ = len(features)
        return self._minimise(holdout, loss, self.iterations)

    def _named(self, features: Mapping[str, tuple[float, float]]) -> Any:
        return [Feature(name, low, high) for name, (low, high) in features.items()]

    def _score(self, X: Any) -> Floats:
        """The linear score of cut and scaled features: the very problem that is certified."""
        check_is_fitted(self, "minimum_")
        X = validate_data(self, X, reset=False, dtype=np.float64)
        loss, at = self.minimum_.loss, np.array(self.minimum_.coefficients)
        columns = {name: X[:, place] for place, name in enumerate(dict.fromkeys(f.name for f in loss.features))}
        return loss.score(at, _Given(columns, len(X)))


class _Given:
    """The asker's own rows, as a loss reads columns."""

    def __init__(self, columns: dict[str, Floats], size: int) -> None:
        self.size, self._columns = size, columns

    def column(self, name: str) -> Column:
        return Column("number", self._columns[name])

    def pick(self, values: NDArray[Any]) -> NDArray[Any]:
        return values


class _AskedClassifier(ClassifierMixin, _Asked):  # type: ignore[misc]
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
        X, y = validate_data(self, X, y, dtype=np.float64)
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
        self.classes_ = np.array(classes)
        self._positive = classes[1]
        try:
            return super().learn(holdout, features, target)
        finally:
            del self._positive

    @property
    def _plus(self) -> Any:
        return getattr(self, "_positive", 1)  # rows that fit() seals have labels 0 and 1

    def decision_function(self, X: Any) -> Floats:
        return self._score(X)

    def predict(self, X: Any) -> NDArray[Any]:
        above = self._score(X) > 0
        return np.asarray(self.classes_[above.astype(int)])


class AskedLogisticRegression(_AskedClassifier):
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
        chance = 1 / (1 + np.exp(-self._score(X)))
        return np.column_stack([1 - chance, chance])


class AskedLinearSVM(_AskedClassifier):
    """A linear support vector machine (hinge loss) that learns only through asks."""

    def _loss(self, features: Any, target: str) -> LinearLoss:
        return hinge(features, target, positive=self._plus)


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


class _AskedRegressor(RegressorMixin, _Asked):  # type: ignore[misc]
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
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        return self._seal(X, np.asarray(y, dtype=np.float64))

    def predict(self, X: Any) -> Floats:
        low, high = self.target_range
        return (low + high) / 2 + (high - low) / 2 * self._score(X)


class AskedLinearRegression(_AskedRegressor):
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


class AskedQuantileRegressor(_AskedRegressor):
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


class AskedGaussianMixture(DensityMixin, BaseEstimator):  # type: ignore[misc]
    """A mixture of Gaussians with variances of their own for each feature, by EM that learns only through asks.

    EM is not convex: what is certified (``fitted_``) is its last step, and not how likely the result is.

    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(-1.5, 0.4, 10_000), rng.normal(1.5, 0.4, 10_000)])[:, None]
    >>> model = AskedGaussianMixture(random_state=0).fit(X)
    >>> bool(np.allclose(sorted(model.means_[:, 0]), [-1.5, 1.5], atol=0.5))
    True
    """

    fitted_: FittedMixture

    def __init__(
        self,
        n_components: int = 2,
        *,
        bounds: tuple[float, float] = (-3.0, 3.0),
        iterations: int = 10,
        narrowest: float = 0.01,
        mechanism: Mechanism | None = None,
        confidence: float = 0.95,
        random_state: Any = None,
    ) -> None:
        self.n_components, self.bounds, self.iterations, self.narrowest = n_components, bounds, iterations, narrowest
        self.mechanism, self.confidence, self.random_state = mechanism, confidence, random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = self.random_state is None
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:
        """Seal the rows and learn from answers alone."""
        X = validate_data(self, X, dtype=np.float64)
        asks = self.iterations * self.n_components * (1 + 2 * X.shape[1])
        noise = Gaussian().best(len(X), max(asks, 1), 1 - self.confidence)[1] < 0.5
        mechanism = self.mechanism or (Gaussian() if noise else GuessAndCheck())
        seed = 0 if self.random_state is None else _seed(self.random_state)
        store = None if self.random_state is None else Repeatable(seed)
        holdout = Holdout(X, mechanism=mechanism, asks=asks, confidence=self.confidence, ledger=store, name="fit")
        features = {f"x{place}": self.bounds for place in range(X.shape[1])}
        self.fitted_ = fit_mixture(
            holdout, features, self.n_components, iterations=self.iterations, narrowest=self.narrowest, seed=seed
        )
        low, high = self.bounds
        self.weights_ = np.array(self.fitted_.mixture.weights)
        self.means_ = (low + high) / 2 + (high - low) / 2 * np.array(self.fitted_.mixture.means)
        self.covariances_ = ((high - low) / 2) ** 2 * np.array(self.fitted_.mixture.variances)
        self.n_iter_ = self.iterations
        return self

    def _points(self, X: Any) -> Floats:
        check_is_fitted(self, "fitted_")
        X = validate_data(self, X, reset=False, dtype=np.float64)
        columns = {f"x{place}": X[:, place] for place in range(X.shape[1])}
        return self.fitted_.mixture.read(_Given(columns, len(X)))

    def predict_proba(self, X: Any) -> Floats:
        points = self._points(X)
        return self.fitted_.mixture.responsibilities(points).T

    def predict(self, X: Any) -> NDArray[np.intp]:
        return np.asarray(self.predict_proba(X).argmax(axis=1))

    def score_samples(self, X: Any) -> Floats:
        """The log-density of each row, cut to the bounds, in the features' own units."""
        points, (low, high) = self._points(X), self.bounds
        densities = np.logaddexp.reduce(self.fitted_.mixture.log_parts(points), axis=0)
        return np.asarray(densities - self.n_features_in_ * np.log((high - low) / 2))

    def score(self, X: Any, y: Any = None) -> float:
        return float(np.mean(self.score_samples(X)))


def _seed(random_state: Any) -> int:
    return int(check_random_state(random_state).randint(2**31 - 1))
