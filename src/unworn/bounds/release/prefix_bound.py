"""Prefix sums of counts in m bins: the standard deviation of the noisiest, when one added row costs mu-Gaussian DP.

In units of 1/mu rows, for rows that are added or removed, as published. (A row that is replaced changes two bins.)
"""

from __future__ import annotations

import math

import numpy as np

from unworn.bounds.numerics import check_whole, special

_SUMMED = 2**20


def tree_sd(bins: int) -> float:
    """The binary tree (Dwork, Naor, Pitassi and Rothblum 2010; Chan, Shi and Song 2011): sqrt((L + 1) L), L = log2 m.

    A row is in L + 1 nodes, so each has variance L + 1, and a prefix is a sum of L nodes at most.

    >>> round(tree_sd(1024), 1), round(tree_sd(2**20), 1)
    (10.5, 20.5)
    """
    check_whole("the number of bins", bins, 1)
    levels = (int(bins) - 1).bit_length()
    return math.sqrt((levels + 1) * max(levels, 1))


def sqrt_sd(bins: int) -> float:
    """The square-root factorisation (Fichtenberger, Henzinger and Upadhyay 2023): the sum of f_j^2, j < m.

    The matrix of prefix sums is the square of the lower triangular Toeplitz matrix with f_0 = 1 and
    f_j = f_(j-1) (1 - 1/(2j)); its longest row and its longest column both have the length sqrt(sum of f_j^2), and the
    product is about ln(m)/pi + 1.066.

    >>> round(sqrt_sd(1024), 2), round(sqrt_sd(2**20), 2)
    (3.27, 5.48)
    """
    check_whole("the number of bins", bins, 1)
    counted = min(int(bins), _SUMMED)
    factors = np.cumprod(np.append(1.0, 1.0 - 0.5 / np.arange(1.0, counted)))
    total = float(np.square(factors).sum())
    if bins > counted:  # f_j^2 lies between 1/(pi (j + 1/2)) and 1/(pi (j + 1/4))
        digamma = special().digamma
        total += float(digamma(bins + 0.25) - digamma(counted + 0.25)) / math.pi
    return total
