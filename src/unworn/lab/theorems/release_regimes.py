"""How many rows a release needs, by Gaussian noise, by projection and by MWEM: and which of them needs the fewest.

k questions about a universe of m cells, all to be right within alpha. The lecture has three regimes, each up to a
constant that depends on the budget (epsilon, delta) alone (:func:`lecture_rows`):

    noise      largest error          C sqrt(k ln k) / alpha
    projection root mean square error C sqrt(ln m) / alpha^2
    MWEM       largest error          C ln(k) sqrt(ln m) / alpha^2

:func:`rows_needed` solves the package's own certificates for the rows instead: with their constants, for a budget and a
chance of failure. Errors are from the rows' own values; a population's add what sampling adds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from unworn.bounds.budget import gaussian_mu
from unworn.bounds.noise_tails import largest_draw
from unworn.bounds.numerics import check_probability, check_whole
from unworn.bounds.release.mwem_bound import averaged_mwem_error, averaged_mwem_rounds
from unworn.bounds.release.projection_bound import projection_tail

Measure = Literal["largest", "rms"]
NOISE, PROJECTION, MWEM = "Gaussian noise", "projection", "MWEM"
_MOST = 1e15


@dataclass(frozen=True, slots=True)
class RowsNeeded:
    """The rows with which each method is certified within alpha, but for a chance: ``inf`` above 10^15.

    ``noise`` and ``mwem`` are for the largest error of all questions; ``noise_rms`` and ``projection`` for the root of
    the mean squared error, which a largest error bounds too.
    """

    noise: float
    mwem: float
    noise_rms: float
    projection: float

    def of(self, measure: Measure) -> dict[str, float]:
        """The rows that each method needs, by its name."""
        if measure == "largest":
            return {NOISE: self.noise, MWEM: self.mwem}
        if measure == "rms":
            return {NOISE: self.noise_rms, PROJECTION: self.projection, MWEM: self.mwem}
        raise ValueError(f"the measure is 'largest' or 'rms', not {measure!r}")

    def best(self, measure: Measure = "largest") -> str:
        """The regime: the method that needs the fewest rows."""
        rows = self.of(measure)
        return min(rows, key=rows.__getitem__)


def rows_needed(
    cells: float, questions: int, alpha: float, epsilon: float = 1.0, delta: float = 1e-9, beta: float = 0.05
) -> RowsNeeded:
    """The rows that each certificate asks for.

    Pairwise marginals of d bits have m = 2^d and k = d^2. Where the lecture's forms are alike, at d = 1000 and alpha =
    0.1, noise still needs four times fewer rows than MWEM: the constants decide. All thresholds of a fine grid, m = k,
    are for MWEM (or for a tree, :mod:`unworn.bounds.release.prefix_bound`, which knows that they are thresholds).

    >>> pairs, thresholds = rows_needed(2.0**1000, 1000**2, 0.1), rows_needed(2**30, 2**30, 0.1)
    >>> pairs.best(), pairs.noise, pairs.mwem, pairs.best("rms"), pairs.projection
    ('Gaussian noise', 299560.0, 1261318.0, 'projection', 11004.0)
    >>> thresholds.best(), thresholds.noise, thresholds.mwem
    ('MWEM', 11851270.0, 244390.0)
    """
    return RowsNeeded(
        noise_rows(questions, alpha, epsilon, delta, beta),
        mwem_rows(cells, questions, alpha, epsilon, delta, beta),
        noise_rms_rows(questions, alpha, epsilon, delta, beta),
        projection_rows(cells, questions, alpha, epsilon, delta, beta),
    )


def noise_rows(questions: int, alpha: float, epsilon: float, delta: float, beta: float) -> float:
    """Rounded Gaussian noise of sqrt(k)/mu rows on each answer, and the exact tail of k draws (a union bound).

    About sqrt(2 k ln(k/beta))/(mu alpha): the constant of the lecture's form is sqrt(2)/mu.

    >>> noise_rows(1_000, 0.05, 1.0, 1e-9, 0.05)
    14100.0
    """
    _check(2, questions, alpha, beta)
    sd = math.sqrt(questions) / gaussian_mu(epsilon, delta)
    return math.ceil(largest_draw("gaussian", sd, beta / questions) / alpha * (1 - 1e-12)) * 1.0


def noise_rms_rows(questions: int, alpha: float, epsilon: float, delta: float, beta: float) -> float:
    """The same noise, and its length: that of k normal numbers passes sqrt(k) + x with a chance of e^(-x^2/2) at most.

    Rounding to whole rows moves the length by sqrt(k)/2 at most.

    >>> noise_rms_rows(1_000, 0.05, 1.0, 1e-9, 0.05)
    3755.0
    """
    _check(2, questions, alpha, beta)
    length = (math.sqrt(questions) + math.sqrt(2.0 * math.log(1.0 / beta))) / gaussian_mu(epsilon, delta) + 0.5
    return float(math.ceil(length / alpha))


def projection_rows(cells: float, questions: int, alpha: float, epsilon: float, delta: float, beta: float) -> float:
    """The same noise, projected onto what some distribution has: (s(2m/beta) + s(2/beta))/(2 mu alpha^2).

    s(x) = sqrt(2 ln x); noise before it is rounded. The number of questions does not occur; the constant of the
    lecture's form is about 1.4/mu.

    >>> projection_rows(2**16, 1_000, 0.05, 1.0, 1e-9, 0.05), projection_rows(2**16, 10**9, 0.05, 1.0, 1e-9, 0.05)
    (8961.0, 8961.0)
    """
    _check(cells, questions, alpha, beta)
    for_one_row = math.sqrt(questions) / gaussian_mu(epsilon, delta)  # of the noise, times the rows
    squared = projection_tail(cells, questions, for_one_row, math.sqrt(questions) / 2.0, beta)
    return float(math.ceil(squared / alpha**2 * (1 - 1e-9)))


def mwem_rows(cells: float, questions: int, alpha: float, epsilon: float, delta: float, beta: float) -> float:
    """The bound of :func:`~unworn.bounds.release.averaged_mwem_error`, at the best number of rounds, solved for rows.

    Choices are among the questions and their complements. About 8 ln(2kT/beta) sqrt(ln m)/(c alpha^2), where each of T
    choices may cost c/sqrt(T).

    >>> mwem_rows(2**16, 1_000, 0.05, 1.0, 1e-9, 0.05)
    427616.0
    """
    _check(cells, questions, alpha, beta)

    def error(rows: float) -> float:
        public = (rows, cells, 2 * questions, epsilon, delta, beta)
        rounds = averaged_mwem_rounds(*public, sharp=True)
        return averaged_mwem_error(*public, rounds, sharp=True)

    low, high = 1, 2
    while error(high) > alpha:
        low, high = high, 4 * high
        if high > _MOST:
            return math.inf
    while high - low > max(1, low * 1e-9):
        middle = (low + high) // 2
        low, high = (middle, high) if error(middle) > alpha else (low, middle)
    return float(high)


def lecture_rows(cells: float, questions: int, alpha: float, constant: float = 1.0) -> dict[str, float]:
    """The lecture's forms, for a ``constant`` C that stands for the budget: rates to compare, and no certificates.

    >>> {name: round(rows) for name, rows in lecture_rows(2.0**100, 100**2, 0.1).items()}
    {'Gaussian noise': 3035, 'projection': 833, 'MWEM': 7668}
    """
    _check(cells, questions, alpha, 0.5)
    if not 0 < constant < math.inf:
        raise ValueError(f"the constant must be positive and finite, not {constant!r}")
    nats = math.log(cells)
    return {
        NOISE: constant * math.sqrt(questions * math.log(questions)) / alpha,
        PROJECTION: constant * math.sqrt(nats) / alpha**2,
        MWEM: constant * math.log(questions) * math.sqrt(nats) / alpha**2,
    }


def regimes(
    cells: float,
    questions: Iterable[int],
    alpha: float,
    epsilon: float = 1.0,
    delta: float = 1e-9,
    beta: float = 0.05,
    *,
    measure: Measure = "largest",
) -> list[dict[str, float | str]]:
    """The rows that each method needs for each number of questions: a table for ``charts.regimes``.

    >>> table = regimes(2**16, [100, 10_000_000], 0.1)
    >>> [(row["questions"], row["method"], row["rows"]) for row in table]
    [(100, 'Gaussian noise', 1910.0), (100, 'MWEM', 86754.0), (10000000, 'Gaussian noise', 1016100.0), (10000000, 'MWEM', 149577.0)]
    """  # noqa: E501
    table = list[dict[str, float | str]]()
    for count in questions:
        needed = rows_needed(cells, count, alpha, epsilon, delta, beta).of(measure)
        table += [{"questions": count, "method": name, "rows": rows} for name, rows in needed.items()]
    return table


def _check(cells: float, questions: float, alpha: float, beta: float) -> None:
    check_whole("the number of cells", cells, 2)
    check_whole("the number of questions", questions, 1)
    check_probability("beta", beta)
    if not 0 < alpha <= 1:
        raise ValueError(f"alpha must lie in (0, 1], not {alpha!r}")
