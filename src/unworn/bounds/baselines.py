"""What one would do without guesses or noise: split the rows or round the answers.

And the published guess and check, so that the one of :mod:`unworn.bounds.compression` can be set beside it.
"""

from __future__ import annotations

import math

import numpy as np

from unworn.bounds.binomial import clopper_pearson
from unworn.bounds.concentration import chernoff_kl, hoeffding_width
from unworn.bounds.numerics import LN2, Floats, check_between, check_probability, check_whole, log_choose


def _part(n: int, k: int, beta: float, rounds: int | None) -> int:
    """Rows in each part when n rows are split for k asks in so many rounds."""
    check_whole("the number of rows", n, 1)
    check_whole("the number of asks", k, 1)
    check_probability("beta", beta)
    parts = k if rounds is None else rounds
    check_whole("rounds", parts, 1, k)
    if parts > n:
        raise ValueError(f"{n} rows cannot be split into {parts} parts; there may be at most {n}")
    return n // parts


def splitting_width(n: int, k: int, beta: float, rounds: int | None = None) -> float:
    """Hoeffding half-width of k answers, each round of them from rows of its own.

    sqrt(ln(2k/beta) / 2m), m = n // rounds (one round an ask unless said: batches need fewer parts).

    >>> splitting_width(10_000, 28, 0.05) <= 0.1 < splitting_width(10_000, 29, 0.05)
    True
    """
    return hoeffding_width(_part(n, k, beta, rounds), math.log(beta / k))


def splitting_exact(n: int, k: int, beta: float, p: float = 0.5, rounds: int | None = None) -> float:
    """Clopper-Pearson half-width of k answers from parts, when a share near ``p`` is seen.

    >>> splitting_exact(10_000, 38, 0.05) <= 0.1 < splitting_exact(10_000, 39, 0.05)
    True
    """
    check_between("p", p, 0, 1)
    part = _part(n, k, beta, rounds)
    low, high = clopper_pearson(round(p * part), part, math.log(beta / k))
    return (high - low) / 2.0


def rounding_width(n: int, k: int, beta: float, cells: int) -> float:
    """Half-width of k answers rounded to the middles of V cells: 1/2V + sqrt((ln(2/beta) + ln N) / 2n).

    N = (V^k - 1)/(V - 1) counts the nodes of the tree of transcripts (description length; Dwork et al. 2015).

    >>> rounding_width(10_000, 41, 0.05, 45) <= 0.1 < rounding_width(10_000, 42, 0.05, 45)
    True
    """
    _check_rounding(n, k, beta)
    check_whole("cells", cells, 1)
    return float(_rounding_widths(n, k, beta, np.array([float(cells)]))[0])


def best_rounding(n: int, k: int, beta: float) -> tuple[int, float]:
    """The number of cells that makes :func:`rounding_width` least, and that width.

    >>> cells, width = best_rounding(10_000, 41, 0.05)
    >>> cells, round(width, 4)
    (44, 0.0994)
    """
    _check_rounding(n, k, beta)
    # The best V solves V (k-1) = sqrt(2n (ln(2/beta) + (k-1) ln V)), less than this for every k > 1. A single
    # answer (k = 1) has no best V: nothing follows it, so finer is always better.
    most = 2.0 * math.sqrt(2.0 * n * (LN2 - math.log(beta) + math.log(n) + 8.0)) + 8.0
    coarse = np.unique(np.floor(np.geomspace(1, most, 400)))
    best = int(np.argmin(_rounding_widths(n, k, beta, coarse)))
    near = coarse[max(0, best - 1) : best + 2]
    fine = np.arange(near[0], near[-1] + 1.0)
    widths = _rounding_widths(n, k, beta, fine)
    at = int(np.argmin(widths))
    return int(fine[at]), float(widths[at])


def _check_rounding(n: int, k: int, beta: float) -> None:
    check_whole("the number of rows", n, 1)
    check_whole("the number of asks", k, 1)
    check_probability("beta", beta)


def _rounding_widths(n: int, k: int, beta: float, cells: Floats) -> Floats:
    widths: Floats = 0.5 / cells + np.sqrt((LN2 - math.log(beta) + _log_nodes(cells, k)) / (2.0 * n))
    return widths


def _log_nodes(cells: Floats, k: int) -> Floats:
    many = np.maximum(cells, 2.0)
    log_nodes = k * np.log(many) + np.log1p(-np.exp(-k * np.log(many))) - np.log(many - 1.0)
    nodes: Floats = np.where(cells > 1.0, log_nodes, math.log(k))
    return nodes


def log_transcripts(cells: int, k: int) -> float:
    """ln N for the N = 1 + V + ... + V^(k-1) questions that k answers from V cells can lead to.

    >>> round(log_transcripts(10, 3), 4) == round(math.log(111), 4)
    True
    """
    check_whole("the number of cells", cells, 2)
    check_whole("the number of asks", k, 1)
    return float(_log_nodes(np.array(cells, dtype=np.float64), k))


def published_tolerance(
    n: int, i: int, surprises: int, beta: float, gamma: float = 0.02, p: float | None = None
) -> float:
    """Tolerance of the published guess and check at ask ``i``, for comparison.

    Rogers, Roth, Smith, Srebro, Thakkar, Woodworth (2020): beta_i = beta w(i) w(f+1) / (C(i-1, f) V^f) with
    w(x) = 6/(pi x)^2 and V = ceil(1/gamma) + 1 values (0 and 1 are both reachable). Hoeffding's
    width, or with ``p`` the larger side of the Chernoff-KL interval around p.

    >>> round(published_tolerance(10_000, 1000, 3, 0.05), 4)
    0.051
    """
    check_whole("the number of rows", n, 1)
    check_whole("the index i", i, 1)
    check_whole("surprises", surprises, 0, i - 1)
    check_probability("beta", beta)
    check_probability("gamma", gamma)
    values = math.ceil(1.0 / gamma) + 1
    spent = 2.0 * math.log(math.pi**2 / 6.0) + 2.0 * math.log(i * (surprises + 1))
    log_level = math.log(beta) - spent - log_choose(i - 1, surprises) - surprises * math.log(values)
    if p is None:
        return hoeffding_width(n, log_level)
    low, high = chernoff_kl(p, n, log_level)
    return max(p - low, high - p)
