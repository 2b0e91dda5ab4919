"""Boost by majority: how many rounds a majority of weak rules takes, and how much each row counts in each of them.

Let every rule be right with probability 1/2 + γ, under whatever weights the rows have. Of a row that r of i rules were
right on so far, let β_r^i be the probability that a majority of all T is wrong, if the other T - i were coins that are
right with probability 1/2 + γ. The weight of the row in round i + 1 is what the next rule can change:
α_r^i = β_r^{i+1} - β_{r+1}^{i+1}, a single binomial probability.

The *potential* Φ_i = E β_r^i is P(Bin(T, 1/2 + γ) <= T/2) at the start, whatever the population, and the error of the
majority at the end; and it changes by exactly E α (γ - 1/2 + [the rule is wrong]) in a round: nothing that a rule is
promised to do enters, only what it is asked to have done.

References
----------
Freund, "Boosting a weak learning algorithm by majority", Information and Computation 1995. Aslam and Decatur, "General
bounds on statistical query learning and PAC learning with noise via hypothesis boosting", Information and Computation
1998, ask for these weighted means as statistical queries.
"""

from __future__ import annotations

import math

from unworn.bounds.numerics import check_probability, check_whole

MOST_ROUNDS = 100_001


def majority_error(rounds: int, edge: float) -> float:
    """P(Bin(T, 1/2 + γ) <= T/2): how often the majority of T independent rules is wrong. T is odd, so none is a tie.

    >>> round(majority_error(1, 0.1), 12), round(majority_error(101, 0.1), 4)
    (0.4, 0.0209)
    """
    count = _odd(rounds)
    chance = 0.5 + _edge(edge)
    return min(1.0, math.fsum(math.exp(_log_binomial(count, hits, chance)) for hits in range(count // 2 + 1)))


def majority_rounds(error: float, edge: float) -> int:
    """The fewest rounds, an odd number, after which :func:`majority_error` is at most ``error``.

    >>> majority_rounds(0.05, 0.1), majority_rounds(0.01, 0.1)
    (67, 133)
    """
    check_probability("error", error)
    _edge(edge)
    low, high = 0, 1  # of (rounds - 1)/2
    while majority_error(2 * high + 1, edge) > error:
        low, high = high, 2 * high
        if 2 * high + 1 > MOST_ROUNDS:
            raise ValueError(f"more than {MOST_ROUNDS} rounds for an error of {error:g} with an edge of {edge:g}")
    if majority_error(1, edge) <= error:
        return 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if majority_error(2 * middle + 1, edge) > error else (low, middle)
    return 2 * high + 1


def majority_weights(rounds: int, edge: float, past: int) -> tuple[float, ...]:
    """The weight of a row in the next round, by how many of the ``past`` rules were right on it.

    >>> [round(weight, 3) for weight in majority_weights(5, 0.1, 2)]  # none was right, one, or both
    [0.36, 0.48, 0.16]
    >>> majority_weights(5, 0.1, 4)  # the last rule decides where two of four were right
    (0.0, 0.0, 1.0, 0.0, 0.0)
    """
    count = _odd(rounds)
    check_whole("the number of past rounds", past, 0)
    if past >= count:
        raise ValueError(f"after {past} of {count} rounds there is no next one")
    left, chance = count - past - 1, 0.5 + _edge(edge)
    needed = (count // 2 - right for right in range(past + 1))
    return tuple(math.exp(_log_binomial(left, hits, chance)) if 0 <= hits <= left else 0.0 for hits in needed)


def _log_binomial(count: int, hits: int, chance: float) -> float:
    """ln P(Bin(count, chance) = hits)."""
    ways = math.lgamma(count + 1) - math.lgamma(hits + 1) - math.lgamma(count - hits + 1)
    return ways + hits * math.log(chance) + (count - hits) * math.log1p(-chance)


def _odd(rounds: int) -> int:
    check_whole("the number of rounds", rounds, 1)
    if rounds % 2 == 0 or rounds > MOST_ROUNDS:
        raise ValueError(f"a majority takes an odd number of rounds, at most {MOST_ROUNDS}, not {rounds}")
    return int(rounds)


def _edge(edge: float) -> float:
    if isinstance(edge, bool) or not 0 < edge < 0.5:
        raise ValueError(f"an edge over a coin lies between 0 and 1/2, not {edge!r}")
    return float(edge)
