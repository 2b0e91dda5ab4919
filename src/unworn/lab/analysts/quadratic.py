"""Quadratic-adaptive: a vote of all that was learned so far at every square index."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unworn.holdout import Holdout
from unworn.lab.analysts.analyst import Analyst, Played, ask, lean
from unworn.lab.analysts.select_then_vote import log_odds
from unworn.lab.worlds import Scene


@dataclass(frozen=True)
class QuadraticAdaptive(Analyst):
    """The single adaptive question again and again: √k of k asks are votes, and so is the last.

    The votes come while there is still something to learn, so a mechanism that is only cautious once much was asked,
    or that is lulled by asks that do not adapt, is met early as well as late. Each vote weighs every probe so far by
    the log-odds of its answer, as :class:`~unworn.lab.analysts.select_then_vote.SelectThenVote` does once.

    References
    ----------
    Rogers, Roth, Smith, Srebro, Thakkar and Woodworth, "Guaranteed validity for empirical approaches to adaptive
    data analysis", AISTATS 2020 (quadratic-adaptive analyst).

    Examples
    --------
    >>> from unworn.lab import SignWorld, run
    >>> from unworn.mechanisms import Naive
    >>> run(SignWorld(), QuadraticAdaptive(), Naive(), rows=100, asks=60, repetitions=5, seed=1).misses
    5
    """

    name: ClassVar[str] = "quadratic_adaptive"

    def play(self, holdout: Holdout, scene: Scene, asks: int, rng: np.random.Generator) -> Iterator[Played]:
        weights: list[float] = []
        root = 2  # at the first square, 1, nothing is known yet
        for index in range(1, asks + 1):
            if weights and index in (root * root, asks):
                yield ask(holdout, scene.vote(weights))
                root += 1
                continue
            played = ask(holdout, scene.probe(len(weights)))
            weights.append(log_odds(lean(played)))
            yield played
