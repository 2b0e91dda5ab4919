"""Experiments: how often does *any* of a play's intervals miss the truth?

Each repetition draws a world afresh, seals the rows, lets the analyst play, and compares every answer with the
population. The promise is simultaneous, so one interval that misses spoils the whole repetition.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from unworn.errors import Exhausted
from unworn.holdout import Holdout
from unworn.lab.analysts.analyst import Analyst, Played
from unworn.lab.worlds import World
from unworn.ledger.seeded_keys import SeededStore
from unworn.mechanisms import Mechanism

SLIP = 1e-12
"""Truths are sums of floats; an end of an interval that is off by less than this is not a miss."""


@dataclass(frozen=True)
class Result:
    """The outcome of an experiment. ``widths`` holds the last answer's half-width of each repetition."""

    misses: int
    repetitions: int
    confidence: float
    asked: int
    surprises: int
    widths: tuple[float, ...]

    @property
    def miss_rate(self) -> float:
        """The share of repetitions in which at least one interval missed; at most 1 − confidence in the long run."""
        return self.misses / self.repetitions

    @property
    def width(self) -> float:
        """The median half-width of the last answer."""
        return float(np.nanmedian(self.widths))

    def limits(self, level: float = 1e-7) -> tuple[float, float]:
        """Clopper–Pearson limits of the true miss rate, each wrong with probability at most ``level``.

        >>> low, high = Result(60, 100, 0.95, 0, 0, (0.1,)).limits()
        >>> round(low, 2), round(high, 2)
        (0.34, 0.83)
        """
        from unworn.bounds import clopper_pearson

        low, high = clopper_pearson(self.misses, self.repetitions, math.log(2 * level))
        return float(low), float(high)

    @property
    def tail(self) -> float:
        """How likely a mechanism that just keeps its promise misses this often or more, by chance alone.

        >>> Result(5, 100, 0.95, 0, 0, (0.1,)).tail > 0.5, Result(30, 100, 0.95, 0, 0, (0.1,)).tail < 1e-7
        (True, True)
        """
        from scipy.stats import binom

        return float(binom.sf(self.misses - 1, self.repetitions, 1 - self.confidence))

    def __add__(self, other: Result) -> Result:
        """Both experiments as one. They should differ in their seeds, or they share their rows."""
        if self.confidence != other.confidence:
            raise ValueError(f"results for confidence {self.confidence} and {other.confidence} do not add up")
        return Result(
            self.misses + other.misses,
            self.repetitions + other.repetitions,
            self.confidence,
            self.asked + other.asked,
            self.surprises + other.surprises,
            self.widths + other.widths,
        )

    def __str__(self) -> str:
        return (
            f"{self.misses} of {self.repetitions} missed ({self.miss_rate:.1%}, promised at most "
            f"{1 - self.confidence:.1%}); last answer ± {self.width:.3f}"
        )


@dataclass(frozen=True)
class Play:
    """One repetition: whether any interval missed, and how the last answer and the worst of all did.

    ``error`` is how far the last value was from the truth, ``worst`` the largest such distance of all answers.
    """

    missed: bool
    asked: int
    surprises: int
    width: float
    error: float
    worst: float


def play_once(
    world: World,
    analyst: Analyst,
    mechanism: Mechanism,
    rows: int,
    asks: int,
    rng: np.random.Generator,
    confidence: float = 0.95,
    planned: bool = False,
) -> Play:
    """Draw rows, seal them, let the analyst play, and compare every answer with the population.

    >>> from unworn.lab import ANALYSTS, SignWorld
    >>> from unworn.mechanisms import Naive
    >>> attack = ANALYSTS["select_then_vote"]()
    >>> play = play_once(SignWorld(), attack, Naive(), rows=100, asks=60, rng=np.random.default_rng(1))
    >>> play.missed, play.asked, play.error == play.worst > 0.2
    (True, 60, True)
    """
    scene = world.draw(rows, asks, rng)
    holdout = Holdout(
        scene.data,
        scene.labels,
        asks=asks if planned else None,
        mechanism=mechanism,
        confidence=confidence,
        ledger=SeededStore(rng),
    )
    missed, width, error, worst = False, math.nan, math.nan, 0.0
    try:
        for answer, truth in analyst.play(holdout, scene, asks, rng):
            missed |= not answer.low - SLIP <= truth <= answer.high + SLIP
            width, error = answer.width, abs(answer.value - truth)
            worst = max(worst, error)
    except Exhausted:  # the plan, or the parts of a split, are spent: the play ends here
        pass
    meter = holdout.meter
    return Play(missed, meter.asked, meter.surprises, width, error, worst)


def run(
    world: World,
    analyst: Analyst,
    mechanism: Mechanism,
    rows: int,
    asks: int,
    repetitions: int,
    seed: int,
    confidence: float = 0.95,
    planned: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Result:
    """Play ``repetitions`` times on fresh rows, and count the plays in which any interval misses.

    The same seed gives the same rows, coins and keys, and so the same answers.

    Parameters
    ----------
    asks
        How often the analyst asks in one play.
    planned
        Whether that number is a term of the holdout (``Holdout(asks=...)``); the ask past it is refused.
    progress
        Called with (repetitions done, repetitions) after each.

    Examples
    --------
    >>> from unworn.lab import ANALYSTS, SignWorld
    >>> from unworn.mechanisms import GuessAndCheck, Naive
    >>> analyst = ANALYSTS["select_then_vote"]()
    >>> run(SignWorld(), analyst, Naive(), rows=100, asks=60, repetitions=5, seed=1).misses
    5
    >>> run(SignWorld(), analyst, GuessAndCheck(), rows=100, asks=60, repetitions=5, seed=1).misses
    0
    """
    if repetitions < 1 or asks < 1:
        raise ValueError(f"an experiment has at least one repetition and one ask, not {repetitions} and {asks}")
    misses = asked = surprises = 0
    widths: list[float] = []
    for repetition in range(repetitions):
        rng = np.random.default_rng([seed, repetition])
        play = play_once(world, analyst, mechanism, rows, asks, rng, confidence, planned)
        misses += play.missed
        widths.append(play.width)
        asked += play.asked
        surprises += play.surprises
        if progress is not None:
            progress(repetition + 1, repetitions)
    return Result(misses, repetitions, confidence, asked, surprises, tuple(widths))


__all__ = ["Play", "Played", "Result", "play_once", "run"]
