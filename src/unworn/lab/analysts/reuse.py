"""Calibrating: what a question with a known answer tells of the noise, taken off the answers that follow."""

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
class Calibrating(Analyst):
    """Asks one time in ``every`` what it knows for certain, and takes the error of that answer off the ones after it.

    All that the answer to a certain question differs by is noise. If noise is drawn afresh for every answer, knowing
    it helps nobody. If a draw is used again (a stream that starts anew for every ask, a key without the question and
    its place in it, a generator that a copied process shares), the noise of all later answers is known to the last
    digit, and the vote at the end is that of exact answers.

    References
    ----------
    What "fresh" guards against in every proof for noisy answers; compare the nonces of a stream cipher.

    Examples
    --------
    >>> from unworn.lab import SignWorld, run
    >>> from unworn.mechanisms import Naive
    >>> run(SignWorld(), Calibrating(), Naive(), rows=100, asks=60, repetitions=5, seed=1).misses
    5
    """

    name: ClassVar[str] = "calibrating"

    every: int = 8

    def play(self, holdout: Holdout, scene: Scene, asks: int, rng: np.random.Generator) -> Iterator[Played]:
        certain, noise = scene.certain(), 0.0
        weights: list[float] = []
        for index in range(asks - 1):
            if index % self.every == 0:
                played = ask(holdout, certain, again=index > 0)
                noise = lean(played)
            else:
                played = ask(holdout, scene.probe(len(weights)))
                weights.append(log_odds(lean(played) - noise))
            yield played
        if weights:
            yield ask(holdout, scene.vote(weights))
