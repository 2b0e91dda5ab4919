"""Multiplicative weights with the exponential mechanism (MWEM): a bound before the run, and a better one after it.

Each of T rounds chooses privately a question that the distribution p^t answers badly, and tilts p^t towards the rows. k
counts the questions and their complements, where the choice is among both; m is the number of cells; n that of rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from unworn.bounds.budget import check_budget, concentrated_rho
from unworn.bounds.noise_tails import Noise, largest_draw
from unworn.bounds.numerics import Floats, check_probability, check_whole
from unworn.bounds.regret import regret_bound
from unworn.bounds.selection import Selections, selection_epsilon, selection_gap

_LONGEST = 1e9


def averaged_mwem_epsilon(rounds: int, epsilon: float, delta: float) -> float:
    """The epsilon of each choice: :func:`~unworn.bounds.selection.selection_epsilon`.

    The seed's advanced composition, sqrt(2T ln(1/delta)) eps0 + T eps0 tanh(eps0/2), and even the exact one hold for
    anything private; the exponential mechanism's bounded range buys nearly twice as much.

    >>> round(averaged_mwem_epsilon(100, 1.0, 1e-9), 5)   # exact composition: 0.01866; advanced composition: 0.01535
    0.03461
    """
    return selection_epsilon(epsilon, delta, rounds)


def averaged_mwem_profile(rounds: int, epsilon: float, delta: float) -> Selections:
    """What all choices reveal of one row: at ``epsilon``, no more than ``delta``.

    >>> bool(averaged_mwem_profile(100, 1.0, 1e-9).delta(1.0) <= 1e-9)
    True
    """
    return Selections(averaged_mwem_epsilon(rounds, epsilon, delta), int(rounds))


def averaged_mwem_error(
    rows: float,
    cells: float,
    questions: float,
    epsilon: float,
    delta: float,
    beta: float,
    rounds: int,
    *,
    grain: float = 1.0,
    sharp: bool = False,
) -> float:
    """The largest error of the mean of p^1 .. p^T, but for a probability ``beta``: no measurements, only choices.

    2 sqrt(ln(m)/T) + 2 ln(kT/beta)/(eps0 n), at most 1: regret, and what the choices miss (a little less, see
    :func:`~unworn.bounds.selection.selection_gap`), for a workload closed under complement and choices by
    exp(eps0 n score/2). Scores rounded to multiples of ``grain`` (in rows) miss a grain more. ``sharp`` has
    sqrt(ln(m)/(2T)), at the learning rate that is its own.

    >>> round(averaged_mwem_error(50_000, 1024, 2000, 1.0, 1e-9, 0.05, 100, grain=0.0), 4)
    0.5441
    >>> round(2 * math.sqrt(math.log(1024) / 100) + 2 * math.log(2000 * 100 / 0.05) / (0.0346099 * 50_000), 4)
    0.5441
    """
    _check(rows, cells, questions, rounds, beta)
    _check_grain(grain)
    missed = selection_gap(questions, selection_epsilon(epsilon, delta, rounds), beta / rounds) + grain
    return min(1.0, regret_bound(cells, rounds, sharp=sharp) + missed / rows)


def averaged_mwem_rounds(
    rows: float, cells: float, questions: float, epsilon: float, delta: float, beta: float, *, sharp: bool = False
) -> int:
    """The number of rounds that makes :func:`averaged_mwem_error` least, found by search.

    With eps0 = 1/(C sqrt(T)) it is about n sqrt(ln m)/(C ln(kT/beta)), and the error then about
    4 sqrt(C ln(kT/beta)) (ln m)^(1/4)/sqrt(n).

    >>> public = (50_000, 1024, 2000, 1.0, 1e-9, 0.05)
    >>> averaged_mwem_rounds(*public), round(averaged_mwem_error(*public, 2243), 4)
    (2243, 0.2114)
    """
    _check(rows, cells, questions, 1, beta)
    check_budget(epsilon, delta)
    rho = concentrated_rho(epsilon, delta) if delta else 0.0
    factor, others = math.sqrt(0.5) if sharp else 2.0, max(questions - 1, 1)

    def bound(rounds: Floats) -> Floats:
        each = np.maximum(epsilon / rounds, np.sqrt(8.0 * rho / rounds))
        missed = 2.0 * np.maximum(math.log(others) + np.log(rounds / beta - 1.0), 0.0) / each
        return np.asarray(factor * np.sqrt(math.log(cells) / rounds) + missed / rows)

    return _least(bound)


def hlm_error(rows: float, cells: float, questions: float, rounds: int, epsilon: float) -> tuple[float, float]:
    """The published bound of MWEM with measurements, and the probability with which it may fail.

    Hardt, Ligett and McSherry (2012), Thm. 2.2: 2 n sqrt(ln|X|/T) + 10 T ln|Q|/epsilon in rows, but for 2T/|Q|; choices
    and Laplace measurements of epsilon/(2T) each, epsilon-private in all.

    >>> error, chance = hlm_error(1_000_000, 1024, 2000, 10, 1.0)
    >>> round(error, 4), chance
    (1.6659, 0.01)
    """
    _check(rows, cells, questions, rounds, 0.5)
    _check_positive("epsilon", epsilon)
    missed = 10.0 * rounds * math.log(questions) / (epsilon * rows)
    return 2.0 * math.sqrt(math.log(cells) / rounds) + missed, min(1.0, 2.0 * rounds / questions)


def hlm_rounds(rows: float, cells: float, questions: float, epsilon: float) -> int:
    """The number of rounds that makes :func:`hlm_error` least: (epsilon n sqrt(ln|X|)/(10 ln|Q|))^(2/3), rounded best.

    >>> hlm_rounds(1_000_000, 1024, 2000, 1.0)
    1063
    """
    _check(rows, cells, questions, 1, 0.5)
    _check_positive("epsilon", epsilon)
    slope = 10.0 * math.log(questions) / (epsilon * rows)

    def bound(rounds: Floats) -> Floats:
        return np.asarray(2.0 * np.sqrt(math.log(cells) / rounds) + slope * rounds)

    return _least(bound)


def measured_slack(
    rows: float,
    questions: float,
    rounds: int,
    epsilon: float,
    noise: Noise,
    scale: float,
    beta: float,
    *,
    grain: float = 1.0,
) -> float:
    """What the distance of a measurement from p^t, |m_t - q_t(p^t)|, may understate the largest error of p^t by.

    In round t the exponential mechanism (``epsilon`` a round) chose q_t by the distances |q(p^t) - q(S)|, and m_t is
    q_t(S) with ``noise`` of so many rows. In every round at once, but for ``beta`` in all,

        max over q of |q(p^t) - q(S)|  <=  |m_t - q_t(p^t)| + slack,

    slack = (what the choice may miss + the largest noise + ``grain``)/n: half of beta for either, and 1 grain because
    n q(p^t) was rounded to multiples of it in the score of the best and in that of the chosen. So the round where the
    right side is least may be picked afterwards, at no cost.

    >>> round(measured_slack(48_842, 1000, 30, 0.1, "gaussian", 60.0, 0.05), 4)
    0.0098
    """
    _check(rows, 2, questions, rounds, beta)
    _check_grain(grain)
    missed = selection_gap(questions, epsilon, beta / (2.0 * rounds))
    largest = largest_draw(noise, scale, -math.expm1(math.log1p(-beta / 2.0) / rounds))  # of independent draws
    return (missed + largest + grain) / rows


def _least(bound: Callable[[Floats], Floats]) -> int:
    """The whole number at which a bound that falls and then rises is least, up to a billion."""
    coarse = np.unique(np.floor(np.geomspace(1.0, _LONGEST, 800)))
    best = int(np.argmin(bound(coarse)))
    low, high = coarse[max(best - 1, 0)], coarse[min(best + 1, coarse.size - 1)]
    fine = np.unique(np.floor(np.linspace(low, high, min(int(high - low) + 1, 200_001), dtype=np.float64)))
    return int(fine[np.argmin(bound(fine))])


def _check(rows: float, cells: float, questions: float, rounds: float, beta: float) -> None:
    check_whole("the number of rows", rows, 1)
    check_whole("the number of cells", cells, 1)
    check_whole("the number of questions", questions, 1)
    check_whole("the number of rounds", rounds, 1)
    check_probability("beta", beta)


def _check_grain(grain: float) -> None:
    if not 0 <= grain < math.inf:
        raise ValueError(f"grain must be finite and at least 0 rows, not {grain!r}")


def _check_positive(name: str, value: float) -> None:
    if isinstance(value, bool) or not 0 < value < math.inf:
        raise ValueError(f"{name} must be positive and finite, not {value!r}")
