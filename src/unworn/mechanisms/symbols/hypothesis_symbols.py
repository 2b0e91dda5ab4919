"""From the rows to one word: a hypothesis is rejected, or it is not.

The test is chosen by what is public (the question's kind, the value tested), and made at the one level that the
mechanism gives, one side having all of it.
"""

from __future__ import annotations

import math

from unworn.bounds.rejection import balance_rejects, difference_rejects, mean_rejects, share_rejects
from unworn.mechanisms.contract.mechanism import RAISED, Offer, Symbol
from unworn.mechanisms.symbols.cell_limits import ROUNDING
from unworn.mechanisms.symbols.exact_value import exact_value, spread_of
from unworn.queries.query import SUBSETS, Facts, Query
from unworn.queries.row_protocol import Rows


def nominal_level(facts: Facts) -> float:
    """ln of the level asked for, before it is corrected for what was asked before."""
    return math.log(tested_null(facts)[2])


def tested_null(facts: Facts) -> tuple[int, float, float]:
    """The hypothesis (side, value, level) that a question tests."""
    if facts.null is None:
        raise ValueError("this question tests no hypothesis")
    return facts.null


def judge_hypothesis(offer: Offer, query: Query, rows: Rows, level: float) -> Symbol:
    """1 if the rows reject the hypothesis, 0 if they do not, or that the question's code failed."""
    told = exact_value(offer, query, rows)
    if told == RAISED:
        return RAISED
    if offer.null is None:
        raise ValueError("this offer tests no hypothesis")
    return int(rejects(offer, offer.null[0], offer.null[1], *spread_of(offer, told), level))


def rejects(offer: Offer, side: int, null: float, value: float, spread: float, level: float) -> bool:
    """Whether a value on the rows, with its gauge where it has one, rejects a hypothesis.

    The hypothesis is that the population's value is at most ``null`` (``side`` 1), or at least (-1).

    >>> offer = Offer(1, 100, "binary", 0.0, 1.0, True, False, -1.0)
    >>> rejects(offer, 1, 0.5, 0.61, 1.0, math.log(0.02)), rejects(offer, 1, 0.5, 0.60, 1.0, math.log(0.02))
    (True, False)
    """
    n = offer.rows
    if offer.kind in SUBSETS:
        # Given how many rows count, it is a share or a mean of so many; without any, nothing speaks against anything.
        if not spread:
            return False
        if offer.kind == "conditional":
            return share_rejects(side, null, round(value * spread), spread, level)
        return mean_rejects(side, null, _within(0.0, value - side * ROUNDING), spread, level)
    if offer.kind == "binary":
        return share_rejects(side, null, round(value * n), n, level)
    if offer.kind == "unit":
        mean = (value - offer.low) / offer.span - side * ROUNDING  # what rounding could have added speaks for nothing
        return mean_rejects(side, _within(0.0, (null - offer.low) / offer.span), _within(0.0, mean), n, level)
    if offer.zero_one and null == 0:
        apart, ahead = round(spread * n), round(value / offer.span * n)
        return balance_rejects(side, (apart + ahead) // 2, (apart - ahead) // 2, level)
    difference, wide = _within(-1.0, value / offer.span - side * ROUNDING), _within(0.0, spread + ROUNDING)
    return difference_rejects(side, _within(-1.0, null / offer.span), difference, wide, n, level, offer.zero_one)


def _within(low: float, share: float) -> float:
    return min(max(share, low), 1.0)
