"""The minimiser of a convex loss, found by a sequence of asks: with a certificate for its excess risk.

``minimise(holdout, logistic({"age": (18, 90)}, "churned"), over=Ball(2.0))`` asks the gradient's coordinates as
ordinary questions, one batch per iteration. Every answer's interval holds for the population, so what the answers leave
open bounds how far the result is from the population's own minimiser.
"""

from unworn.optimize.descent import minimise
from unworn.optimize.minimum import Minimum
from unworn.optimize.mixture import FittedMixture, fit_mixture
from unworn.optimize.regions import Ball, Box, L1Ball, Region, Simplex
from unworn.queries.argmin import Curvature, Gradient, Risk, gradient
from unworn.queries.features import Feature, Stump
from unworn.queries.linear import LinearLoss, hinge, least_squares, logistic, pinball

__all__ = [
    "Ball",
    "Box",
    "Curvature",
    "Feature",
    "FittedMixture",
    "Gradient",
    "L1Ball",
    "LinearLoss",
    "Minimum",
    "Region",
    "Risk",
    "Simplex",
    "Stump",
    "fit_mixture",
    "gradient",
    "hinge",
    "least_squares",
    "logistic",
    "minimise",
    "pinball",
]
