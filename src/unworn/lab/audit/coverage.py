"""Does a mechanism's interval hold as often as it promises, against everybody the lab can send?"""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from unworn import mechanisms
from unworn.bounds import clopper_pearson
from unworn.bounds.numerics import whole
from unworn.errors import Unaskable
from unworn.lab import ANALYSTS, Analyst, FiniteWorld, Result, SignWorld, World, run
from unworn.mechanisms import Mechanism

CERTAINTY = 1 - 1e-6


@dataclass(frozen=True)
class AnalystCoverage:
    """One analyst's plays: how many had any interval that missed, and exact limits for how often that happens."""

    analyst: str
    misses: int
    repetitions: int
    low: float
    high: float
    width: float


@dataclass(frozen=True)
class Coverage:
    """How often *any* interval of a play missed the truth, for each analyst.

    All limits hold together with probability ``certainty``; so a mechanism that keeps its promise is ``refuted``, by a
    lower limit above 1 − ``promised``, with probability at most 1 − ``certainty``. Analysts whose questions the
    mechanism does not answer were ``refused``.
    """

    name: str
    promised: float
    certainty: float
    rows: int
    asks: int
    seed: int
    plays: tuple[AnalystCoverage, ...]
    refused: tuple[str, ...] = ()

    @property
    def worst(self) -> AnalystCoverage:
        """Whoever was misled most often."""
        return max(self.plays, key=lambda played: (played.low, played.misses))

    @property
    def refuted(self) -> bool:
        """Whether some analyst was misled more often than is promised."""
        return self.worst.low > 1.0 - self.promised

    def __str__(self) -> str:
        verdict = "REFUTED" if self.refuted else "not refuted"
        return (
            f"{self.name}: promises {self.promised:.0%}; {self.worst.analyst} made {self.worst.misses} of "
            f"{self.worst.repetitions} plays miss (truly {self.worst.low:.1%} to {self.worst.high:.1%}): {verdict}"
        )

    def to_json(self) -> dict[str, Any]:
        """Everything in plain values."""
        plays = [
            vars(played) | {"width": played.width if played.width == played.width else None} for played in self.plays
        ]
        return {
            "name": self.name,
            "promised": self.promised,
            "certainty": self.certainty,
            "refuted": self.refuted,
            "worst": self.worst.analyst,
            "rows": self.rows,
            "asks": self.asks,
            "seed": self.seed,
            "refused": list(self.refused),
            "plays": plays,
        }

    def _repr_html_(self) -> str:
        lines = "".join(
            f"<tr><td>{html.escape(played.analyst)}</td><td>{played.misses} of {played.repetitions}</td>"
            f"<td>{played.low:.1%} to {played.high:.1%}</td></tr>"
            for played in self.plays
        )
        head = "<tr><th>analyst</th><th>plays that missed</th><th>true rate</th></tr>"
        return f"<div>{html.escape(str(self))}<table>{head}{lines}</table></div>"


def coverage(
    mechanism: Mechanism,
    rows: int,
    asks: int,
    confidence: float = 0.95,
    repetitions: int = 50,
    analysts: Iterable[Analyst] | None = None,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
    certainty: float = CERTAINTY,
) -> Coverage:
    """Let the lab's analysts play against a mechanism, and count the plays in which any interval missed.

    Parameters
    ----------
    confidence
        What the mechanism is asked to promise. A low one, such as 0.5, tests harder: what is lost in the slack of a
        bound shows there long before it shows at 0.95.
    analysts
        Who plays; everybody in :data:`unworn.lab.ANALYSTS` by default.
    progress
        Called with (plays done, plays in all).
    certainty
        The probability that a mechanism which keeps its promise is not refuted.

    Examples
    --------
    >>> from unworn.lab.analysts import SelectThenVote
    >>> from unworn.mechanisms import Naive, Rounding
    >>> told = coverage(Naive(), rows=100, asks=100, repetitions=20, analysts=[SelectThenVote()])
    >>> told.refuted, told.worst.misses
    (True, 20)
    >>> coverage(Rounding(12), rows=100, asks=24, repetitions=5, analysts=[SelectThenVote()]).refuted
    False
    """
    repetitions, seed = whole("repetitions", repetitions, 1), whole("seed", seed, 0)
    rows, asks = whole("rows", rows, 1), whole("asks", asks, 1)
    if not 0.5 <= certainty < 1.0:
        raise ValueError(f"certainty must lie in [0.5, 1), not {certainty!r}; 1 - 1e-6 is the default")
    players = [kind() for kind in ANALYSTS.values()] if analysts is None else list(analysts)
    if not players:
        raise ValueError("analysts must be at least one, not none: leave it out for everybody in unworn.lab.ANALYSTS")
    log_level = math.log1p(-certainty) + math.log(2) - math.log(2 * len(players))
    plays: list[AnalystCoverage] = []
    for place, analyst in enumerate(players):

        def tick(done: int, of: int, place: int = place) -> None:
            if progress is not None:
                progress(place * of + done, len(players) * of)

        result = _played(mechanism, analyst, rows, asks, repetitions, seed + 1_000 * place, confidence, tick)
        if result is not None:
            low, high = clopper_pearson(float(result.misses), float(repetitions), log_level)
            plays.append(AnalystCoverage(analyst.name, result.misses, repetitions, low, high, result.width))
    if not plays:
        raise Unaskable(f"{type(mechanism).__name__} refuses what these analysts ask: choose others")
    asked = {played.analyst for played in plays}
    refused = tuple(analyst.name for analyst in players if analyst.name not in asked)
    return Coverage(type(mechanism).__name__, confidence, certainty, rows, asks, seed, tuple(plays), refused)


@contextmanager
def register_meanwhile(kind: type[Mechanism]) -> Iterator[None]:
    """A holdout finds its mechanism by the name in entry 0: let it find one that is not of this package, meanwhile."""
    if mechanisms.kinds().get(kind.__name__) is kind:
        yield
        return
    mechanisms.register(kind)
    try:
        yield
    finally:
        mechanisms.forget(kind)


def _played(
    mechanism: Mechanism,
    analyst: Analyst,
    rows: int,
    asks: int,
    repetitions: int,
    seed: int,
    confidence: float,
    tick: Callable[[int, int], None],
) -> Result | None:
    """One analyst's plays, in the first world in which the mechanism answers it; None if it answers in none."""
    forms = (("accuracy", "mae", "share"), ("accuracy",))
    worlds: list[World] = [FiniteWorld(4 * rows, forms=form) for form in forms]
    for world in worlds if analyst.finite else [SignWorld(), *worlds]:
        try:
            with register_meanwhile(type(mechanism)):
                return run(world, analyst, mechanism, rows, asks, repetitions, seed, confidence, True, tick)
        except Unaskable:
            continue
    return None
