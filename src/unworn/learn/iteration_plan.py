"""How many iterations to plan for: more leave less regret, and make every answer wider."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from unworn.learn.descent_methods import Scheme
from unworn.learn.regions import Region
from unworn.mechanisms import Gaussian, GuessAndCheck, Mechanism
from unworn.queries.learning.linear_losses import LinearLoss

FEWEST, MOST, NO_NOISE = 8, 256, 32
CLOSE = 1.15
"""The theorem is pessimistic about regret, so that more iterations help at once: take the most that cost no more."""


@dataclass(frozen=True)
class Descent:
    """A plan: the mechanism to seal rows with, its asks, the iterations they pay for, and the excess to expect."""

    mechanism: Mechanism
    asks: int
    iterations: int
    excess: float


def plan_descent(
    rows: int,
    loss: LinearLoss,
    over: Region,
    *,
    ridge: float = 0.0,
    confidence: float = 0.95,
    iterations: int | None = None,
    curved: bool = False,
    width: Callable[[int], float] | None = None,
) -> Descent:
    """Gaussian noise, and the most iterations whose regret and errors together are close to the least they can be.

    Where rows are too few for any noise, answers come from the cells of guess-and-check: wide, but true. ``width`` is
    how wide answers are, as a share of their range, for a number of asks: that of the best Gaussian noise unless told.
    With ``curved`` the asks are enough for curvature too.

    >>> from unworn.learn.regions import Ball
    >>> from unworn.queries.learning.linear_losses import logistic
    >>> loss = logistic({"x": (-1, 1)})
    >>> [plan_descent(rows, loss, Ball(2.0)).iterations for rows in (10**4, 10**5, 10**6, 10**7)]
    [45, 128, 256, 256]
    """
    dimension = loss.dimension
    more = 1 + (dimension * (dimension + 1) // 2 if curved else 0)
    priced = width or (lambda asks: Gaussian().best(rows, asks, 1 - confidence)[1])
    widths: dict[int, float] = {}

    def expected(count: int) -> float:
        # At the start, where every gradient's range is known, with coefficients half as large as they may become.
        widths[count] = priced(count * dimension + more)
        errors = np.full(dimension, widths[count] * 2 * loss.steepest(0.5 * over.largest(dimension)))
        linear = over.doubt(over.start(dimension), errors)
        quadratic = math.inf if ridge == 0 else float(errors @ errors) / ridge
        return Scheme.best(loss, over, count, ridge).regret(count) + min(linear, quadratic)

    steps = range(int(2 * math.log2(MOST / FEWEST)) + 1)
    counts = [round(FEWEST * 2 ** (step / 2)) for step in steps] if iterations is None else [iterations]
    tried = {count: expected(count) for count in counts}
    possible = [count for count in counts if widths[count] < 0.5]
    if not possible:
        count = NO_NOISE if iterations is None else iterations
        return Descent(GuessAndCheck(), count * dimension + more, count, math.inf)
    least = min(tried[count] for count in possible)
    best = max(count for count in possible if tried[count] <= CLOSE * least)
    return Descent(Gaussian(), best * dimension + more, best, tried[best])
