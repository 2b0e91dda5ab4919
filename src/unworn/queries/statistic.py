"""A question about the whole sample that is not a mean over rows: a median, a correlation, a fitted parameter."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np

from unworn.basics.display import show_value
from unworn.errors import Unaskable
from unworn.queries.code.callables import Columns
from unworn.queries.code.live_code import Code
from unworn.queries.language.literals import as_float
from unworn.queries.query import Facts, Query
from unworn.queries.row_protocol import Frame, Raised, run_code
from unworn.queries.schema import Schema

_FINEST = 2.0**40
"""How many sensitivities a range may be long."""


@dataclass(frozen=True, eq=False)
class Statistic(Query):
    """One number for all the rows together, which no single row (or group) moves by more than ``sensitivity``.

    How far one row can move it is declared on the asker's word: a certificate rests on it, and nothing in the rows
    could show that it holds for the rows that might have come instead. What is asked for is the mean of the number over
    fresh samples of the same size, so rows of another size are asked another question.

    Like a function it is known by its ``name``, or else by the digest of its code.
    """

    fn: Callable[[Columns], Any] = field(metadata={"code": True})
    low: float
    high: float
    sensitivity: float
    name: str | None
    code: Code = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "code", Code(self.fn, "function", self.name))
        object.__setattr__(self, "name", self.code.name)

    @property
    def label(self) -> str:
        return self.code.label

    @property
    def portable(self) -> bool:
        return False

    def to_json(self) -> dict[str, Any]:
        identity = {"name": self.name} if self.name is not None else {"code": self.code.digest}
        return {"ask": "statistic", "range": [self.low, self.high], "sensitivity": self.sensitivity, **identity}

    def __eq__(self, other: object) -> bool:
        return self.fingerprint == other.fingerprint if isinstance(other, Statistic) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def _facts(self, schema: Schema, size: int) -> Facts:
        return Facts("statistic", self.low, self.high, runs_code=True, sensitivity=self.sensitivity)

    def values(self, frame: Frame) -> NoReturn:
        raise TypeError(f"{self.label} is a statistic of the whole sample, and has no value for each row")

    def value(self, columns: Columns) -> float:
        """The number cut to the range. Code that fails, or returns NaN or no number, counts as the low end.

        So it always has a value, and noise covers a failure like any other value. Even an interrupt: if it got out,
        code that raises one for certain rows would tell of them for nothing.
        """

        def run() -> float:
            result = np.asarray(self.fn(columns))
            number = float(result) if result.shape == () and result.dtype.kind in "biuf" else math.nan
            return self.low if math.isnan(number) else min(max(number, self.low), self.high)

        try:
            return run_code(run)
        except Raised:
            return self.low


def statistic(
    fn: Callable[[Columns], Any],
    *,
    sensitivity: float | None = None,
    range: Sequence[float] | None = None,
    name: str | None = None,
) -> Statistic:
    """A question whose value is ``fn(columns)``: one number for all the rows, given as read-only arrays.

    Parameters
    ----------
    fn
        Called once with a dictionary of all columns. What it raises, NaN, and what is no number count as the low end
        of the range; other numbers are clipped to the range. The declared sensitivity must hold for the function thus
        completed: one that fails on some samples must lie near the low end on all that differ from them in a row.
    sensitivity
        How much replacing any one row of any sample of this size by another (one group, where rows are grouped) can
        change the value at most. On your word: it cannot be found in the rows.
    range
        The lowest and the highest value that matter, declared and not computed from the rows.
    name
        What it is known by, instead of its code; give another name to another function.

    >>> import numpy as np
    >>> def trimmed(columns):
    ...     ages = np.sort(np.clip(np.nan_to_num(columns["age"]), 0, 100))
    ...     return ages[100:-100].mean()  # of 1,000 rows: one row moves a sum of 800 ages by 100 at most
    >>> statistic(trimmed, sensitivity=100 / 800, range=(0, 100), name="trimmed age").to_json()
    {'ask': 'statistic', 'range': [0.0, 100.0], 'sensitivity': 0.125, 'name': 'trimmed age'}
    """
    if not callable(fn):
        raise Unaskable(f"statistic takes a Python function of the columns, not {type(fn).__name__}")
    if range is None:
        raise Unaskable("a statistic needs range=(low, high), declared and not computed from the rows")
    try:
        low, high = (as_float(end, "an end of a range") for end in range)
    except (TypeError, ValueError, OverflowError):
        raise Unaskable(f"range must be two numbers (low, high), not {show_value(range)}") from None
    if not (math.isfinite(high - low) and low < high):
        raise Unaskable(f"range must be finite with low < high, not ({low}, {high})", low=low, high=high)
    if sensitivity is None:
        raise Unaskable(
            "a statistic needs sensitivity=: how much replacing any one row can change it at most, "
            "as (high - low)/n for a mean of n values"
        )
    most = as_float(sensitivity, "sensitivity")
    if not 0 < most <= high - low:  # also refuses NaN
        raise Unaskable(
            f"sensitivity={most:g} must be above 0 and at most the length {high - low:g} of the range, "
            "which no change can exceed",
            sensitivity=most,
        )
    if max(abs(low), abs(high), high - low) > _FINEST * most:
        raise Unaskable(
            f"sensitivity={most:g} is too small for the range ({low:g}, {high:g}): numbers so close cannot be "
            "told apart; shorten the range, or declare a larger sensitivity",
            sensitivity=most,
        )
    return Statistic(fn, low, high, most, name)


def statistic_from_json(data: Mapping[str, Any]) -> NoReturn:
    """A ledger keeps a statistic's name, not its code."""
    name = data.get("name") or data.get("code") or data.get("token")
    raise Unaskable(f"this record asks the statistic {name!r}, whose code is not in the ledger; make it again")
