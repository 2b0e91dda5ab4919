"""What rows that may be seen (``train``, practice rows) let one declare of rows that may not.

A question that is narrowed by a *gauge* (how many rows count, how much values vary) agrees only if the gauge is
within a bound that was declared beforehand. The bound leaves room for four standard errors, of both sets of rows, so
an honest declaration is a surprise about once in 30,000 asks; of a variance only where no few rows decide it: of
log-normal losses about once in 70 asks, of the squares of very long-tailed errors once in 10. Declaring badly costs a
surprise or width, never validity.
"""

from __future__ import annotations

import math

from unworn.bounds.numerics import check_between, check_rows, check_whole

MARGIN = 4.0
"""Standard errors that a declaration leaves room for."""


def declared_variance(variance: float, fourth: float | None, train_rows: float, rows: float) -> float:
    """A bound on the variance of ``rows`` rows from that of ``train_rows`` others, on the scale of [0, 1].

    Variance plus four standard errors. The variance of (X - mean)² is ``fourth`` - variance², where ``fourth`` is the
    fourth central moment on train; without it the largest that a range of 1 allows is taken, which is the variance.

    >>> round(declared_variance(0.0081, 0.0006, 13_000, 13_000), 5)
    0.00925
    >>> declared_variance(0.0, 0.0, 1_000, 1_000)
    0.001
    """
    check_between("variance", variance, 0, 1)
    check_rows(train_rows)
    check_rows(rows)
    if fourth is None:
        fourth = variance
    check_between("fourth", fourth, 0, 1)
    share = 1.0 / train_rows + 1.0 / rows
    error = math.sqrt(max(fourth - variance * variance, 0.0) * share)
    # Train may have no variance at all: a single odd row must still be no surprise.
    return min(0.25, max(variance + MARGIN * error, 1.0 / rows))


def declared_rows(share: float, train_rows: float, rows: int) -> int:
    """How many of ``rows`` rows will surely be of a kind that ``share`` of ``train_rows`` others were.

    Four standard errors below the share, on the arcsine scale, where the error hardly depends on the share.

    >>> declared_rows(0.1, 10_000, 10_000), declared_rows(0.003, 10_000, 10_000), declared_rows(1.0, 100, 100)
    (836, 7, 92)
    """
    check_between("share", share, 0, 1)
    check_rows(train_rows)
    check_whole("the number of rows", rows, 1)
    angle = math.asin(math.sqrt(share)) - 0.5 * MARGIN * math.sqrt(1.0 / train_rows + 1.0 / rows)
    return math.floor(rows * math.sin(max(angle, 0.0)) ** 2)


def declared_smaller_class(share: float, train_rows: float, rows: int) -> int:
    """The same for the smaller of two classes, of which the first had that ``share``.

    >>> declared_smaller_class(0.9, 10_000, 10_000)
    836
    """
    return min(declared_rows(share, train_rows, rows), declared_rows(1.0 - share, train_rows, rows))


def part_rows(share: float, sealed: int, rows: int) -> int:
    """How many of a random part of the rows lie in a subset that has this ``share`` of them all.

    Exact where the part is all of the rows; else four standard errors of a draw without replacement are kept back, and
    at most as many are elsewhere as there are elsewhere.

    >>> part_rows(0.1, 10_000, 10_000), part_rows(0.1, 7_500, 10_000), part_rows(0.9999, 7_500, 10_000)
    (1000, 698, 7499)
    """
    check_between("share", share, 0, 1)
    check_whole("the number of rows", rows, 1)
    check_whole("sealed", sealed, 1, rows)
    error = math.sqrt(sealed * share * (1.0 - share) * (1.0 - sealed / rows))
    least = round(share * rows) - (rows - sealed)
    return max(math.floor(round(share * rows) * sealed / rows - MARGIN * error), least, 0)


def share_error(share: float, rows: float) -> float:
    """The standard error of a share of so many rows that count, never below that of a single odd row.

    >>> round(share_error(0.9, 900), 4), share_error(1.0, 100)
    (0.01, 0.01)
    """
    check_between("share", share, 0, 1)
    check_rows(rows)
    return math.sqrt(max(share * (1.0 - share), 1.0 / rows) / rows)


def mean_error(variance: float, rows: float) -> float:
    """The standard error of a mean of values with that variance, on the scale of [0, 1], with the same floor.

    >>> mean_error(0.0081, 8_100)
    0.001
    """
    check_between("variance", variance, 0, 1)
    check_rows(rows)
    return math.sqrt(max(variance, 1.0 / rows) / rows)
