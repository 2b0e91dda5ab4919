"""From a cell of values on the rows to an interval for the population, at an offer's level.

The interval must contain the confidence limits of *every* value that could have produced the symbol (theory of
code lengths, soundness). The limits rise with the value, so those of the two ends are enough.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from unworn.bounds.binomial import high_limit, low_limit
from unworn.bounds.concentration import kl_above
from unworn.bounds.numerics import LN2, check_log_level, check_rows, check_whole
from unworn.bounds.paired import discordance
from unworn.mechanisms.contract.mechanism import Offer

ROUNDING = 1e-9
"""A mean of floats is exact to less than this share of its span (see ``Facts.check``); the cell is widened by it."""


def interval(
    offer: Offer, cell: tuple[float, float], gauge: float = 1.0, log_side: float | None = None
) -> tuple[float, float]:
    """The limits for a cell, in the question's own units, cut to its range.

    ``gauge`` bounds what the rows say beside the value (:mod:`~unworn.mechanisms.symbols.gauges`): of a paired question
    the mean absolute difference, as a share of the span. Each limit is at the level exp(``log_side``), at most one
    half; without one they share the offer's.
    """
    return _LIMITS[offer.kind](offer, cell, gauge, log_side)


def _share_limits(offer: Offer, cell: tuple[float, float], gauge: float, log_side: float | None) -> tuple[float, float]:
    """Clopper and Pearson's limits: of each end only the outer one is needed."""
    n, level = offer.rows, side_level(offer, log_side)
    check_whole("the number of rows", n, 1)
    check_log_level(level)
    first, last = attainable(cell, n)
    return low_limit(first, n, level), high_limit(last, n, level)


def _mean_limits(offer: Offer, cell: tuple[float, float], gauge: float, log_side: float | None) -> tuple[float, float]:
    """Chernoff's limits for any mean of values in a range; or those for a variance of at most the gauge."""
    n, level = offer.rows, side_level(offer, log_side)
    scaled_low, scaled_high = _scaled(offer, cell, offer.low, 0.0)
    check_rows(n)
    check_log_level(level)
    if offer.payload.gauge is None:
        low = kl_above(1.0 - scaled_low, scaled_low, -level / n)[1]
        high = kl_above(scaled_high, 1.0 - scaled_high, -level / n)[0]
    else:
        from unworn.bounds.questions import variance_cell_limits  # loaded by those who declare a variance

        low, high = variance_cell_limits(scaled_low, scaled_high, min(gauge + ROUNDING, 0.25), n, level)
    return max(offer.low + low * offer.span, offer.low), min(offer.low + high * offer.span, offer.high)


def _difference_limits(
    offer: Offer, cell: tuple[float, float], gauge: float, log_side: float | None
) -> tuple[float, float]:
    """Those for a mean difference whose mean size is known to be at most the gauge."""
    kept, shared = offer.payload.kept, log_side is None
    if log_side is not None:
        level = min(log_side, -LN2)
    elif not kept:
        level = offer.log_level
    else:  # under Theorem U each of the three limits pays for its share
        level, shared = (offer.log_level - 2.0 * LN2) / (1.0 - kept), False
    scaled_low, scaled_high = _scaled(offer, cell, 0.0, -1.0)
    most = min(gauge + ROUNDING, 1.0)
    low, high = discordance(scaled_low, scaled_high, most, offer.rows, level, offer.zero_one, shared)
    return max(low * offer.span, offer.low), min(high * offer.span, offer.high)


def _subset_limits(
    offer: Offer, cell: tuple[float, float], gauge: float, log_side: float | None
) -> tuple[float, float]:
    """Those for a share of at least so many rows as the gauge says."""
    from unworn.bounds.questions import conditional_cell_limits  # loaded by those who ask for subsets

    low, high = (min(max(edge, 0.0), 1.0) for edge in cell)
    return conditional_cell_limits(low, high, math.ceil(gauge), offer.rows, side_level(offer, log_side))


def _ranking_limits(
    offer: Offer, cell: tuple[float, float], gauge: float, log_side: float | None
) -> tuple[float, float]:
    """Those for a ranking whose rarer class has at least so many rows as the gauge says."""
    from unworn.bounds.questions import ranking_cell_limits

    low, high = _scaled(offer, cell, 0.0, 0.0)
    return ranking_cell_limits(low, high, math.ceil(gauge), side_level(offer, log_side))


_LIMITS: dict[str, Callable[[Offer, tuple[float, float], float, float | None], tuple[float, float]]] = {
    "binary": _share_limits,
    "unit": _mean_limits,
    "paired": _difference_limits,
    "conditional": _subset_limits,
    "ranking": _ranking_limits,
}
"""Which limits a question of a kind has. A kind that is not here has no cells."""


def side_level(offer: Offer, log_side: float | None) -> float:
    """ln of the level of each limit."""
    return (offer.log_level - LN2) / (1.0 - offer.payload.kept) if log_side is None else min(log_side, -LN2)


def _scaled(offer: Offer, cell: tuple[float, float], centre: float, floor: float) -> tuple[float, float]:
    """A cell as shares of the span, widened by what rounding may have moved."""
    low = min(max((cell[0] - centre) / offer.span - ROUNDING, floor), 1.0)
    return low, min(max((cell[1] - centre) / offer.span + ROUNDING, floor), 1.0)


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
