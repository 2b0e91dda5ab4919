"""The minimiser of a convex loss, found by a sequence of asks: with a certificate for its excess risk.

``minimise(holdout, logistic({"age": (18, 90)}, "churned"), over=Ball(2.0))`` asks the gradient's coordinates as
ordinary questions, one batch per iteration. Every answer's interval holds for the population, so what the answers leave
open bounds how far the result is from the population's own minimiser.
"""

from unworn.learn.annealing import Annealed, anneal
from unworn.learn.descent import minimise
from unworn.learn.linear_program import SolvedProgram, solve_program
from unworn.learn.majority_boosting import BoostedMajority, boost
from unworn.learn.metropolis import MetropolisWalk, sample_states
from unworn.learn.minimum import Minimum
from unworn.learn.mixture_em import FittedMixture, fit_mixture
from unworn.learn.own_loss import convex_loss
from unworn.learn.regions import Ball, Box, L1Ball, Region, Simplex
from unworn.queries.learning.argmin import Curvature, Gradient, Risk, gradient
from unworn.queries.learning.linear_features import Feature, Stump
from unworn.queries.learning.linear_losses import LinearLoss, hinge, least_squares, logistic, pinball

__all__ = [
    "Annealed",
    "Ball",
    "BoostedMajority",
    "Box",
    "Curvature",
    "Feature",
    "FittedMixture",
    "Gradient",
    "L1Ball",
    "LinearLoss",
    "MetropolisWalk",
    "Minimum",
    "Region",
    "Risk",
    "Simplex",
    "SolvedProgram",
    "Stump",
    "anneal",
    "boost",
    "convex_loss",
    "fit_mixture",
    "gradient",
    "hinge",
    "least_squares",
    "logistic",
    "minimise",
    "pinball",
    "sample_states",
    "solve_program",
]
