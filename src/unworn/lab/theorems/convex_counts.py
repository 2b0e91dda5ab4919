"""Rows, samples and iterations for adaptive questions, one-bit questions and minimisations: the talk's, and ours.

Fish, Reyzin and Rubinstein (2020) state how many rows n, how many of them sampled per question, and how many
iterations of gradient descent suffice for k adaptive questions within alpha, but for a chance beta, in d dimensions.
Their theorems are rates: an O or a soft O hides constants, and the soft one logarithms too. :func:`lecture_counts` has
what they do show; :func:`certified_counts` what this package certifies for minimisations, with all its constants.

References
----------
Fish, Reyzin and Rubinstein, "Sampling without compromising accuracy in adaptive data analysis", ALT 2020. Bassily,
Nissim, Smith, Steinke, Stemmer and Ullman, STOC 2016 (:func:`former_counts`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from unworn.bounds.numerics import check_probability, check_whole
from unworn.bounds.optimisation import convex_iterations, strongly_convex_iterations
from unworn.bounds.transfer import best_scale

Kind = Literal["statistical", "counting", "convex", "strongly convex"]
_MOST = 10**12
"""Asks, and rows, of which noise can still be priced in good time."""


@dataclass(frozen=True, slots=True)
class Counts:
    """Rows in all; rows read for one question; iterations of descent for one, where it is a minimisation."""

    rows: float
    samples: float
    iterations: float = 1.0


def lecture_counts(kind: Kind, k: int, alpha: float, beta: float, dimension: int = 1) -> Counts:
    """What the talk's theorems show, with every hidden constant (and what a soft O hides) taken as 1: rates, no bounds.

    ========================  ========================================  =========================  ==================
    statistical questions     sqrt(k) / alpha^2                         ln(k) / alpha^2
    counting, one bit         sqrt(k) ln(1/(alpha beta)) / alpha^2      1
    convex minimisation       d^(3/2) sqrt(k) ln(k/beta) / alpha^5      d^2 ln(k/beta) / alpha^5   ln(k/beta)/alpha^2
    strongly convex           d^(3/2) sqrt(k) ln(k/beta) / alpha^(5/2)  d^2 ln(k/beta) / alpha^3   ln(k/beta)/alpha
    ========================  ========================================  =========================  ==================

    >>> round(lecture_counts("statistical", 10_000, 0.1, 0.05).rows)
    10000
    >>> found = lecture_counts("convex", 100, 0.1, 0.05, 4)
    >>> f"{found.rows:.3g}", f"{found.samples:.3g}", round(found.iterations)
    ('6.08e+07', '1.22e+07', 760)
    """
    _check(k, alpha, beta, dimension)
    root, nats = math.sqrt(k), math.log(k / beta)
    if kind == "statistical":
        return Counts(root / alpha**2, max(math.log(k), 1.0) / alpha**2)
    if kind == "counting":
        return Counts(root * math.log(1.0 / (alpha * beta)) / alpha**2, 1.0)
    if kind == "convex":
        rows, samples = dimension**1.5 * root * nats / alpha**5, dimension**2 * nats / alpha**5
        return Counts(rows, samples, nats / alpha**2)
    if kind == "strongly convex":
        rows, samples = dimension**1.5 * root * nats / alpha**2.5, dimension**2 * nats / alpha**3
        return Counts(rows, samples, nats / alpha)
    raise ValueError(f"the kind is statistical, counting, convex or strongly convex, not {kind!r}")


def lecture_time(kind: Literal["statistical", "counting"], k: int, alpha: float, beta: float) -> float:
    """The time for one question, in the same way: ln(k)^2/alpha^2, or ln(k ln(1/beta)/alpha) for one bit.

    >>> round(lecture_time("counting", 10_000, 0.1, 0.05), 2)
    12.61
    """
    _check(k, alpha, beta, 1)
    if kind == "statistical":
        return max(math.log(k), 1.0) ** 2 / alpha**2
    if kind == "counting":
        return math.log(k * math.log(1.0 / beta) / alpha)
    raise ValueError(f"the kind is statistical or counting, not {kind!r}")


def former_counts(kind: Kind, k: int, alpha: float, dimension: int = 1) -> Counts:
    """What the talk compares with: Bassily et al. (2016), who read sqrt(k)/alpha^2 rows for every question.

    sqrt(k d)/alpha^2 rows for convex minimisations; d k/alpha^4 iterations, or d k/alpha^3 where strongly convex.

    >>> found = former_counts("convex", 100, 0.1, 4)
    >>> round(found.rows), round(found.samples), round(found.iterations)
    (2000, 2000, 4000000)
    """
    _check(k, alpha, 0.5, dimension)
    if kind == "counting":
        raise ValueError("there was no mechanism for one-bit answers before")
    if kind == "statistical":
        return Counts(math.sqrt(k) / alpha**2, math.sqrt(k) / alpha**2)
    if kind not in ("convex", "strongly convex"):
        raise ValueError(f"the kind is statistical, convex or strongly convex, not {kind!r}")
    rows = math.sqrt(k * dimension) / alpha**2
    return Counts(rows, rows, dimension * k / alpha ** (4 if kind == "convex" else 3))


@dataclass(frozen=True, slots=True)
class CertifiedCounts:
    """What k minimisations need: ``asks`` in all, each within ``width`` (a share of its range), of so many ``rows``."""

    iterations: int
    asks: int
    width: float
    rows: int


def certified_counts(
    k: int,
    alpha: float,
    beta: float,
    dimension: int,
    *,
    lipschitz: float = 1.0,
    reach: float = 1.0,
    curvature: float = 0.0,
    theorem: str = "F Gaussian",
) -> CertifiedCounts:
    """The rows with which k adaptive convex minimisations are all within ``alpha``, but for ``beta``.

    Descent in a ball of radius ``reach`` about its start on a loss whose gradient's coordinates and answers' norm are
    ``lipschitz`` at most. A third of alpha is for regret (O1, or O2 with a ``curvature``), which makes the rows least,
    and the rest for what the answers' intervals leave open: 2 reach |e|, or |e|^2/curvature, |e| = 2 G width sqrt(d).
    The rows grow like d^(3/2) sqrt(k)/alpha^3, or d^(3/2) sqrt(k)/alpha^(3/2): smaller powers of 1/alpha than the
    talk's 5 and 5/2, because all intervals hold together already. (``theorem="F bounded"`` asks for a third fewer rows,
    and takes longer to say so.)

    >>> convex, strongly = (certified_counts(10, 0.3, 0.05, 4, curvature=curvature) for curvature in (0.0, 1.0))
    >>> convex.iterations, convex.asks, round(convex.width, 4), convex.rows
    (100, 4000, 0.025, 532096)
    >>> strongly.iterations, strongly.asks, round(strongly.width, 4), strongly.rows
    (39, 1560, 0.1118, 16528)
    """
    _check(k, alpha, beta, dimension)
    if not 0 <= curvature < math.inf:
        raise ValueError(f"the curvature must be finite and at least 0, not {curvature!r}")
    if curvature:  # O2 takes half of the curvature for the regret, and half for the errors
        iterations = strongly_convex_iterations(alpha / 3, lipschitz, curvature / 2)
        error = math.sqrt(2 * alpha / 3 * curvature)
    else:
        iterations = convex_iterations(alpha / 3, lipschitz, reach)
        error = 2 * alpha / 3 / (2 * reach) if reach else math.inf
    width = min(0.499, error / (2 * lipschitz * math.sqrt(dimension)) if lipschitz else math.inf)
    asks = k * iterations * dimension
    if asks > _MOST:
        raise ValueError(f"{asks:.3g} asks are more than are allowed for here: aim at a larger alpha")
    return CertifiedCounts(iterations, asks, width, _rows(theorem, asks, width, beta))


def _rows(theorem: str, asks: int, width: float, beta: float) -> int:
    """The fewest rows with which so many answers have this half-width, to one in a thousand."""

    def is_enough(rows: int) -> bool:
        return best_scale(theorem, rows, asks, beta)[1] <= width

    low, high = 1, 64
    while not is_enough(high):
        low, high = high, 4 * high
        if high > _MOST:
            raise ValueError(f"{asks:,} asks within {width:.3g} need more rows than are allowed for here")
    while high - low > max(1, low // 1000):
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


def _check(k: int, alpha: float, beta: float, dimension: int) -> None:
    check_whole("the number of questions", k, 1)
    check_whole("the dimension", dimension, 1)
    check_probability("beta", beta)
    if not 0 < alpha <= 1:
        raise ValueError(f"alpha must lie in (0, 1], not {alpha!r}")
