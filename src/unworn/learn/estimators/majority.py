"""Boosting by statistical queries as an estimator: the majority of stumps, boosted by majority."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from unworn.holdout import Holdout
from unworn.learn import BoostedMajority, boost
from unworn.learn.estimators.classifiers import AskedClassifier
from unworn.learn.estimators.linear_estimator import columns_are, keys_from_seed, seed_of
from unworn.learn.estimators.sklearn_library import check_is_fitted, validate_data
from unworn.learn.given_columns import GivenColumns
from unworn.mechanisms import Gaussian, GuessAndCheck
from unworn.queries.language.evaluation import truth
from unworn.queries.language.expressions import Expression, col
from unworn.queries.row_protocol import Floats

if TYPE_CHECKING:
    from unworn.mechanisms import Mechanism


class AskedMajority(AskedClassifier):
    """The majority of one-cut rules, boosted by majority (Freund 1995; Aslam and Decatur 1998); learns only by asking.

    ``error_bound_`` bounds how often it is wrong in the population: no weak rule needs to be as good as hoped for that.

    Parameters
    ----------
    cuts, bounds
        So many cuts lie evenly inside the bounds of every feature, which are declared: (-3, 3) suits standardised ones.
    edge, rounds
        How much better than 1/2 some cut is hoped to be under any weights, and how many of them vote.
    mechanism, confidence, random_state
        As for the other estimators.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100_000, 3))
    >>> y = (X > 0).sum(axis=1) > 1
    >>> model = AskedMajority(cuts=1, edge=0.16, random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.98, model.error_bound_ < 0.1
    (True, True)
    """

    majority_: BoostedMajority

    def __init__(
        self,
        *,
        cuts: int = 5,
        edge: float = 0.1,
        rounds: int = 15,
        bounds: tuple[float, float] = (-3.0, 3.0),
        mechanism: Mechanism | None = None,
        confidence: float = 0.95,
        random_state: Any = None,
    ) -> None:
        self.cuts, self.edge, self.rounds, self.bounds = cuts, edge, rounds, bounds
        self.mechanism, self.confidence, self.random_state = mechanism, confidence, random_state

    def _seal(self, X: Floats, y: NDArray[Any]) -> Self:
        rules = self._rules({f"x{place}": self.bounds for place in range(X.shape[1])})
        asks = self.rounds * (len(rules) + 1) + 1
        mechanism = self.mechanism
        if mechanism is None:
            enough = Gaussian().best(len(X), asks, 1 - self.confidence)[1] < 0.5
            mechanism = Gaussian() if enough else GuessAndCheck()
        store = keys_from_seed(seed_of(self.random_state))
        holdout = Holdout(X, y, mechanism=mechanism, asks=asks, confidence=self.confidence, ledger=store, name="fit")
        return self._boost(holdout, rules, col("y") == 1, tuple(f"x{place}" for place in range(X.shape[1])))

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
        self._boost(holdout, self._rules(features), col(target) == classes[1], tuple(features))
        self.classes_ = np.array(classes)
        columns_are(self, features)
        return self

    def _rules(self, features: Mapping[str, tuple[float, float]]) -> list[Expression]:
        places = np.arange(1, self.cuts + 1) / (self.cuts + 1)
        return [
            col(name) > float(low + (high - low) * place) for name, (low, high) in features.items() for place in places
        ]

    def _boost(self, holdout: Holdout, rules: list[Expression], target: Expression, columns: tuple[str, ...]) -> Self:
        self.majority_ = boost(holdout, rules, target, edge=self.edge, rounds=self.rounds)
        self.columns_ = columns
        self.certificate_ = self.majority_.certificate
        self.error_, self.error_bound_ = self.majority_.error[0], self.majority_.bound
        return self

    def _score(self, X: Any) -> Floats:
        """How many more votes there are for the second class than for the first, as a share of all."""
        check_is_fitted(self, "majority_")
        X = validate_data(self, X, reset=False, dtype=np.float64)
        frame = GivenColumns({name: X[:, place] for place, name in enumerate(self.columns_)})
        votes = self.majority_.votes
        return np.asarray(2.0 * sum(truth(vote, frame).astype(float) for vote in votes) / len(votes) - 1.0)
