"""Whether a call went as it may: it succeeds, or fails with an error of ours, within a second.

What counts as ours is narrow: an ``UnwornError``, or a ``ValueError`` or ``TypeError`` that a ``raise`` statement of
this package made. Whatever Python, NumPy or a parser raised on the way is a hole, because nobody wrote its message for
a reader, and nobody knows what it tells.
"""

from __future__ import annotations

import io
import linecache
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import unworn
from unworn.errors import UnwornError

PACKAGE = str(Path(unworn.__file__).parent)
_USUAL = 0.015
"""Seconds in which a usual machine of today does the reference work of :func:`measure_limit`."""

Call = tuple[str, Callable[[], Any]]


@dataclass
class Finding:
    """A call that failed otherwise than it may, or took too long."""

    call: str
    what: str

    def __str__(self) -> str:
        return f"{self.call}: {self.what}"


def measure_limit() -> float:
    """The second within which every call ends, in processor time of this machine: longer on one that is slow now."""
    grid, took = np.linspace(0.0, 1.0, 1300), []
    for _ in range(9):
        began = time.process_time()
        for _ in range(1000):
            np.log1p(np.exp(-np.minimum(grid, 0.5))).sum()
        took.append(time.process_time() - began)
    return max(1.0, median(took) / _USUAL)


def play(calls: Iterator[Call], count: int) -> list[Finding]:
    """Make so many calls; what failed otherwise than it may, and what took too long."""
    findings: list[Finding] = []
    limit = measure_limit()
    for _, (name, call) in zip(range(count), calls, strict=False):
        began = time.process_time()
        problem = _problem(call)
        took = time.process_time() - began
        if problem is not None:
            findings.append(Finding(name, problem))
        if took > limit:
            findings.append(Finding(name, f"took {took:.1f} s"))
    return findings


def _problem(call: Callable[[], Any]) -> str | None:
    silent = io.StringIO()
    try:
        with warnings.catch_warnings(), redirect_stdout(silent), redirect_stderr(silent):
            warnings.simplefilter("ignore")
            call()
    except Exception as error:  # whatever it is, it is judged
        if not is_ours(error):
            last = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{last.filename.removeprefix(PACKAGE)}:{last.lineno}"
            ours = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.startswith(PACKAGE)]
            through = "" if not ours else f" through {ours[-1].filename.removeprefix(PACKAGE)}:{ours[-1].lineno}"
            return f"{type(error).__name__}: {str(error)[:120]} at {where}{through}"
    return None


def is_ours(error: BaseException) -> bool:
    """Whether an error was made on purpose: its kind is ours, or a statement of ours raised it."""
    if isinstance(error, UnwornError):
        return True
    if not isinstance(error, ValueError | TypeError):
        return False
    last = traceback.extract_tb(error.__traceback__)[-1]
    if not last.filename.startswith(PACKAGE) or last.lineno is None:
        return False
    return any(
        linecache.getline(last.filename, line).lstrip().startswith("raise")
        for line in range(last.lineno, max(last.lineno - 8, 0), -1)
    )
