"""The estimators of :mod:`unworn.learn.estimators` under the name they had first."""

from unworn.learn.estimators import (
    AskedGaussianMixture,
    AskedLinearRegression,
    AskedLinearSVM,
    AskedLogisticRegression,
    AskedMajority,
    AskedQuantileRegressor,
    AskedStumps,
)

__all__ = [
    "AskedGaussianMixture",
    "AskedLinearRegression",
    "AskedLinearSVM",
    "AskedLogisticRegression",
    "AskedMajority",
    "AskedQuantileRegressor",
    "AskedStumps",
]
