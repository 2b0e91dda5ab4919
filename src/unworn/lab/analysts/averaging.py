"""Averaging: the same few questions over and over, until the noise has gone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unworn.holdout import Holdout
from unworn.lab.analysts.analyst import Analyst, Played, ask, lean
from unworn.lab.worlds import Scene


@dataclass(frozen=True)
class Averaging(Analyst):
    """Asks each probe ``times`` times, one round after another, and votes by the averages.

    Fresh noise of standard deviation σ has σ/√t left in the mean of t answers, so noise hides nothing from somebody
    who may ask again for less than a new question costs. A mechanism that charges every answer is not hurt: t answers
    to one probe tell less about the rows than one answer to each of t probes.

    References
    ----------
    The reason for composition theorems: Dinur and Nissim, "Revealing information while preserving privacy", PODS 2003.

    Examples
    --------
    >>> from unworn.lab import SignWorld, run
    >>> from unworn.mechanisms import Naive
    >>> run(SignWorld(), Averaging(), Naive(), rows=100, asks=101, repetitions=5, seed=1).misses
    5
    """

    name: ClassVar[str] = "averaging"

    times: int = 4

    def play(self, holdout: Holdout, scene: Scene, asks: int, rng: np.random.Generator) -> Iterator[Played]:
        probes = max((asks - 1) // self.times, 1)
        learned: list[list[float]] = [[] for _ in range(min(probes, asks - 1))]
        for index in range(asks - 1):
            which = index % probes
            played = ask(holdout, scene.probe(which), again=index >= probes)
            learned[which].append(lean(played))
            yield played
        if learned:
            yield ask(holdout, scene.vote([sum(leans) / len(leans) for leans in learned]))
