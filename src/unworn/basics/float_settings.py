"""What happens at an overflow or an underflow is not for the caller to say where intervals are computed.

NumPy's settings belong to whoever calls (``np.seterr(all="raise")`` finds mistakes early in their own code), and to
the thread. Under them an exponential that is as good as 0 would raise in the middle of a bound: an error that is not
ours, or, with the rows read, a failure that is entered and charged. What is printed or warned of while rows are read
would be a fact about them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Final, Literal, ParamSpec, TypedDict, TypeVar

import numpy as np

P = ParamSpec("P")
T = TypeVar("T")


class ErrorSettings(TypedDict):
    """What ``numpy.errstate`` takes here."""

    divide: Literal["warn"]
    over: Literal["warn"]
    under: Literal["ignore"]
    invalid: Literal["warn"]


USUAL_FLOATS: Final[ErrorSettings] = {"divide": "warn", "over": "warn", "under": "ignore", "invalid": "warn"}
"""NumPy's own settings, under which this package was written and tested: underflow is 0."""


def with_usual_floats(function: Callable[P, T]) -> Callable[P, T]:
    """The same function, whatever the caller's settings are.

    >>> vanishing = with_usual_floats(lambda: float(np.exp(np.float64(-1e4))))
    >>> with np.errstate(all="raise"):
    ...     vanishing()
    0.0
    """

    @wraps(function)
    def run(*args: P.args, **options: P.kwargs) -> T:
        with np.errstate(**USUAL_FLOATS):
            return function(*args, **options)

    return run
