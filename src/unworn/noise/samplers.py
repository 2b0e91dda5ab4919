"""Exact integer noise, coins and rows made from a stream: all there is to draw, in one place."""

from unworn.noise.cosine import raised_cosine
from unworn.noise.discrete_gaussian import discrete_gaussian
from unworn.noise.draws import coins, indices
from unworn.noise.gaussian import gaussian
from unworn.noise.laplace import laplace
from unworn.noise.pmf import discrete_gaussian_log_pmf, gaussian_log_pmf, laplace_log_pmf, raised_cosine_log_pmf

__all__ = [
    "coins",
    "discrete_gaussian",
    "discrete_gaussian_log_pmf",
    "gaussian",
    "gaussian_log_pmf",
    "indices",
    "laplace",
    "laplace_log_pmf",
    "raised_cosine",
    "raised_cosine_log_pmf",
]
