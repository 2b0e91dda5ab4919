"""A real mechanism small enough to be solved: every sample, every noise, every answer, the best analyst.

Two questions about n rows, answered as count + m with raised-cosine noise |m| < N. The analyst knows the population,
sees the first answer and then chooses the second question so as to be misled as often as possible.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

from tests.bounds.transfer.channels import World
from unworn.bounds.transfer.price import Price, stability

Floats = NDArray[np.float64]
Interval = Callable[[float], tuple[float, float]]  # of a released share
WORLDS = [World(2, (0.25,) * 4), World(3, (0.3, 0.3, 0.4)), World(4, (0.5, 0.5)), World(4, (0.1, 0.9))]


def cosine(N: int) -> Floats:
    """P(m) for m = 1 - N, ..., N - 1."""
    return np.asarray(np.sin(np.pi * np.arange(1, 2 * N) / (2 * N)) ** 2 / N)


@dataclass(frozen=True)
class TwoAnswers:
    """The exact profile: shifting a log-concave noise as far as one row can, twice, by enumeration."""

    N: int

    def delta(self, epsilon: ArrayLike) -> Floats:
        noise = cosine(self.N)
        there, here = np.append(0.0, noise), np.append(noise, 0.0)
        p, q = np.outer(there, there).ravel(), np.outer(here, here).ravel()
        odds = np.exp(np.minimum(np.asarray(epsilon, dtype=float), 700.0))
        return np.asarray(np.maximum(p - odds[..., None] * q, 0.0).sum(axis=-1))


def largest_noise(N: int, beta: float) -> float:
    """CVaR_beta of the larger of two noises, in rows."""
    inside = np.cumsum(np.append(cosine(N)[N - 1], 2 * cosine(N)[N:]))  # P(|m| <= 0), P(|m| <= 1), ...
    chances = np.diff(inside**2, prepend=0.0)[::-1]
    before = np.cumsum(chances) - chances
    return float(np.arange(N)[::-1] @ np.clip(beta - before, 0.0, chances)) / beta


def within(width: float) -> Interval:
    """No share of the population is below 0 or above 1, so neither are the ends."""
    return lambda share: (min(share - width, 1.0), max(share + width, 0.0))


def worst_miss(world: World, N: int, interval: Interval, adaptive: bool = True) -> float:
    """The best analyst's chance that the truth is outside the interval of one of the two answers, exactly."""
    released = np.arange(1 - N, world.n + N)
    counts = np.rint(world.n * world.sample).astype(int)
    law = np.zeros((*counts.shape, len(released)))  # sample, question, released
    for index, count in np.ndenumerate(counts):
        law[index][count : count + 2 * N - 1] = cosine(N)
    low, high = np.array([interval(share) for share in released / world.n]).T
    misses = (world.truth[:, None] < low - 1e-12) | (world.truth[:, None] > high + 1e-12)
    later = np.einsum("sqr,qr->sq", law, misses)
    first = np.einsum("s,sqr->qrs", world.chances, law)
    chance = np.where(misses[..., None], first.sum(axis=-1, keepdims=True), first @ later)  # first, released, second
    if adaptive:
        chance = chance.max(axis=-1, keepdims=True)  # the second question depends on the first answer
    return float(chance.sum(axis=1).max())


def test_the_noise_is_a_law_and_its_largest_is_bounded() -> None:
    for N in (1, 2, 5, 40):
        assert math.fsum(cosine(N)) == pytest.approx(1.0, abs=1e-14)
        assert largest_noise(N, 1e-9) == pytest.approx(N - 1)
        assert largest_noise(N, 0.3) <= N - 1
    quarter = (0.5 * 0.5, 2 * 0.25)  # N = 2: noise -1, 0, 1 with chances 1/4, 1/2, 1/4
    assert largest_noise(2, 1.0 - 1e-12) == pytest.approx(1 - quarter[0])


@pytest.mark.parametrize("beta", [0.1, 0.5])
@pytest.mark.parametrize("world", WORLDS, ids=str)
def test_the_best_analyst_stays_below_beta(world: World, beta: float) -> None:
    for N in (1, 2, 3, 4, 6, 8, 12, 20):
        stable = stability(TwoAnswers(N), beta)
        price = Price(largest_noise(N, beta) / world.n, stable.tilt, stable.floor)
        assert worst_miss(world, N, within(price.width)) <= worst_miss(world, N, price.limits) <= beta


def test_some_analyst_comes_within_a_factor_of_three() -> None:
    """So that the test above could fail."""
    stable = stability(TwoAnswers(20), 0.5)
    price = Price(largest_noise(20, 0.5) / 2, stable.tilt, stable.floor)
    assert worst_miss(WORLDS[0], 20, price.limits) > 0.5 / 3


@pytest.mark.parametrize("world", WORLDS, ids=str)
def test_without_the_privacy_part_the_best_analyst_wins(world: World) -> None:
    """The planted mistake: widths that cover the noise alone, as if the sample were the population."""
    assert worst_miss(world, 2, within(largest_noise(2, 0.1) / world.n)) > 3 * 0.1


def test_the_analyst_gains_by_adapting() -> None:
    """So that the enumeration is known to try adaptive analysts."""
    world, N = WORLDS[1], 3
    assert worst_miss(world, N, within(1.0)) > 1.2 * worst_miss(world, N, within(1.0), adaptive=False)
