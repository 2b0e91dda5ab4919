"""Greedy selection: one more model joins the ensemble whenever the holdout says that it helps."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unworn.holdout import Holdout
from unworn.lab.analysts.analyst import Analyst, Played, ask
from unworn.lab.worlds import Scene


@dataclass(frozen=True)
class GreedySelection(Analyst):
    """Forward selection on the holdout: the vote with one more probe is asked, and the probe is kept if that is better.

    The first half of the asks looks at single probes. The best of them, about the root of their number, make an
    ensemble, each with its sign; the others enter in the order of how good they looked, and leave when their turn comes
    again. It believes the numbers: it follows them, and not what it knows of the truth. What is selected is the vote
    itself, so its own noise is followed and not only that of its parts.

    References
    ----------
    Freedman, "A note on screening regression equations", The American Statistician 37, 1983; Caruana, Niculescu-Mizil,
    Crew and Ksikes, "Ensemble selection from libraries of models", ICML 2004.

    Examples
    --------
    >>> from unworn.lab import SignWorld, run
    >>> from unworn.mechanisms import Naive
    >>> run(SignWorld(), GreedySelection(), Naive(), rows=100, asks=60, repetitions=5, seed=1).misses
    5
    """

    name: ClassVar[str] = "greedy_selection"

    def play(self, holdout: Holdout, scene: Scene, asks: int, rng: np.random.Generator) -> Iterator[Played]:
        looked: list[float] = []
        for j in range(max(asks // 2, 1)):
            played = ask(holdout, scene.probe(j))
            looked.append(played.answer.value - 0.5)
            yield played
        order = np.argsort(-np.abs(looked), kind="stable")
        signs = np.where(np.array(looked) < 0, -1.0, 1.0)
        kept, best = np.zeros(len(looked)), -np.inf
        start = math.isqrt(len(looked) - 1) + 1
        kept[order[:start]] = signs[order[:start]]
        for turn in range(asks - len(looked)):
            tried = kept.copy()
            if turn:  # the ensemble to begin with is asked as it is
                place = order[(start + turn - 1) % len(order)]
                tried[place] = 0.0 if tried[place] else signs[place]
            played = ask(holdout, scene.vote(tried if tried.any() else kept))
            if played.answer.value >= best and tried.any():
                kept, best = tried, played.answer.value
            yield played
