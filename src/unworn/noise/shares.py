"""Shares of weights exp(-rate gap) to any number of digits: what settles a selection that floats cannot.

Imported by the samplers when a draw has to be settled, which is seldom.
"""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from fractions import Fraction

import numpy as np

from unworn.noise.reals import Bounds, exponential, precision
from unworn.noise.weights import Gaps

_GUARD = 12
_NOUGHT, _ONE = Decimal(0), Decimal(1)


def weight(rate: float, gap: int, digits: int) -> Bounds:
    """exp(-rate gap) to a relative 10^-digits.

    >>> weight(0.5, 0, 30) == (1, 1)
    True
    """
    return exponential(Fraction(rate) * gap, digits) if gap else (_ONE, _ONE)


class WeightShares:
    """The share of all weight that the candidates from m on have, for any m, to any number of digits.

    Equal scores are counted and not added up, and a weight too small to matter at these digits is only bounded.

    >>> low, high = WeightShares(np.array([0, 1], dtype=np.uint64), 1.0)(1, 30)   # exp(-1) / (1 + exp(-1))
    >>> str(low)[:22] == str(high)[:22] == "0.26894142136999512074"
    True
    """

    def __init__(self, gaps: Gaps, rate: float) -> None:
        self._rate, self._size = rate, gaps.size
        self._gaps, self._which = np.unique(gaps, return_inverse=True)
        self._known: dict[int, list[Bounds]] = {}

    def __call__(self, m: int, digits: int) -> Bounds:
        if not 0 < m < self._size:
            return (_ONE, _ONE) if m <= 0 else (_NOUGHT, _NOUGHT)
        digits += len(str(self._size))
        chosen, others = self._total(self._which[m:], digits), self._total(self._which[:m], digits)
        with precision(digits + _GUARD, ROUND_CEILING):
            most, whole = chosen[1], chosen[0] + others[1]
        with precision(digits + _GUARD, ROUND_FLOOR):
            least = chosen[0] / whole
            whole = most + others[0]
        with precision(digits + _GUARD, ROUND_CEILING):
            return least, most / whole

    def _total(self, which: np.ndarray, digits: int) -> Bounds:
        """The weight of some candidates, given by the places of their gaps among the different ones."""
        weights = self._weights(digits)
        counts = np.bincount(which, minlength=self._gaps.size)
        far = _ONE.scaleb(-digits) * int(counts[len(weights) :].sum())
        pairs = [(count, pair) for count, pair in zip(counts.tolist(), weights, strict=False) if count]
        with precision(digits + _GUARD, ROUND_FLOOR):
            low = sum((count * pair[0] for count, pair in pairs), _NOUGHT)
        with precision(digits + _GUARD, ROUND_CEILING):
            return low, sum((count * pair[1] for count, pair in pairs), far)

    def _weights(self, digits: int) -> list[Bounds]:
        """Of the different gaps in order, as far as the weight is not below 10^-digits: 2.31 is above ln 10."""
        if digits not in self._known:
            with np.errstate(over="ignore"):
                near = int(np.searchsorted(self._rate * self._gaps.astype(np.float64), 2.31 * digits))
            self._known = {digits: [weight(self._rate, gap, digits) for gap in self._gaps[:near].tolist()]}
        return self._known[digits]
