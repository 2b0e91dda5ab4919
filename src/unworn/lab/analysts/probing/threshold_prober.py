"""The threshold prober: moves a question until what is said of it turns over, and so reads its value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unworn.holdout import Holdout
from unworn.lab.analysts.analyst import Analyst, Played, ask, with_points
from unworn.lab.worlds import Scene


@dataclass(frozen=True)
class ThresholdProber(Analyst):
    """Mixes a probe with a constant, and bisects the constant for where the answer crosses one half.

    A mechanism that only says *above* or *below* tells the value of a question this way, a bit an ask; one whose
    *below* costs too little tells it nearly for nothing. It begins where the population value lies, which it knows, and
    looks two standard errors to either side; the last ask adds up what was found.

    References
    ----------
    Lyu, Su and Li, "Understanding the sparse vector technique for differential privacy", VLDB 2017, on versions whose
    threshold can be found; the bits are those of Theorem C′, ``docs/theory/code-length.md``.

    Examples
    --------
    >>> from unworn.lab import FiniteWorld, run
    >>> from unworn.mechanisms import AboveThreshold, Naive
    >>> world = FiniteWorld(200)
    >>> run(world, ThresholdProber(), Naive(), rows=50, asks=60, repetitions=5, seed=1).misses
    5
    >>> run(world, ThresholdProber(), AboveThreshold(0.5, tops=None), rows=50, asks=60, repetitions=5, seed=1).misses
    0
    """

    name: ClassVar[str] = "threshold_prober"
    finite: ClassVar[bool] = True

    steps: int = 2

    def play(self, holdout: Holdout, scene: Scene, asks: int, rng: np.random.Generator) -> Iterator[Played]:
        known = with_points(scene, "the threshold prober")
        leans: list[float] = []
        left = asks - 1
        while left > 0:
            values = known.values[len(leans)]
            truth = float(known.world.chances @ values)
            reach = min(known.rows**-0.5, truth, 1 - truth)  # two standard errors of a share about one half
            low, high = 1 - truth - reach, 1 - truth + reach
            for _ in range(min(self.steps, left)):
                added = (low + high) / 2
                played = ask(holdout, known.ask((values + added) / 2, "mae", f"probe {len(leans)} and {added}"))
                low, high = (low, added) if played.answer.value >= 0.5 else (added, high)
                left -= 1
                yield played
            leans.append(1 - (low + high) / 2 - truth)
        if leans:
            yield ask(holdout, known.vote(leans))
