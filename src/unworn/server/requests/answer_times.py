"""When answers leave: not when their work is done, because how long that took could tell what the rows said.

What is charged leaves at a multiple of a grid. A grid hides a difference as far as work ends well inside a step: work
that takes about as long as a step crosses its end more often if it is a little longer. So the first step of a plain ask
follows the machine, and is well above what its work takes there. It is found from rows that are made up: a step that
followed the asks themselves would be one more answer about the rows, paid for by nobody.
"""

from __future__ import annotations

import os
import statistics
import threading
import time
from typing import Final

from unworn.server.settings import ServerSettings

_ROWS, _ASKS, _WARM = 10_000, 50, 10
_PAUSE: Final = 0.001
"""Seconds between asks of made-up rows: a served ask finds caches as cold as whoever waited."""
_TIMES: Final = 4
"""The first step, in the work on such asks: that on a served one was 2.4 of it among a dozen busy programs."""
_lock = threading.Lock()
_usual: list[float] = []


def wait_for_grid(began: float, grid: float) -> None:
    """In the thread that worked: sleep until what began then has taken a multiple of so many seconds; of 0, not at all.

    A loop of events would wake up by whole milliseconds after the work was done, and put the difference back.
    """
    if grid:
        time.sleep(grid - (time.perf_counter() - began) % grid)


def wait_for_step(worked: float, settings: ServerSettings) -> None:
    """Sleep until work of so many seconds has taken one of the steps of plain asks."""
    if settings.answer_grid:
        first = first_step() if settings.ask_step is None else settings.ask_step
        time.sleep(next_step(worked, first, settings.answer_grid) - worked)


def next_step(worked: float, first: float, grid: float) -> float:
    """The seconds at which work leaves that took so many: the first step, its doubles, and multiples of the grid.

    >>> [next_step(worked, 0.0005, 0.004) for worked in (0.0001, 0.0006, 0.0013, 0.0039, 0.0041)]
    [0.0005, 0.001, 0.002, 0.004, 0.008]
    """
    step = first
    while 0 < step <= worked:
        step *= 2
    return step if 0 < step < grid else worked + (grid - worked % grid)


def first_step() -> float:
    """The first step of plain asks on this machine, in seconds; found once in a process, in some 100 ms."""
    with _lock:
        if not _usual:
            _usual.append(_TIMES * _time_asks())
    return _usual[0]


def _time_asks() -> float:
    """Seconds of work on an ask of made-up rows: the first quartile of many, for a moment's load should not stay."""
    import numpy as np

    from unworn.holdout import Holdout
    from unworn.holdout.asking.several_callers import answer_several, prepare_several
    from unworn.server.requests.json_reply import ReplyText

    made_up = np.random.default_rng(list(os.urandom(16))).random(_ROWS)
    holdout = Holdout({"x": made_up}, ledger=None, practice=0)
    spent = []
    for number in range(_WARM + _ASKS):
        cut = (number + 0.5) / (_WARM + _ASKS)
        time.sleep(_PAUSE)
        prepared = prepare_several(holdout, [{"question": f"x > {cut!r}", "guess": 1 - cut}])
        began = time.perf_counter()
        (answer,) = answer_several(holdout, prepared)
        if not isinstance(answer, Exception):
            ReplyText.one(answer)
        spent.append(time.perf_counter() - began)
    holdout.close()
    return statistics.quantiles(spent[_WARM:], n=4)[0]
