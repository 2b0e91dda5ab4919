"""Noise on the measurements of a prefix strategy: how much, and how far it can carry every prefix."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from unworn.bounds.numerics import special
from unworn.noise import Stream
from unworn.queries.row_protocol import Floats
from unworn.universe.prefixes import Direct
from unworn.universe.prefixes.prefix_strategy import Integers, PrefixStrategy

FINE = 4096
"""Gaussian noise is rounded to a part of a count, so that rounding adds nothing one could see to sums of many."""


@dataclass(frozen=True)
class PrefixNoise(ABC):
    """Noise for one strategy. ``steps`` of its own make a unit of measurement."""

    strategy: PrefixStrategy
    budget: float

    @property
    @abstractmethod
    def steps(self) -> int:
        """How many steps of the noise make one count."""

    @property
    @abstractmethod
    def sd(self) -> float:
        """The standard deviation of one measurement's noise, in counts."""

    @property
    def usual(self) -> float:
        """About how far the farthest prefix is off, in counts, in every second release."""
        each = -math.expm1(-math.log(2.0) / self.strategy.turns)
        return self.sd * float(np.max(self.strategy.spread)) * -float(special().ndtri(each / 2.0))

    @abstractmethod
    def draw(self, stream: Stream, size: int) -> Integers:
        """Noise in steps."""

    @abstractmethod
    def widths(self, chance: float) -> Floats:
        """How far each prefix is from the truth, in counts: all hold together but for this probability."""


@dataclass(frozen=True)
class GaussianNoise(PrefixNoise):
    """Rounded Gaussian noise that makes the measurements ``budget``-GDP, exactly.

    An estimate's error is a sum of normal numbers, whose standard deviation is known, and of what rounding did to
    them, at most half a step each.

    >>> from unworn.universe.prefixes import Direct
    >>> float(GaussianNoise(Direct(2), 0.5).widths(0.05)[0].round(3))  # 2 x 1.96 and half a step
    3.92
    """

    @property
    def steps(self) -> int:
        return max(FINE, self.strategy.grid)

    @property
    def sd(self) -> float:
        return self.strategy.l2 / self.budget * (1.0 + 1e-12)

    def draw(self, stream: Stream, size: int) -> Integers:
        from unworn.noise.samplers import gaussian

        return gaussian(stream, self.sd * self.steps, size)

    def widths(self, chance: float) -> Floats:
        far = -float(special().ndtri(chance / (2.0 * (self.strategy.cells - 1))))
        return np.asarray(far * self.sd * self.strategy.spread + 0.5 / self.steps * self.strategy.reach)


@dataclass(frozen=True)
class LaplaceNoise(PrefixNoise):
    """Discrete Laplace noise on whole counts that makes the measurements ``budget``-DP, exactly.

    With variance v its moments are E exp(tX) = 1/(1 - v (cosh t - 1)), and K(t) = ln E exp(tX) has a rising K(t)/t^2.
    An estimate weighs measurements by w, none above W in size, so ln E exp(t w.X) <= (|w|/W)^2 K(t W), and by Chernoff
    |w.X| <= ((|w|/W)^2 K(t W) + ln(2k/chance))/t for k prefixes at once. Every t is valid; the best of some is taken.

    >>> from unworn.universe.prefixes import Direct
    >>> float(LaplaceNoise(Direct(2), 1.0).widths(0.05)[0])  # a single draw needs no Chernoff: P(|X| >= 4) = 0.027
    3.0
    """

    @property
    def steps(self) -> int:
        return 1

    @property
    def scale(self) -> float:
        """Of the discrete Laplace distribution."""
        return math.nextafter(self.strategy.l1 / self.budget, math.inf)

    @property
    def usual(self) -> float:
        # As if normal, but no less than one measurement's share: its tail is longer than a normal one.
        alone = self.scale * self.strategy.heaviest * math.log(self.strategy.turns / math.log(2.0))
        return max(super().usual, alone)

    @property
    def sd(self) -> float:
        return math.sqrt(0.5) / math.sinh(0.5 / self.scale)  # the variance is 2q/(1 - q)^2, q = exp(-1/scale)

    def draw(self, stream: Stream, size: int) -> Integers:
        from unworn.noise.samplers import laplace

        return laplace(stream, self.scale, size)

    def widths(self, chance: float) -> Floats:
        likely, heaviest = math.log(2.0 * (self.strategy.cells - 1) / chance), self.strategy.heaviest
        if isinstance(self.strategy, Direct):  # P(|X| >= j) = 2 q^j / (1 + q), exactly
            far = self.scale * (likely - math.log1p(math.exp(-1.0 / self.scale)))
            return np.full(self.strategy.cells - 1, math.floor(max(0.0, far * (1.0 + 1e-12))), dtype=np.float64)
        squares = (self.strategy.spread / heaviest) ** 2
        best = np.full(squares.shape, math.inf)
        for part in np.concatenate([0.5 ** np.arange(20.0, 1.0, -0.25), 1.0 - 0.5 ** np.arange(1.0, 12.0, 0.25)]):
            t = float(part) / self.scale
            cumulant = -math.log1p(-2.0 * (self.sd * math.sinh(t / 2.0)) ** 2)
            np.minimum(best, heaviest * (squares * cumulant + likely) / t, out=best)
        return best
