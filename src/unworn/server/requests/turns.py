"""One at a time under the same name, and large files only a few at a time."""

from __future__ import annotations

import threading
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from typing import Final

_LARGE: Final = 2**20
"""Bytes from which on a file takes turns: as Python's values it takes up to thirty times as many."""
_AT_ONCE: Final = 2
"""Large files that are read at the same time; more would not be quicker, since one interpreter reads all of them."""


class Turns:
    """Whoever comes second with the same name waits for the first, in this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: dict[Hashable, tuple[threading.Lock, int]] = {}

    @contextmanager
    def take(self, name: Hashable) -> Iterator[None]:
        """Hold the turn of this name until the block ends."""
        with self._lock:
            lock, waiting = self._running.get(name, (threading.Lock(), 0))
            self._running[name] = lock, waiting + 1
        try:
            with lock:
                yield
        finally:
            with self._lock:
                lock, waiting = self._running.pop(name)
                if waiting > 1:
                    self._running[name] = lock, waiting - 1

    def __len__(self) -> int:
        return len(self._running)


class ReadingTurns:
    """Who reads a large file into memory: one of an account, and few of all, or a hundred of them would need it all."""

    def __init__(self) -> None:
        self._accounts, self._all = Turns(), threading.BoundedSemaphore(_AT_ONCE)

    @contextmanager
    def take(self, account: str, size: int) -> Iterator[None]:
        """Hold a turn for a file of so many bytes, until it is read; a small one needs none."""
        if size < _LARGE:
            yield
            return
        with self._accounts.take(account), self._all:
            yield
