"""Moments of blocks of one row of the rarer class and several of the other, for bets on the area under a ROC curve.

The mean of φ over such a block is the mean of k draws, without replacement, from the row's pairs, whose mean is the
row's placement a. Draws with replacement spread more (Hoeffding 1963, theorem 4), and draws of 0 or 1 spread most; and
the logarithm of a bet is concave. So what a bet on a binomial share with k draws and chance a has won on average, the
bet on the block has won too, whatever the ties. Four moments of the placements say how such shares are spread.
"""

from __future__ import annotations

from unworn.bounds.numerics import check_between, check_whole
from unworn.bounds.questions.mean_bets import MeanMoments


def block_moments(placements: MeanMoments, others: int) -> MeanMoments:
    """The moments of a binomial share of ``others`` draws, whose chance is spread as the placements are.

    >>> coin = block_moments(MeanMoments(0.5, 0.0, 0.0, 0.0), 1)
    >>> coin.variance, coin.third, coin.fourth
    (0.25, 0.0, 0.0625)
    """
    check_whole("others", others, 1)
    u, v, t, f = placements.mean, placements.variance, placements.third, placements.fourth
    c, s, k = u * (1.0 - u), 1.0 - 2.0 * u, float(others)
    bent = s * s - 2.0 * c
    # Averages over rows, a = u + e: of a(1 - a) by powers of e, of a(1 - a)(1 - 2a), and of the square of a(1 - a).
    spread, spread_e, spread_ee = max(c - v, 0.0), s * v - t, c * v + s * t - f
    skew, skew_e = s * (c - 3.0 * v) + 2.0 * t, bent * v - 3.0 * s * t + 2.0 * f
    spread_squared = c * c + bent * v - 2.0 * s * t + f
    variance = v + spread / k
    third = t + 3.0 * spread_e / k + skew / k**2
    fourth = f + 6.0 * spread_ee / k + 4.0 * skew_e / k**2 + 3.0 * spread_squared * (k - 2.0) / k**3 + spread / k**3
    return MeanMoments(u, variance, min(max(third, -variance), variance), min(max(fourth, 0.0), variance))


def exponential_placements(value: float, of_positives: bool) -> MeanMoments:
    """The moments of placements if scores were exponential, as Hanley and McNeil (1982) assume.

    With odds s = A/(1 - A) of the area a positive's placement is 1 - U^s and a negative's U^(1/s), U uniform.

    >>> placements = exponential_placements(0.9, True)
    >>> round(placements.variance, 4), round(placements.third, 4)
    (0.0426, -0.0219)
    """
    check_between("value", value, 0, 1)
    value = min(max(value, 1e-6), 1.0 - 1e-6)
    odds = value / (1.0 - value)
    power = odds if of_positives else 1.0 / odds
    first, second, third, fourth = (1.0 / (1.0 + q * power) for q in (1, 2, 3, 4))
    variance = max(second - first**2, 0.0)
    cube = third - 3.0 * first * second + 2.0 * first**3
    moments = MeanMoments(
        first,
        variance,
        min(max(cube, -variance), variance),
        min(max(fourth - 4.0 * first * third + 6.0 * first**2 * second - 3.0 * first**4, 0.0), variance),
    )
    return moments.mirrored if of_positives else moments
