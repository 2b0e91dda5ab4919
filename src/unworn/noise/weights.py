"""The weights exp(-rate (max - s)) of whole-numbered scores: as floats whose errors are bounded, and as chances."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unworn.noise.inversion import Floats

Gaps = NDArray[np.uint64]
"""How far each score is below the best: numbers without sign, so that every difference of 64-bit integers fits."""
_SLACK = 64


def check_rate(rate: float) -> float:
    """A rate as a float; its exact value is the parameter of the distribution.

    >>> check_rate(1)
    1.0
    """
    try:
        right = not isinstance(rate, bool | np.bool_) and 0 < rate < math.inf
    except TypeError:
        right = False
    if not right:
        raise ValueError(f"the rate must be positive and finite, not {rate!r}: it is epsilon / (2 * sensitivity)")
    return float(rate)


def gaps_of(scores: ArrayLike) -> Gaps:
    """How far each score is below the best; what is no list of whole numbers is refused.

    >>> gaps_of([-(2**63), 2**63 - 1, 5]).tolist() == [2**64 - 1, 0, 2**63 - 6]
    True
    """
    try:
        found = np.asarray(scores)
    except (ValueError, OverflowError):  # lists of different lengths, numbers beyond all limits
        found = np.empty((), dtype=object)
    if found.ndim != 1 or found.size == 0:
        raise ValueError(f"scores must be a list of at least one whole number, not an array of shape {found.shape}")
    if found.dtype.kind not in "iu" or int(found.max()) >= 2**63:
        raise ValueError(
            f"scores must be 64-bit whole numbers, not {found.dtype}: multiply them by as much as they should be fine, "
            "round, divide the rate by as much, and count the rounding in what is promised"
        )
    whole = found.astype(np.int64, copy=False)
    return np.asarray(whole.max().view(np.uint64) - whole.view(np.uint64))


def weights_of(gaps: Gaps, rate: float) -> Floats:
    """exp(-rate gap) as floats, wrong by less than 2^-52 each."""
    exponents = gaps.astype(np.float64)
    with np.errstate(over="ignore"):
        exponents *= -rate
    return np.exp(exponents, out=exponents)


def running_sums(weights: Floats) -> Floats:
    """Running sums, in rows of sqrt(n) and then of the rows, so that none goes through more than 2 sqrt(n) roundings.

    >>> running_sums(np.arange(6.0)).tolist()
    [0.0, 1.0, 3.0, 6.0, 10.0, 15.0]
    """
    length = math.isqrt(weights.size - 1) + 1
    rows = -(-weights.size // length)
    padded = np.zeros(rows * length)
    padded[: weights.size] = weights
    sums = np.cumsum(padded.reshape(rows, length), axis=1)
    sums[1:] += np.cumsum(sums[:-1, -1])[:, np.newaxis]
    return np.asarray(sums.ravel()[: weights.size])


def margin(count: int) -> float:
    """How near to the edge between two candidates, as a share of all weight, a float is not trusted.

    With u = 2^-52: a weight exp(-x) is wrong by a relative (x + 2) u at most, as x is rounded twice (u/2 each) and the
    exponential is good to a unit or two. The mean of x in proportion to the weights is their entropy less the logarithm
    of their sum, which is at least 1: so at most ln(count), and all weights together are wrong by a relative
    (ln(count) + 2) u. Adding them up costs sqrt(count) u more; the uniform number and its product with the sum, u. This
    concerns the sum of all and the sum up to the edge: (2 sqrt(count) + 2 ln(count) + 5) u, here taken four times over.

    >>> round(math.log2(margin(10)), 1), round(math.log2(margin(10**6)), 1)
    (-43.8, -39.0)
    """
    return (2.0 * (math.isqrt(count) + 1) + _SLACK) * 2.0**-50


def exponential_log_pmf(scores: ArrayLike, rate: float) -> Floats:
    """ln P(i) of the exponential mechanism, P(i) proportional to exp(rate s_i).

    >>> np.exp(exponential_log_pmf([0, 1, 1], 1.0)).round(4).tolist()
    [0.1554, 0.4223, 0.4223]
    """
    gaps, rate = gaps_of(scores), check_rate(rate)
    with np.errstate(over="ignore"):
        logs = -rate * gaps.astype(np.float64)
    return np.asarray(logs - math.log(math.fsum(np.exp(logs).tolist())))


def permute_and_flip_pmf(scores: ArrayLike, rate: float) -> Floats:
    """P(i) of permute and flip: w_i times the mean over t in [0, 1] of the product over j != i of (1 - w_j t).

    (A random order puts every candidate at a random t; i is chosen if its coin falls and none in front of it does.) The
    integrand has degree n - 1 in t, so n/2 points of Gauss's rule are exact but for rounding; it takes time n^2.

    >>> permute_and_flip_pmf([0, 1, 1], 1.0).round(4).tolist()
    [0.1226, 0.4387, 0.4387]
    """
    weights = weights_of(gaps_of(scores), check_rate(rate))
    nodes, parts = np.polynomial.legendre.leggauss(weights.size // 2 + 1)
    found = np.zeros(weights.size)
    for node, part in zip((0.5 * (nodes + 1.0)).tolist(), (0.5 * parts).tolist(), strict=True):
        logs = np.log1p(-weights * node)
        found += part * np.exp(logs.sum() - logs)
    return np.asarray(weights * found)
