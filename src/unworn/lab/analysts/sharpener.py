"""The sharpener: every answer sharpened, and sharpened again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unworn.errors import Unaskable
from unworn.holdout import Holdout
from unworn.lab.analysts.analyst import Analyst, Played, ask, lean
from unworn.lab.worlds import Rule, Scene


@dataclass(frozen=True)
class Sharpener(Analyst):
    """Asks with an honest guess, then narrows the answer ``times`` times over, and votes by the narrowed values.

    Sharpening names a piece of the published cell and is no surprise: if its nats were left out, a thousand free
    answers would become a thousand exact ones. The vote is sharpened too, which is where an interval that forgot
    something is narrow enough to show it. Where nothing is left to sharpen the question is asked again instead.

    References
    ----------
    Theorem C′ in ``docs/theory/code-length.md``.
    """

    name: ClassVar[str] = "sharpener"

    times: int = 2

    def play(self, holdout: Holdout, scene: Scene, asks: int, rng: np.random.Generator) -> Iterator[Played]:
        learned: list[float] = []
        questions = asks // (self.times + 1)
        for _ in range(max(questions - 1, min(questions, 1))):
            probe = scene.probe(len(learned))
            narrowed = 0.0
            for played in self._narrow(holdout, probe):
                narrowed = lean(played)
                yield played
            learned.append(narrowed)
        if questions > 1:
            yield from self._narrow(holdout, scene.vote(learned))

    def _narrow(self, holdout: Holdout, rule: Rule) -> Iterator[Played]:
        played = ask(holdout, rule, rule.truth)
        yield played
        for _ in range(self.times):
            try:
                played = Played(holdout.sharpen(played.answer), rule.truth)
            except Unaskable:  # it has no cells, or would gain nothing
                played = ask(holdout, rule, again=True)
            yield played
