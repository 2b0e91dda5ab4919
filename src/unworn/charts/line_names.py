"""Where to write the names of lines: where they leave the panel, and never over each other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

_LINE = 15
"""Pixels between names, one below the other."""
_SLANTED = 21
"""Pixels between slanted names, side by side."""

Name = tuple[str, float, float]
"""A line's name, and the point at which to write it."""


@dataclass(frozen=True)
class Panel:
    """A panel of so many pixels, over a logarithmic x and a linear or logarithmic y."""

    wide: float
    high: float
    x: tuple[float, float]
    y: tuple[float, float]
    log_y: bool = False

    def names(self, lines: Sequence[tuple[str, Sequence[tuple[float, float]]]]) -> tuple[list[Name], list[Name]]:
        """Names of the lines that leave through the top, to be slanted, and of those that go on to the right.

        >>> panel = Panel(100, 100, (1, 100), (0, 0.5))
        >>> panel.names([("steep", [(1, 0), (10, 1.0)]), ("flat", [(1, 0), (100, 0.2)])])
        ([('steep', 3.1622776601683795, 0.5)], [('flat', 100, 0.2)])
        """
        top, right = [], []
        for name, points in lines:
            left = self._leaves([(self._left(x), self._up(y)) for x, y in points])
            if left is None:
                right.append((self._up(points[-1][1]), name))
            else:
                top.append((left, name))
        over = [(name, self._right(left)) for left, name in spread(top, _SLANTED)]
        beside = [(name, self._value(up)) for up, name in spread(right, _LINE)]
        return [(name, x, self.y[1]) for name, x in over], [(name, self.x[1], y) for name, y in beside]

    def _leaves(self, path: Sequence[tuple[float, float]]) -> float | None:
        """How far right a line reaches the top, or ends for want of a promise; none if it goes on to the right."""
        if path[0][1] >= self.high:
            return path[0][0]
        for (left, low), (right, high) in pairwise(path):
            if high >= self.high:
                return left + (right - left) * (self.high - low) / (high - low)
        return path[-1][0] if path[-1][0] < 0.98 * self.wide else None

    def _left(self, x: float) -> float:
        return self.wide * math.log(x / self.x[0]) / math.log(self.x[1] / self.x[0])

    def _right(self, left: float) -> float:
        return self.x[0] * math.exp(left / self.wide * math.log(self.x[1] / self.x[0]))

    def _up(self, y: float) -> float:
        low, high = self.y
        share = math.log(y / low) / math.log(high / low) if self.log_y else (y - low) / (high - low)
        return self.high * share

    def _value(self, up: float) -> float:
        (low, high), share = self.y, up / self.high
        return low * math.exp(share * math.log(high / low)) if self.log_y else low + (high - low) * share


def spread(places: Sequence[tuple[float, str]], gap: float) -> list[tuple[float, str]]:
    """Places in order, moved as little as it takes to lie ``gap`` apart: neighbours that collide move as one.

    >>> spread([(0.0, "b"), (1.0, "c"), (30.0, "d")], 3)
    [(-1.0, 'b'), (2.0, 'c'), (30.0, 'd')]
    """
    blocks: list[tuple[float, list[str]]] = []  # where a block's middle wants to be, and what is in it
    for place, name in sorted(places):
        middle, inside = place, [name]
        while blocks and middle - blocks[-1][0] < gap * (len(inside) + len(blocks[-1][1])) / 2:
            before, names = blocks.pop()
            middle = (before * len(names) + middle * len(inside)) / (len(names) + len(inside))
            inside = names + inside
        blocks.append((middle, inside))
    return [
        (middle + gap * (place - (len(inside) - 1) / 2), name)
        for middle, inside in blocks
        for place, name in enumerate(inside)
    ]
