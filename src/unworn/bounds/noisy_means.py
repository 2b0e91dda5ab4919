"""Theorem F: what a random part of the rows would have said as well, cannot have been learned from the rest.

Every answer is a count over rows plus fresh noise, and costs kappa nats (:mod:`unworn.bounds.covers`): so much more
could all rows tell than those kept, each with chance ``kept``. With probability 1 - beta, after k answers at once,

    KL(what is now known of the rows || what was) <= (ln(1/beta) + k kappa) / (1 - kept)     =: nats.

Noise that is bounded shows surely between which counts the rows' own count lies; a share under which such a count had a
chance below e^-nats is then excluded. No privacy appears in it, and no delta. Proved in ``docs/theory/noisy-means.md``;
no published source is known to us.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache, partial

from unworn.bounds.binomial import low_limit
from unworn.bounds.covers import cosine_nats, gaussian_nats, stretched_variance
from unworn.bounds.extremes import largest_gaussian
from unworn.bounds.numerics import check_nats, check_probability, check_whole
from unworn.bounds.transfer.parameter_search import lowest

_SURE = 1.0 + 1e-12
"""Against what floats lose in a sum of a few terms."""
_AGAINST = 1.0 + 1e-6
"""By how much a plan says that an answer costs more than it does: other machines' floats find no more."""
_ULPS = 4e-16
_HOPELESS = 0.9
"""Where a plan promises so little to first order, it is not worked out: it promises nothing."""
_CUT = 1.25
"""Standard deviations of Y from where a cosine is cut off to where it would have reached 0."""
_FEWEST = 0.02
"""The least chance with which rows are kept: a fiftieth of what is known for nothing is lost by it at most."""


def claim_nats(beta: float, spent: float, kept: float) -> float:
    """How far, in nats, all answers together can have moved what is known of the rows, but with probability ``beta``.

    >>> round(claim_nats(0.05, 86_557 * 0.000436, 0.925), 1)
    543.1
    """
    check_probability("beta", beta)
    check_nats("spent", spent)
    check_probability("kept", kept)
    return (spent - math.log(beta)) / (1.0 - kept) * _SURE


def count_limits(least: float, most: float, n: int, nats: float) -> tuple[float, float]:
    """The population's share, if the rows' count surely lies between two numbers: exact binomial tails at e^-nats.

    >>> low, high = count_limits(4_400, 5_600, 10_000, 30.0)
    >>> round(low, 4), round(high, 4)
    (0.4037, 0.5963)
    """
    check_whole("the number of rows", n, 1)
    check_nats("nats", nats)
    if not -math.inf < least <= most < math.inf:
        raise ValueError(f"the rows' count must lie between two numbers in order, not {least!r} and {most!r}")
    low = _low_limit(min(max(math.ceil(least), 0), n), n, nats)
    high = 1.0 - _low_limit(min(max(n - math.floor(most), 0), n), n, nats)
    return low, min(1.0, math.nextafter(high, 2.0))


@lru_cache(maxsize=2**16)
def _low_limit(count: int, n: int, nats: float) -> float:
    """All answers of a plan have its nats: a count that comes again is looked up."""
    return low_limit(count, n, -nats)


def mean_limits(
    released: float, noise: float, n: int, nats: float, *, planned: float | None = None
) -> tuple[float, float]:
    """The population's mean, if noise without bound was added to the rows': ``noise`` is the CVaR of the largest.

    With x = sqrt(8 nats / n), fixed by the plan, R - noise <= (ln(1 + theta (e^x - 1)) + nats/n) / x, and the same for
    1 - R. Never further than noise + sqrt(nats / 2n) from R, and nearer towards 0 and 1. Where answers of one plan have
    several levels, x is that of the nats ``planned`` for all of them, so that limits at smaller levels are the wider.

    >>> [round(end, 4) for end in mean_limits(0.5, 0.03, 100_000, 100.0)]
    [0.4477, 0.5523]
    >>> [round(end, 4) for end in mean_limits(0.01, 0.03, 100_000, 100.0)]
    [0.0, 0.0534]
    """
    check_nats("nats", nats)
    tilt = min(math.sqrt(8.0 * (nats if planned is None else planned) / n), 100.0)

    def low(share: float) -> float:
        ahead = tilt * (share - noise * (1.0 + _ULPS)) - nats / n * (1.0 + _ULPS)
        return max(0.0, math.expm1(ahead) / math.expm1(tilt) - _ULPS)

    furthest = noise + nats / n / tilt
    if not -furthest <= released <= 1.0 + furthest:
        return 0.0, 1.0  # one of the misses: nothing is known
    return low(released), 1.0 - low(1.0 - released)


@dataclass(frozen=True, slots=True)
class NoisyPlan:
    """k answers from n rows: the noise (in rows), the chance with which rows are kept, and what it comes to.

    ``kappa`` is what one answer costs and ``nats`` what all of them together leave open, both rounded against us.
    ``reach`` is how far the noise goes: for bounded noise surely, for Gaussian noise the CVaR of the largest.
    ``width`` is what no interval passes to either side of its answer.
    """

    noise: float
    kept: float
    kappa: float
    nats: float
    reach: float
    width: float


def cosine_plan(n: int, k: int, beta: float, radius: int, zero: int | None = None) -> NoisyPlan:
    """Raised-cosine noise below a radius, of a cosine that is 0 at ``zero``, with the share of rows kept that suits it.

    >>> plan = cosine_plan(100_000, 87_000, 0.05, 4790)
    >>> round(plan.kept, 3), round(plan.width, 4)
    (0.926, 0.0999)
    >>> round(cosine_plan(100_000, 87_000, 0.05, 4790, best_zero(100_000, 87_000, 0.05, 4790)).width, 4)
    0.0994
    """
    _check_plan(n, k, beta)
    check_whole("radius", radius, 2)
    zero = radius if zero is None else zero
    kept = _best_share(n, k, beta, math.pi**2 / (2.0 * zero**2))
    kappa = cosine_nats(n, kept, radius, zero) * _AGAINST
    if kappa == math.inf:  # wider than is priced here
        return NoisyPlan(float(radius), kept, kappa, kappa, radius - 1.0, 1.0)
    nats = claim_nats(beta, k * kappa, kept)
    return NoisyPlan(float(radius), kept, kappa, nats, radius - 1.0, _bounded_width(n, radius - 1.0, nats))


def best_zero(n: int, k: int, beta: float, radius: float) -> int:
    """Where the cosine should reach 0 if it is cut off at a radius: 5/4 standard deviations of Y further out.

    A cosine that is cut off there costs no more than the whole one, which goes so much further: what it says beyond the
    cut, the rows that are kept cannot tell from what they say before it. A cut further in shows (from 1.28 on).

    >>> best_zero(10_000, 668, 0.05, 455)
    488
    """
    zero = radius
    for _ in range(2):  # the share of rows kept falls as the cosine goes further: never more than 5/4
        kept = _best_share(n, k, beta, math.pi**2 / (2.0 * zero**2))
        zero = radius + _CUT * math.sqrt(stretched_variance(n, kept))
    return math.floor(zero)


def gaussian_plan(n: int, k: int, beta: float, sigma: float) -> NoisyPlan:
    """Discrete Gaussian noise of a standard deviation, in rows.

    >>> round(gaussian_plan(100_000, 34_077, 0.05, 1010.0).width, 3)
    0.1
    """
    _check_plan(n, k, beta)
    kept = _best_share(n, k, beta, 1.0 / (2.0 * sigma**2))
    kappa = gaussian_nats(n, kept, sigma) * _AGAINST
    nats = claim_nats(beta, k * kappa, kept)
    reach = sigma * largest_gaussian(k, beta)
    return NoisyPlan(sigma, kept, kappa, nats, reach, min(1.0, reach / n + math.sqrt(nats / (2.0 * n))))


@lru_cache(maxsize=1024)
def best_cosine(n: int, k: int, beta: float) -> NoisyPlan:
    """The radius with the narrowest intervals, of a cosine that is cut off there.

    >>> plan = best_cosine(10_000, 735, 0.05)
    >>> round(plan.noise), round(plan.width, 4)
    (445, 0.0998)
    """
    _check_plan(n, k, beta)

    def width(radius: float) -> float:  # to first order, which is all that choosing needs
        rate = math.pi**2 / (2.0 * best_zero(n, k, beta, radius) ** 2)
        kept = _best_share(n, k, beta, rate)
        spent = k * rate * stretched_variance(n, kept)
        return _bounded_width(n, radius - 1.0, claim_nats(beta, spent, kept))

    radius = lowest(width, math.sqrt(n * math.pi * math.sqrt(k)) / 2.0 + 2.0, close=2e-3)
    if width(radius) > _HOPELESS:
        return NoisyPlan(radius, _FEWEST, math.inf, math.inf, radius - 1.0, 1.0)
    whole_radius = max(2, min(round(radius), n))
    return cosine_plan(n, k, beta, whole_radius, best_zero(n, k, beta, whole_radius))


@lru_cache(maxsize=1024)
def best_gaussian(n: int, k: int, beta: float) -> NoisyPlan:
    """The standard deviation with the narrowest intervals.

    >>> round(best_gaussian(10_000, 362, 0.05).width, 3)
    0.1
    """
    _check_plan(n, k, beta)
    plan = partial(gaussian_plan, n, k, beta)
    sigma = lowest(lambda sigma: plan(sigma).width, math.sqrt(n * math.sqrt(k)) / 4.0, close=2e-3)
    return plan(sigma)


def _best_share(n: int, k: int, beta: float, rate: float) -> float:
    """The chance of keeping a row that makes claim_nats least, if an answer costs ``rate`` times the variance of Y."""
    spent = k * rate * n / 4.0
    ratio = math.sqrt(spent / -math.log(beta))
    return min(max(ratio / (1.0 + ratio), _FEWEST), 1.0 - 1e-6)


def _bounded_width(n: int, reach: float, nats: float) -> float:
    """The noise's reach, and the furthest that a limit lies from its count: where both lie about one half."""

    def gap(count: int) -> float:
        return count / n - low_limit(count, n, -nats)

    half = math.sqrt(nats / (8.0 * n))  # Pinsker's inequality: the gap is below twice this
    low, high = n // 2, min(n, math.ceil(n * (0.5 + 2.0 * half)) + 1)
    while high - low > 2:  # the gap rises and then falls
        third = (high - low) // 3
        left, right = low + third, high - third
        low, high = (low, right) if gap(left) >= gap(right) else (left, high)
    return min(1.0, reach / n + max(map(gap, range(low, high + 1))))


def _check_plan(n: int, k: int, beta: float) -> None:
    check_whole("the number of rows", n, 1)
    check_whole("the number of asks", k, 1)
    check_probability("beta", beta)
