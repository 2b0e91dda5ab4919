"""A pass over many rows, spread over the cores: NumPy lets other threads run while it looks at a run of rows.

Threads are started for a pass and end with it, so that none is left over at exit or after a fork. Runs of rows go to
whoever is free, so what comes out must not depend on who had which; the caller puts it together.

``UNWORN_THREADS`` says how many threads a pass may use; without it ``OMP_NUM_THREADS``, as for other numeric work;
without both, the cores of the process, at most eight: each thread also needs the interpreter, of which there is one.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from typing import Generic, TypeVar

import numpy as np

T = TypeVar("T")
R = TypeVar("R")
_MOST = 8


def thread_limit() -> int:
    """How many threads a pass may use.

    >>> thread_limit() >= 1
    True
    """
    for name in ("UNWORN_THREADS", "OMP_NUM_THREADS"):
        told = os.environ.get(name, "").partition(",")[0].strip()  # OpenMP takes one number for each level
        if told.isdecimal() and int(told) > 0:
            return int(told)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, _MOST)


def run_in_threads(work: Callable[[Iterator[R]], T], runs: Iterable[R], threads: int) -> list[T]:
    """What each thread makes of the runs it takes, this thread among them.

    An error of any thread, or an interrupt, ends the others at their next run, and goes on from here.

    >>> sum(run_in_threads(sum, range(100), 3))
    4950
    """
    queue = _Queue(runs)
    helpers: list[_Helper[T]] = []
    try:
        with suppress(RuntimeError):  # no more threads to be had: those there are do the work
            for _ in range(threads - 1):
                helper = _Helper(work, queue)
                helper.start()
                helpers.append(helper)
        mine = work(queue)
    finally:
        queue.end()
        for helper in helpers:
            helper.join()
    for helper in helpers:
        if helper.error is not None:
            raise helper.error
    return [mine, *(made for helper in helpers for made in helper.made)]


class _Queue(Iterator[R]):
    """Runs, each handed to one thread only."""

    def __init__(self, runs: Iterable[R]) -> None:
        self._runs, self._lock, self._ended = iter(runs), threading.Lock(), False

    def __next__(self) -> R:
        with self._lock:
            if self._ended:
                raise StopIteration
            return next(self._runs)

    def end(self) -> None:
        self._ended = True


class _Helper(threading.Thread, Generic[T]):
    def __init__(self, work: Callable[[Iterator[R]], T], queue: _Queue[R]) -> None:
        super().__init__(name="unworn-pass", daemon=True)
        self._queue, self._work = queue, partial(work, queue)
        self.made: list[T] = []
        self.error: BaseException | None = None
        self._settings = np.geterr()  # a thread begins with NumPy's own, which warn of what is in the rows

    def run(self) -> None:
        try:
            with np.errstate(**self._settings):
                self.made.append(self._work())
        except BaseException as error:
            self.error = error
            self._queue.end()
