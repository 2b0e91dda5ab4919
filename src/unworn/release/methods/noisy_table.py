"""A noisy table: what is released of the rows when whole tables are measured."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unworn.bounds.noise_tails import Noise
from unworn.noise import Stream
from unworn.queries.row_protocol import Floats
from unworn.universe.model.model import Axes

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Measured:
    """Counts over the cells of some columns, each with its own noise: public from now on.

    ``scale`` is the standard deviation of Gaussian noise before rounding, or the scale of Laplace noise, in rows.
    """

    axes: Axes
    counts: Integers
    noise: Noise
    scale: float

    @property
    def precision(self) -> float:
        """One over the variance of a cell."""
        return precision(self.noise, self.scale)

    def onto(self, axes: Axes) -> Floats:
        """The counts summed onto some of its columns."""
        others = tuple(place for place, axis in enumerate(self.axes) if axis not in axes)
        return np.asarray(self.counts.sum(axis=others), dtype=np.float64)


def precision(noise: Noise, scale: float) -> float:
    """One over the variance of noise of this scale (without what rounding adds, at most 1/4)."""
    return 1.0 / (scale * scale) if noise == "gaussian" else 0.5 / (scale * scale)


def noisy(counts: Integers, noise: Noise, scale: float, stream: Stream) -> Integers:
    """Whole-number counts with exact whole-number noise."""
    from unworn.noise.samplers import gaussian, laplace

    draw = gaussian if noise == "gaussian" else laplace
    return np.asarray(counts, dtype=np.int64) + draw(stream, scale, counts.size).reshape(counts.shape)
