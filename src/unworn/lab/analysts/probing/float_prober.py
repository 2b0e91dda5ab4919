"""The float prober: many counts packed into the digits of one mean."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unworn.holdout import Holdout
from unworn.lab.analysts.analyst import Analyst, Played, ask, with_points
from unworn.lab.worlds import Scene

_BITS = 40
"""Digits of a mean that survive the arithmetic of the question and of the sum."""


@dataclass(frozen=True)
class FloatProber(Analyst):
    """Gives each point of a group a value of its own order of magnitude, and reads all their counts off one answer.

    A mean of values 1, 2⁻ᵇ, 2⁻²ᵇ, … has the counts of the points as its digits. An answer that were released as the
    floating-point number it is, or with noise added to a float, would tell them all for the price of one question. It
    asks at last for the points that were present.

    References
    ----------
    Mironov, "On significance of the least significant bits for differential privacy", CCS 2012; Casacuberta, Shoemate,
    Vadhan and Wagaman, "Widespread underestimation of sensitivity in differentially private libraries", CCS 2022.

    Examples
    --------
    >>> from unworn.lab import FiniteWorld, SeededStore
    >>> from unworn.mechanisms import Naive
    >>> rng = np.random.default_rng(1)
    >>> scene = FiniteWorld(100).draw(rows=30, probes=1, rng=rng)
    >>> holdout = Holdout(scene.data, scene.labels, mechanism=Naive(), ledger=SeededStore(rng))
    >>> *_, last = FloatProber().play(holdout, scene, 16, rng)
    >>> last.answer.value, last.truth < 0.4  # all of the rows, by fifteen answers about a hundred points
    (1.0, True)
    """

    name: ClassVar[str] = "float_prober"
    finite: ClassVar[bool] = True

    def play(self, holdout: Holdout, scene: Scene, asks: int, rng: np.random.Generator) -> Iterator[Played]:
        known = with_points(scene, "the float prober")
        digit = int(known.rows).bit_length()
        group = max(1, _BITS // digit)
        called = rng.permutation(known.world.points)
        present: list[int] = []
        for turn in range(asks - 1):
            points = called[turn * group : (turn + 1) * group]
            if not len(points):
                break
            values = np.zeros(known.world.points)
            values[points] = 0.5 ** (digit * np.arange(len(points)))
            played = ask(holdout, known.ask(values, "mae", f"digits {turn}"))
            yield played
            told = round(float(np.clip(played.answer.value, 0, 1)) * known.rows * 2 ** (digit * (len(points) - 1)))
            for point in points[::-1]:
                told, count = divmod(told, 2**digit)
                if count:
                    present.append(int(point))
        yield ask(holdout, known.among(present or called[:1]))
