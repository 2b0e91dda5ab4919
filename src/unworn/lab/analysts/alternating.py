"""Alternating: a good guess, a bad guess, a good guess, a bad guess."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unworn.holdout import Holdout
from unworn.lab.analysts.analyst import Analyst, Played, ask, far_end, lean
from unworn.lab.worlds import Scene


@dataclass(frozen=True)
class Alternating(Analyst):
    """Guesses the truth and the far end in turn, so that there are as many patterns of surprises as there can be.

    Bad guesses buy information, good ones keep the count of asks high: the mix for which counting where the surprises
    fell costs most. Every fifth pair the analyst votes by what the bad guesses brought, first with the bad guess and
    then, having seen where the value lies, again with that as its guess.

    References
    ----------
    After the adversaries of Rogers et al. 2020, whose guess-and-check pays ln C(i-1, f) for the pattern.
    """

    name: ClassVar[str] = "alternating"

    every: int = 5

    def play(self, holdout: Holdout, scene: Scene, asks: int, rng: np.random.Generator) -> Iterator[Played]:
        learned: list[float] = []
        for turn in range((asks + 1) // 2):
            last = turn >= (asks - 1) // 2
            if learned and (turn % self.every == self.every - 1 or last):
                rule = scene.vote(learned)
                good: float | None = None
            else:
                rule = scene.probe(len(learned))
                good = rule.truth
            bad = ask(holdout, rule, far_end(rule))
            yield bad
            if good is not None:
                learned.append(lean(bad))
            if 2 * turn + 2 <= asks:
                honest = good if good is not None else min(max(bad.answer.value, 0.0), 1.0)
                yield ask(holdout, rule, honest, again=True)
