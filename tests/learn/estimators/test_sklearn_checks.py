"""scikit-learn's own checks, all of them, with the real library."""

from __future__ import annotations

import pytest

pytest.importorskip("sklearn")

from sklearn.utils.estimator_checks import parametrize_with_checks

from unworn.learn.estimators import (
    AskedGaussianMixture,
    AskedLinearRegression,
    AskedLinearSVM,
    AskedLogisticRegression,
    AskedQuantileRegressor,
    AskedStumps,
)

ESTIMATORS = [
    AskedGaussianMixture(iterations=4, random_state=0),
    AskedLogisticRegression(iterations=8, random_state=0),
    AskedLinearSVM(iterations=8, random_state=0),
    AskedLinearRegression(iterations=8, random_state=0),
    AskedQuantileRegressor(iterations=8, random_state=0),
    AskedStumps(iterations=4, cuts=2, random_state=0),
]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)
