"""Where an interval is drawn: one scale for all rows of a table, its ticks, and how many digits its numbers need."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
_MOST_TICKS = 5
_EDGE = 2.5
"""Per cent of the drawing left free on either side, so that a dot at the end is whole."""


@dataclass(frozen=True)
class IntervalScale:
    """From ``low`` to ``high``, with ``ticks`` between them and ``digits`` after the point.

    >>> rows = [{"value": 0.81, "low": 0.79, "high": 0.83}, {"value": 0.7, "low": 0.66, "high": 0.74}]
    >>> scale = IntervalScale.of(rows)
    >>> scale.ticks, scale.digits
    ((0.7, 0.75, 0.8), 3)
    >>> round(scale.place(0.745))
    50
    """

    low: float
    high: float
    ticks: tuple[float, ...]
    digits: int

    @classmethod
    def of(cls, rows: Iterable[Mapping[str, Any]]) -> IntervalScale:
        """The scale on which every value, interval and practice score of these rows can be drawn."""
        known = list(rows)
        numbers = [
            float(row[name])
            for row in known
            for name in ("value", "low", "high", "practice")
            if row.get(name) is not None and math.isfinite(row[name])
        ]
        low, high = min(numbers, default=0.0), max(numbers, default=1.0)
        if not high > low:
            room = 0.05 * max(abs(low), 1.0)
            low, high = low - room, high + room
        widths = [row["high"] - row["low"] for row in known if row.get("low") is not None and row["high"] > row["low"]]
        return cls(low, high, _ticks(low, high), _digits(median(widths) / 2 if widths else (high - low) / 10))

    def place(self, value: float) -> float:
        """Where a value stands, in per cent from the left."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return round(_EDGE + (100 - 2 * _EDGE) * share, 3)

    def show(self, value: float) -> str:
        """A value with as many digits as its neighbours."""
        return f"{value:,.{self.digits}f}"

    def show_tick(self, value: float) -> str:
        """A tick as short as it may be.

        >>> IntervalScale(0.0, 1.0, (), 3).show_tick(0.25)
        '0.25'
        """
        return f"{value:,.6g}"


def _ticks(low: float, high: float) -> tuple[float, ...]:
    """Round numbers between the ends, as few as a narrow column has room for."""
    rough = (high - low) / _MOST_TICKS
    power = 10.0 ** math.floor(math.log10(rough))
    for step in (factor * power for factor in _STEPS):
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        if last - first < _MOST_TICKS:
            return tuple(round(place * step, 12) for place in range(first, last + 1))
    return ()


def _digits(width: float) -> int:
    """Digits after the point that show a half-width to two figures.

    >>> _digits(0.021), _digits(0.3), _digits(40.0)
    (3, 2, 0)
    """
    return min(max(1 - math.floor(math.log10(width)), 0), 6) if width > 0 else 4
