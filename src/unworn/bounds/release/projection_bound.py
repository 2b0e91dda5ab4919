"""Noisy answers projected onto those that some distribution has: Nikolov, Talwar and Zhang (2013).

Column x of F has the answers of a row of kind x; the answers of the rows are F h for their histogram h. With noise w,
the nearest point y to F h + w in the convex hull of the columns has |y - F h|^2 <= <w, y - F h>: the noise counts only
as far as it points to where some distribution is, and that is little when there are many questions.
"""

from __future__ import annotations

import math

from unworn.bounds.numerics import check_probability, check_whole

_OUTWARD = 1.0 + 1e-12


def projection_error(cells: float, questions: float, sd: float, radius: float, *, book: bool = False) -> float:
    """The mean, over noise and questions, of the squared error, at most.

    min(sd^2, sd r sqrt(2 ln|X|)/k) for Gaussian noise of standard deviation ``sd`` on each of k answers, and columns of
    F within the Euclidean distance r of some point, any one: sqrt(k)/2 for questions in [0, 1] (about 1/2), sqrt(t)
    for the cells of t tables (about 0). Noise rounded to whole rows counts with the variance sd^2 +
    :func:`~unworn.bounds.noise_tails.rounding`. The ``book`` form is 2 sd r sqrt(2 ln(2|X|))/k.

    >>> k, n, mu = 1000, 10_000, 0.5
    >>> sd = math.sqrt(k) / (n * mu)   # the noise of k answers that are mu-Gaussian DP together
    >>> round(projection_error(1024, k, sd, math.sqrt(k), book=True), 6)   # 2 sqrt(2 ln 2048)/(n mu)
    0.001562
    >>> round(math.sqrt(projection_error(1024, k, sd, math.sqrt(k) / 2)), 4), round(sd, 4)
    (0.0063, 0.0063)
    >>> round(math.sqrt(projection_error(1024, 10**6, 31.6 * sd, 1000 / 2)), 4), round(31.6 * sd, 4)
    (0.0193, 0.1999)
    """
    _check(cells, questions, sd, radius)
    if book:
        return 2.0 * sd * radius * math.sqrt(2.0 * math.log(2 * cells)) / questions
    return min(sd**2, sd * radius * math.sqrt(2.0 * math.log(cells)) / questions) * _OUTWARD


def projection_tail(cells: float, questions: float, sd: float, radius: float, beta: float) -> float:
    """The mean over questions of the squared error, at most, but for a probability ``beta`` of the noise.

    sd r (sqrt(2 ln(2|X|/beta)) + sqrt(2 ln(2/beta)))/k: all columns, and the answers of the rows themselves.

    >>> round(math.sqrt(projection_tail(1024, 10**6, 0.2, 500.0, 0.05)), 4)
    0.0271
    """
    _check(cells, questions, sd, radius)
    check_probability("beta", beta)
    both = math.sqrt(2.0 * math.log(2 * cells / beta)) + math.sqrt(2.0 * math.log(2.0 / beta))
    return sd * radius * both / questions * _OUTWARD


def _check(cells: float, questions: float, sd: float, radius: float) -> None:
    check_whole("the number of cells", cells, 1)
    check_whole("the number of questions", questions, 1)
    for name, value in (("the standard deviation of the noise", sd), ("the radius", radius)):
        if not 0 <= value < math.inf:
            raise ValueError(f"{name} must be finite and at least 0, not {value!r}")
