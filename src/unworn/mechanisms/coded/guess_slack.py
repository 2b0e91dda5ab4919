"""How far from a guess still counts as agreement: so many standard errors of guess and holdout together."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache

from unworn.mechanisms.contract.mechanism import Guess, State
from unworn.queries.query import SUBSETS, Facts


def agreement_slack(facts: Facts, guess: Guess, state: State, position: int, z: float | None) -> float:
    """z standard errors of holdout and guess together, or the usual number of them, in the question's own units."""
    if z is None:
        z = 4.0 if state.pattern is None else default_z(state.asked + 1 + position, state.planned)
    return z * guess_error(facts, guess, state.rows)


def guess_error(facts: Facts, guess: Guess, rows: int) -> float:
    """The standard error of guess and holdout together, in the question's own units."""
    holdout = facts.span * _holdout_error(facts, guess, rows)
    return math.hypot(holdout, holdout if guess.error is None else guess.error)


def _holdout_error(facts: Facts, guess: Guess, rows: int) -> float:
    """The holdout's own standard error if the guess is right, on the scale of [0, 1]."""
    if facts.kind not in SUBSETS:
        return standard_error(guess_variance(facts, guess), rows)
    least = min(max(int(guess.gauge or 0), 1), rows)
    largest = standard_error(guess.value * (1 - guess.value), least)
    if facts.kind == "conditional" or least == rows:
        return largest
    from unworn.bounds.questions import hanley_mcneil, ranking_error  # loaded by those who rank

    covariances, others = hanley_mcneil(guess.value), rows - least
    both = ((least, others), (others, least))  # which class is the rarer is not known
    return min(largest, max(1.0 / least, *(ranking_error(guess.value, covariances, *each) for each in both)))


def without_gauge(guess: Guess) -> Guess:
    """A guess for noise: values that are rounded at random vary as 0/1 values do, whatever was declared."""
    return guess if guess.gauge is None else replace(guess, gauge=None)


def declared_discordance(facts: Facts, guess: Guess) -> float:
    """The bound that was declared for a paired question's mean absolute difference, as a share of the span."""
    return 1.0 if guess.discordance is None else min(guess.discordance / facts.span, 1.0)


def usable_guess(facts: Facts, guess: Guess | None, gauged: frozenset[str]) -> Guess | None:
    """The guess, with a gauge only of a kind of question that has one; of a difference, that there is none."""
    if guess is None:
        return Guess(0.0, origin="no difference") if facts.kind == "paired" else None
    if not guess.origin:
        raise ValueError("a guess has an origin: it is what its surprises are charged by")
    return guess if guess.gauge is None or facts.kind in gauged else without_gauge(guess)


def declared_gauge(facts: Facts, guess: Guess, slack: float) -> float | None:
    """The bound that was declared for any other gauge; none where it says nothing.

    A mean that agrees with the guess cannot vary more than its cell allows: a variance beyond that is no declaration.
    """
    if guess.gauge is None or facts.kind in ("binary", "paired"):
        return None
    if facts.kind in SUBSETS:
        return guess.gauge if guess.gauge >= 1 else None
    low, high = ((guess.value + side * slack - facts.low) / facts.span for side in (-1, 1))
    nearest = min(max(0.5, low), high)
    return guess.gauge if guess.gauge < nearest * (1 - nearest) else None


@lru_cache(maxsize=64)
def planned_z(asks: int) -> float:
    """As many standard errors as leave one honest surprise in seven plans of so many asks."""
    from statistics import NormalDist  # loaded by those who plan: it brings fractions and decimals

    return -NormalDist().inv_cdf(0.075 / asks)


def default_z(index: int, planned: int | None) -> float:
    """How many standard errors still count as agreement: a surprise costs more than a little slack.

    >>> default_z(1, None), default_z(31, None), default_z(3001, None), round(default_z(1, 300), 2)
    (3.5, 4.0, 4.5, 3.48)
    """
    if planned is not None:
        return planned_z(planned)
    return 3.5 if index <= 30 else 4.0 if index <= 3000 else 4.5


def standard_error(variance: float, rows: int) -> float:
    """Of a mean of ``rows`` values in [0, 1], never below that of a single odd row.

    A guess of exactly 0 or 1 has no variance of its own; without the floor every honest such guess would be a
    surprise.

    >>> standard_error(0.25, 10_000), standard_error(0.0, 10_000)
    (0.005, 0.0001)
    """
    return math.sqrt(max(variance, 1 / rows) / rows)


def guess_variance(facts: Facts, guess: Guess) -> float:
    """The largest variance one value can have if the guess is right, on the scale of [0, 1]."""
    if facts.kind == "paired":
        return max(declared_discordance(facts, guess) - (guess.value / facts.span) ** 2, 0.0)
    share = (guess.value - facts.low) / facts.span
    if facts.kind == "unit" and guess.gauge is not None:
        return min(share * (1 - share), guess.gauge)
    return share * (1 - share)
