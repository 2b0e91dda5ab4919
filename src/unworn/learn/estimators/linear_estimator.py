"""What the estimators of a linear score share: seal, plan, minimise, and a score of cut and scaled features."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from unworn.errors import Unaskable
from unworn.holdout import Holdout
from unworn.learn import Ball, Feature, Minimum, Region, minimise
from unworn.learn.estimators.sklearn_library import BaseEstimator, check_is_fitted, check_random_state, validate_data
from unworn.learn.given_columns import GivenColumns
from unworn.learn.iteration_plan import plan_descent
from unworn.ledger.seeded_keys import SeededStore
from unworn.queries.learning.linear_losses import LinearLoss
from unworn.queries.row_protocol import Floats
from unworn.rows.sql.engine_choice import is_stored


class LinearEstimator(BaseEstimator):  # type: ignore[misc]
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
        store = keys_from_seed(seed_of(self.random_state))
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
        self._minimise(holdout, self._loss(self._named(features), target), self.iterations)
        columns_are(self, features)
        return self

    def _named(self, features: Mapping[str, tuple[float, float]]) -> Any:
        return [Feature(name, low, high) for name, (low, high) in features.items()]

    def _score(self, X: Any) -> Floats:
        """The linear score of cut and scaled features: the very problem that is certified."""
        check_is_fitted(self, "minimum_")
        X = validate_data(self, X, reset=False, dtype=np.float64)
        loss, at = self.minimum_.loss, np.array(self.minimum_.coefficients)
        columns = {name: X[:, place] for place, name in enumerate(dict.fromkeys(f.name for f in loss.features))}
        return loss.score(at, GivenColumns(columns))


def columns_are(model: Any, features: Mapping[str, tuple[float, float]]) -> None:
    """What predictions take from now on: a matrix, whatever the names in a frame that was fitted before."""
    model.n_features_in_ = len(features)
    if hasattr(model, "feature_names_in_"):
        del model.feature_names_in_


def check_given_rows(model: Any, X: Any, y: Any = "no_validation", **wanted: Any) -> Any:
    """The rows as scikit-learn checks them; rows that stay in an engine are no matrix, and are learned from by asking.

    They are never read into memory behind the owner's back.
    """
    if is_stored(X):
        raise Unaskable(
            "fit takes a matrix in memory, and these rows stay in their engine: seal them, as in "
            f"Holdout(rows, target, mechanism=Gaussian(), asks=200), and give {type(model).__name__}().learn(holdout, "
            "{column: (low, high)}) the holdout"
        )
    return validate_data(model, X, y, dtype=np.float64, **wanted)


def keys_from_seed(seed: int | None) -> SeededStore | None:
    """Keys that follow from a seed: the same fit again, to the last digit. None: keys from the operating system.

    Seeds are no secrets: whoever knows one could take the noise off again, and the certificate says so.
    """
    return None if seed is None else SeededStore(np.random.default_rng(seed))


def seed_of(random_state: Any) -> int | None:
    return None if random_state is None else int(check_random_state(random_state).randint(2**31 - 1))
