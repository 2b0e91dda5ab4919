"""The surprise maximiser: the worst guess every time, because a surprise tells where the value lies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unworn.holdout import Holdout
from unworn.lab.analysts.analyst import Analyst, Played, ask, far_end, lean
from unworn.lab.worlds import Scene


@dataclass(frozen=True)
class SurpriseMaximiser(Analyst):
    """Guesses the far end of the range, learns from the offset of each surprise, and votes by what it learned.

    Where offsets are not paid for, this analyst reads every value to within a cell for nothing; and where only the
    places of surprises are, it pays nothing at all, because there is one way to be surprised every time. One ask in
    ``every`` is the vote so far, and so is the last.

    References
    ----------
    Theorem C in ``docs/theory/code-length.md``; the guess side may be arbitrary (Rogers et al. 2020).
    """

    name: ClassVar[str] = "surprise_maximiser"

    every: int = 10

    def play(self, holdout: Holdout, scene: Scene, asks: int, rng: np.random.Generator) -> Iterator[Played]:
        learned: list[float] = []
        for index in range(1, asks + 1):
            if learned and (index % self.every == 0 or index == asks):
                vote = scene.vote(learned)
                yield ask(holdout, vote, far_end(vote))
                continue
            probe = scene.probe(len(learned))
            played = ask(holdout, probe, far_end(probe))
            learned.append(lean(played))
            yield played
