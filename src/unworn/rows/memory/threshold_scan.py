"""One question made of thresholds, as ``(18 <= age) & (age < 65)``: what most are, without a step too many.

Columns of one byte are read faster than Python can hand out the usual runs of rows, so runs here are longer, though
their truths still stay in cache, and are written into the same memory again and again. Of a few drawn rows all are
looked at at once, and what takes time is to find out what was asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unworn.queries.language.expressions import Between, Col, Compare, Expression, Literal, Logic
from unworn.queries.language.typed_thresholds import OPS, move_threshold
from unworn.queries.row_protocol import Column

RUN = 2**20
"""Rows of one or two bytes that are compared at once; of wider ones fewer. With shorter runs threads spend more time on
waiting for the interpreter than longer ones cost by leaving the cache."""

Test = tuple[Callable[..., Any], NDArray[Any], np.generic]


def tests(where: Expression, column: Callable[[str], Column]) -> list[Test] | None:
    """What has to hold of a row, each of a column without a missing value, in its own type; None if it is not so."""
    made: list[Test] = []
    for part in where.operands if isinstance(where, Logic) and where.op == "and" else (where,):
        match part:
            case Compare(op, Col(name), Literal(float(constant))):
                sides = [(op, constant)]
            case Between(Col(name), Literal(float(low)), Literal(float(high))):
                sides = [("ge", low), ("le", high)]
            case _:
                return None
        found = column(name)
        if found.missing is not None or not (found.finite or found.values.dtype.kind in "iu"):
            return None
        for op, constant in sides:
            bound = move_threshold(op, found.values.dtype, constant)
            if bound is None or isinstance(bound, bool):
                return None
            made.append((OPS[op], found.values, bound))
    return made


def count(several: Sequence[Test]) -> int:
    """How many rows pass all of them."""
    compare, values, bound = several[0]
    passed = compare(values, bound)
    for compare, values, bound in several[1:]:
        np.logical_and(passed, compare(values, bound), out=passed)
    return int(np.count_nonzero(passed))


def runs(several: Sequence[Test], rows: int) -> range:
    """Where runs of rows begin."""
    return range(0, rows, RUN // max(1, max(values.itemsize for _, values, _ in several) // 2))


def count_runs(several: Sequence[Test], length: int, starts: Iterator[int]) -> int:
    """The same over runs of so many rows, in memory that the next run uses again."""
    room = np.empty((min(len(several), 2), length), dtype=np.bool_)
    total = 0
    for start in starts:
        for place, (compare, values, bound) in enumerate(several):
            run = values[start : start + length]
            found = compare(run, bound, out=room[min(place, 1), : len(run)])
            if place:
                np.logical_and(room[0, : len(run)], found, out=room[0, : len(run)])
        total += int(np.count_nonzero(room[0, : len(run)]))
    return total
