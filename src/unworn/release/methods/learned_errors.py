"""What adaptive rounds have shown of the largest error: a bound for every question, from released numbers alone.

In each round the exponential mechanism names the candidate that the current distribution gets (nearly) most wrong, and
its answers are measured. So every question that could have been selected is off by no more than the measured error of
what was, plus the noise, plus what a selection may fall short by. A later distribution is off by no more than that plus
by how far its own answer has moved since; and what was measured itself is known up to its noise.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from unworn.queries.row_protocol import Bools, Floats
from unworn.release.methods.candidates import Candidates
from unworn.universe.model.measurement_replay import Measurement


@dataclass
class LearnedErrors:
    """The rounds so far: what was measured, and what each has shown."""

    candidates: Candidates
    measured: list[Measurement] = field(default_factory=list)
    places: set[int] = field(default_factory=set)
    _noises: list[tuple[slice, float]] = field(default_factory=list)
    _shown: list[tuple[Floats, Bools, float]] = field(default_factory=list)

    def add(self, place: int, measurement: Measurement, largest: float) -> None:
        """A candidate was measured, with noise of at most ``largest`` (as a share)."""
        self.measured.append(measurement)
        self.places.add(place)
        self._noises.append((self.candidates.stretch(place), largest))

    def show(self, answers: Floats, open_: list[int], place: int, shortfall: float) -> None:
        """``place`` was selected among ``open_`` for the distribution with these answers, and has just been measured.

        ``shortfall`` is by how much (as a share) the selected error may fall short of the largest.
        """
        stretch, largest = self._noises[-1]
        seen = float(np.max(np.abs(self.measured[-1].shares - answers[stretch])))
        covered = np.zeros(len(answers), dtype=bool)
        for each in open_:
            covered[self.candidates.stretch(each)] = True
        self._shown.append((answers, covered, seen + largest + shortfall))

    def errors(self, answers: Floats) -> Floats:
        """For each question a bound on its sample error under the distribution with these answers."""
        bounds = np.ones(len(answers))
        for then, covered, bound in self._shown:
            moved = bound + np.abs(answers - then)
            np.minimum(bounds, moved, out=bounds, where=covered)
        for measurement, (stretch, largest) in zip(self.measured, self._noises, strict=True):
            known = np.abs(measurement.shares - answers[stretch]) + largest
            bounds[stretch] = np.minimum(bounds[stretch], known)
        return bounds
