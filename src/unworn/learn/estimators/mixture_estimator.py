"""Mixtures of Gaussians by EM."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from unworn.holdout import Holdout
from unworn.learn import FittedMixture, fit_mixture
from unworn.learn.estimators.linear_estimator import check_given_rows, columns_are, keys_from_seed, seed_of
from unworn.learn.estimators.sklearn_library import BaseEstimator, DensityMixin, check_is_fitted, validate_data
from unworn.learn.given_columns import GivenColumns
from unworn.mechanisms import Gaussian, GuessAndCheck
from unworn.queries.row_protocol import Floats

if TYPE_CHECKING:
    from unworn.mechanisms import Mechanism


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
        X = check_given_rows(self, X)
        asks = self.iterations * self.n_components * (1 + 2 * X.shape[1])
        noise = Gaussian().best(len(X), max(asks, 1), 1 - self.confidence)[1] < 0.5
        mechanism = self.mechanism or (Gaussian() if noise else GuessAndCheck())
        seed = seed_of(self.random_state)
        terms = {"mechanism": mechanism, "asks": asks, "confidence": self.confidence}
        holdout = Holdout(X, ledger=keys_from_seed(seed), name="fit", **terms)
        return self._fit(holdout, {f"x{place}": self.bounds for place in range(X.shape[1])}, seed or 0)

    def learn(self, holdout: Holdout, features: Mapping[str, tuple[float, float]]) -> Self:
        """Learn from a holdout that exists already: ``features`` are its columns and their declared bounds.

        The start follows from ``random_state``, which is no secret; predictions take a matrix with these columns.
        """
        self._fit(holdout, features, seed_of(self.random_state) or 0)
        columns_are(self, features)
        return self

    def _fit(self, holdout: Holdout, features: Mapping[str, tuple[float, float]], seed: int) -> Self:
        self.fitted_ = fit_mixture(
            holdout, features, self.n_components, iterations=self.iterations, narrowest=self.narrowest, seed=seed
        )
        found, halves = self.fitted_.mixture, self._halves
        self.weights_ = np.array(found.weights)
        self.means_ = np.array([feature.low for feature in found.features]) + halves * (1 + np.array(found.means))
        self.covariances_ = halves**2 * np.array(found.variances)
        self.n_iter_ = self.iterations
        return self

    @property
    def _halves(self) -> Floats:
        """Half the length of each feature's bounds: what one is worth on the scale of [-1, 1]."""
        return np.array([(feature.high - feature.low) / 2 for feature in self.fitted_.mixture.features])

    def _points(self, X: Any) -> Floats:
        check_is_fitted(self, "fitted_")
        X = validate_data(self, X, reset=False, dtype=np.float64)
        mixture = self.fitted_.mixture
        columns = {feature.name: X[:, place] for place, feature in enumerate(mixture.features)}
        return mixture.read(GivenColumns(columns))

    def predict_proba(self, X: Any) -> Floats:
        points = self._points(X)
        return self.fitted_.mixture.responsibilities(points).T

    def predict(self, X: Any) -> NDArray[np.intp]:
        return np.asarray(self.predict_proba(X).argmax(axis=1))

    def score_samples(self, X: Any) -> Floats:
        """The log-density of each row, cut to the bounds, in the features' own units."""
        densities = np.logaddexp.reduce(self.fitted_.mixture.log_parts(self._points(X)), axis=0)
        return np.asarray(densities - np.log(self._halves).sum())

    def score(self, X: Any, y: Any = None) -> float:
        return float(np.mean(self.score_samples(X)))
