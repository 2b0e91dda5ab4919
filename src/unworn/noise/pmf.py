"""The logarithms of the probabilities of each noise, exact to a few units of the last digit of a float."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from unworn.noise.inversion import Floats
from unworn.noise.noise_checks import WIDEST, check_scale, check_whole, whole_numbers

_ROOT = 0.5 * math.log(2.0 * math.pi)
_NODES = 16
_FLAT = 4.0


def laplace_log_pmf(m: ArrayLike, scale: float) -> Floats:
    """ln P(m) of discrete Laplace noise, P(m) = (1 - q)/(1 + q) q^|m| with q = exp(-1/scale).

    >>> round(float(np.exp(laplace_log_pmf(0, 1.0))), 6)  # tanh(1/2)
    0.462117
    """
    scale, away = check_scale("scale", scale), np.abs(whole_numbers("m", m))
    with np.errstate(over="ignore"):
        top = np.log(-np.expm1(-1.0 / np.float64(scale))) - np.log1p(np.exp(-1.0 / np.float64(scale)))
        return np.asarray(top - away / scale)


def discrete_gaussian_log_pmf(m: ArrayLike, sd: float) -> Floats:
    """ln P(m) of discrete Gaussian noise, P(m) proportional to exp(-m^2 / (2 sd^2)).

    >>> round(float(np.exp(discrete_gaussian_log_pmf(0, 1.0))), 6)
    0.398942
    """
    sd, away = check_scale("sd", sd), whole_numbers("m", m)
    with np.errstate(over="ignore"):
        return np.asarray(-0.5 * (away / sd) ** 2 - _log_sum(sd))


def _log_sum(sd: float) -> float:
    """ln of the sum of exp(-j^2 / (2 sd^2)): as it stands where sd < 1, and by Poisson's formula otherwise."""
    j = np.arange(1.0, 12.0)
    if sd < 1.0:
        with np.errstate(over="ignore"):
            return float(np.log1p(2.0 * np.exp(-0.5 * (j / sd) ** 2).sum()))
    return math.log(sd) + _ROOT + float(np.log1p(2.0 * np.exp(-2.0 * (math.pi * sd * j) ** 2).sum()))


def raised_cosine_log_pmf(m: ArrayLike, N: int) -> Floats:
    """ln P(m) of raised-cosine noise, P(m) = sin(pi (N - |m|) / (2N))^2 / N; minus infinity from |m| = N on.

    >>> np.exp(raised_cosine_log_pmf([-2, -1, 0, 1, 2], 2)).round(6).tolist()
    [0.0, 0.25, 0.5, 0.25, 0.0]
    """
    N = check_whole("N", N, 1, WIDEST)
    left = np.maximum(N - np.abs(whole_numbers("m", m)), 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(2.0 * np.log(np.sin(left * (math.pi / (2.0 * N)))) - math.log(N))


def cut_cosine_log_pmf(m: ArrayLike, N: int, zero: int) -> Floats:
    """ln P(m) of raised-cosine noise that is cut off at N, P(m) proportional to sin(pi (zero - |m|) / (2 zero))^2.

    >>> np.exp(cut_cosine_log_pmf([-2, -1, 0, 1, 2], 2, 3)).round(6).tolist()
    [0.0, 0.3, 0.4, 0.3, 0.0]
    """
    zero = check_whole("zero", zero, 1, WIDEST)
    N = check_whole("N", N, 1, zero, ", the zero of its cosine")
    inside = np.abs(whole_numbers("m", m)) < N
    # Of 2 zero times the law, the sum before the cut: that of the cosines is Dirichlet's kernel.
    kernel = math.sin(math.pi * (2 * (zero - N) + 1) / (2.0 * zero)) / math.sin(math.pi / (2.0 * zero))
    left = math.log((2 * N - 1 + kernel) / (2.0 * zero))
    return np.asarray(np.where(inside, raised_cosine_log_pmf(m, zero) - left, -math.inf))


def gaussian_log_pmf(m: ArrayLike, sd: float) -> Floats:
    """ln P(m) of rounded Gaussian noise: the normal probability of (m - 1/2, m + 1/2) / sd.

    Where the density is flat across a cell the two ends' tails are nearly equal and their difference would lose
    digits, so the density is integrated; elsewhere the difference of the tails is taken, in logarithms.

    >>> round(float(np.exp(gaussian_log_pmf(0, 1.0))), 6)
    0.382925
    >>> round(float(gaussian_log_pmf(40, 1.0)), 4)
    -784.7209
    """
    sd, away = check_scale("sd", sd), np.abs(whole_numbers("m", m))
    flat = (away <= _FLAT * sd * sd) & (sd >= 1.0)
    found = np.empty(away.shape)
    if flat.any():
        found[flat] = _by_integral(away[flat] / sd, 1.0 / sd)
    found[~flat] = _by_tails(away[~flat], sd)
    return found


def _by_integral(x: Floats, step: float) -> Floats:
    """The density at x, times its mean over the cell relative to that: Gauss's rule is exact to the last digit here."""
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    t = 0.5 * step * nodes
    mean = np.exp(-np.multiply.outer(x, t) - 0.5 * t * t) @ (0.5 * weights)
    return np.asarray(-0.5 * x * x + math.log(step) - _ROOT + np.log(mean))


def _by_tails(away: Floats, sd: float) -> Floats:
    from scipy.special import log_ndtr

    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        near, far = (log_ndtr((-away + half) / sd) for half in (0.5, -0.5))
        # Both minus infinity (a probability that no float holds): their difference is not needed.
        found: Floats = np.where(np.isneginf(near), near, near + np.log1p(-np.exp(far - near)))
    return found
