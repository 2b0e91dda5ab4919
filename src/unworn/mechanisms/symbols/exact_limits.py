"""From an exact value on the rows to an interval for the population, the two limits sharing an offer's level.

What the limits are made of besides value and gauge was fixed before the rows were read: where the value was expected,
and how much it was expected to vary. A poor expectation costs width, never validity.
"""

from __future__ import annotations

from unworn.mechanisms.contract.mechanism import Offer, Symbol
from unworn.mechanisms.symbols.cell_limits import ROUNDING, interval, side_level
from unworn.mechanisms.symbols.exact_value import MEAN_NUMBERS, RANK_NUMBERS, spread_of

_USUAL_RANKING = (0.5, 1.0)
"""Where a ranking is expected of which nothing was told."""


def exact_limits(offer: Offer, symbol: Symbol, expected: tuple[float, float] | None = None) -> tuple[float, float]:
    """The limits, in the question's own units, of what :func:`~unworn.mechanisms.symbols.exact_value.exact_value` read.

    ``expected`` is where the value was told to lie before, if it was. The variance expected is the payload's gauge.
    """
    value, gauge = spread_of(offer, symbol)
    if isinstance(symbol, list) and offer.kind == "conditional":
        from unworn.bounds.questions import conditional_share_limits  # loaded by those who ask for subsets

        return conditional_share_limits(symbol[0], symbol[1], side_level(offer, None))
    if isinstance(symbol, list) and offer.kind == "ranking" and len(symbol) >= RANK_NUMBERS:
        return _ranking_limits(offer, symbol, expected or _USUAL_RANKING)
    if isinstance(symbol, list) and offer.kind == "unit" and len(symbol) == MEAN_NUMBERS:
        return _moment_limits(offer, symbol, expected or (offer.low, offer.high))
    if offer.kind == "unit" and offer.payload.gauge is not None:
        return _variance_limits(offer, (value, gauge), offer.payload.gauge, expected or (offer.low, offer.high))
    return interval(offer, (value, value), gauge)


def _variance_limits(
    offer: Offer, seen: tuple[float, float], variance: float, expected: tuple[float, float]
) -> tuple[float, float]:
    from unworn.bounds.questions import bet_rate, variance_limits

    low, high = (min(max((edge - offer.low) / offer.span, 0.0), 1.0) for edge in expected)
    n, level, middle = offer.rows, side_level(offer, None), (low + high) / 2
    variance = min(variance, 0.25)
    rates = bet_rate(middle, variance, n, level, high), bet_rate(1.0 - middle, variance, n, level, 1.0 - low)
    # What rounding may have moved: the mean outwards, and the variance up.
    mean, spread = (seen[0] - offer.low) / offer.span, min(seen[1] + ROUNDING, 0.25)
    below, above = (min(max(mean + side * ROUNDING, 0.0), 1.0) for side in (-1, 1))
    limits = variance_limits(below, spread, n, level, rates)[0], variance_limits(above, spread, n, level, rates)[1]
    return max(offer.low + limits[0] * offer.span, offer.low), min(offer.low + limits[1] * offer.span, offer.high)


def _moment_limits(offer: Offer, symbol: list[float], expected: tuple[float, float]) -> tuple[float, float]:
    from unworn.bounds.questions import MeanMoments, bet_distance, moment_rate

    variance = 0.25 if offer.payload.gauge is None else min(offer.payload.gauge, 0.25)
    middle = min(max((sum(expected) / 2 - offer.low) / offer.span, 0.0), 1.0)
    likely, n, level = MeanMoments.expected(middle, variance), offer.rows, side_level(offer, None)
    # What rounding may have moved: the mean outwards, and the moments to the side that widens.
    value, spread, third, fourth = symbol
    mean, v = min(max((value - offer.low) / offer.span, 0.0), 1.0), min(spread + ROUNDING, 0.25)
    seen = MeanMoments(mean, v, min(third + ROUNDING, 1.0), min(fourth + ROUNDING, 1.0))
    mirrored = MeanMoments(1.0 - mean, v, min(ROUNDING - third, 1.0), min(fourth + ROUNDING, 1.0))
    above = bet_distance(seen, n, level, moment_rate(likely, n, level)) + ROUNDING
    below = bet_distance(mirrored, n, level, moment_rate(likely.mirrored, n, level)) + ROUNDING
    return max(value - below * offer.span, offer.low), min(value + above * offer.span, offer.high)


def _ranking_limits(offer: Offer, symbol: list[float], expected: tuple[float, float]) -> tuple[float, float]:
    from unworn.bounds.questions import ExpectedRanking, RankMoments, ranking_limits

    low, high = (min(max(edge, 0.0), 1.0) for edge in expected)
    moments = RankMoments(int(symbol[0]), int(symbol[1]), *symbol[2:])
    return ranking_limits(moments, side_level(offer, None), ExpectedRanking.from_guess((low + high) / 2), (low, high))
