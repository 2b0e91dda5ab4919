"""Finding the best free parameter. Every value of it is valid, so a search that stops early is wide, never wrong."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from unworn.bounds.numerics import Floats
from unworn.bounds.privacy.profiles import Profile

_COARSE = np.concatenate([[0.0], np.geomspace(1e-9, 40.0, 160)])
_ZOOMS, _FINE = 4, 33
_FAR = 100.0  # in logarithms: a function that falls for ever is left there
_GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0


def least(profile: Profile, cost: Callable[[Floats, Floats], Floats]) -> tuple[float, float, float]:
    """The eps, of a grid that closes in, with the least ``cost(eps, delta(eps))``; that delta; and the cost."""
    grid = _COARSE
    for zoom in range(_ZOOMS + 1):
        deltas = profile.delta(grid)
        costs = cost(grid, deltas)
        at = int(np.argmin(costs))
        if zoom < _ZOOMS:
            grid = closer(grid, at, _FINE)
    # The last grid still holds its predecessor's best point: the cost never rose on the way.
    return float(grid[at]), float(deltas[at]), float(costs[at])


def closer(grid: Floats, at: int, points: int) -> Floats:
    """A finer grid between the neighbours of a point, which stays on it.

    >>> closer(np.array([1.0, 2.0, 4.0]), 1, 5)
    array([1. , 1.5, 2. , 3. , 4. ])
    """
    low, middle, high = grid[max(at - 1, 0)], grid[at], grid[min(at + 1, len(grid) - 1)]
    half = points // 2 + 1
    steps = np.arange(half)
    finer = np.empty(2 * half - 1)
    finer[:half] = low + steps * ((middle - low) / (half - 1))
    finer[half - 1 :] = middle + steps * ((high - middle) / (half - 1))
    finer[half - 1], finer[-1] = middle, high
    return finer


def lowest(width: Callable[[float], float], guess: float, *, close: float = 1e-4, step: float = 1.5) -> float:
    """Where a function of a positive scale is least, if it falls and then rises; to ``close`` in the logarithm.

    Steps out from the guess until the least point is between two others, then golden sections.

    >>> round(lowest(lambda x: x + 4 / x, 30.0), 3)
    2.0
    """
    low, middle, high = math.log(guess / step), math.log(guess), math.log(guess * step)
    at: dict[float, float] = {}

    def value(place: float) -> float:
        if place not in at:
            at[place] = width(math.exp(place))
        return at[place]

    stride = math.log(step)
    while max(abs(low), abs(high)) < _FAR:
        if value(low) < value(middle):
            low, middle, high, stride = low - 2 * stride, low, middle, 2 * stride
        elif value(high) < value(middle):
            low, middle, high, stride = middle, high, high + 2 * stride, 2 * stride
        else:
            break
    while high - low > close:
        left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        low, high = (low, right) if value(left) <= value(right) else (left, high)
    return math.exp(min(at, key=lambda place: at[place]))
