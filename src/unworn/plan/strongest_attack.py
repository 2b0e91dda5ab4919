"""What no noise can beat: how wide answers must be before the strongest attack known to us stops fitting the rows."""

from __future__ import annotations

from math import log, sqrt

_REACHED = 1.57
"""Fitted: with it the attack's width is .1 at 976 asks of 10,000 rows, 140,000 of 100,000 and 1.57e7 of a million."""


def attack_width(rows: int, asks: int, beta: float) -> float:
    """The half-width below which noise, however large it is chosen, cannot promise so many answers.

    The attack asks random questions and then for the direction that its posterior favours. Against noise of a share N
    of the range it gains about sqrt(asks) / (N rows), so that N and what it gains are least together at a multiple of
    asks^(1/4) / sqrt(rows); one question alone has the sample's own error besides. It is a measurement and no theorem,
    and it speaks of answers to any question without guesses: right guesses are not bounded by it.

    >>> [round(attack_width(n, k, 0.05), 3) for n, k in ((10**4, 1_000), (10**5, 139_000), (10**6, 15_000_000))]
    [0.101, 0.1, 0.099]
    """
    return _REACHED * sqrt(sqrt(asks) / rows) + sqrt(log(1 / beta) / (2 * rows))


def attacked_asks(rows: int, width: float, beta: float) -> int:
    """The most asks that the attack leaves within a half-width; 0 if not one."""
    room = width - sqrt(log(1 / beta) / (2 * rows))
    return int((room / _REACHED) ** 4 * rows**2) if room > 0 else 0
