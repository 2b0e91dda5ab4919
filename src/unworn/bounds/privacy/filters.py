"""Budgets for answers whose noise is chosen as one goes.

The profiles of this package are for noise levels fixed in advance. When the next noise level may depend on earlier
answers, adding up what was spent and stopping at a total is sound for zCDP (Feldman and Zrnic 2021; Whitehouse,
Ramdas, Rogers and Wu 2023) and for Gaussian DP (Smith and Thakurta 2022; Koskela, Tobaben and Honkela 2022), with the
guarantee of the total. It is *not* known to be sound for privacy-loss distributions in general: an analyst could steer
by what remains. So there is no such filter here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Self

from unworn.bounds.numerics import check_nats
from unworn.bounds.privacy.profiles import GDP, Concentrated

_LEAST = 1e-150  # of a mu: the square of a smaller one is no normal float, and that of its inverse overflows
_TOLERANCE = 1.0 + 1e-12  # k equal shares of a budget must fit into it; the profile includes the tolerance


@dataclass(frozen=True, slots=True)
class ConcentratedFilter:
    """A total ``budget`` of rho; costs add. A new value is returned, nothing is changed.

    >>> held = ConcentratedFilter(0.5).after(0.2).after(0.2)
    >>> held.admits(0.1), held.admits(0.11), round(held.left, 9)
    (True, False, 0.1)
    """

    budget: float
    spent: float = 0.0
    carry: float = 0.0  # what rounding cut off ``spent``: a billion small costs must not go missing

    def __post_init__(self) -> None:
        if not (0.0 <= self.budget < math.inf and 0.0 <= self.spent < math.inf):
            check_nats("the budget", self.budget)
            check_nats("what was spent", self.spent)

    @property
    def left(self) -> float:
        return max(0.0, self.budget - self.spent - self.carry)

    @property
    def profile(self) -> Concentrated:
        """What holds for the whole interaction, however the costs were chosen."""
        return Concentrated(self.budget * _TOLERANCE)

    def admits(self, cost: float) -> bool:
        """Whether an answer of this cost may still be given; a cost that is not a number, or negative, is refused."""
        check_nats("the cost", cost)
        return self.spent + (self.carry + cost) <= self.budget * _TOLERANCE

    def after(self, cost: float) -> Self:
        if not self.admits(cost):
            raise ValueError(
                f"a cost of {cost:g} does not fit: {self.left:g} of {self.budget:g} is left. Add more noise, or stop"
            )
        add = cost + self.carry
        total = self.spent + add
        return replace(self, spent=total, carry=add - (total - self.spent))


@dataclass(frozen=True, slots=True)
class GaussianFilter:
    """A total ``budget`` of mu; the squares of the costs add.

    >>> held = GaussianFilter(0.5).after(0.3)
    >>> held.admits(0.4), held.admits(0.41), round(held.left, 9)
    (True, False, 0.4)
    """

    budget: float
    squares: ConcentratedFilter | None = None

    def __post_init__(self) -> None:
        check_nats("the budget", self.budget)
        if self.budget and not _LEAST <= self.budget <= 1.0 / _LEAST:
            raise ValueError(f"the budget of mu must be 0 or lie in [1e-150, 1e150], not {self.budget!r}")

    @property
    def left(self) -> float:
        return math.sqrt(self._squares.left)

    @property
    def profile(self) -> GDP:
        """What holds for the whole interaction, however the costs were chosen."""
        return GDP(self.budget * _TOLERANCE)

    @property
    def _squares(self) -> ConcentratedFilter:
        return self.squares or ConcentratedFilter(self.budget**2)

    def admits(self, cost: float) -> bool:
        """Whether an answer of this cost may still be given; a cost that is not a number, or negative, is refused."""
        check_nats("the cost", cost)
        return self._squares.admits(_square(cost))

    def after(self, cost: float) -> Self:
        if not self.admits(cost):
            raise ValueError(
                f"a cost of {cost:g} does not fit: {self.left:g} of {self.budget:g} is left. Add more noise, or stop"
            )
        return replace(self, squares=self._squares.after(_square(cost)))


def _square(cost: float) -> float:
    """The square of a cost; of a tiny one never 0, and of a huge one still a number (which no budget holds)."""
    return min(max(cost, _LEAST), 1e154) ** 2 if cost > 0.0 else 0.0
