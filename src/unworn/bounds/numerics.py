"""What the bounds share: checks that name the valid range, a lazy ``scipy.special``, an exact log binomial.

Every number a bound is given is public, so a number out of range is a caller's mistake and raises
``ValueError`` before anything is computed. ``not low <= x <= high`` is written so that NaN fails too.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
NUMBER = (int, float)
LN2 = math.log(2.0)
_TRUTHS = (bool, np.bool_)  # True counts as 1 in Python: where a number of rows is meant, that is a slip
_COUNTABLE = 10**300  # an int beyond it is no count, and soon no float
_EXACT_BELOW = 16  # from here on the Stirling series below is right to 2e-12, and quicker than big integers


@cache
def special() -> Any:
    """``scipy.special``, imported when first needed so that importing the package stays quick.

    >>> round(float(special().betainc(1, 1, 0.25)), 2)
    0.25
    """
    import scipy.special

    return scipy.special


def check_rows(n: float) -> None:
    if isinstance(n, _TRUTHS) or not 1 <= n < math.inf:
        raise ValueError(f"the number of rows must be finite and at least 1, not {n!r}")


def check_whole(name: str, value: float, low: int, high: float = math.inf) -> None:
    slip = isinstance(value, _TRUTHS) or (isinstance(value, int) and value > _COUNTABLE)
    if slip or not (low <= value <= high and value < math.inf and value == math.floor(value)):
        upper = "" if high == math.inf else f" to {high:.0f}"
        raise ValueError(f"{name} must be a whole number from {low}{upper}, not {value!r}")


def whole(name: str, value: float, low: int, high: float = math.inf) -> int:
    """A whole number of any type (``np.int64(10)``, ``10.0``) as an int, checked like :func:`check_whole`.

    >>> whole("the number of rows", np.float64(10.0), 1)
    10
    """
    try:
        check_whole(name, value, low, high)
    except TypeError:
        raise ValueError(f"{name} must be a whole number from {low}, not {value!r}") from None
    return int(value)


def check_log_level(log_level: float) -> None:
    if not -math.inf < log_level < 0:
        raise ValueError(f"log_level = ln(miss probability) must be negative and finite, not {log_level!r}")


def check_between(name: str, value: float, low: float, high: float) -> None:
    if not low <= value <= high:
        raise ValueError(f"{name} must lie in [{low:g}, {high:g}], not {value!r}")


def check_probability(name: str, value: float) -> None:
    if not 0 < value < 1:
        raise ValueError(f"{name} must lie strictly between 0 and 1, not {value!r}")


def check_nats(name: str, value: float) -> None:
    if not 0 <= value < math.inf:
        raise ValueError(f"{name} must be finite and at least 0 nats, not {value!r}")


def broadcast(*values: ArrayLike) -> list[Floats]:
    """The values as float arrays of one shape."""
    return [np.array(value) for value in np.broadcast_arrays(*(np.asarray(v, dtype=float) for v in values))]


def check_arrays(n: Floats, log_level: Floats) -> None:
    """The checks of :func:`check_rows` and :func:`check_log_level` for whole arrays."""
    for bad in n[~((n >= 1) & (n < np.inf))][:1]:
        check_rows(float(bad))
    for bad in log_level[~((log_level > -np.inf) & (log_level < 0))][:1]:
        check_log_level(float(bad))


def check_array_between(name: str, values: Floats, low: float, high: float | Floats) -> None:
    """The check of :func:`check_between` for whole arrays."""
    inside = (values >= low) & (values <= high)
    if not inside.all():
        at = int(np.argmin(inside))
        limit = float(np.broadcast_to(high, values.shape).flat[at])
        check_between(name, float(values.flat[at]), low, limit)


def log_choose(n: int, k: int) -> float:
    """ln C(n, k) to about 1e-15 relative, for any size.

    Differences of ``lgamma`` lose seven digits at n = 1e9. Small k goes through exact integers, large k
    through Stirling's series arranged so that nothing cancels.

    >>> round(log_choose(999, 3), 9) == round(math.log(999 * 998 * 997 / 6), 9)
    True
    >>> round(log_choose(10**9, 10**6), 3)
    7907247.286
    """
    check_whole("n", n, 0)
    check_whole("k", k, 0, n)
    return unchecked_log_choose(int(n), int(k))


def unchecked_log_choose(n: int, k: int) -> float:
    """:func:`log_choose` for callers that have checked: it is on the path of every ask."""
    k = min(k, n - k)
    if k < _EXACT_BELOW:
        return math.log(math.comb(n, k))
    rest = n - k
    share = k * math.log(n / k) - rest * math.log1p(-k / n)
    return share - 0.5 * math.log(math.tau * k * (rest / n)) + stirling_rest(n) - stirling_rest(k) - stirling_rest(rest)


def stirling_rest(n: float) -> float:
    """ln n! less n ln n - n + ln(2 pi n)/2, for n >= 1.

    >>> round(stirling_rest(1), 6), round(stirling_rest(100), 9)
    (0.081061, 0.000833331)
    """
    if n < _EXACT_BELOW:
        return math.lgamma(n + 1.0) - n * math.log(n) + n - 0.5 * math.log(math.tau * n)
    square = 1.0 / (float(n) * n)
    return (1 / 12 - (1 / 360 - (1 / 1260 - square / 1680) * square) * square) / n
