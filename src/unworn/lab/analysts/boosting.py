"""Boosting a leaderboard: keep what scored better than chance, submit the majority of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unworn.holdout import Holdout
from unworn.lab.analysts.analyst import Analyst, Played, ask, ask_all, lean
from unworn.lab.worlds import Rule, Scene, versus


@dataclass(frozen=True)
class Boosting(Analyst):
    """The majority of the random submissions that did better than chance, again and again.

    At every square index the majority so far is submitted (Rogers et al.'s quadratic-adaptive schedule), the other
    asks are fresh random submissions. From the second majority on, every other one is asked as a paired comparison
    with the one before: the question a leaderboard is climbed with. With ``batch`` the random submissions between two
    majorities go out together.

    References
    ----------
    Blum and Hardt, "The Ladder: a reliable leaderboard for machine learning competitions", ICML 2015, section 4.
    """

    name: ClassVar[str] = "boosting"

    batch: bool = False

    def play(self, holdout: Holdout, scene: Scene, asks: int, rng: np.random.Generator) -> Iterator[Played]:
        votes: list[float] = []
        asked, root = 0, 1
        before: Rule | None = None
        while asked < asks:
            root += 1
            fresh = range(len(votes), len(votes) + min(root * root - 1, asks - 1) - asked)
            for played in ask_all(holdout, map(scene.probe, fresh), self.batch):
                votes.append(float(lean(played) > 0))
                yield played
            asked += len(fresh) + 1
            majority = scene.vote(votes)
            question = majority if before is None or root % 2 else versus(majority, before)
            yield ask(holdout, question)
            before = majority
