"""The hill climber: what an agent does that was told to make a number go up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unworn.holdout import Holdout
from unworn.lab.analysts.analyst import Analyst, Played, ask
from unworn.lab.worlds import Scene


@dataclass(frozen=True)
class HillClimber(Analyst):
    """Changes the best model so far a little, at random, asks, and keeps the change if the number went up.

    It guesses that nothing changed, which is what a harness knows. ``step`` says how far a proposal is from the best,
    in units of the best's own weights. Each ask depends on all before it, and no ask is a fixed question: the longest
    chain of adaptivity there is.

    References
    ----------
    Evolution strategies with one parent and one child (Rechenberg 1973); as a leaderboard's attack: Hardt, "Climbing a
    shaky ladder", arXiv 1706.02733.

    Examples
    --------
    >>> from unworn.lab import SignWorld, run
    >>> from unworn.mechanisms import GuessAndCheck, Naive
    >>> [run(SignWorld(), HillClimber(), kind(), 100, 60, 5, seed=1).misses for kind in (Naive, GuessAndCheck)]
    [5, 0]
    """

    name: ClassVar[str] = "hill_climber"

    step: float = 0.8

    def play(self, holdout: Holdout, scene: Scene, asks: int, rng: np.random.Generator) -> Iterator[Played]:
        parts = scene.probes
        kept = rng.standard_normal(parts)
        first = ask(holdout, scene.vote(kept))
        best = first.answer.value
        yield first
        for _ in range(asks - 1):
            tried = kept + self.step * rng.standard_normal(parts)
            played = ask(holdout, scene.vote(tried), min(max(best, 0.0), 1.0))
            if played.answer.value > best:
                kept, best = tried, played.answer.value
            yield played
