"""scikit-learn estimators that learn only by asking: the one room that imports scikit-learn.

``fit(X, y)`` seals the rows behind a holdout and never looks at them again: everything the model is made of are answers
to ``ask_many``, so its excess risk over the population is bounded whatever was fitted, selected and refitted on the
same answers. ``learn(holdout, ...)`` does the same with a holdout that exists already, wherever its rows lie.

What is public: the number of rows and columns, the names of the classes, and the bounds, which are declared and never
found in the rows. By default features and targets are taken to be standardised, and are cut at 3 standard deviations.
"""

from unworn.learn.estimators.classifiers import AskedLinearSVM, AskedLogisticRegression
from unworn.learn.estimators.majority import AskedMajority
from unworn.learn.estimators.mixture_estimator import AskedGaussianMixture
from unworn.learn.estimators.regressors import AskedLinearRegression, AskedQuantileRegressor
from unworn.learn.estimators.stumps import AskedStumps

__all__ = [
    "AskedGaussianMixture",
    "AskedLinearRegression",
    "AskedLinearSVM",
    "AskedLogisticRegression",
    "AskedMajority",
    "AskedQuantileRegressor",
    "AskedStumps",
]
