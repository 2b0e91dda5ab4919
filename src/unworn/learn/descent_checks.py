"""What is refused before the first ask of a descent: later it would be refused too, with asks charged."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from unworn.bounds.numerics import whole
from unworn.errors import Exhausted
from unworn.learn.regions import Region
from unworn.queries.learning.argmin import MAX_SIZE
from unworn.queries.learning.linear_losses import LinearLoss

if TYPE_CHECKING:
    from unworn.holdout import Holdout


def check_size(over: Region, dimension: int) -> None:
    """Refuse a region with coefficients that no question takes."""
    largest, way = 0.0, np.zeros(dimension)
    for place in range(dimension):
        for side in (1.0, -1.0):
            way[place] = side
            largest = max(largest, over.support(way))
        way[place] = 0.0
    if not largest < MAX_SIZE:
        raise ValueError(
            f"coefficients of this region are as large as {largest:g}, and a question takes them below {MAX_SIZE:g}: "
            "features are scaled to [-1, 1], so choose a smaller region"
        )


def check_reach(loss: LinearLoss, over: Region) -> None:
    """Refuse a region in which scores go beyond what a loss of the asker's own was declared for."""
    if loss.table is None:
        return
    needed = loss.table.furthest(over.largest(loss.dimension))
    if needed > loss.table.reach * (1 + 1e-9):
        raise ValueError(
            f"in this region the {loss.table.form} is as large as {needed:.6g}, and the {loss.table.name} loss was "
            f"declared up to {loss.table.reach:g}: give convex_loss(..., reach={needed:.6g}), or a smaller region"
        )


def check_luck(luck: object, confidence: float) -> None:
    """Refuse luck with blocks that is no probability, or leaves no promise."""
    if isinstance(luck, bool) or not isinstance(luck, int | float | np.floating) or not 0 < luck < 1:
        raise ValueError(f"luck is a probability between 0 and 1, such as 0.99, not {luck!r:.40}")
    if not confidence - (1 - luck) > 0:
        raise ValueError(
            f"luck={luck:g} with the blocks and a confidence of {confidence:g} in the answers promise nothing "
            f"together: the misses of both add up to 1 or more. Give luck= above {1 - confidence:g}, such as 0.99"
        )


def within_plan(holdout: Holdout, block: int, iterations: int | None, more: int) -> int:
    """How many iterations to make: as told, or all that the plan has left for."""
    meter = holdout.meter
    left = math.inf if meter.planned is None else meter.planned - meter.asked
    if iterations is not None:
        count = whole("iterations", iterations, 1)
    elif left == math.inf:
        raise ValueError("this holdout has no plan to take the number of iterations from: give iterations= or excess=")
    else:
        count = max(1, int(left - more) // block)
    if count * block + more > left:
        raise Exhausted(
            f"{count} iterations of {block} asks each and {more} at the end are {count * block + more} asks, and the "
            f"plan has {left} left.\n  Give fewer iterations=, more blocks=, or seal rows with a longer plan.",
            wanted=count * block + more,
            left=left,
        )
    return count
