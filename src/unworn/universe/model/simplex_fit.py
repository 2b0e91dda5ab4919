"""The distribution, kept cell by cell, that fits estimated tables by weighted least squares.

Accelerated mirror descent with the entropy (Tseng 2008, "On accelerated proximal gradient methods for convex-concave
optimization"), with steps as long as the curvature met so far allows. It starts from the uniform distribution and moves
by multiplication, so that of all distributions that fit about as well it comes to one that says little else.

Noisy tables are not worth fitting to the last digit. The truth itself does not fit them exactly, and what fits much
better than the truth fits noise. So the steps end between the best misfit and the truth's own expected one. What the
best is, the steps tell before they come to it: the misfit of an accelerated method falls to it with the square of their
number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from unworn.queries.row_protocol import Floats
from unworn.universe.model.contraction import spread, tables
from unworn.universe.model.explicit_model import Explicit
from unworn.universe.model.model import Axes

PART = 0.35
"""Where to stop between the best misfit and the truth's: measured on census-like tables of 1,000 to 48,842 rows."""
_FEW = 6
"""Steps before which nothing is guessed from them."""


@dataclass(frozen=True, eq=False)
class Fit:
    """A distribution, how far its tables are off (see :func:`fitted_cells`), and how many steps that took."""

    model: Explicit
    misfit: float
    steps: int


def fitted_cells(
    shape: tuple[int, ...],
    many: Sequence[Axes],
    shares: Sequence[Floats],
    precisions: Sequence[float],
    *,
    noise: float = 0.0,
    enough: float = 1e-3,
    steps: int = 500,
    step_done: Callable[[int], None] | None = None,
) -> Fit:
    """The distribution that minimises the misfit: half the sum of precision times squared error over all cells.

    ``noise`` is the misfit that the truth would have, in expectation: half the number of cells where precisions are one
    over the variance of a cell. Without noise the steps end when the misfit is within ``enough`` of the best.

    >>> shares = [np.array([[0.5, 0.1], [0.1, 0.3]])]
    >>> found = fitted_cells((2, 2, 3), [(0, 1)], shares, [1e4])
    >>> found.model.table((0, 1)).round(3).tolist(), found.model.table((2,)).round(3).tolist()
    ([[0.5, 0.1], [0.1, 0.3]], [0.333, 0.333, 0.333])
    """
    at = np.full(shape, 1.0 / math.prod(shape))
    logs, mean = np.log(at), at.copy()
    told = tables(at, many)
    told_mean = [table.copy() for table in told]
    # By Pinsker's inequality the sum of the precisions is always enough.
    most = float(np.sum(precisions))
    curvature, mass, lowest, done = most / 64.0, 0.0, -math.inf, 0
    misfits = [_misfit(told_mean, shares, precisions)]
    while done < steps and not _near(misfits, lowest, noise, enough):
        done += 1
        curvature *= 0.7
        while True:
            added = (1.0 + math.sqrt(1.0 + 4.0 * curvature * mass)) / (2.0 * curvature)
            part = added / (mass + added)
            between = _mixed(told_mean, told, part)
            slope = spread([w * (b - s) for w, b, s in zip(precisions, between, shares, strict=True)], many, shape)
            new_logs = logs - added * slope
            new_logs -= new_logs.max()
            new = np.exp(new_logs)
            total = float(new.sum())
            new /= total
            new_logs -= math.log(total)
            new_told = tables(new, many)
            # The step is short enough if the misfit's curvature along it is below that of the entropy.
            if _misfit(new_told, told, precisions) <= curvature * _moved(new, new_logs, logs) * (1 + 1e-9) + 1e-15:
                break
            if curvature >= most:  # only rounding hides it: both sides are next to nothing
                break
            curvature *= 2.0
        # By convexity no distribution is below the tangent at the point where the slope was taken.
        tangent = sum(w * float(np.vdot(b - s, b)) for w, b, s in zip(precisions, between, shares, strict=True))
        bound = _misfit(between, shares, precisions) - tangent + float(slope.min())
        at, logs, told, mass = new, new_logs, new_told, mass + added
        mean *= 1.0 - part
        mean += part * at
        told_mean = _mixed(told_mean, told, part)
        misfits.append(_misfit(told_mean, shares, precisions))
        lowest = max(lowest, bound)
        if step_done is not None:
            step_done(done)
    return Fit(Explicit(mean), misfits[-1], done)


def _near(misfits: Sequence[float], lowest: float, noise: float, enough: float) -> bool:
    """Whether the last misfit is as near to the best as is worth while; ``lowest`` is certainly not above the best."""
    last, done = misfits[-1], len(misfits) - 1
    best = max(0.0, lowest)
    fallen = misfits[done // 2] - last
    if done >= _FEW and fallen >= 0.0:
        best = max(best, last - fallen / 3.0)  # what falls as 1/k^2 has fallen three times what is left since k/2
    return last - best <= max(PART * (noise - best), enough)


def _misfit(told: Sequence[Floats], shares: Sequence[Floats], precisions: Sequence[float]) -> float:
    off = (table - share for table, share in zip(told, shares, strict=True))
    return 0.5 * math.fsum(w * float(np.vdot(d, d)) for w, d in zip(precisions, off, strict=True))


def _mixed(first: Sequence[Floats], second: Sequence[Floats], part: float) -> list[Floats]:
    return [(1.0 - part) * a + part * b for a, b in zip(first, second, strict=True)]


def _moved(new: Floats, new_logs: Floats, logs: Floats) -> float:
    """The relative entropy of the new distribution from the old one."""
    return float(np.vdot(new, new_logs - logs))
