"""Rankings: how often a row of one class is scored above a row of the other.

The area under the ROC curve is a mean over *pairs* of rows, so one row takes part in many values. Given how many rows
of each class there are, it is an average over pairings of means of min(n₊, n₋) independent values in [0, 1] (Hoeffding
1963), and so is bounded like a mean of that many rows.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from unworn.errors import Unaskable
from unworn.queries.query import Facts, Query
from unworn.queries.row_protocol import Bools, Frame
from unworn.queries.schema import Schema


class RankingQuery(Query):
    """The chance that a positive row outranks a negative one; ties count one half."""

    @abstractmethod
    def ranked(self, frame: Frame) -> tuple[NDArray[Any], Bools, Bools]:
        """For each row its score, whether it is positive, and whether it is negative; it may be neither. Total."""

    def values(self, frame: Frame) -> NoReturn:
        """Rows are compared with each other: alone, none has a value."""
        raise TypeError(f"{self.label} compares rows with each other, and has no value for each row")


def ranking_facts(schema: Schema, what: str, runs_code: bool = False) -> Facts:
    """What is public about a ranking, or why there is none of it."""
    if schema.grouped:
        raise Unaskable(
            f"{what} compares rows of two classes pair by pair, and here the sampled unit is a group of rows, which "
            "may hold both: ask brier or log_loss, or seal rows without groups="
        )
    return Facts("ranking", 0.0, 1.0, runs_code=runs_code)


def outranking_share(positive: NDArray[Any], negative: NDArray[Any]) -> tuple[float, int]:
    """How often a positive score is above a negative one, ties counting one half, and the size of the rarer class.

    Without rows of both classes there is nothing to compare: one half, of 0 rows. Whole numbers are added up, so that
    the order of the rows does not matter.

    >>> outranking_share(np.array([0.9, 0.4]), np.array([0.1, 0.4, 0.5]))
    (0.75, 2)
    """
    smaller = min(len(positive), len(negative))
    if smaller == 0:
        return 0.5, 0
    # Sorted apart, each class is searched for in the other in order: several times faster than ranks of all the rows.
    above, under = np.sort(positive), np.sort(negative)
    few, many = (above, under) if len(above) <= len(under) else (under, above)
    halves = sum(int(np.searchsorted(many, few, side).sum(dtype=np.int64)) for side in ("left", "right"))
    pairs = len(positive) * len(negative)
    return (halves if few is above else 2 * pairs - halves) / (2 * pairs), smaller
