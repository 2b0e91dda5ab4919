"""Multiplicative weights against the best fixed choice: how much more it pays, whatever the costs turn out to be.

Weights over m actions start equal. In each of T rounds an adversary sets costs in [0, 1], seeing the weights p^t, and
the weights are then multiplied by exp(-rate cost). *Regret* is the mean cost under p^t less the mean cost of the best
distribution in hindsight. With the potential KL(p* || p^t) and Hoeffding's lemma it is at most
ln(m)/(rate T) + rate/8, for every rate and T and with certainty (Freund and Schapire 1997; the proof is in
``docs/theory/release.md``).
"""

from __future__ import annotations

import math

from unworn.bounds.numerics import check_whole


def regret(actions: float, rounds: float, rate: float) -> float:
    """ln(m)/(rate T) + rate/8, and never more than 1, which costs in [0, 1] cannot pass.

    >>> round(regret(1024, 10_000, 0.02), 6)
    0.037157
    """
    _check(actions, rounds)
    if not 0 < rate < math.inf:
        raise ValueError(f"the learning rate must be positive and finite, not {rate!r}")
    return min(1.0, math.log(actions) / (rate * rounds) + rate / 8.0)


def regret_bound(actions: float, rounds: float, *, sharp: bool = False) -> float:
    """2 sqrt(ln(m)/T), at most 1: at the rate sqrt(ln(m)/T), for weights multiplied by exp(-rate c) or by 1 - rate c.

    The proof for the linear update needs a rate of at most 1/2, that is T >= 4 ln(m) (Arora, Hazan and Kale 2012, Thm.
    2.1); below that 2 sqrt(ln(m)/T) is 1 or more, and 1 always holds: so there is no T at which this is not a bound.
    ``sharp`` is sqrt(ln(m)/(2T)), for the exponential update at its best rate sqrt(8 ln(m)/T).

    >>> round(regret_bound(1024, 10_000), 6), round(regret_bound(1024, 10_000, sharp=True), 6)
    (0.052655, 0.018616)
    >>> regret_bound(1024, 20)
    1.0
    """
    _check(actions, rounds)
    factor = math.sqrt(0.5) if sharp else 2.0
    return min(1.0, factor * math.sqrt(math.log(actions) / rounds))


def learning_rate(actions: float, rounds: float, *, sharp: bool = False) -> float:
    """The rate at which :func:`regret_bound` holds.

    >>> round(learning_rate(1024, 10_000), 6), round(learning_rate(1024, 10_000, sharp=True), 6)
    (0.026328, 0.074466)
    """
    _check(actions, rounds)
    return math.sqrt((8.0 if sharp else 1.0) * math.log(actions) / rounds)


def _check(actions: float, rounds: float) -> None:
    check_whole("the number of actions", actions, 1)
    check_whole("the number of rounds", rounds, 1)
