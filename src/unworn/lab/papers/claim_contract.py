"""What a claim of a paper or lecture is here: what the source says, how it is measured, and how the picture is drawn.

A claim is one file, ``NAME_claim.py`` anywhere under ``unworn.lab.papers``, with one constant ``CLAIM``. What was
measured is a table of plain values, and the picture is a function of that table: it can be saved, and drawn again.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, get_args

from unworn.errors import SmallHoldout, UnwornError

Effort = Literal["quick", "full"]
"""Quick: about twenty seconds, and enough for the verdict. Full: the numbers of the documentation."""

Progress = Callable[[int, int], None]
"""Told how much of how much is done; the second may be a guess, but not change."""

TableRow = Mapping[str, str | int | float | bool | None]

_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_LECTURE = re.compile(r"\d{3} \S.*")


class UnfitClaim(UnwornError):
    """A claim, or what was measured for it, is not of the form that all of them share."""


class Measure(Protocol):
    """Runs the experiment. The same seed gives the same outcome, whoever else runs and in whatever order."""

    def __call__(self, effort: Effort, seed: int, progress: Progress) -> ClaimOutcome: ...


class Draw(Protocol):
    """Draws the rows of an outcome with the chart module; only this needs the extra ``plot``."""

    def __call__(self, rows: Sequence[TableRow], *, title: str, subtitle: Sequence[str]) -> Any: ...


@dataclass(frozen=True)
class ClaimOutcome:
    """What came of measuring a claim.

    Parameters
    ----------
    holds
        Whether the claim, as its source says it, agrees with what was measured, within the tolerance of ``expected``.
    measured
        One sentence with the numbers that decide.
    rows
        The whole measurement as a tidy table: every row has the same columns, every value is plain and finite or None.

    Examples
    --------
    >>> ClaimOutcome(True, "The vote scores 0.63.", ({"asks": 100, "score": 0.63},)).rows[0]["score"]
    0.63
    >>> ClaimOutcome(True, "The vote scores 0.63.", ({"score": float("inf")},))
    Traceback (most recent call last):
    unworn.lab.papers.claim_contract.UnfitClaim: row 1 has score=inf: a table holds finite numbers, texts and None
    """

    holds: bool
    measured: str
    rows: tuple[TableRow, ...] = field(repr=False)

    def __post_init__(self) -> None:
        if type(self.holds) is not bool:
            raise UnfitClaim(f"a verdict is True or False, not {self.holds!r}: wrap it in bool()")
        if not self.measured.strip() or not self.rows:
            raise UnfitClaim("an outcome has a sentence about what was measured, and at least one row")
        columns = self.rows[0].keys()
        for place, row in enumerate(self.rows, start=1):
            if row.keys() != columns:
                raise UnfitClaim(f"row {place} has the columns {', '.join(row)}, and row 1 {', '.join(columns)}")
            for name, value in row.items():
                if not _is_plain(value):
                    raise UnfitClaim(f"row {place} has {name}={value!r}: a table holds finite numbers, texts and None")


@dataclass(frozen=True)
class PaperClaim:
    """One claim of a paper or lecture, and the experiment that tries it.

    Parameters
    ----------
    name
        What ``unworn lab run`` takes, in lower case with hyphens. ``four-rates`` lives in ``four_rates_claim.py``.
    title
        The heading of the figure: what one sees in it, in a few words.
    statement
        The claim as its source says it, in one sentence.
    citation
        Author, title, where, year, and the number of the theorem or figure.
    lectures
        Where the lectures say it: number and section, such as ``"003 §2"`` or ``"001 Boosting attack"``.
    expected
        The value expected and the tolerance, in words: what decides the verdict, fixed before measuring.
    measure
        Runs the experiment.
    draw
        Draws the outcome's rows: ``(rows, *, title, subtitle)``, a chart of :mod:`unworn.charts`.
    is_true
        Whether the claim should hold. False for what a source says and is not so: an erratum, with its counterexample.
    """

    name: str
    title: str
    statement: str
    citation: str
    lectures: tuple[str, ...]
    expected: str
    measure: Measure = field(repr=False)
    draw: Draw = field(repr=False)
    is_true: bool = True

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise UnfitClaim(f"the name of a claim is lower case with hyphens, not {self.name!r}")
        empty = [name for name in ("title", "statement", "citation", "expected") if not getattr(self, name).strip()]
        if empty:
            raise UnfitClaim(f"the claim {self.name} lacks its {', '.join(empty)}")
        wrong = [text for text in self.lectures if not _LECTURE.fullmatch(text)]
        if wrong or isinstance(self.lectures, str):
            raise UnfitClaim(f"the claim {self.name} names lectures as {wrong or self.lectures!r}; write '003 §2'")

    def run(self, effort: Effort = "full", seed: int = 0, progress: Progress | None = None) -> ClaimOutcome:
        """Measure the claim. The same seed gives the same outcome."""
        if effort not in get_args(Effort):
            raise UnfitClaim(f"effort is 'quick' or 'full', not {effort!r}")
        if seed < 0:
            raise UnfitClaim(f"a seed is 0 or more, not {seed}")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SmallHoldout)  # experiments are run on few rows on purpose
            return self.measure(effort, seed, progress or _quiet)

    def figure(self, outcome: ClaimOutcome) -> Any:
        """The chart of an outcome, captioned with the claim and what was measured."""
        lines = [self.statement, f"Measured: {outcome.measured}", self.citation]
        return self.draw(outcome.rows, title=self.title, subtitle=[part for line in lines for part in _wrapped(line)])

    def is_as_expected(self, outcome: ClaimOutcome) -> bool:
        """Whether the verdict is the one that the claim should have."""
        return outcome.holds is self.is_true


def _is_plain(value: object) -> bool:
    if isinstance(value, float):
        return type(value) is float and math.isfinite(value)
    return value is None or type(value) in (str, int, bool)


def _wrapped(text: str, width: int = 108) -> list[str]:
    import textwrap

    return textwrap.wrap(text, width)


def _quiet(done: int, total: int) -> None:
    """Tells nobody."""
