"""From a cell of values on the rows to an interval for the population, at an offer's level.

The interval must contain the confidence limits of *every* value that could have produced the symbol (theory of
code lengths, soundness). The limits rise with the value, so those of the two ends are enough.
"""

from __future__ import annotations

import math

from unworn.bounds.binomial import high_limit, low_limit
from unworn.bounds.concentration import kl_above
from unworn.bounds.numerics import LN2, check_log_level, check_rows, check_whole
from unworn.bounds.paired import discordance
from unworn.mechanisms.contract.mechanism import Offer

ROUNDING = 1e-9
"""A mean of floats is exact to less than this share of its span (see ``Facts.check``); the cell is widened by it."""


def interval(
    offer: Offer, cell: tuple[float, float], spread: float = 1.0, log_side: float | None = None
) -> tuple[float, float]:
    """The limits for a cell, in the question's own units, cut to its range.

    ``spread`` bounds the observed mean absolute difference of a paired question, as a share of the span. Each limit is
    at the level exp(``log_side``), at most one half; without one they share the offer's.
    """
    n, shared = offer.rows, log_side is None
    level = (offer.log_level - LN2) / (1.0 - offer.kept) if log_side is None else min(log_side, -LN2)
    if offer.kind == "binary":
        # Clopper and Pearson's limits: of each end only the outer one is needed.
        check_whole("the number of rows", n, 1)
        check_log_level(level)
        first, last = attainable(cell, n)
        return low_limit(first, n, level), high_limit(last, n, level)
    centre = 0.0 if offer.kind == "paired" else offer.low
    floor = -1.0 if offer.kind == "paired" else 0.0
    scaled_low = min(max((cell[0] - centre) / offer.span - ROUNDING, floor), 1.0)
    scaled_high = min(max((cell[1] - centre) / offer.span + ROUNDING, floor), 1.0)
    if offer.kind == "paired":
        if shared and not offer.kept:
            level = offer.log_level
        elif shared:  # under Theorem U each of the three limits pays for its share
            level, shared = (offer.log_level - 2.0 * LN2) / (1.0 - offer.kept), False
        most = min(spread + ROUNDING, 1.0)
        low, high = discordance(scaled_low, scaled_high, most, n, level, offer.zero_one, shared)
    else:
        check_rows(n)
        check_log_level(level)
        low = kl_above(1.0 - scaled_low, scaled_low, -level / n)[1]
        high = kl_above(scaled_high, 1.0 - scaled_high, -level / n)[0]
    return max(centre + low * offer.span, offer.low), min(centre + high * offer.span, offer.high)


def attainable(cell: tuple[float, float], rows: int) -> tuple[int, int]:
    """The smallest and largest number of rows whose share lies in a cell (the nearest ones if none does).

    >>> attainable((0.1, 0.25), 10)
    (1, 2)
    """
    first = _least(cell[0], rows)
    last = _least(math.nextafter(cell[1], math.inf), rows) - 1
    if first > last:
        nearest = min(max(round(rows * (cell[0] + cell[1]) / 2), 0), rows)
        return nearest, nearest
    return first, last


def _least(share: float, rows: int) -> int:
    """The smallest count in 0 … rows + 1 whose share is at least the given one."""
    if share > 1:
        return rows + 1
    count = min(max(math.ceil(share * rows), 0), rows)
    while count > 0 and (count - 1) / rows >= share:
        count -= 1
    while count <= rows and count / rows < share:
        count += 1
    return count
