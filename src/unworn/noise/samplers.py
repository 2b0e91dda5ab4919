"""Exact integer noise, coins, rows and selections made from a stream: all there is to draw, in one place."""

from unworn.noise.cosine import cut_cosine, raised_cosine
from unworn.noise.discrete_gaussian import discrete_gaussian
from unworn.noise.discrete_laplace import laplace
from unworn.noise.draws import coins, indices
from unworn.noise.pmf import (
    cut_cosine_log_pmf,
    discrete_gaussian_log_pmf,
    gaussian_log_pmf,
    laplace_log_pmf,
    raised_cosine_log_pmf,
)
from unworn.noise.private_selection import exponential, exponentials, permute_and_flip, permuted_and_flipped
from unworn.noise.rounded_gaussian import gaussian
from unworn.noise.weights import exponential_log_pmf, permute_and_flip_pmf

__all__ = [
    "coins",
    "cut_cosine",
    "cut_cosine_log_pmf",
    "discrete_gaussian",
    "discrete_gaussian_log_pmf",
    "exponential",
    "exponential_log_pmf",
    "exponentials",
    "gaussian",
    "gaussian_log_pmf",
    "indices",
    "laplace",
    "laplace_log_pmf",
    "permute_and_flip",
    "permute_and_flip_pmf",
    "permuted_and_flipped",
    "raised_cosine",
    "raised_cosine_log_pmf",
]
