"""The lecture's exercise: what private guess and check does for a Ladder and for a reusable holdout, in expectation.

Both ask a sparse vector whether a released number is still good enough, and get a new number, with noise, when it is
not. Coded answers pay for m of them with sqrt(m ln(k)/n); noise with m^(1/4) sqrt(ln(k)/n). So

- a **reusable holdout** with a budget of B overfitted answers errs by O(B^(1/4) sqrt(ln(k)/n)) beyond its tolerance;
- a **Ladder** of step alpha has about 1/alpha improvements to announce: alpha = (1/alpha)^(1/4) sqrt(ln(k)/n), that is
  alpha = O((ln(k)/n)^(2/5)), where its compressible form has (ln(k n)/n)^(1/3).

References
----------
Smith, lecture 12, exercise 2. Hardt, "Climbing a shaky ladder", 2017 (n^(-2/5)). Blum and Hardt, ICML 2015 (n^(-1/3)).
"""

from __future__ import annotations

import math

from unworn.bounds.numerics import check_rows, check_whole
from unworn.bounds.transfer.parameter_search import lowest
from unworn.lab.theorems.kl_stability import best_expected_error


def ladder_rate(rows: float, asks: int) -> float:
    """(ln(k)/n)^(2/5): the exercise's answer for the Ladder, constants left out.

    >>> round(ladder_rate(10**6, 10_000), 4), round(compressed_ladder_rate(10**6, 10_000), 4)
    (0.0097, 0.0284)
    """
    _check(rows, asks)
    return math.exp(0.4 * math.log(math.log(asks) / rows))


def compressed_ladder_rate(rows: float, asks: int) -> float:
    """(ln(k n)/n)^(1/3): what its exact form has, which is priced by its length.

    >>> round(compressed_ladder_rate(10**4, 1_000), 4)
    0.1172
    """
    _check(rows, asks)
    return math.cbrt(math.log(asks * rows) / rows)


def reusable_rate(rows: float, asks: int, budget: int) -> float:
    """B^(1/4) sqrt(ln(k)/n): the exercise's answer for the reusable holdout, constants left out.

    >>> round(reusable_rate(10**6, 10_000, 16), 4)
    0.0061
    """
    _check(rows, asks)
    check_whole("the budget", budget, 1)
    return math.sqrt(math.sqrt(budget) * math.log(asks) / rows)


def reusable_error(rows: float, asks: int, budget: int) -> float:
    """By how much the worst answer of a private reusable holdout is expected to pass its tolerance, with constants.

    Answers by guess are within the tolerance of the rows but for the noise of the comparison; the others are noisy
    values. All are told by ``budget`` runs with values, at their best epsilon.

    >>> round(reusable_error(10**6, 10_000, 16), 4)
    0.0195
    """
    _check(rows, asks)
    return best_expected_error(rows, asks, budget, values=True)[1]


def ladder_error(rows: float, asks: int) -> tuple[float, float]:
    """The best step of a private Ladder, and the expected distance of what it shows from the best loss, with constants.

    Let W be the largest error of all comparisons and values against the rows. As long as W <= step/4 each improvement
    lowers what is shown by half a step, so 2/step + 1 runs are enough, and what is shown is within step + W of the
    least loss on the rows. Otherwise, with a chance of (k + 2m) e^(-n eps step/24), the distance is 1 at most.
    KL-stability turns the rows into the population.

    >>> step, error = ladder_error(10**6, 10_000)
    >>> round(step, 4), round(error, 4)
    (0.0833, 0.1091)
    """
    _check(rows, asks)

    def error(step: float) -> float:
        tops = math.ceil(2.0 / step) + 1
        epsilon, rest = best_expected_error(rows, asks, tops, values=True)
        return step + rest + min(1.0, (asks + 2 * tops) * math.exp(-rows * epsilon * step / 24.0))

    step = lowest(error, min(0.5, 6.0 * ladder_rate(rows, asks)), close=1e-3)
    return step, min(1.0, error(step))


def _check(rows: float, asks: int) -> None:
    check_rows(rows)
    check_whole("the number of asks", asks, 2)
