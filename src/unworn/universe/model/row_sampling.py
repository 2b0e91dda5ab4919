"""Drawing many rows at once, each from the distribution that what is already drawn of it selects."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from unworn.noise import Stream
from unworn.queries.row_protocol import Floats
from unworn.universe.model.model import Axes, Codes


def pick_columns(stream: Stream, codes: Codes, axes: Axes, given: Axes, shares: Floats) -> None:
    """Fill in, for every row, the columns of ``axes`` that are not ``given``, by ``shares`` of them given those.

    One 53-bit uniform number per row: a synthetic row is made from what is public already, so it guards no secret.
    """
    order = given + (drawn := tuple(axis for axis in axes if axis not in given))
    table = np.moveaxis(shares, [axes.index(axis) for axis in order], range(len(order)))
    fixed, free = table.shape[: len(given)], table.shape[len(given) :]
    steps = np.cumsum(table.reshape(-1, math.prod(free)), axis=1)
    lines = np.zeros(len(codes), dtype=np.intp)
    for axis, size in zip(given, fixed, strict=True):
        lines = lines * size + codes[:, axis]
    uniform = np.asarray((stream.words(len(codes)) >> np.uint64(11)) * 2.0**-53, dtype=np.float64)
    for axis, found in zip(drawn, np.unravel_index(first_above(steps, lines, uniform), free), strict=True):
        codes[:, axis] = found


def first_above(steps: Floats, lines: NDArray[np.intp], shares: Floats) -> NDArray[np.intp]:
    """For every row the first place of its line of rising ``steps`` that passes this share of the line's last step.

    All rows are bisected together. A step that does not rise, a cell of no weight, is never found.

    >>> steps = np.array([[0.25, 0.25, 1.0], [0.0, 0.5, 0.5]])
    >>> first_above(steps, np.array([0, 0, 1, 1]), np.array([0.2, 0.25, 0.0, 1.0 - 2.0**-53])).tolist()
    [0, 2, 1, 1]
    """
    last = steps[:, -1]
    # A product that rounds up to the whole would pass no step.
    sought = np.minimum(shares * last[lines], np.nextafter(last, 0.0)[lines])
    width = steps.shape[1]
    flat, start = steps.reshape(-1), lines * width
    low, high = np.zeros(len(lines), dtype=np.intp), np.full(len(lines), width - 1, dtype=np.intp)
    for _ in range((width - 1).bit_length()):
        middle = (low + high) >> 1
        above = flat[start + middle] > sought
        high = np.where(above, middle, high)
        low = np.where(above, low, np.minimum(middle + 1, high))
    return high
