"""How often one account may ask: a bucket of requests that fills again as time passes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from unworn.server.server_errors import TooMany

_MOST_BUCKETS = 10_000


class Rates:
    """One bucket per account, in this process. A rate of 0 sets no limit.

    >>> rates = Rates(1.0, 2, clock=lambda: 0.0)
    >>> rates.count("ann"), rates.count("ann"), rates.count("bob")
    (None, None, None)
    >>> rates.count("ann")
    Traceback (most recent call last):
    unworn.server.server_errors.TooMany: more than 1 requests a second: wait a moment and send it again
    """

    def __init__(self, rate: float, burst: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._burst, self._clock = rate, float(burst), clock
        self._buckets: dict[str, tuple[float, float]] = {}
        self._lock = threading.Lock()

    def count(self, name: str) -> None:
        """One more request of this account, or :class:`TooMany`."""
        if not self._rate:
            return
        with self._lock:
            now = self._clock()
            left, at = self._buckets.get(name, (self._burst, now))
            left = min(self._burst, left + (now - at) * self._rate)
            if left < 1:
                raise TooMany(
                    f"more than {self._rate:g} requests a second: wait a moment and send it again",
                    rate=self._rate,
                    retry_after=1,
                )
            if len(self._buckets) >= _MOST_BUCKETS:
                self._buckets.clear()
            self._buckets[name] = left - 1, now
