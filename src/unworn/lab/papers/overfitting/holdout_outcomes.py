"""What holdouts told in all repetitions of an experiment, number by number."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np


class Point(NamedTuple):
    """The vote of so many features: on the training rows, by the holdout, and on fresh rows without end."""

    features: int
    train: float
    reported: float
    low: float
    high: float
    truth: float


@dataclass
class HoldoutOutcome:
    """What one holdout told in all repetitions. ``missed``: those in which any interval left out the truth."""

    holdout: str
    plays: list[list[Point]] = field(default_factory=list)
    surprises: list[int] = field(default_factory=list)
    missed: int = 0

    def medians(self) -> list[Point]:
        """The medians of the repetitions, number by number.

        >>> point = Point(10, 0.55, 0.5, 0.45, 0.55, 0.5)
        >>> plays = [[point._replace(reported=told)] for told in (0.5, 0.7, 0.6)]
        >>> HoldoutOutcome("plain", plays).medians()
        [Point(features=10, train=0.55, reported=0.6, low=0.45, high=0.55, truth=0.5)]
        """
        middle = [np.median(np.array(same), axis=0).tolist() for same in zip(*self.plays, strict=True)]
        return [Point(int(count), *numbers) for count, *numbers in middle]
