"""What noise may be asked for: every number is public, so a wrong one is refused before anything is drawn."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

WIDEST = 2**52
"""Noise of this scale leaves 64-bit integers only beyond 2048 scales: with probability below e^-2047."""


def check_scale(name: str, value: float) -> float:
    """A scale as a float; its exact value is the parameter of the distribution.

    >>> check_scale("scale", 3)
    3.0
    """
    if not 0 < value <= WIDEST:
        raise ValueError(
            f"{name} must lie in (0, 2**52], so that the noise fits into 64-bit integers, not {value!r}; "
            "use a coarser grid for wider noise"
        )
    return float(value)


def check_whole(name: str, value: int, low: int, high: float = math.inf, why: str = "") -> int:
    """A whole number in a range, as an int.

    >>> check_whole("size", 3.0, 0)
    3
    """
    truth = isinstance(value, bool | np.bool_)  # True counts as 1 in Python; a number of draws it is not
    if truth or not (low <= value <= high and value < math.inf and value == math.floor(value)):
        upper = "" if high == math.inf else f" to {high:.0f}"
        raise ValueError(f"{name} must be a whole number from {low}{upper}{why}, not {value!r}")
    return int(value)


def whole_numbers(name: str, values: ArrayLike) -> NDArray[np.float64]:
    """Whole numbers as floats, for a formula; a fraction has no probability and is refused."""
    found = np.asarray(values)
    if found.dtype.kind not in "iuf" or not bool((np.isfinite(found) & (found == np.floor(found))).all()):
        raise ValueError(f"{name} must be finite whole numbers, not {values!r}")
    return found.astype(np.float64)
