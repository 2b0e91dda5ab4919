"""Limits for a conditional share P(B | A): precision, recall, a score within a subgroup, F1 by way of Jaccard's index.

Given that a of the rows lie in A, the number of them in B is binomial with a rows and chance P(B | A). So Clopper and
Pearson's limits on those a rows are exact whatever a is, and they hold without any condition on average over a. What
must not be done is to use all n rows.
"""

from __future__ import annotations

import math

from unworn.bounds.binomial import high_limit, low_limit
from unworn.bounds.numerics import LN2, check_between, check_whole

_ROUNDING = 1e-15  # cells are widened by it: a share that rounding moved across an edge is not lost


def check_log_side(log_side: float) -> None:
    """Each side of a symbol may have the full level, which is at most one half.

    >>> check_log_side(-0.1)
    Traceback (most recent call last):
    ...
    ValueError: log_side = ln(miss probability of one side) must be finite and at most -ln 2, not -0.1
    """
    if not -math.inf < log_side <= -LN2:
        raise ValueError(
            f"log_side = ln(miss probability of one side) must be finite and at most -ln 2, not {log_side!r}"
        )


def conditional_share_limits(count: float, rows: float, log_side: float) -> tuple[float, float]:
    """Limits for P(B | A) from ``count`` rows in B among ``rows`` in A, each missed with probability exp(``log_side``).

    Where no row lies in A nothing is known, and the limits are 0 and 1.

    >>> low, high = conditional_share_limits(10, 100, math.log(0.025))
    >>> round(low, 4), round(high, 4)
    (0.049, 0.1762)
    >>> conditional_share_limits(0, 0, math.log(0.025))
    (0.0, 1.0)
    """
    check_whole("the number of rows", rows, 0)
    check_whole("count", count, 0, rows)
    check_log_side(log_side)
    if rows == 0:
        return 0.0, 1.0
    return low_limit(count, rows, log_side), high_limit(count, rows, log_side)


def conditional_cell_limits(low: float, high: float, least: int, most: int, log_side: float) -> tuple[float, float]:
    """Limits for P(B | A) where the share lies in a cell and the number of rows in A is only known to within bounds.

    They contain Clopper and Pearson's limits of every count and every number of rows a in ``least`` … ``most`` whose
    share lies in [``low``, ``high``]. For a fixed share the limit shrinks as the rows increase, if one allows counts
    that are no whole numbers (theory of questions, lemma 1), so the upper limit is the larger of two: that of the
    largest count at ``least`` rows, which stands for all a until one more count fits into the cell, and that of the
    share ``high`` itself at the first a where it does. The lower limit mirrors it.

    >>> low, high = conditional_cell_limits(0.88, 0.92, 1_000, 20_000, math.log(0.05))
    >>> round(low, 4), round(high, 4)
    (0.8618, 0.9337)
    """
    check_between("low", low, 0, 1)
    check_between("high", high, low, 1)
    check_whole("most", most, 0)
    check_whole("least", least, 0, most)
    check_log_side(log_side)
    if least == 0:
        return 0.0, 1.0
    return _lowest(low, least, most, log_side), _highest(high, least, most, log_side)


def octave_rows(rows: int, octave: int) -> int:
    """The fewest rows that octave h can stand for: rows·2^-(h + 1) < a. The last octave also stands for none.

    >>> [octave_rows(1000, octave) for octave in (0, 1, 8, 9, 10)]
    [501, 251, 2, 1, 0]
    """
    check_whole("the number of rows", rows, 1)
    check_whole("octave", octave, 0)
    return 0 if octave >= (rows - 1).bit_length() else (rows >> (octave + 1)) + 1


def row_octave(rows: int, part: int) -> int:
    """The octave of a part of the rows: the h with rows·2^-(h + 1) < part <= rows·2^-h, the last one for none.

    >>> [row_octave(1000, part) for part in (1000, 501, 500, 2, 1, 0)]
    [0, 0, 1, 8, 9, 10]
    """
    check_whole("the number of rows", rows, 1)
    check_whole("part", part, 0, rows)
    last = (rows - 1).bit_length()
    return last if part == 0 else min((rows // part).bit_length() - 1, last)


def _highest(share: float, least: int, most: int, log_side: float) -> float:
    share = min(1.0, share * (1.0 + _ROUNDING))
    count = math.floor(share * least)
    limit = high_limit(count, least, log_side)
    if count == least or (count + 1) / most > share:
        return limit
    first = max(least + 1, math.ceil((count + 1) / share * (1.0 - _ROUNDING)))
    return max(limit, high_limit(min(share * first, first), first, log_side))


def _lowest(share: float, least: int, most: int, log_side: float) -> float:
    share *= 1.0 - _ROUNDING
    count = math.ceil(share * least)
    limit = low_limit(count, least, log_side)
    others = least - count + 1  # how many rows outside B fit into the cell next
    if count == 0 or (most - others) / most < share:
        return limit
    first = max(least + 1, math.ceil(others / (1.0 - share) * (1.0 - _ROUNDING)))
    return min(limit, low_limit(share * first, first, log_side))
