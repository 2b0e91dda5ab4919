"""The memoriser: a table of what was seen, refined where it pays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unworn.holdout import Holdout
from unworn.lab.analysts.analyst import Analyst, Played, ask, lean, with_points
from unworn.lab.worlds import Scene


@dataclass(frozen=True)
class Memoriser(Analyst):
    """Grows a tree over the points of a finite population until its leaves hold what was drawn, as a tree memorises.

    It asks for the share of a block of points, halves the block that is most off its share, and at the end asks for all
    leaves that held more than their share. A roll call asks for every point; this finds the rows of a large population
    by about log2(points) asks each, and only where there are any.

    References
    ----------
    Zhang, Bengio, Hardt, Recht and Vinyals, "Understanding deep learning requires rethinking generalization", ICLR
    2017, on labels learned by heart; compare generalised binary search in group testing (Dorfman 1943).

    Examples
    --------
    >>> from unworn.lab import FiniteWorld, run
    >>> from unworn.mechanisms import Naive
    >>> run(FiniteWorld(200), Memoriser(), Naive(), rows=50, asks=60, repetitions=5, seed=1).misses
    5
    """

    name: ClassVar[str] = "memoriser"
    finite: ClassVar[bool] = True

    def play(self, holdout: Holdout, scene: Scene, asks: int, rng: np.random.Generator) -> Iterator[Played]:
        known = with_points(scene, "the memoriser")
        leaves: list[tuple[float, list[int]]] = [(0.0, rng.permutation(known.world.points).tolist())]
        left = asks - 1
        while left > 0:
            # The block that is most off what its size would suggest: deviations grow with the root of the size.
            place = max(
                (at for at, (_, points) in enumerate(leaves) if len(points) > 1),
                key=lambda at: abs(leaves[at][0]) / np.sqrt(len(leaves[at][1])),
                default=None,
            )
            if place is None:
                break
            excess, points = leaves.pop(place)
            half = points[: len(points) // 2]
            played = ask(holdout, known.among(half))
            leaves += [(lean(played), half), (excess - lean(played), points[len(half) :])]
            left -= 1
            yield played
        held = [point for excess, points in leaves if excess > 0 for point in points]
        yield ask(holdout, known.among(held or leaves[0][1]))
