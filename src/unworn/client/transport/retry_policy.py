"""When a call is made again: what can be cured by waiting, and how long to wait."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

CURABLE = frozenset({502, 503, 504})
"""Said by what stands before a server that starts, stops or is too busy: the same request may be answered next time."""
BUSY = 429
LONGEST_WISH = 60.0
"""Seconds that a server may ask for in ``Retry-After``; more than that is an answer, not a pause."""


@dataclass(frozen=True)
class RetryPolicy:
    """Exponential back-off with jitter, so that clients that failed together do not come back together.

    >>> [round(pause, 2) for pause in RetryPolicy(tries=5).pauses(random.Random(7))]
    [0.17, 0.29, 0.83, 1.07]
    """

    tries: int = 6
    first: float = 0.25
    longest: float = 8.0

    def pauses(self, draw: random.Random) -> Iterator[float]:
        """How long to wait before each further try."""
        for place in range(self.tries - 1):
            yield min(self.first * 2**place, self.longest) * (0.5 + draw.random() / 2)


def wished_pause(header: str | None) -> float | None:
    """The seconds a server asks for, where it asks for a number of them.

    >>> wished_pause("3"), wished_pause("soon"), wished_pause(None)
    (3.0, None, None)
    """
    try:
        seconds = float(header or "")
    except ValueError:
        return None
    return seconds if 0 <= seconds <= LONGEST_WISH else None
