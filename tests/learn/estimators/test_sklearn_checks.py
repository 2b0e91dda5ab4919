"""scikit-learn's own checks, all of them, with the real library."""

from __future__ import annotations

import pytest

pytest.importorskip("sklearn")

from sklearn.utils.estimator_checks import check_parameters_default_constructible, parametrize_with_checks

from unworn.learn.estimators import (
    AskedGaussianMixture,
    AskedLinearRegression,
    AskedLinearSVM,
    AskedLogisticRegression,
    AskedMajority,
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
    AskedMajority(rounds=3, cuts=2, random_state=0),
]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


class Changed(AskedLogisticRegression):
    """Changes what it is given, which no estimator may."""

    def __init__(self, iterations=8, random_state=0):
        super().__init__(iterations=2 * iterations, random_state=random_state)


def test_the_checks_find_an_estimator_that_breaks_their_rules():
    with pytest.raises(RuntimeError, match="modifies parameter iterations"):
        check_parameters_default_constructible("Changed", Changed())
