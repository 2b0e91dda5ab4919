"""Limits for a mean whose rows vary far less than their declared range allows: losses, absolute and squared errors.

For X in [0, 1] with mean μ, c = 1 - μ and 0 < λ < 1/c, let ψ_c(λ) = (-ln(1 - cλ) - cλ)/c². Fan, Grama and Liu (2015):
exp(λx - ψ_c(λ)x²) <= 1 + λx for x >= -c. With x = μ - X its expectation is at most 1, so for n independent rows with
mean m and variance V (the sum of squares over n), d = μ - m,

    P[ λd - ψ_c(λ)(V + d²) >= ln(1/b)/n ] <= b.

The variance is the rows' own: nothing is assumed of the population's. The lower side is the mirror image, with c = μ.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from unworn.bounds.concentration import kl_above
from unworn.bounds.numerics import check_between, check_rows
from unworn.bounds.questions.conditional_shares import check_log_side

_OUTWARD = 1e-12
_LEAST = 1e-30  # a variance below it is taken for it
_WITHIN = 0.999
"""How much of the largest rate that theory allows is used: at the largest itself ψ is infinite."""


def variance_cell_limits(low: float, high: float, variance: float, n: float, log_side: float) -> tuple[float, float]:
    """Limits for a mean, where the rows' mean lies in a cell and their variance is at most ``variance``.

    All numbers are on the scale of [0, 1]. For a mean μ = high + d the best λ gives evidence n·(S/c²)(w - ln(1 + w)),
    S = v + d², w = cd/S, c = 1 - μ, against it, as long as the cell is no wider than 2v/d; where it is, v is raised
    until it is not. The evidence rises with d (theory of questions, lemma 2). A cell and its bound on the variance
    are one symbol, which fixes λ, and Chernoff's limit is at hand too: whichever is nearer may be published.

    >>> low, high = variance_cell_limits(0.0578, 0.0578, 0.0081, 13_000, math.log(0.025))
    >>> round(5_000 * (0.0578 - low), 2), round(5_000 * (high - 0.0578), 2)
    (10.78, 11.63)
    >>> low, high = variance_cell_limits(0.0578, 0.0578, 0.25, 13_000, math.log(0.025))     # Chernoff's
    >>> round(5_000 * (high - 0.0578), 2)
    28.64
    """
    check_between("low", low, 0, 1)
    check_between("high", high, low, 1)
    check_between("variance", variance, 0, 1)
    check_rows(n)
    check_log_side(log_side)
    nearest = min(max(0.5, low), high)
    variance, nats = min(variance, nearest * (1.0 - nearest) * (1.0 + _OUTWARD)), -log_side / n
    above = _best_distance(1.0 - high, variance, high - low, nats)
    below = _best_distance(low, variance, high - low, nats)
    by_chernoff = kl_above(1.0 - low, low, nats)[1], kl_above(high, 1.0 - high, nats)[0]
    return max(low - below, by_chernoff[0], 0.0), min(high + above, by_chernoff[1], 1.0)


def bet_rate(room: float, variance: float, n: float, log_side: float, largest_room: float = 1.0) -> float:
    """The λ for :func:`final_distance` that suits what is expected; 0 where Chernoff's limit is to be nearer.

    It must be fixed before the rows are read, so everything here is public: the expected distance ``room`` of the
    mean from the end of the range, the expected ``variance``, and a bound ``largest_room`` on what that distance can
    turn out to be (1, or the far end of a cell that was told before). A poor expectation costs width, never validity.

    >>> round(bet_rate(1 - 0.0578, 0.0081, 13_000, math.log(0.025)), 4)
    0.226
    >>> bet_rate(0.5, 0.25, 13_000, math.log(0.025))
    0.0
    """
    check_between("room", room, 0, 1)
    check_between("variance", variance, 0, 1)
    check_rows(n)
    check_log_side(log_side)
    check_between("largest_room", largest_room, 0, 1)
    nats = -log_side / n
    best = _best_distance(room, variance, 0.0, nats)
    rate = best / (max(variance, _LEAST) + best * room)
    if rate * largest_room > _WITHIN:
        rate = _WITHIN / largest_room
        best = _distance_at(room, variance, nats, rate)
    return rate if best < chernoff_distance(room, nats) else 0.0


def final_distance(room: float, variance: float, n: float, log_side: float, rate: float) -> float:
    """How far a limit lies from the exact mean; the population's is beyond it with probability <= exp(``log_side``).

    ``room`` is 1 - mean for the upper limit and the mean itself for the lower one, ``variance`` the rows' own.
    ``rate`` is λ, fixed beforehand (:func:`bet_rate`); 0 means Chernoff's limit. While rate·room <= 1 the set of
    means that are not excluded is an interval (theory of questions); beyond, nothing is excluded.

    >>> rate = bet_rate(1 - 0.06, 0.01, 13_000, math.log(0.025))
    >>> round(5_000 * final_distance(1 - 0.0578, 0.0081, 13_000, math.log(0.025), rate), 2)
    11.69
    """
    check_between("room", room, 0, 1)
    check_between("variance", variance, 0, 1)
    check_rows(n)
    check_log_side(log_side)
    if not 0 <= rate < math.inf:
        raise ValueError(f"rate must be finite and at least 0, not {rate!r}")
    nats = -log_side / n
    return chernoff_distance(room, nats) if rate == 0.0 else _distance_at(room, variance, nats, rate)


def variance_limits(
    mean: float, variance: float, n: float, log_side: float, rates: tuple[float, float]
) -> tuple[float, float]:
    """Limits for a mean from the rows' exact mean and variance, each missed with probability exp(``log_side``) at most.

    ``rates`` are those of the lower and of the upper limit.

    >>> low, high = variance_limits(0.0578, 0.0081, 13_000, math.log(0.025), (0.27, 0.22))
    >>> round(5_000 * (0.0578 - low), 2), round(5_000 * (high - 0.0578), 2)
    (10.78, 11.64)
    """
    check_between("mean", mean, 0, 1)
    low = mean - final_distance(mean, variance, n, log_side, rates[0])
    high = mean + final_distance(1.0 - mean, variance, n, log_side, rates[1])
    return max(low, 0.0), min(high, 1.0)


def _best_distance(room: float, variance: float, cell: float, nats: float) -> float:
    """The distance, at most ``room``, from which on the best λ of each mean excludes it."""
    variance = max(variance, _LEAST)

    def evidence(distance: float) -> float:
        square = max(variance, 0.5 * cell * distance) + distance * distance
        weight = (room - distance) * distance / square
        return distance * (distance / square) * _bend(weight) - nats

    return first_above(evidence, room)


def _distance_at(room: float, variance: float, nats: float, rate: float) -> float:
    """The distance, at most ``room``, from which on the given λ excludes every mean."""
    if rate * room >= 1.0:
        return room

    def evidence(distance: float) -> float:
        square = variance + distance * distance
        return rate * distance - rate * rate * curvature(rate * (room - distance)) * square - nats

    return first_above(evidence, room)


def chernoff_distance(room: float, nats: float) -> float:
    """Of the upper limit from the mean 1 - ``room``; of the lower one from the mean ``room`` (its mirror image)."""
    return min(room, room - kl_above(1.0 - room, room, nats)[1])


def first_above(evidence: Callable[[float], float], room: float, inner: float = 0.0) -> float:
    """Where an increasing function becomes positive, a hair beyond; ``room`` if it does not.

    The false position with Illinois' halving, in which the outer end stays on the outer side.
    """
    outer = room
    at_outer = evidence(outer) if outer > 0.0 else -1.0
    if not at_outer > 0.0:
        return room
    at_inner = evidence(inner)
    for turn in range(200):
        if outer - inner <= _OUTWARD * outer:
            break
        step = (outer - inner) * at_outer / (at_outer - at_inner)
        # Every third step halves in proportion, so that the bracket shrinks even where the function is nearly flat.
        middle = outer - step if turn % 3 else (math.sqrt(inner * outer) if inner > 0.0 else 1e-3 * outer)
        if not inner < middle < outer:
            middle = 0.5 * (inner + outer)
        value = evidence(middle)
        if value > 0.0:
            outer, at_outer, at_inner = middle, value, 0.5 * at_inner
        else:
            inner, at_inner, at_outer = middle, value, 0.5 * at_outer
    return min(room, outer * (1.0 + _OUTWARD))


def _bend(w: float) -> float:
    """(w - ln(1 + w))/w², 1/2 at 0."""
    if w < 1e-3:
        return 0.5 - w * (1 / 3 - w * (0.25 - w * (0.2 - w / 6)))
    return (w - math.log1p(w)) / (w * w)


def curvature(y: float) -> float:
    """(-ln(1 - y) - y)/y², 1/2 at 0."""
    if y < 1e-3:
        return 0.5 + y * (1 / 3 + y * (0.25 + y * (0.2 + y / 6)))
    return (-math.log1p(-y) - y) / (y * y)
