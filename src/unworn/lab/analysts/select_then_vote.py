"""Select, then vote: many questions fixed in advance, and one that adds up what their answers said."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unworn.holdout import Holdout
from unworn.lab.analysts.analyst import Analyst, Played, ask, ask_all, lean
from unworn.lab.worlds import Scene


@dataclass(frozen=True)
class SelectThenVote(Analyst):
    """The single adaptive question that ruins a reused holdout.

    All asks but the last are probes. The last is their vote, each probe weighted by the log-odds of what its answer
    claims beyond the truth. On exact answers the vote of k probes over n rows looks Φ(√(k/n)) right where the truth is
    1/2. With ``batch`` the probes are one honest ``ask_many``: they are chosen before any answer is seen.

    References
    ----------
    Rogers, Roth, Smith, Srebro, Thakkar and Woodworth, "Guaranteed validity for empirical approaches to adaptive
    data analysis", AISTATS 2020 (single-adaptive analyst).
    """

    name: ClassVar[str] = "select_then_vote"

    batch: bool = False

    def play(self, holdout: Holdout, scene: Scene, asks: int, rng: np.random.Generator) -> Iterator[Played]:
        weights: list[float] = []
        for played in ask_all(holdout, map(scene.probe, range(asks - 1)), self.batch):
            weights.append(log_odds(lean(played)))
            yield played
        if weights:
            yield ask(holdout, scene.vote(weights))


def log_odds(excess: float) -> float:
    """The weight of a probe that is right so much more often than one half.

    >>> round(log_odds(0.1), 3), round(log_odds(-0.1), 3), round(log_odds(0.5), 1)
    (0.405, -0.405, 3.8)
    """
    correlation = min(max(2 * excess, -0.9567), 0.9567)  # one answer alone never decides the vote
    return float(np.log((1 + correlation) / (1 - correlation)))
