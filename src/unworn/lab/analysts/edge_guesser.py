"""The edge guesser: finds the guess that only just still agrees, and so learns the value to the last row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unworn.holdout import Holdout
from unworn.lab.analysts.analyst import Analyst, Played, ask
from unworn.lab.worlds import Scene


@dataclass(frozen=True)
class EdgeGuesser(Analyst):
    """Bisects the edge of agreement by asking the same question again with moved guesses.

    The value on the rows then sits at the very end of the cell that agreement stands for. If agreement published the
    cell itself, instead of the confidence limits of its ends, one of the two edges would exclude the truth as soon as
    sample and population differ. What is learned of each probe goes into a last vote.

    References
    ----------
    Soundness of the published interval, ``docs/theory/code-length.md``: "|q(S) − g| ≤ τ alone is not enough".
    """

    name: ClassVar[str] = "edge_guesser"

    steps: int = 7

    def play(self, holdout: Holdout, scene: Scene, asks: int, rng: np.random.Generator) -> Iterator[Played]:
        learned: list[float] = []
        left = asks - 1
        while left >= 2 * self.steps or (not learned and left > 0):
            rule = scene.probe(len(learned))
            middles: list[float] = []
            for end in (0.0, 1.0):
                agreeing, surprised = rule.truth, end
                for _ in range(min(self.steps, left)):
                    guess = (agreeing + surprised) / 2
                    played = ask(holdout, rule, guess, again=True)
                    yield played
                    left -= 1
                    if played.answer.source == "surprise":
                        surprised = guess
                    else:
                        agreeing = guess
                middles.append(agreeing)
            # Slacks at the two edges are nearly alike, so the value lies nearly in the middle between them.
            learned.append(sum(middles) / 2 - rule.truth if len(middles) == 2 else 0.0)
        vote = scene.vote(learned)
        yield ask(holdout, vote, vote.truth)
