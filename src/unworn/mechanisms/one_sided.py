"""Limits with all of an answer's level on one side, for answers that say only on which side of a value the rows lie.

Why one side may have all of it: let an answer say "below", and publish [low, U], or "not below", and publish [L, high],
where no population above U gives "below" with probability over b, and none under L gives "not below". A population can
miss in one way only: one above U and under L would give either word with probability at most b, and 2b < 1. So none
misses with probability over b. An interval around a value must split b between its sides; these need not.
"""

from __future__ import annotations

from unworn.bounds.binomial import high_limit, low_limit
from unworn.bounds.concentration import kl_above
from unworn.bounds.numerics import LN2, check_log_level, check_rows, check_whole
from unworn.mechanisms.base import Offer
from unworn.mechanisms.limits import ROUNDING, attainable


def ceiling(offer: Offer, value: float) -> float:
    """What the population's value exceeds with probability at most b, when the rows' was at most ``value``.

    >>> offer = Offer(1, 10_000, "binary", 0.0, 1.0, True, False, -14.0)
    >>> round(ceiling(offer, 0.5), 4), round(floor(offer, 0.5), 4)
    (0.524, 0.476)
    """
    if value >= offer.high:
        return offer.high
    level = _checked(offer)
    if offer.kind == "binary":
        return high_limit(attainable((offer.low, value), offer.rows)[1], offer.rows, level)
    share = min(max(_share(offer, value) + ROUNDING, 0.0), 1.0)
    return min(offer.low + _length(offer) * kl_above(share, 1.0 - share, -level / offer.rows)[0], offer.high)


def floor(offer: Offer, value: float) -> float:
    """The mirror image: the rows' value was at least ``value``.

    >>> offer = Offer(1, 10_000, "unit", -1.0, 3.0, False, False, -14.0)
    >>> round(floor(offer, 1.0), 4), floor(offer, -1.0)
    (0.8942, -1.0)
    """
    if value <= offer.low:
        return offer.low
    level = _checked(offer)
    if offer.kind == "binary":
        return low_limit(attainable((value, offer.high), offer.rows)[0], offer.rows, level)
    share = min(max(_share(offer, value) - ROUNDING, 0.0), 1.0)
    return max(offer.low + _length(offer) * kl_above(1.0 - share, share, -level / offer.rows)[1], offer.low)


def _share(offer: Offer, value: float) -> float:
    return (value - offer.low) / _length(offer)


def _length(offer: Offer) -> float:
    """Of the whole range: a paired difference is a mean of values in it, if nothing is known of its discordance."""
    return offer.high - offer.low


def _checked(offer: Offer) -> float:
    """The level, at most one half: the argument above needs it, and every weight in use is below that anyway."""
    check_rows(offer.rows)
    check_whole("the number of rows", offer.rows, 1)
    check_log_level(offer.log_level)
    return min(offer.log_level, -LN2)
