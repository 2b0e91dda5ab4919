"""Beyond shares: questions that one row can move by ``sensitivity``, and questions whose answer minimises a loss.

``reach`` = n times the sensitivity is what all rows together can move: 1 for a share. A transcript's gap for such
questions is reach times that for shares: replace the rows one after the other by fresh ones; given all others, the
i-th step is a question in [0, sensitivity] of one row, to which the theorem for shares applies, and there are n steps.
A minimiser's excess risk over the population is at most its excess over the rows plus d(S) - d(P), with d the loss of
the population's minimiser less that of the answer: twice as sensitive, and a function of the transcript.
"""

from __future__ import annotations

import math

from unworn.bounds.numerics import check_between, check_nats, check_probability
from unworn.bounds.privacy.profiles import Profile
from unworn.bounds.transfer.sharpened_transfer import d2


def sensitive_width(noise: float, profile: Profile, beta: float, reach: float) -> float:
    """CVaR + reach s(beta), D2 for questions of sensitivity reach/n; their q(P) is the mean of q over fresh samples.

    >>> from unworn.bounds.privacy.profiles import GDP
    >>> round(sensitive_width(0.02, GDP(0.05), 0.05, 2.0), 4)
    0.0849
    """
    _check(noise, reach)
    return noise + reach * d2(profile, beta)


def minimisation_width(excess: float, profile: Profile, beta: float, reach: float) -> float:
    """CVaR of the worst excess loss on the rows + 2 reach s(beta): the excess risk of all answers, by D2.

    >>> from unworn.bounds.privacy.profiles import GDP
    >>> round(minimisation_width(0.02, GDP(0.05), 0.05, 1.0), 4)
    0.0849
    """
    _check(excess, reach)
    return excess + 2.0 * reach * d2(profile, beta)


def jlnrss20_sensitive(
    accuracy: float, chance: float, epsilon: float, delta: float, beta: float, reach: float
) -> float:
    """Lemma 15 of Jung et al. (2020): a + reach (e^eps - 1) + c + 4 reach d at the best c, d with b/c + delta/d = beta.

    Questions still need a range of [0, 1].

    >>> round(jlnrss20_sensitive(0.02, 1e-5, 0.03, 1e-5, 0.05, 1.0), 4)
    0.0523
    """
    return _jlnrss20(accuracy, chance, epsilon, delta, beta, reach, 4.0)


def jlnrss20_minimisation(
    accuracy: float, chance: float, epsilon: float, delta: float, beta: float, reach: float
) -> float:
    """The same for minimisation: 2 reach (e^eps - 1) and 8 reach d (Marchant and Rubinstein 2025, static data).

    >>> round(jlnrss20_minimisation(0.02, 1e-5, 0.03, 1e-5, 0.05, 1.0), 4)
    0.0838
    """
    return _jlnrss20(accuracy, chance, epsilon, delta, beta, 2.0 * reach, 4.0)


def _jlnrss20(
    accuracy: float, chance: float, epsilon: float, delta: float, beta: float, reach: float, charged: float
) -> float:
    _check(accuracy, reach)
    check_between("the chance of inaccuracy", chance, 0.0, 1.0)
    check_nats("epsilon", epsilon)
    check_between("delta", delta, 0.0, 1.0)
    check_probability("beta", beta)
    root = math.sqrt(chance) + math.sqrt(charged * reach * delta)
    return accuracy + reach * math.expm1(min(epsilon, 700.0)) + root * root / beta


def _check(noise: float, reach: float) -> None:
    check_between("how far the answers are from the rows", noise, 0.0, math.inf)
    if not 0 < reach < math.inf:
        raise ValueError(f"reach = rows x sensitivity must be finite and above 0, not {reach!r}")
