"""Sampling counting questions: the answer is one bit, and what is promised is the probability that it is 1.

The mechanism draws one fresh row x, looks whether the question holds for it, and turns the bit over with probability f
= alpha/2. Its answer is 1 with probability f + (1 - 2f) q(S), within alpha/2 of the rows' share; each answer is
ln(1 + (1/f - 2)/n)-private. Promised is |P(answer 1) - q(P)| <= alpha for all k questions, with probability 1 - beta.

Fish, Reyzin and Rubinstein (ALT 2020): (alpha/64, alpha beta/16)-privacy and n >= 1024 ln(k/beta)/alpha^2 suffice.

By D2 less does. What misses is a question whose share of the rows is off, and that is no event of the bits. So imagine
that after the last bit a monitor picks a question and a side by the exponential mechanism with eps1, score
±(q(S) - q(P)), and releases the score with Laplace noise of eps2 as R. Given rows and bits with the worst score
above x, the pick and the noise, being fresh, leave R above r = x - loss with probability 1/2 at least, where
loss = (2/(n eps1)) ln(8k) + (1/(n eps2)) ln 2: the pick is further below the worst score than the first term, or the
noise is further below 0 than the second, with probability 1/4 each. Hence P(worst > x) <= 2 P(R > r), and D2, for the
longer transcript and the one answer R, makes P(R > r) <= beta/2 with r = CVaR_{beta/2} of the noise + s(beta/2). The
monitor is imaginary: it costs width, and nothing is released.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from unworn.bounds import privacy
from unworn.bounds.numerics import Floats, check_probability, check_whole
from unworn.bounds.privacy.profiles import Profile
from unworn.bounds.transfer.parameter_search import lowest
from unworn.bounds.transfer.published_theorems import check_plan
from unworn.bounds.transfer.sharpened_transfer import d2
from unworn.events import Drew


def counting_epsilon(n: int, flip: float) -> float:
    """The privacy of one bit: ln(1 + (1/flip - 2)/n).

    >>> round(counting_epsilon(10_000, 0.05) * 10_000, 3)
    17.984
    """
    check_whole("the number of rows", n, 1)
    if not 0 < flip <= 0.5:
        raise ValueError(f"flip is a probability in (0, 0.5], not {flip!r}")
    return math.log1p((1.0 / flip - 2.0) / n)


def counting_rows(k: int, alpha: float, beta: float) -> int:
    """The rows that Fish, Reyzin and Rubinstein's theorem needs for k bits, privacy composed exactly.

    >>> counting_rows(100, 0.1, 0.05)
    778333
    """
    check_plan(1, k, beta)
    check_probability("alpha", alpha)
    least = math.ceil(1024.0 * math.log(k / beta) / alpha**2)
    return _first(lambda n: _private_enough(n, k, alpha, beta), least)


@lru_cache(maxsize=1024)
def counting_width(n: int, k: int, beta: float) -> float:
    """The least alpha that theorem gives; 1 where it gives none below.

    >>> round(counting_width(10**6, 100, 0.05), 3)
    0.088
    """
    check_plan(n, k, beta)

    def enough(alpha: float) -> bool:
        return 1024.0 * math.log(k / beta) <= n * alpha**2 and _private_enough(n, k, alpha, beta)

    return _least_alpha(enough)


@lru_cache(maxsize=1024)
def counting_width_sharp(n: int, k: int, beta: float) -> float:
    """The least alpha that D2 gives with the same mechanism (flip = alpha/2); 1 where it gives none below.

    >>> round(counting_width_sharp(10**6, 100, 0.05), 4)
    0.0119
    """
    check_plan(n, k, beta)
    return _least_alpha(lambda alpha: _monitored(n, k, alpha / 2.0, beta) <= alpha)


def _monitored(n: int, k: int, flip: float, beta: float) -> float:
    """flip + r + loss at the best eps1 and eps2."""
    bits = privacy.profile(Drew(flip), n, k)
    picking, reading = 2.0 * math.log(8.0 * k), math.log(2.0) + 1.0 - math.log(beta)

    def width(share: float) -> float:
        eps1, eps2 = share * math.sqrt(picking), share * math.sqrt(reading)
        stable = d2(_Shifted(bits, eps1 + eps2), beta / 2.0)
        return flip + stable + (picking / eps1 + reading / eps2) / n

    return width(lowest(width, 2.0 / math.sqrt(n), close=0.02))


@dataclass(frozen=True, slots=True)
class _Shifted:
    """A profile followed by something ``epsilon``-private: delta(eps - epsilon), by basic composition."""

    profile: Profile
    epsilon: float

    def delta(self, epsilon: ArrayLike) -> Floats:
        left = np.asarray(epsilon, dtype=float) - self.epsilon
        return np.where(left >= 0.0, self.profile.delta(np.maximum(left, 0.0)), 1.0)


def _private_enough(n: int, k: int, alpha: float, beta: float) -> bool:
    together = privacy.profile(Drew(alpha / 2.0), n, k)
    return float(together.delta(alpha / 64.0)) <= alpha * beta / 16.0


def _least_alpha(enough: Callable[[float], bool]) -> float:
    """The least alpha below 1 that is enough, to one part in a million, from above; 1 if none is."""
    low, high = 0.0, 1.0
    if not enough(1.0 - 1e-9):
        return 1.0
    while high - low > 1e-6 * high:
        middle = 0.5 * (low + high) if low > 0.1 * high else 0.3 * high
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _first(enough: Callable[[int], bool], least: int) -> int:
    """The first whole number from ``least`` on that is enough."""
    if enough(least):
        return least
    low, high = least, 2 * least
    while not enough(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
