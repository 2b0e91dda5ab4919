"""The roll call: is this point among the rows? And this one?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unworn.holdout import Holdout
from unworn.lab.analysts.analyst import Analyst, Played, ask, with_points
from unworn.lab.worlds import Scene


@dataclass(frozen=True)
class RollCall(Analyst):
    """Asks for single points of a finite population, then for the share of all that were present.

    Each question is about so few rows that agreement is likely and a surprise tells a whole row: the cheapest way to
    learn which points were drawn. All of the rows, and few of the population, are among the points that answered. The
    guess is ``guess``: 0 makes presence the surprise, 1 makes every answer one.

    References
    ----------
    The membership form of the attacks of Hardt and Ullman 2014 and of Steinke and Ullman 2015, on a small universe.
    """

    name: ClassVar[str] = "roll_call"
    finite: ClassVar[bool] = True

    guess: float = 0.0

    def play(self, holdout: Holdout, scene: Scene, asks: int, rng: np.random.Generator) -> Iterator[Played]:
        known = with_points(scene, "a roll call")
        called = rng.permutation(known.world.points)[: max(asks - 1, 1)]
        values: list[float] = []
        for point in called:
            played = ask(holdout, known.among([point]), self.guess)
            values.append(played.answer.value)
            yield played
        if asks == 1:
            return
        # Whatever the cells are, those who answered lie above the lowest cell seen.
        present = [point for point, value in zip(called, values, strict=True) if value > min(values)]
        yield ask(holdout, known.among(present or called[:1]), 1.0)
