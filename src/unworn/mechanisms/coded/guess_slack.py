"""How far from a guess still counts as agreement: so many standard errors of guess and holdout together."""

from __future__ import annotations

import math
from functools import lru_cache

from unworn.mechanisms.contract.mechanism import Guess
from unworn.mechanisms.symbols.exact_value import GAUGED
from unworn.queries.query import Facts


def guess_error(facts: Facts, guess: Guess, rows: int) -> float:
    """The standard error of guess and holdout together, in the question's own units."""
    holdout = facts.span * standard_error(guess_variance(facts, guess), rows)
    return math.hypot(holdout, holdout if guess.error is None else guess.error)


def declared_gauge(facts: Facts, guess: Guess) -> float:
    """The bound that was declared for what the rows give beside the value, as a share of the span."""
    return 1.0 if guess.discordance is None else min(guess.discordance / facts.span, 1.0)


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
    if facts.kind in GAUGED:
        return max(declared_gauge(facts, guess) - (guess.value / facts.span) ** 2, 0.0)
    share = (guess.value - facts.low) / facts.span
    return share * (1 - share)
